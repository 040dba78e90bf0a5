"""From two lanes to a pool of candidates, and the pool through the stages of a recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from memtui.engine.core.progress import CancelToken
from memtui.engine.recall.candidates import CandidatePool, Hit, SimilarityCache
from memtui.engine.recall.context import StageContext
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.record import StageRecord
from memtui.engine.recall.rows import CandidateRow
from memtui.engine.recall.stage import Ranking, StageOutcome
from memtui.engine.recall.stage_spec import StageSpec
from memtui.engine.recall.trace import OnStage


def pool_of(
    vector: Lane, bm25: Lane, now_ms: int, kin: dict[int, SimilarityCache] | None = None
) -> CandidatePool:
    """Candidates in order: vector hits by rank, keyword-only hits by rank, then the rows that no lane delivered.

    `kin` are the cosines that are known already, to be added to.
    """
    rows: list[CandidateRow] = []
    place: dict[str, int] = {}

    def index_of(row: CandidateRow) -> int:
        at = place.setdefault(row.id, len(rows))
        if at == len(rows):
            rows.append(row)
        return at

    by_lane: list[dict[int, Hit]] = []
    for lane in (vector, bm25):
        hits: dict[int, Hit] = {}
        for hit in lane.hits:
            index = index_of(hit.row)
            if index not in hits:
                hits[index] = hit if rows[index] is hit.row else hit._replace(row=rows[index])
        by_lane.append(hits)
    # What a lane dropped gets a place too: the trace tells of it, and Why not climbs its gates.
    for lane in (vector, bm25):
        for gone in lane.dropped:
            index_of(gone.row)
    return CandidatePool(tuple(rows), by_lane[0], by_lane[1], now_ms, {} if kin is None else kin)


def run_stages(
    stages: Sequence[StageSpec],
    setting: StageContext,
    pool: CandidatePool,
    *,
    clock: Callable[[], float],
    table_rows: int,
    lane_ms: Mapping[str, float] | None = None,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
    keep: int | None = None,
) -> list[StageRecord]:
    """Run the stages that apply, each on what the one before left; the records in order.

    `lane_ms`: what the searches behind a stage took. `keep` is a candidate that goes on even where a stage drops
    it (what the later stages would have made of it); its drops are recorded all the same.
    """
    blank = Ranking(np.array([], np.int64), np.full(pool.n, np.nan))
    flow, records = blank, []
    for spec in stages:
        if not spec.when(setting):
            continue
        if cancel is not None:
            cancel.check()
        before = blank if spec.fresh else flow  # a lane searches by itself, whatever the lane before it found
        start = clock()
        outcome = spec.run(before, pool, setting)
        ms = (clock() - start) * 1000
        searched = spec.kind == "search" or (spec.name == "scored_input" and not before.order.size)
        n_in = table_rows if searched else pool_in(spec.name, pool, before)
        ms += (lane_ms or {}).get(spec.name, 0.0) if searched else 0.0
        kind = "search" if searched else spec.kind
        records.append(StageRecord(spec.name, spec.title, kind, before, outcome, n_in, ms))
        if on_stage is not None:
            on_stage(records[-1].summary())
        flow = outcome.flow if keep is None else _with(keep, before, outcome)
    return records


def pool_in(name: str, pool: CandidatePool, before: Ranking) -> int:
    """How many candidates a stage starts from: fusion starts from both lanes' union."""
    return len(pool.vector.keys() | pool.bm25.keys()) if name == "fused" else len(before.order)


def _with(keep: int, before: Ranking, outcome: StageOutcome) -> Ranking:
    """The flow with `keep` back at the place that it had before the stage dropped it."""
    flow = outcome.flow
    order = flow.order.tolist()
    if keep in order or keep not in outcome.dropped:
        return flow
    ahead = (
        set(before.order.tolist()[: before.order.tolist().index(keep)])
        if keep in before.order
        else set(order)
    )
    at = next((place for place, index in enumerate(order) if index not in ahead), len(order))
    return Ranking(np.array([*order[:at], keep, *order[at:]], np.int64), flow.score)
