"""The list that a person looks at: a filter and an order over the catalog, and pages of it with texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.catalog.catalog import Catalog, Mask, Positions
from memtui.engine.catalog.filter_context import FilterContext
from memtui.engine.catalog.filters import compile
from memtui.engine.catalog.select import (
    DEFAULT_SORT,
    awaits_metadata,
    choose,
    facets,
    in_scopes,
    of_owners,
    prepare,
)
from memtui.engine.catalog.similar import Embed, Scores, rank
from memtui.engine.catalog.text_search import StoreFacts, TextLookup
from memtui.engine.catalog.types import ListQuery, ListView
from memtui.engine.core.errors import UsageError
from memtui.engine.core.memory import Memory
from memtui.engine.core.progress import CancelToken, OnProgress
from memtui.engine.query.parser import parse
from memtui.engine.query.render import apart

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.catalog.catalog import FirstPage
    from memtui.engine.store.table import Store


SHORTEST_PREFIX = 8

_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What a `ListView` holds: positions in the catalog that it was made from."""

    catalog: Catalog
    positions: Positions
    scores: Scores | None = None
    """Of a list in the order of similarity: how near each of `positions` is."""
    rows: pa.Table | None = None
    """The rows themselves, where they were read with the catalog."""

    @property
    def mask(self) -> Mask:
        """The rows of the view among all: bool [n] in catalog order."""
        mask = np.zeros(self.catalog.n, dtype=np.bool_)
        mask[self.positions] = True
        return mask


METADATA_UNREAD = "tiers and states could not be read"
"""What a list says where the reading of the metadata failed."""

View = Callable[[ListQuery, CancelToken | None], ListView]
"""`Engine.view` of an open store."""


def selection_of(view: View, filter: str, cancel: CancelToken | None = None) -> Selection:
    """The memories that a filter keeps, newest first. UsageError for one with ~words."""
    found = view(ListQuery(filter=filter), cancel)
    if found.ranked:
        raise UsageError(
            "~ orders a list: it cannot choose memories.", fix="Search for words, without the ~."
        )
    chosen: Selection = found.positions
    return chosen


def select_ids(view: View, filter: str, cancel: CancelToken | None = None) -> list[str]:
    """The ids of all memories that a filter keeps, newest first; rows without an id are left out."""
    chosen = selection_of(view, filter, cancel)
    return [memory_id for memory_id in chosen.catalog.ids.texts(chosen.positions) if memory_id]


