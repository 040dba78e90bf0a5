"""Fusion: two lanes' scores become one."""

from __future__ import annotations

import numpy as np

from memtui.engine.recall.flow import Flow, Outcome, clamp01
from memtui.engine.recall.pool import Pool

EXACT_MATCH = 0.75
"""From this keyword score on, a hit counts as an exact match and keeps 0.92 of it through fusion."""
EXACT_SHARE = 0.92
LANE_FLOOR = 0.1


def weighted(pool: Pool, *, vector_weight: float, bm25_weight: float) -> Outcome:
    """Weighted sum with a floor (spec/retrieval 4.3); a keyword-only hit keeps its own score, un-weighted.

    In the vector lane: clamp01(max(v*wv + b*wb, 0.92*b if b >= 0.75 else 0)); keyword only: clamp01(b).
    """
    v, b = np.nan_to_num(pool.v), np.nan_to_num(pool.b)
    in_vector, in_bm25 = ~np.isnan(pool.v), ~np.isnan(pool.b)
    with np.errstate(over="ignore"):
        summed = v * vector_weight + b * bm25_weight
    floor = np.where(b >= EXACT_MATCH, b * EXACT_SHARE, 0.0)
    fused = np.where(in_vector, np.maximum(summed, floor), b)
    rule = np.where(
        ~in_vector, "keyword_only", np.where(floor > summed, "exact_match_floor", "weighted_sum")
    ).astype(object)
    found = in_vector | in_bm25
    score = np.where(found, clamp01(fused, LANE_FLOOR), np.nan)
    union = Flow(np.flatnonzero(found), score)
    inputs = {
        "vector": pool.v,
        "bm25": pool.b,
        "vector_weight": vector_weight,
        "bm25_weight": bm25_weight,
    }
    params = {"vectorWeight": vector_weight, "bm25Weight": bm25_weight}
    return Outcome(union.sorted(score), rule=rule, inputs=inputs, params=params)


def bump(pool: Pool, *, share: float = 0.15) -> Outcome:
    """The February article's fusion: v * (1 + share) when the keywords hit too; keyword only: its own score."""
    v, b = np.nan_to_num(pool.v), np.nan_to_num(pool.b)
    in_vector, in_bm25 = ~np.isnan(pool.v), ~np.isnan(pool.b)
    both = in_vector & in_bm25
    fused = np.where(both, v + share * v, np.where(in_vector, v, b))
    rule = np.where(both, "keyword_bump", np.where(in_vector, "vector_only", "keyword_only")).astype(object)
    found = in_vector | in_bm25
    score = np.where(found, clamp01(fused, LANE_FLOOR), np.nan)
    union = Flow(np.flatnonzero(found), score)
    inputs = {"vector": pool.v, "bm25": pool.b, "share": share}
    return Outcome(union.sorted(score), rule=rule, inputs=inputs, params={"share": share})
