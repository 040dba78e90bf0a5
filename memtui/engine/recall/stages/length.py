"""Length normalisation: long memories match more words by accident."""

from __future__ import annotations

import numpy as np

from memtui.engine.recall.flow import Flow, Outcome, clip01
from memtui.engine.recall.pool import Pool

SLOPE = 0.5


def length_normalization(flow: Flow, pool: Pool, *, anchor: float) -> Outcome:
    """score / (1 + 0.5 * log2(max(length / anchor, 1))) (spec/retrieval 4.8); no bonus for short texts.

    Lengths are UTF-16 units; `corpus:` ids are exempt; an anchor of 0 switches the stage off.
    """
    params = {"lengthNormAnchor": anchor}
    if anchor <= 0:
        return Outcome(flow, params=params, note="off")
    with np.errstate(over="ignore"):
        divisor = 1 + SLOPE * np.log2(np.maximum(pool.length / anchor, 1))
    score = np.where(pool.corpus, flow.score, clip01(flow.score / divisor))
    rule = np.where(pool.corpus, "exempt", "length").astype(object)
    inputs = {"length": pool.length, "anchor": anchor}
    return Outcome(flow.sorted(score), rule=rule, inputs=inputs, params=params)
