"""When a memory that nobody uses falls below a line: the formula of decay, solved for the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtui.engine.lifecycle.decay import (
    DAY_MS,
    DecayParams,
    Floats,
    effective_half_life_days,
    frequency_of,
    use_of,
)


def moment_below(
    line: float,
    importance: ArrayLike,
    confidence: ArrayLike,
    tier: NDArray[Any],
    access_count: ArrayLike,
    created_ms: ArrayLike,
    last_accessed_ms: ArrayLike,
    dynamic: ArrayLike,
    *,
    params: DecayParams,
) -> Floats:
    """About when (ms) the composite of each memory falls below `line` if nobody uses it; NaN where it never does.

    The formula of `decay_scores` solved for t: R = (line - wF*F - wI*I) / wR, t = (-ln R * H_eff / ln 2)^(1/beta).
    """
    count, created, last_active = use_of(access_count, created_ms, last_accessed_ms)
    rest = params.frequency_weight * frequency_of(count, created, last_active)
    rest += params.intrinsic_weight * np.asarray(importance, np.float64) * np.asarray(confidence, np.float64)
    with np.errstate(all="ignore"):
        loss = -np.log((line - rest) / params.recency_weight)
        half_life = effective_half_life_days(importance, dynamic, params)
        days = (loss * half_life / np.log(2)) ** (1 / params.betas[tier])
        return np.asarray(last_active + days * DAY_MS)
