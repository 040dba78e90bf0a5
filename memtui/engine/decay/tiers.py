"""The tier manager: when a memory rises or sinks between core, working and peripheral."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtui.engine.core.javascript import text_of, to_fixed
from memtui.engine.core.memory import TIERS

DAY_MS = 86_400_000

CORE, WORKING, PERIPHERAL = (TIERS.index(tier) for tier in ("core", "working", "peripheral"))


@dataclass(frozen=True, slots=True)
class TierParams:
    """The plugin's `tier` block: access counts, composite scores, importance, days."""

    core_access_threshold: int = 10
    core_composite_threshold: float = 0.7
    core_importance_threshold: float = 0.8
    peripheral_composite_threshold: float = 0.15
    peripheral_age_days: float = 60
    working_access_threshold: int = 3
    working_composite_threshold: float = 0.4


def next_tier(
    tier: NDArray[np.uint8],
    *,
    access_count: ArrayLike,
    composite: ArrayLike,
    importance: ArrayLike,
    created_ms: ArrayLike,
    now_ms: ArrayLike,
    params: TierParams,
) -> NDArray[np.uint8]:
    """The tier of each of n memories after one evaluation, codes in the order of `memory.TIERS`.

    At most one step; rising is looked at before sinking. Age counts from creation, not from last use.
    """
    count, score = np.asarray(access_count), np.asarray(composite)
    is_low = score < params.peripheral_composite_threshold
    rarely_used = count < params.working_access_threshold
    rises_to_working = ~rarely_used & (score >= params.working_composite_threshold)
    rises_to_core = (
        (count >= params.core_access_threshold)
        & (score >= params.core_composite_threshold)
        & (np.asarray(importance) >= params.core_importance_threshold)
    )
    is_old = age_days(created_ms, now_ms) > params.peripheral_age_days
    core, working = tier == CORE, tier == WORKING
    rises = (working & rises_to_core) | (~core & ~working & rises_to_working)
    sinks = (working & ~rises_to_core & (is_low | (is_old & rarely_used))) | (core & is_low & rarely_used)
    return np.asarray(tier + sinks - rises, np.uint8)  # the codes are in order, one step apart


def age_days(created_ms: ArrayLike, now_ms: ArrayLike) -> NDArray[np.float64]:
    """Days since creation."""
    return np.asarray((np.asarray(now_ms, np.float64) - np.asarray(created_ms, np.float64)) / DAY_MS)


def reason(
    before: str,
    after: str,
    *,
    access_count: int,
    composite: float,
    importance: float,
    created_ms: float,
    now_ms: int,
    params: TierParams,
) -> str:
    """Why a memory moves from one tier to another, in the plugin's words; empty when it stays."""
    score = to_fixed(composite, 2)
    if (before, after) == ("peripheral", "working"):
        least = text_of(params.working_composite_threshold)
        return f"Access count ({access_count}) >= {params.working_access_threshold} and composite ({score}) >= {least}"
    if (before, after) == ("working", "core"):
        return f"High access ({access_count}), composite ({score}), importance ({text_of(importance)})"
    if (before, after) == ("working", "peripheral"):
        days = to_fixed(float(age_days(created_ms, now_ms)), 0)
        return f"Low composite ({score}) or aged {days} days with low access ({access_count})"
    if (before, after) == ("core", "working"):
        return f"Severely low composite ({score}) and access ({access_count})"
    return ""
