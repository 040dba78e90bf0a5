"""What is wrong, or worth a look, in a store: each finding with the rows it is about and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.catalog import CREATED, INVALID, NO_TIME, SECONDS, SUPERSEDED, Catalog, Mask
from memtui.engine.catalog.select import counts, facets
from memtui.engine.catalog.text_search import StoreFacts
from memtui.engine.catalog.types import Finding, Stats
from memtui.engine.core.memory import STATES, TIERS
from memtui.engine.query.render import literal

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


LISTED = 50
"""Ids in a filter: enough to look at, short enough to read in the filter bar."""

VECTOR_BYTES = 256 << 20
"""Up to this many bytes of vectors are read to find useless ones."""

FAR_VECTOR_BYTES = 1 << 20
"""The same from object storage: a first look never fetches them all, the doctor's deep pass does when asked."""

MOST_READ = 100_000
"""Up to so many rows are asked at the first look for what their host says of their origin."""

_SEVERITIES = ("error", "warning", "info")

_SCOPE_FORMS = re.compile(r"global|(?:agent|custom|project|user|reflection:agent):\S.*")


def find(store: Store, catalog: Catalog, now_ms: int) -> tuple[Finding, ...]:
    """Everything found in `catalog`, the gravest first; what needs metadata is left out until it is read."""
    found = [
        *_identity(catalog, store.dialect.doubled_ids),
        *(_scopes(catalog) if store.dialect.can.visibility == "scopes" else _agents(catalog)),
        *_times(catalog, now_ms),
        *_metadata(catalog, now_ms),
        *_vectors(store, catalog),
        *_table(store, catalog),
        *_untrusted(store, catalog),
    ]
    return tuple(sorted(found, key=lambda finding: _SEVERITIES.index(finding.severity)))


def _identity(catalog: Catalog, by_its_program: str) -> Iterator[Finding]:
    """Ids of several rows, without those that begin as the table's program itself gives them several times."""
    doubles = np.flatnonzero(catalog.ids.duplicated())
    if by_its_program:
        texts = catalog.ids.texts(doubles)
        strange = [not (text or "").startswith(by_its_program) for text in texts]
        doubles = doubles[np.array(strange, np.bool_)]
    yield from _some(
        "error",
        doubles.size,
        "{} that share an id with another",
        _by_ids(catalog, doubles),
        "An edit or a delete by id hits all of them: give each its own id, or remove the copies.",
    )


def _scopes(catalog: Catalog) -> Iterator[Finding]:
    lost = [scope for scope in catalog.scopes if not scope]
    blank = [scope for scope in catalog.scopes if scope and not scope.strip()]
    padded = [scope for scope in catalog.scopes if scope and scope.strip() and scope != scope.strip()]
    stranded = [
        scope
        for scope in catalog.scopes
        if scope and scope == scope.strip() and not _SCOPE_FORMS.fullmatch(scope)
    ]
    invisible = "No agent sees them: give them a scope."
    yield from _in_scopes(catalog, "error", lost, "{} without a scope", invisible)
    yield from _in_scopes(catalog, "error", blank, "{} with a blank scope", invisible)
    yield from _in_scopes(
        catalog,
        "error",
        padded,
        "{} with a padded scope",
        "Spaces around the scope: no agent sees them; trim it.",
    )
    yield from _in_scopes(
        catalog,
        "warning",
        stranded,
        "{} in a scope that is no agent's by default",
        "Agents see them only where the configuration names that scope; else give them another.",
    )


def _agents(catalog: Catalog) -> Iterator[Finding]:
    agents = catalog.labels.get("agentId")
    if agents is None:
        return
    nobody = np.array([not agent for agent in agents.values], dtype=np.bool_)
    rows = np.flatnonzero(nobody[agents.codes] if nobody.size else nobody)
    yield from _some(
        "error",
        rows.size,
        "{} without an agent",
        _by_ids(catalog, rows),
        "No agent recalls them: set agentId with the agent stopped, or export them.",
    )


def _times(catalog: Catalog, now_ms: int) -> Iterator[Finding]:
    seconds = np.flatnonzero(catalog.flags & SECONDS)
    yield from _some(
        "warning",
        seconds.size,
        "{} with a time in seconds",
        _by_ids(catalog, seconds),
        "Shown in milliseconds here; memory-lancedb-pro rewrites those in its own tables when it starts.",
    )
    unknown = int(np.count_nonzero(catalog.flags & NO_TIME))
    yield from _some(
        "warning",
        unknown,
        "{} without a time",
        "-age<1000y",
        "They count as the oldest of all: set a time when you know it.",
    )
    future = int(np.count_nonzero(catalog.timestamp > now_ms))
    yield from _some(
        "warning",
        future,
        "{} from the future",
        "age<0s",
        "Some recalls drop them until that time: check the clock that wrote them.",
    )
    instead = np.flatnonzero(catalog.flags & CREATED)
    yield from _some(
        "warning",
        instead.size,
        "{} whose time memory-lancedb-pro does not see",
        _by_ids(catalog, instead),
        "It added its columns to a built-in table: copy createdAt to timestamp.",
    )


