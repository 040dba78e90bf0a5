"""The two searches of a recall: by vector and by words. They deliver at most 20 hits each, as the peer does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.errors import MemtuiError, UsageError
from memtui.engine.js import trim, utf16_len
from memtui.engine.recall.pool import Dropped, Floats, Hit, Row, rows_of

if TYPE_CHECKING:
    from memtui.engine.store.table import Store

LANE_CAP = 20
"""The peer's store clamps every search to this many rows, whatever pool is asked for."""
FETCH_FACTOR, FETCH_CAP = 20, 200
BM25_SCALE = 5.0


@dataclass(frozen=True)
class Lane:
    """What one search found: hits in rank order, rows it met and did not deliver, and how it searched."""

    hits: tuple[Hit, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    via: str = ""
    """native, exact, fts, substring, recorded, or empty when the lane did not run."""
    warning: str = ""


@dataclass(frozen=True)
class Search:
    """What both lanes need to know of the question."""

    store: Store
    scopes: Sequence[str] | None
    category: str | None
    limit: int
    """Hits wanted, already clamped to 1..LANE_CAP."""
    now_ms: int
    matches: Callable[[Row], bool]
    """The category filter."""

    @property
    def denied(self) -> bool:
        """An empty scope list denies all."""
        return self.scopes is not None and not self.scopes

    @property
    def where(self) -> str | None:
        """The scope filter as SQL, None without one."""
        column = self.store.dialect.columns.scope
        if self.scopes is None or column is None:
            return None
        return self.store.column_in(column, list(self.scopes))

    @property
    def columns(self) -> list[str]:
        """The columns recall reads."""
        c = self.store.dialect.columns
        names = (
            c.id,
            c.text,
            c.vector,
            c.category,
            c.scope,
            c.importance,
            c.timestamp,
            c.created,
            c.metadata,
        )
        return [name for name in dict.fromkeys(names) if name]

    @property
    def fetch(self) -> int:
        """Rows to ask the store for, because inactive ones are skipped afterwards."""
        return min(self.limit * FETCH_FACTOR, FETCH_CAP)


def clamp_limit(limit: float) -> int:
    """The peer's clamp: floor, 1 to 20; not finite is 1."""
    return max(1, min(LANE_CAP, math.floor(limit))) if math.isfinite(limit) else 1


def vector_lane(search: Search, query: Floats, *, min_score: float, exact: bool = False) -> Lane:
    """Nearest memories by cosine; score = 1 / (1 + distance) (spec/retrieval 2.2).

    Rows are walked in ascending distance; rows of another vector length, below `min_score`, or not active are
    skipped. `exact` scans all rows in double precision instead of the engine's search (disableNativeCosine).
    """
    if search.denied:
        return Lane(via="denied")
    if exact:
        rows, distances = _exact_scan(search, query)
    else:
        table = search.store.vector_search(
            query.astype(np.float32).tolist(),
            k=search.fetch,
            metric="cosine",
            where=search.where,
            columns=search.columns,
        )
        rows, distances = (
            rows_of(table, search.store.dialect, search.now_ms),
            table.column("_distance").to_pylist(),
        )
    found: list[Hit] = []
    dropped: list[Dropped] = []
    for row, distance in zip(rows, distances, strict=True):
        if row.vector is None or len(row.vector) != len(query):
            continue
        score = 1.0 / (1.0 + distance)
        if score < min_score:
            dropped.append(Dropped(row, "min_score", score, min_score))
        elif not row.active:
            dropped.append(Dropped(row, "inactive", score))
        else:
            found.append(Hit(row, 0, score, distance, "inverse_distance", {"distance": distance}))
            if len(found) == search.limit:
                break
    return _finish(search, found, dropped, "exact" if exact else "native")


def _exact_scan(search: Search, query: Floats) -> tuple[list[Row], list[float]]:
    rows: list[Row] = []
    for batch in search.store.scan(search.columns, where=search.where):
        rows += rows_of(_as_table(batch), search.store.dialect, search.now_ms)
    norm = float(np.linalg.norm(query))
    distances: list[float] = []
    kept: list[Row] = []
    for row in rows:
        if row.vector is None or len(row.vector) != len(query):
            continue
        wide = row.vector.astype(np.float64)
        length = float(np.linalg.norm(wide)) * norm
        kept.append(row)
        distances.append(1.0 - (float(wide @ query) / length if length > 0 else 0.0))
    order = np.argsort(np.array(distances), kind="stable")
    return [kept[i] for i in order], [distances[i] for i in order]


def _as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def bm25_lane(search: Search, text: str) -> Lane:
    """Memories by words; score = 1 / (1 + exp(-raw / 5)) (spec/retrieval 2.3).

    When the full-text query fails, finds no surviving row, or there is no index, the whole text is looked for as
    a substring instead (2.4).
    """
    if search.denied:
        return Lane(via="denied")
    found: list[Hit] = []
    dropped: list[Dropped] = []
    rows: list[Row] = []
    raws: list[float] = []
    warning = ""
    try:
        if search.store.fts_status().exists:
            table = search.store.fts_search(text, k=search.fetch, where=search.where, columns=search.columns)
            rows, raws = rows_of(table, search.store.dialect, search.now_ms), table.column("_score").to_pylist()
    except MemtuiError as error:
        warning = f"full-text search failed ({error.message}); the words were looked for as a substring"
    for row, raw in zip(rows, raws, strict=True):
        score = logistic(raw)
        if not row.active:
            dropped.append(Dropped(row, "inactive", score))
            continue
        found.append(Hit(row, 0, score, raw, "bm25_logistic", {"raw_bm25": raw}))
        if len(found) == search.limit:
            break
    if found:
        return _finish(search, found, dropped, "fts", warning)
    hits = substring_hits(search, text)
    return _finish(search, hits, dropped, "substring" if hits else "fts", warning)


def logistic(raw: float) -> float:
    """A raw BM25 score on 0 to 1; 0.5 where it is not positive."""
    return 1.0 / (1.0 + math.exp(-raw / BM25_SCALE)) if raw > 0 else 0.5


_FIELD_WEIGHTS = (("text", 1.0), ("l2_content", 0.96), ("l0_abstract", 0.98), ("l1_overview", 0.92))
SUBSTRING_BASE, SUBSTRING_PER_CHAR, SUBSTRING_CAP = 0.72, 0.02, 0.95


def substring_hits(search: Search, text: str) -> list[Hit]:
    """Rows that hold the whole trimmed text, best field first, newer before older (spec/retrieval 2.4)."""
    needle = trim(text).lower()
    if not needle:
        return []
    base = min(SUBSTRING_CAP, SUBSTRING_BASE + SUBSTRING_PER_CHAR * utf16_len(needle))
    found: list[Hit] = []
    for batch in search.store.scan(search.columns, where=search.where):
        for row in rows_of(_as_table(batch), search.store.dialect, search.now_ms):
            hit = _substring_hit(row, needle, base)
            if hit is not None and row.active:
                found.append(hit)
    found.sort(key=lambda hit: (-hit.score, -hit.row.timestamp_ms))
    return found[: search.limit]


def _substring_hit(row: Row, needle: str, base: float) -> Hit | None:
    quick = needle in row.text.lower() or (row.raw_metadata is not None and len(row.raw_metadata) > 2)
    if not quick:
        return None
    best: tuple[float, str, float] | None = None
    for name, weight in _FIELD_WEIGHTS:
        value = row.text if name == "text" else getattr(row.metadata, name)
        if needle in value.lower() and (best is None or base * weight > best[0]):
            best = (base * weight, name, weight)
    if best is None:
        return None
    score, name, weight = best
    return Hit(
        row, 0, score, None, "substring", {"field": name, "characters": utf16_len(needle), "weight": weight}
    )


def recorded_lane(
    search: Search, items: Sequence[Sequence[Any]], rows: Mapping[str, Row], *, lane: str
) -> Lane:
    """Hits recorded elsewhere, used in place of a search, to replay a foreign trace."""
    found: list[Hit] = []
    missing = 0
    for item in items[: search.limit]:
        if (
            len(item) < 2
            or not isinstance(item[0], str)
            or isinstance(item[1], bool)
            or not isinstance(item[1], int | float)
        ):
            raise UsageError(f"lanes.{lane} holds {str(item)[:60]}.", fix="Each hit is [id, score].")
        row = rows.get(item[0])
        if row is None:
            missing += 1
            continue
        found.append(Hit(row, 0, float(item[1]), None, "recorded", {"recorded": float(item[1])}))
    warning = f"{missing} recorded {lane} hits name memories that this store does not have" if missing else ""
    return _finish(search, found, [], "recorded", warning)


def _finish(
    search: Search, found: Sequence[Hit], dropped: Sequence[Dropped], via: str, warning: str = ""
) -> Lane:
    """Apply the category filter, which comes after the cut, then number what is left."""
    kept = [hit for hit in found if search.matches(hit.row)]
    refused = [Dropped(hit.row, "category", hit.score) for hit in found if not search.matches(hit.row)]
    hits = tuple(Hit(h.row, rank, h.score, h.raw, h.rule, h.inputs) for rank, h in enumerate(kept, 1))
    return Lane(hits, (*dropped, *refused), via, warning)
