"""Recorded answers of the plugin's store, asked again of ours over the same table."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memtui.engine import ListQuery, Memory, UsageError
from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import Catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.views import find_one, make_view, page_of
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.lanes import LaneSearch, substring_hits
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store

Recorded = dict[str, Any]
Case = tuple[str, Any, Any]


@contextmanager
def unpacked(folder: Path) -> Iterator[Store]:
    """The store that the values were recorded on, in a folder of its own."""
    with tempfile.TemporaryDirectory() as place, tarfile.open(folder / "store-clean.tar.gz") as tar:
        tar.extractall(place, filter="data")
        yield open_store(Path(place) / "store-clean")


def store(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Lists, counts, and looking up by id and by prefix."""
    now = recorded["now_ms"]
    with unpacked(folder) as opened:
        catalog = read_metadata(opened, build_catalog(opened))
        for case in recorded["store"]["list"]:
            yield _list(case, opened, catalog, now)
        for case in recorded["store"]["stats"]:
            yield from _counts(case, opened, catalog, now)
        for case in recorded["store"]["prefix"]:
            found = _find(case["prefix"], case["scope_filter"], opened, catalog, now)
            yield f"prefix {case['prefix']}", [] if found is None else [found.id], case["ids"]
        for case in recorded["store"]["get"]:
            found = _find(case["id"], case["scope_filter"], opened, catalog, now)
            yield f"get {case['id']} {case['scope_filter']}", found is not None, case["found"]


def _list(case: Recorded, opened: Store, catalog: Catalog, now: int) -> Case:
    """One page, newest first; the plugin does not define the order of rows of one time, so that is left free."""
    category, scopes = case["category"], case["scope_filter"]
    query = ListQuery(f"cat:{category}" if category else "", None if scopes is None else tuple(scopes))
    view = make_view(opened, catalog, query, now_ms=now)
    page = page_of(opened, view, case["offset"], case["limit"], now_ms=now)
    times = dict(zip(catalog.ids.texts(range(catalog.n)), catalog.timestamp.tolist(), strict=True))
    ours, theirs = [memory.id for memory in page], case["ids"]
    what = f"list {scopes} {category} {case['offset']}+{case['limit']}"
    return what, _by_time(ours, times), _by_time(theirs, times)


def _by_time(ids: Sequence[str], times: dict[str | None, float]) -> list[tuple[float, list[str]]]:
    """The ids in their order, those of one time gathered and sorted."""
    out: list[tuple[float, list[str]]] = []
    for each in ids:
        if not out or out[-1][0] != times[each]:
            out.append((times[each], []))
        out[-1][1].append(each)
    return [(time, sorted(same)) for time, same in out]


def _counts(case: Recorded, opened: Store, catalog: Catalog, now: int) -> Iterator[Case]:
    scopes = case["scope_filter"]
    view = make_view(opened, catalog, ListQuery(scopes=None if scopes is None else tuple(scopes)), now_ms=now)
    # The view counts all scopes, so that a tree of them can show what the others hold.
    by_scope = {scope: n for scope, n in view.facets.scopes if scopes is None or scope in scopes}
    yield f"stats {scopes} rows", view.total, case["totalCount"]
    yield f"stats {scopes} scopes", by_scope, case["scopeCounts"]
    yield f"stats {scopes} categories", dict(view.facets.categories), case["categoryCounts"]


def _find(wanted: str, scopes: list[str] | None, opened: Store, catalog: Catalog, now: int) -> Memory | None:
    """The one memory that is meant, if it lies in `scopes`."""
    try:
        memory = find_one(opened, catalog, wanted, now_ms=now)
    except UsageError:
        return None
    return memory if scopes is None or memory.scope in scopes else None


def lexical_fallback(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """The search for the whole text as a substring.

    Ours always leaves inactive rows out, as every recall does. Where they were recorded as well, the
    active ones among the recorded hits are what ours begins with.
    """
    with unpacked(folder) as opened:
        now = recorded["now_ms"]
        for case in recorded["lexical_fallback"]:
            scopes = case["scope_filter"]
            search = LaneSearch(IoCache(opened.pin()), scopes, None, case["limit"], now, lambda row: True)
            hits = [] if search.denied else substring_hits(search, case["query"])
            ours, theirs = [[hit.row.id, hit.score] for hit in hits], case["hits"]
            if not case["exclude_inactive"]:
                memories = opened.dialect.to_memories(
                    opened.rows_by_id([i for i, _ in theirs], opened.row_columns), now
                )
                active = {memory.id for memory in memories if memory.active}
                theirs = [hit for hit in theirs if hit[0] in active]
                ours = ours[: len(theirs)]
            yield f"{case['query']!r} {scopes} {case['limit']}", ours, theirs
