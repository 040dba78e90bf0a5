"""The two searches of a recall: by vector and by words. They deliver at most 20 hits each, as the peer does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.text import one_line
from memtui.engine.recall.candidates import CandidatePool, DroppedHit, Floats, Hit
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.rows import CandidateRow
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome
from memtui.engine.recall.store_search import SearchResult, fetch_size, scope_filter

if TYPE_CHECKING:
    from memtui.engine.store.snapshot import Snapshot


LANE_CAP = 20
"""The peer's store clamps every search to this many rows, whatever pool is asked for."""

BM25_SCALE = 5.0

NO_EVIDENCE = 0.5
"""The score of a keyword hit whose raw value is not positive."""


@dataclass(frozen=True)
class Lane:
    """What one search found: hits in rank order, rows it met and did not deliver, and how it searched."""

    hits: tuple[Hit, ...] = ()
    dropped: tuple[DroppedHit, ...] = ()
    via: str = ""
    """native, exact, fts, substring, recorded, or empty when the lane did not run."""
    warning: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    """limit (hits wanted), fetched (rows asked of the table), min_score, found (hits before the category filter)."""


@dataclass(frozen=True)
class LaneSearch:
    """What both lanes need to know of the question."""

    outside: IoCache
    scopes: Sequence[str] | None
    category: str | None
    limit: int
    """Hits wanted, already clamped to 1..LANE_CAP."""
    now_ms: int
    matches: Callable[[CandidateRow], bool]
    """The category filter."""

    @property
    def denied(self) -> bool:
        """An empty scope list denies all."""
        return self.scopes is not None and not self.scopes

    @property
    def where(self) -> str | None:
        """The scope filter as SQL, None without one."""
        return scope_filter(self.outside.pin.dialect, self.scopes)

    @property
    def fetch(self) -> int:
        """Rows to ask the store for, because inactive ones are skipped afterwards."""
        return fetch_size(self.limit)


def clamp_limit(limit: float) -> int:
    """The peer's clamp: floor, 1 to 20; not finite is 1."""
    return max(1, min(LANE_CAP, math.floor(limit))) if math.isfinite(limit) else 1


def vector_lane(search: LaneSearch, query: Floats, *, min_score: float, exact: bool = False) -> Lane:
    """Nearest memories by cosine; score = 1 / (1 + distance) (spec/retrieval 2.2).

    Rows are walked in ascending distance; rows of another vector length, below `min_score`, or not active are
    skipped. `exact` scans all rows in double precision instead of the engine's search (disableNativeCosine).
    """
    if search.denied:
        return Lane(via="denied")
    answer = search.outside.nearest(query, k=search.fetch, where=search.where, exact=exact)
    found: list[Hit] = []
    dropped: list[DroppedHit] = []
    for stored, distance in zip(answer.rows, answer.numbers, strict=True):
        row = search.outside.read(stored)
        if row is None or row.vector is None or len(row.vector) != len(query):
            continue
        score = 1.0 / (1.0 + distance)
        if score < min_score:
            dropped.append(DroppedHit(row, "min_score", score, min_score))
        elif not row.active(search.now_ms):
            dropped.append(DroppedHit(row, "inactive", score))
        else:
            found.append(Hit(row, 0, score, distance, "inverse_distance", {"distance": distance}))
            if len(found) == search.limit:
                break
    params = {"fetched": None if exact else search.fetch, "min_score": min_score}
    return _finish(search, found, dropped, "exact" if exact else "native", params=params)


def bm25_lane(search: LaneSearch, text: str) -> Lane:
    """Memories by words; score = 1 / (1 + exp(-raw / 5)) (spec/retrieval 2.3).

    When the full-text query fails, finds no surviving row, or there is no index, the whole text is looked for as
    a substring instead (2.4).
    """
    if search.denied:
        return Lane(via="denied")
    warning = ""
    answer = SearchResult((), (), 0)
    try:
        answer = search.outside.by_words(text, k=search.fetch, where=search.where, agent=True)
        warning = another_engine(search.outside.pin)
    except MemtuiError as error:
        warning = f"full-text search failed ({error.message}); the words were looked for as a substring"
    found: list[Hit] = []
    dropped: list[DroppedHit] = []
    accounts = answer.inputs or [{}] * len(answer.numbers)
    for stored, raw, words in zip(answer.rows, answer.numbers, accounts, strict=True):
        row = search.outside.read(stored)
        if row is None:
            continue
        score = logistic(raw)
        if not row.active(search.now_ms):
            dropped.append(DroppedHit(row, "inactive", score))
            continue
        found.append(Hit(row, 0, score, raw, "bm25_logistic", {"raw_bm25": raw, **words}))
        if len(found) == search.limit:
            break
    params = {"fetched": search.fetch}
    if found:
        return _finish(search, found, dropped, "fts", warning, params)
    hits = substring_hits(search, text)
    return _finish(search, hits, dropped, "substring" if hits else "fts", warning, params)