def make_view(
    store: Store,
    catalog: Catalog,
    query: ListQuery,
    *,
    now_ms: int,
    embed: Embed | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> ListView:
    """The rows of `catalog` that `query` keeps, in its order, or by similarity where its filter has ~words.

    Facets count the rows of the view; only the scopes are counted over the filter alone, so that the
    other scopes keep their numbers while `query.scopes` chooses some. Raises `FilterError` for a filter
    that does not parse, `NotReadyError` for one that needs metadata before that is read.
    """
    rest, words = apart(parse(query.filter))
    context = _context(store, catalog, now_ms, on_progress, cancel, veiled=query.veiled)
    filtered = None if rest is None else compile(rest, context, text=query.filter)
    ranking = rank(words, store, catalog, embed, on_progress, cancel) if words else None
    if ranking is not None and ranking.kept is not None:
        filtered = ranking.kept if filtered is None else filtered & ranking.kept
    mask = filtered
    if query.scopes is not None:
        chosen = in_scopes(catalog, query.scopes)
        mask = chosen if filtered is None else filtered & chosen
    if query.owners is not None:
        owned = of_owners(catalog, query.owners)
        mask = owned if mask is None else mask & owned
    sort = query.sort if ranking is None else DEFAULT_SORT
    prepare(store, catalog, sort, on_progress, cancel)
    positions = choose(catalog, mask, sort)
    scores = None
    if ranking is not None:
        nearest = np.argsort(-ranking.scores[positions], kind="stable")
        positions = positions[nearest]
        scores = ranking.scores[positions]
    everything = np.ones(catalog.n, dtype=np.bool_) if filtered is None else filtered
    waiting = ranking is None and awaits_metadata(catalog, query.sort)
    return ListView(
        query=query,
        version=catalog.version,
        total=len(positions),
        table_total=catalog.n,
        facets=facets(catalog, mask, everything, now_ms=now_ms),
        positions=Selection(catalog, positions, scores),
        pending=_pending(catalog, waiting),
        note="" if ranking is None else ranking.note,
    )


def first_view(store: Store, page: FirstPage, query: ListQuery, *, now_ms: int) -> ListView:
    """The list of a first page: what was written last, of so many."""
    view = make_view(store, page.catalog, query, now_ms=now_ms)
    chosen = replace(view.positions, rows=page.rows)
    total = store.pin(page.catalog.version).written
    return replace(view, positions=chosen, table_total=total, partly=True)


def filter_mask(
    store: Store, catalog: Catalog, text: str, *, now_ms: int, cancel: CancelToken | None = None
) -> Mask | None:
    """The rows that the filter `text` keeps: bool [n]; None for an empty filter. ~words are an error here."""
    if not text.strip():
        return None
    return compile(parse(text), _context(store, catalog, now_ms, None, cancel), text=text)


def _context(
    store: Store,
    catalog: Catalog,
    now_ms: int,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
    *,
    veiled: bool = False,
) -> FilterContext:
    return FilterContext(
        catalog,
        now_ms,
        text=TextLookup(store, catalog, cancel),
        facts=StoreFacts(store, catalog, cancel, on_progress),
        cancel=cancel,
        veiled=veiled,
    )


def page_of(store: Store, view: ListView, offset: int, limit: int, *, now_ms: int) -> list[Memory]:
    """The memories at places `offset` to `offset + limit` of `view`, read at the version of the view."""
    if offset < 0 or limit < 0:
        raise UsageError("A page cannot begin or end before the list does.", fix="Count from 0.")
    chosen: Selection = view.positions
    if chosen.rows is not None:
        wanted = chosen.catalog.row_ids[chosen.positions[offset : offset + limit]]
        at = np.argsort(chosen.rows.column("_rowid").to_numpy())
        places = at[np.searchsorted(chosen.rows.column("_rowid").to_numpy(), wanted, sorter=at)]
        return store.pin(chosen.catalog.version).dialect.to_memories(chosen.rows.take(places), now_ms)
    return memories_at(store, chosen.catalog, chosen.positions[offset : offset + limit], now_ms=now_ms)


def place_of(view: ListView, id: str) -> int | None:
    """Where the memory with exactly this id stands in `view`; None where it is not in it."""
    chosen: Selection = view.positions
    at = [each for each in chosen.catalog.find(id).tolist() if chosen.catalog.ids.texts([each]) == [id]]
    found = np.flatnonzero(np.isin(chosen.positions, at))
    return int(found[0]) if found.size else None


def memories_at(store: Store, catalog: Catalog, positions: Positions, *, now_ms: int) -> list[Memory]:
    """The memories at `positions` of the catalog, in that order, texts and metadata read from the table."""
    if not len(positions):
        return []
    pin = store.pin(catalog.version)
    return pin.dialect.to_memories(pin.take(catalog.row_ids[positions].tolist(), pin.row_columns), now_ms)


def find_one(store: Store, catalog: Catalog, id_or_prefix: str, *, now_ms: int) -> Memory:
    """The memory with this id, or the only one whose id begins with it.

    Of rows that share one id, the newest. Raises `UsageError` when none or several ids match, or
    for a prefix of fewer than 8 characters.
    """
    wanted = id_or_prefix.strip()
    positions = catalog.find(wanted)
    ids = list(dict.fromkeys(catalog.ids.texts(positions[: 4 * _NAMED])))
    if ids and ids != [wanted] and len(wanted) < SHORTEST_PREFIX:
        raise UsageError(
            f"{wanted!r} is too short for the beginning of an id.",
            fix=f"Give {SHORTEST_PREFIX} characters or more.",
        )
    if not ids:
        raise UsageError(
            f"No memory has the id {wanted!r}.", fix="Take an id, or its first 8 characters, from the list."
        )
    if len(ids) > 1:
        named = ", ".join(str(memory_id) for memory_id in ids[:_NAMED])
        more = " and more" if len(ids) > _NAMED else ""
        raise UsageError(f"Several ids begin with {wanted!r}: {named}{more}.", fix="Give more characters.")
    return memories_at(store, catalog, positions[:1], now_ms=now_ms)[0]


def _pending(catalog: Catalog, waiting: bool) -> str:
    if not catalog.metadata_pending:
        return ""
    return "sorted by time until tiers are read" if waiting else "tiers and states are still being read"