def _metadata(catalog: Catalog, now_ms: int) -> Iterator[Finding]:
    meta = catalog.meta
    if meta is None:
        return
    rows: tuple[tuple[str, Mask, str, str, str], ...] = (
        (
            "error",
            (meta.flags & INVALID) != 0,
            "{} with broken metadata",
            "is:invalid-metadata",
            "Not a JSON object: the agent reads defaults and will overwrite it; repair it first.",
        ),
        (
            "info",
            ((meta.flags & SUPERSEDED) != 0) | (meta.invalidated_at <= now_ms),
            "{} replaced",
            "is:superseded",
            "Kept as history; recall leaves them out once they are invalidated.",
        ),
        ("info", meta.expired(now_ms), "{} expired", "is:expired", "Recall leaves them out."),
        (
            "info",
            meta.state == STATES.index("archived"),
            "{} archived",
            "is:archived",
            "Auto-recall leaves them out.",
        ),
        (
            "info",
            meta.state == STATES.index("pending"),
            "{} pending",
            "is:pending",
            "Auto-recall leaves them out until they are confirmed.",
        ),
    )
    for severity, mask, title, text, remedy in rows:
        yield from _some(severity, int(np.count_nonzero(mask)), title, text, remedy)


def _vectors(store: Store, catalog: Catalog) -> Iterator[Finding]:
    dims = store.pin(catalog.version).dims
    most = VECTOR_BYTES if not store.is_far else FAR_VECTOR_BYTES
    if dims is None or catalog.n * dims * 4 > most:
        return
    useless = int(np.count_nonzero(StoreFacts(store, catalog).without_vector()))
    yield from _some(
        "error",
        useless,
        "{} without a usable vector",
        "is:zero-vector",
        "Search by meaning never finds them: embed them again.",
    )


def _table(store: Store, catalog: Catalog) -> Iterator[Finding]:
    index = store.fts_status()
    if index.exists and not index.readable:
        yield Finding(
            "warning", "full-text index whose files are missing", 1, "", "Let the agent's program rebuild it."
        )
    yield from _some(
        "info",
        index.unindexed_rows if index.readable else 0,
        "{} outside the full-text index",
        "",
        "Words in them are found by a slower scan, and scored differently, until the index is folded.",
    )
    yield from _some(
        "info",
        store.pin(catalog.version).sentinels,
        "sentinel row left behind",
        "",
        "Hidden here; the program that made the table should have removed it.",
    )


def _untrusted(store: Store, catalog: Catalog) -> Iterator[Finding]:
    if store.is_far or catalog.n > MOST_READ:
        return
    yield from _some(
        "info",
        int(np.count_nonzero(StoreFacts(store, catalog).rows("is", "untrusted"))),
        "{} from untrusted content",
        "is:untrusted",
        "Their host says so: check them before you rely on them.",
    )


def _in_scopes(
    catalog: Catalog, severity: str, scopes: Sequence[str | None], title: str, remedy: str
) -> Iterator[Finding]:
    codes = [code for code, scope in enumerate(catalog.scopes) if scope in scopes]
    rows = int(np.count_nonzero(np.isin(catalog.scope_codes, codes))) if codes else 0
    words = list(dict.fromkeys(literal(scope or "") for scope in scopes))
    yield from _some(severity, rows, title, f"scope:{','.join(words[:LISTED])}", remedy)


def _some(severity: str, count: int, title: str, text: str, remedy: str) -> Iterator[Finding]:
    """A finding when there is something to find; `{}` in the title becomes the word for the rows."""
    if count:
        noun = "memory" if count == 1 else "memories"
        yield Finding(severity, title.format(noun), int(count), text, remedy)


def _by_ids(catalog: Catalog, rows: NDArray[np.signedinteger]) -> str:
    """A filter for (the first of) these rows by their ids."""
    texts = dict.fromkeys(memory_id for memory_id in catalog.ids.texts(rows[:LISTED].tolist()) if memory_id)
    return f"id={','.join(literal(text, '=') for text in texts)}" if texts else ""


# A store in numbers: mix, growth and findings, all from the catalog.

DAYS = 90

_DAY_MS = 86_400_000

PENDING = "tiers, states and access counts are still being read"


def make_stats(store: Store, catalog: Catalog, *, now_ms: int) -> Stats:
    """The numbers of `catalog` as of `now_ms`; days are UTC days, the last one is today."""
    mix, meta = facets(catalog, None), catalog.meta
    known = catalog.timestamp[(catalog.timestamp > 0) & (catalog.timestamp <= now_ms)]
    by_tier = (
        tuple((tier, _daily(catalog.timestamp[meta.tier == code], now_ms)) for code, tier in enumerate(TIERS))
        if meta
        else ()
    )
    return Stats(
        rows=catalog.n,
        scopes=mix.scopes,
        categories=mix.categories,
        memory_categories=counts(meta.memory_category, meta.memory_categories, None) if meta else (),
        tiers=mix.tiers,
        states=mix.states,
        labels=mix.labels,
        trust_tiers=mix.trust,
        added_7d=int(np.count_nonzero(known > now_ms - 7 * _DAY_MS)),
        daily=_daily(catalog.timestamp, now_ms),
        daily_by_tier=by_tier,
        oldest_ms=int(known.min()) if known.size else None,
        newest_ms=int(known.max()) if known.size else None,
        findings=find(store, catalog, now_ms),
        pending=PENDING if catalog.metadata_pending else "",
    )


def _daily(times: NDArray[np.float64], now_ms: int) -> tuple[int, ...]:
    days_ago = now_ms // _DAY_MS - times // _DAY_MS
    recent = days_ago[(days_ago >= 0) & (days_ago < DAYS) & (times > 0)].astype(np.int64)
    return tuple(np.bincount(DAYS - 1 - recent, minlength=DAYS).tolist())
