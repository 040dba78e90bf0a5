"""Age and importance in the score: the stages that run only without a decay engine (CLI search)."""

from __future__ import annotations

import numpy as np

from memtui.engine.lifecycle.access import effective_half_life
from memtui.engine.recall.flow import Flow, Outcome, clamp01, clip01
from memtui.engine.recall.pool import Floats, Pool

DAY_MS = 86_400_000
IMPORTANCE_BASE = 0.7
TIME_FLOOR = 0.5
DYNAMIC_DIVISOR = 3


def _age_days(pool: Pool) -> Floats:
    """Days since creation; an unknown time counts as now; future times are negative, as in the peer."""
    stamp = np.where(pool.timestamp > 0, pool.timestamp, pool.now_ms)
    return (pool.now_ms - stamp) / DAY_MS


def recency(flow: Flow, pool: Pool, *, half_life_days: float, weight: float) -> Outcome:
    """score + weight * exp(-age / h), clamped (spec/retrieval 4.6). `half_life_days` is an e-folding time."""
    params = {"recencyHalfLifeDays": half_life_days, "recencyWeight": weight}
    if half_life_days <= 0 or weight <= 0:
        return Outcome(flow, params=params, note="off")
    age = _age_days(pool)
    with np.errstate(over="ignore"):
        score = clamp01(flow.score + weight * np.exp(-age / half_life_days), flow.score)
    inputs = {
        "age_days": age,
        "created_ms": pool.timestamp,
        "weight": weight,
        "e_folding_days": half_life_days,
    }
    return Outcome(flow.sorted(_keep_nan(flow, score)), rule="recency", inputs=inputs, params=params)


def importance(flow: Flow, pool: Pool) -> Outcome:
    """score * (0.7 + 0.3 * importance) (spec/retrieval 4.7)."""
    factor = IMPORTANCE_BASE + (1 - IMPORTANCE_BASE) * pool.importance
    score = clip01(flow.score * factor)
    inputs = {"importance": pool.importance}
    return Outcome(
        flow.sorted(score),
        rule="importance",
        inputs=inputs,
        params={"base": IMPORTANCE_BASE},
    )


def time_decay(
    flow: Flow, pool: Pool, *, half_life_days: float, reinforcement: float, max_multiplier: float
) -> Outcome:
    """score * (0.5 + 0.5 * exp(-age / E)) with E stretched by use (spec/retrieval 4.10, 8.3).

    Dynamic memories start from a third of the half-life; `corpus:` ids are exempt.
    """
    params = {
        "timeDecayHalfLifeDays": half_life_days,
        "reinforcementFactor": reinforcement,
        "maxHalfLifeMultiplier": max_multiplier,
    }
    if half_life_days <= 0:
        return Outcome(flow, params=params, note="off")
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
    return Outcome(flow.sorted(_keep_nan(flow, score)), rule=rule, inputs=inputs, params=params)


def _keep_nan(flow: Flow, score: Floats) -> Floats:
    return np.where(np.isnan(flow.score), np.nan, score)