def another_engine(pin: Snapshot) -> str:
    """What to say where the words of an agent's table were not searched as its own engine does; empty otherwise."""
    why = pin.agent_words
    if not isinstance(why, str) or not why:
        return ""
    return (
        f"the index could not be read as the agent's engine reads it ({one_line(why)}): words were searched by a "
        "newer one, which leaves out more stop words and scores rows outside the index differently"
    )


def logistic(raw: float) -> float:
    """A raw BM25 score on 0 to 1; 0.5 where it is not positive."""
    return 1.0 / (1.0 + math.exp(-raw / BM25_SCALE)) if raw > 0 else NO_EVIDENCE


def substring_hits(search: LaneSearch, text: str) -> list[Hit]:
    """Active rows that hold the whole trimmed text, best field first, newer before older (spec/retrieval 2.4)."""
    answer = search.outside.by_substring(text, where=search.where)
    found: list[Hit] = []
    for stored, score, inputs in zip(answer.rows, answer.numbers, answer.inputs, strict=True):
        row = search.outside.read(stored)
        if row is not None and row.active(search.now_ms):
            found.append(Hit(row, 0, score, None, "substring", inputs))
            if len(found) == search.limit:
                break
    return found


def recorded_lane(search: LaneSearch, items: Sequence[Sequence[Any]], *, lane: str) -> Lane:
    """Hits recorded elsewhere, used in place of a search, to replay a foreign trace."""
    wanted = [item[0] for item in items if item and isinstance(item[0], str)]
    rows = search.outside.rows_by_id(wanted)
    found: list[Hit] = []
    missing = 0
    for item in items[: search.limit]:
        if (
            len(item) < 2
            or not isinstance(item[0], str)
            or isinstance(item[1], bool)
            or not isinstance(item[1], int | float)
            or not math.isfinite(item[1])
        ):
            raise UsageError(f"lanes.{lane} holds {str(item)[:60]}.", fix="Each hit is [id, score].")
        stored = rows.get(item[0])
        row = None if stored is None else search.outside.read(stored)
        if row is None:
            missing += 1
            continue
        found.append(Hit(row, 0, float(item[1]), None, "recorded", {"recorded": float(item[1])}))
    warning = f"{missing} recorded {lane} hits name memories that this store does not have" if missing else ""
    return _finish(search, found, [], "recorded", warning)


def _finish(
    search: LaneSearch,
    found: Sequence[Hit],
    dropped: Sequence[DroppedHit],
    via: str,
    warning: str = "",
    params: Mapping[str, Any] | None = None,
) -> Lane:
    """Apply the category filter, which comes after the cut, then number what is left."""
    hits: list[Hit] = []
    refused: list[DroppedHit] = []
    for hit in found:
        if search.matches(hit.row):
            hits.append(Hit(hit.row, len(hits) + 1, hit.score, hit.raw, hit.rule, hit.inputs))
        else:
            refused.append(DroppedHit(hit.row, "category", hit.score))
    counts = {"limit": search.limit, "found": len(found), **(params or {})}
    return Lane(tuple(hits), (*dropped, *refused), via, warning, counts)


# A search as a stage of the account.

Column = np.ndarray[tuple[int], np.dtype[np.object_]]


def ranked(
    hits: Mapping[int, Hit],
    pool: CandidatePool,
    dropped: Mapping[int, Drop],
    note: str,
    params: Mapping[str, Any],
) -> StageOutcome:
    """The hits of a search in rank order, with the number that each was ranked by; `dropped` did not qualify."""
    score = np.full(pool.n, np.nan)
    rule: Column = np.full(pool.n, "unchanged", object)
    inputs: dict[str, Column] = {}
    for index, hit in hits.items():
        score[index], rule[index] = hit.score, hit.rule
        for name, value in hit.inputs.items():
            if name not in inputs:
                inputs[name] = np.full(pool.n, None, object)
            inputs[name][index] = value
    order = np.array(sorted(hits, key=lambda index: hits[index].rank), np.int64)
    gone = {index: gate for index, gate in dropped.items() if index not in hits}
    return StageOutcome(Ranking(order, score), rule, inputs, gone, params, note, "search")


def blank(pool: CandidatePool) -> Ranking:
    """The empty list of hits that a search starts from."""
    return Ranking(np.array([], np.int64), np.full(pool.n, np.nan))
