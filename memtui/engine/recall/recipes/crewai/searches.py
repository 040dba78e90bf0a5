"""The searches of a recall of CrewAI: which scopes are asked for how much, and what each finds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.core import iso_time
from memtui.engine.dialects.crewai import PRIVATE, SOURCE
from memtui.engine.metadata.read import parse_object
from memtui.engine.recall.candidates import DroppedHit, Floats, Hit
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.rows import CandidateRow, rows_of
from memtui.engine.recall.store_search import read_columns
from memtui.engine.store import sql

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.recall.recipes.crewai.settings import RecallSettings

OVERSAMPLE, FILTERED = 2, 3
"""Rows for each result that a search below a scope asks for, and that one with a filter fetches."""

MOST_CHILDREN = 20


@dataclass(frozen=True, slots=True)
class CrewRow:
    """A row with what this program keeps beside the text."""

    row: CandidateRow
    created_us: int | None
    """Microseconds since the epoch; None for no time, which counts as now."""
    importance: float
    categories: tuple[str, ...]
    metadata: dict[str, Any]
    source: str
    private: bool
    zoned: bool
    """Whether its time names a zone: the package fails on every recall that meets the row."""


@dataclass(frozen=True, slots=True)
class ScopeSearch:
    """What one search found, nearest first, and what it met and did not deliver."""

    scope: str
    hits: tuple[tuple[CrewRow, Hit], ...]
    dropped: tuple[tuple[CrewRow, DroppedHit], ...]
    fetched: int


def joined(root: str | None, scope: str | None) -> str | None:
    """The scope that is asked for below `root`; without a root as it was given."""
    if not root:
        return scope
    parts = [root.rstrip("/"), (scope or "").strip("/")]
    path = re.sub(r"/+", "/", "/" + "/".join(part for part in parts if part))
    return path.rstrip("/") or "/"


def stored_scopes(outside: IoCache) -> frozenset[str]:
    """Every scope that a row has; none where rows have no scope."""
    column = outside.pin.dialect.columns.scope
    if column is None:
        return frozenset()

    def read() -> frozenset[str]:
        found: set[str] = set()
        for batch in outside.pin.scan([column]):
            found.update(text for text in batch.column(column).unique().to_pylist() if text is not None)
        return frozenset(found)

    return outside.pin.derived(("scopes",), read)


def children(outside: IoCache, scope: str | None) -> tuple[str, ...]:
    """The scopes right below `scope` in which rows lie, or below which they do, sorted."""
    prefix = f"{(scope or '/').rstrip('/')}/"
    under = (
        scope[len(prefix) :].split("/", 1)[0] for scope in stored_scopes(outside) if scope.startswith(prefix)
    )
    return tuple(sorted({prefix + name for name in under if name}))


def begins(scope: str | None) -> str:
    """The text that a scope begins with where `scope` is asked for: one at the root filters nothing."""
    return scope.rstrip("/") if scope is not None and scope.strip("/") else ""


def below(outside: IoCache, scope: str | None) -> str | None:
    """Rows whose scope begins with `scope` as SQL, whatever characters it has; None without a filter."""
    column, prefix = outside.pin.dialect.columns.scope, begins(scope)
    return f"starts_with({sql.name(column)}, {sql.literal(prefix)})" if column and prefix else None


def search(
    outside: IoCache,
    vector: Floats,
    scope: str | None,
    limit: int,
    settings: RecallSettings,
    *,
    only: str | None = None,
) -> ScopeSearch:
    """The `limit` rows nearest by squared L2 whose scope begins with `scope`; s = 1 / (1 + distance).

    `only`: a condition in SQL that takes the place of the scope.
    With categories or a metadata filter three times as many are looked at, and those that fit are kept.
    """
    filtered = bool(settings.categories or settings.metadata_filter)
    fetch = limit * FILTERED if filtered else limit
    where = below(outside, scope) if only is None else only
    columns = _columns(outside)

    def ask() -> pa.Table:
        return outside.pin.vector_search(
            vector.astype("float32").tolist(), k=fetch, metric="l2", where=where, columns=columns
        )

    key = ("tier vector", vector.tobytes(), where, fetch)
    table = outside.asked(key, "the table has to be searched by vectors", ask)
    hits: list[tuple[CrewRow, Hit]] = []
    dropped: list[tuple[CrewRow, DroppedHit]] = []
    for each, distance in _read(outside, table, table.column("_distance").to_pylist()):
        score = 1.0 / (1.0 + distance)
        least = settings.min_score
        if reason := _unfit(each, settings):
            dropped.append((each, DroppedHit(each.row, reason, score)))
        elif score < least:
            dropped.append((each, DroppedHit(each.row, "min_score", score, least)))
        elif len(hits) == limit:
            dropped.append((each, DroppedHit(each.row, "lane_limit", score, float(limit))))
        else:
            inputs = {"distance": distance, "searched": scope or "/"}
            hits.append((each, Hit(each.row, 0, score, distance, "inverse_squared_l2", inputs)))
    return ScopeSearch(scope or "/", tuple(hits), tuple(dropped), fetch)


def recorded(outside: IoCache, items: Sequence[Sequence[Any]]) -> ScopeSearch:
    """Hits that were recorded elsewhere, (id, score), in place of a search."""
    scores = {str(item[0]): float(item[1]) for item in items}
    wanted, columns = tuple(scores), _columns(outside)
    table = outside.asked(
        ("rows of crew", wanted), "rows have to be read", lambda: outside.pin.rows_by_id(wanted, columns)
    )
    rows = {each.row.id: each for each, _ in _read(outside, table, [0.0] * table.num_rows)}
    hits = [
        (rows[each], Hit(rows[each].row, 0, score, None, "recorded", {"recorded": score}))
        for each, score in scores.items()
        if each in rows
    ]
    return ScopeSearch("/", tuple(hits), (), len(wanted))


def _unfit(row: CrewRow, settings: RecallSettings) -> str:
    """The filter that a row does not pass; empty when it passes all."""
    if settings.categories and not any(category in row.categories for category in settings.categories):
        return "category"
    wanted = settings.metadata_filter or {}
    return "" if all(row.metadata.get(key) == value for key, value in wanted.items()) else "metadata"


def _columns(outside: IoCache) -> list[str]:
    dialect = outside.pin.dialect
    return [*read_columns(dialect), *(name for name in (dialect.columns.details, *_sources(outside)) if name)]


def _sources(outside: IoCache) -> tuple[str, ...]:
    """The columns that say who may read a row, where the table has them."""
    if outside.pin.dialect.can.visibility != "sources":
        return ()
    return tuple(name for name in (SOURCE, PRIVATE) if name in outside.pin.columns)


def _read(outside: IoCache, table: pa.Table, numbers: Sequence[float]) -> list[tuple[CrewRow, float]]:
    """The rows as this recall reads them, each with its number, in order; taken-away ones are left out.

    A table of another program has no sources, and numbers for times.
    """
    dialect, names = outside.pin.dialect, table.column_names
    columns, sources = dialect.columns, _sources(outside)

    def values(name: str | None) -> list[Any]:
        return table.column(name).to_pylist() if name in names else [None] * table.num_rows

    out = []
    for row, number, created, importance, categories, details, source, private in zip(
        rows_of(table, dialect),
        numbers,
        values(columns.timestamp),
        values(columns.importance),
        values(columns.category),
        values(columns.json_object),
        values(SOURCE if SOURCE in sources else None),
        values(PRIVATE if PRIVATE in sources else None),
        strict=True,
    ):
        read = outside.read(row)
        if read is None:
            continue
        edited, text = read is not row, created if isinstance(created, str) else ""
        crew = CrewRow(
            read,
            iso_time.microseconds(text) if text else read.timestamp_ms * 1000 or None,
            read.importance if edited or importance is None else float(importance),
            dialect.categories_of(categories),
            parse_object(details)[0],
            source or "",
            bool(private),
            iso_time.has_zone(text),
        )
        out.append((crew, number))
    return out
