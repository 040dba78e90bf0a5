"""Age and importance in the score: the stages that run only without a decay engine (CLI search)."""

from __future__ import annotations

import numpy as np

from memtui.engine.decay.decay import DecayParams, decay_scores, effective_half_life, search_multiplier
from memtui.engine.recall.candidates import CandidatePool, Floats
from memtui.engine.recall.stage import Ranking, StageOutcome, clamp01, clip01

DAY_MS = 86_400_000

IMPORTANCE_BASE = 0.7

TIME_FLOOR = 0.5

DYNAMIC_DIVISOR = 3


def _age_days(pool: CandidatePool) -> Floats:
    """Days since creation; an unknown time counts as now; future times are negative, as in the peer."""
    stamp = np.where(pool.timestamp > 0, pool.timestamp, pool.now_ms)
    return (pool.now_ms - stamp) / DAY_MS


def recency(flow: Ranking, pool: CandidatePool, *, half_life_days: float, weight: float) -> StageOutcome:
    """score + weight * exp(-age / h), clamped (spec/retrieval 4.6). `half_life_days` is an e-folding time."""
    params = {"recencyHalfLifeDays": half_life_days, "recencyWeight": weight}
    if half_life_days <= 0 or weight <= 0:
        return StageOutcome(flow, params=params, note="off")
    age = _age_days(pool)
    with np.errstate(over="ignore"):
        score = clamp01(flow.score + weight * np.exp(-age / half_life_days), flow.score)
    inputs = {
        "age_days": age,
        "created_ms": pool.timestamp,
        "weight": weight,
        "e_folding_days": half_life_days,
    }
    return StageOutcome(flow.sorted(_keep_nan(flow, score)), rule="recency", inputs=inputs, params=params)


def importance(flow: Ranking, pool: CandidatePool) -> StageOutcome:
    """score * (0.7 + 0.3 * importance) (spec/retrieval 4.7)."""
    factor = IMPORTANCE_BASE + (1 - IMPORTANCE_BASE) * pool.importance
    score = clip01(flow.score * factor)
    inputs = {"importance": pool.importance}
    return StageOutcome(
        flow.sorted(score),
        rule="importance",
        inputs=inputs,
        params={"base": IMPORTANCE_BASE},
    )


def time_decay(
    flow: Ranking, pool: CandidatePool, *, half_life_days: float, reinforcement: float, max_multiplier: float
) -> StageOutcome:
    """score * (0.5 + 0.5 * exp(-age / E)) with E stretched by use (spec/retrieval 4.10, 8.3).

    Dynamic memories start from a third of the half-life; `corpus:` ids are exempt.
    """
    params = {
        "timeDecayHalfLifeDays": half_life_days,
        "reinforcementFactor": reinforcement,
        "maxHalfLifeMultiplier": max_multiplier,
    }
    if half_life_days <= 0:
        return StageOutcome(flow, params=params, note="off")
    age = _age_days(pool)
    base = np.where(pool.dynamic, half_life_days / DYNAMIC_DIVISOR, half_life_days)
    count, last = pool.reinforcement
    stretched = effective_half_life(
        base, count, last, now_ms=pool.now_ms, factor=reinforcement, max_multiplier=max_multiplier
    )
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        decayed = flow.score * (TIME_FLOOR + (1 - TIME_FLOOR) * np.exp(-age / stretched))
    score = np.where(pool.corpus, flow.score, clamp01(decayed, flow.score * TIME_FLOOR))
    rule = np.where(pool.corpus, "exempt", "time_decay").astype(object)
    inputs = {
        "age_days": age,
        "created_ms": pool.timestamp,
        "e_folding_days": stretched,
        "access_count": count,
        "last_accessed_ms": last,
        "dynamic": pool.dynamic,
    }
    return StageOutcome(flow.sorted(_keep_nan(flow, score)), rule=rule, inputs=inputs, params=params)


def _keep_nan(flow: Ranking, score: Floats) -> Floats:
    return np.where(np.isnan(flow.score), np.nan, score)


# The decay boost: a memory's lifecycle in its score.


