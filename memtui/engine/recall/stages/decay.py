"""The decay boost: a memory's lifecycle in its score."""

from __future__ import annotations

import numpy as np

from memtui.engine.lifecycle.decay import DecayParams, decay_scores, search_multiplier
from memtui.engine.recall.flow import Flow, Outcome, clip01
from memtui.engine.recall.pool import Pool


def decay_boost(flow: Flow, pool: Pool, *, params: DecayParams) -> Outcome:
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
    return Outcome(flow.sorted(score), rule=rule, inputs=inputs, params={"decay": params})