def decay_boost(flow: Ranking, pool: CandidatePool, *, params: DecayParams) -> StageOutcome:
    """score * (b + (1-b) * max(tier floor, composite, recency)) (spec/retrieval 8.1, 4.9); `corpus:` ids are exempt."""
    scores = decay_scores(
        pool.importance,
        pool.confidence,
        pool.tier,
        pool.access_count,
        pool.timestamp,
        pool.last_accessed,
        pool.dynamic,
        now_ms=pool.now_ms,
        params=params,
    )
    multiplier = search_multiplier(scores, pool.tier, params)
    score = np.where(pool.corpus, flow.score, clip01(flow.score * multiplier))
    rule = np.where(pool.corpus, "exempt", "decay_boost").astype(object)
    inputs = {
        "tier": np.array([row.metadata.tier for row in pool.rows], object),
        "recency": scores.recency,
        "frequency": scores.frequency,
        "intrinsic": scores.intrinsic,
        "composite": scores.composite,
        "multiplier": multiplier,
        "importance": pool.importance,
        "confidence": pool.confidence,
        "access_count": pool.access_count,
        "created_ms": pool.timestamp,
        "last_accessed_ms": pool.last_accessed,
        "dynamic": pool.dynamic,
    }
    return StageOutcome(flow.sorted(score), rule=rule, inputs=inputs, params={"decay": params})


# Length normalisation: long memories match more words by accident.

SLOPE = 0.5


def length_normalization(flow: Ranking, pool: CandidatePool, *, anchor: float) -> StageOutcome:
    """score / (1 + 0.5 * log2(max(length / anchor, 1))) (spec/retrieval 4.8); no bonus for short texts.

    Lengths are UTF-16 units; `corpus:` ids are exempt; an anchor of 0 switches the stage off.
    """
    params = {"lengthNormAnchor": anchor}
    if anchor <= 0:
        return StageOutcome(flow, params=params, note="off")
    with np.errstate(over="ignore"):
        divisor = 1 + SLOPE * np.log2(np.maximum(pool.length / anchor, 1))
    score = np.where(pool.corpus, flow.score, clip01(flow.score / divisor))
    rule = np.where(pool.corpus, "exempt", "length").astype(object)
    inputs = {"length": pool.length, "anchor": anchor}
    return StageOutcome(flow.sorted(score), rule=rule, inputs=inputs, params=params)


# Fusion: two lanes' scores become one.

EXACT_MATCH = 0.75
"""From this keyword score on, a hit counts as an exact match and keeps 0.92 of it through fusion."""

EXACT_SHARE = 0.92

LANE_FLOOR = 0.1


def weighted(pool: CandidatePool, *, vector_weight: float, bm25_weight: float) -> StageOutcome:
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
    union = Ranking(np.flatnonzero(found), score)
    inputs = {
        "vector": pool.v,
        "bm25": pool.b,
        "vector_weight": vector_weight,
        "bm25_weight": bm25_weight,
    }
    params = {"vectorWeight": vector_weight, "bm25Weight": bm25_weight}
    return StageOutcome(union.sorted(score), rule=rule, inputs=inputs, params=params)


def bump(pool: CandidatePool, *, share: float = 0.15) -> StageOutcome:
    """The February article's fusion: v * (1 + share) when the keywords hit too; keyword only: its own score."""
    v, b = np.nan_to_num(pool.v), np.nan_to_num(pool.b)
    in_vector, in_bm25 = ~np.isnan(pool.v), ~np.isnan(pool.b)
    both = in_vector & in_bm25
    fused = np.where(both, v + share * v, np.where(in_vector, v, b))
    rule = np.where(both, "keyword_bump", np.where(in_vector, "vector_only", "keyword_only")).astype(object)
    found = in_vector | in_bm25
    score = np.where(found, clamp01(fused, LANE_FLOOR), np.nan)
    union = Ranking(np.flatnonzero(found), score)
    inputs = {"vector": pool.v, "bm25": pool.b, "share": share}
    return StageOutcome(union.sorted(score), rule=rule, inputs=inputs, params={"share": share})
