"""The decay engine: how present a memory still is (spec/retrieval 8.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtui.engine.core.javascript import number
from memtui.engine.metadata.read import parse_object

DAY_MS = 86_400_000

DYNAMIC_DIVISOR = 3
"""Memories of the temporal type `dynamic` decay from a third of the half-life."""

FREQUENCY_SCALE = 5.0
"""Accesses at which the frequency reaches 1 - 1/e."""

GAP_DAYS = 30.0

GAP_FLOOR = 0.5

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DecayParams:
    """The plugin's `decay` block. Days, weights, and per tier the Weibull shape (beta) and the floor."""

    recency_half_life_days: float = 30.0
    recency_weight: float = 0.4
    frequency_weight: float = 0.3
    intrinsic_weight: float = 0.3
    stale_threshold: float = 0.3
    search_boost_min: float = 0.3
    importance_modulation: float = 1.5
    beta_core: float = 0.8
    beta_working: float = 1.0
    beta_peripheral: float = 1.3
    core_decay_floor: float = 0.9
    working_decay_floor: float = 0.7
    peripheral_decay_floor: float = 0.5

    @property
    def betas(self) -> Floats:
        """Shapes by tier code (core, working, peripheral)."""
        return np.array([self.beta_core, self.beta_working, self.beta_peripheral])

    @property
    def floors(self) -> Floats:
        """Floors by tier code."""
        return np.array([self.core_decay_floor, self.working_decay_floor, self.peripheral_decay_floor])


@dataclass(frozen=True, slots=True)
class DecayScores:
    """The components and the composite, each float64 [n]."""

    recency: Floats
    frequency: Floats
    intrinsic: Floats
    composite: Floats

    def stale(self, params: DecayParams) -> NDArray[np.bool_]:
        """composite < stale threshold."""
        return np.asarray(self.composite < params.stale_threshold)


def effective_half_life_days(importance: ArrayLike, dynamic: ArrayLike, params: DecayParams) -> Floats:
    """H * exp(mu * importance), H a third for dynamic memories; the true half-life only where beta is 1."""
    base = params.recency_half_life_days / np.where(np.asarray(dynamic, bool), DYNAMIC_DIVISOR, 1.0)
    return np.asarray(base * np.exp(params.importance_modulation * np.asarray(importance, np.float64)))


def decay_scores(
    importance: ArrayLike,
    confidence: ArrayLike,
    tier: NDArray[Any],
    access_count: ArrayLike,
    created_ms: ArrayLike,
    last_accessed_ms: ArrayLike,
    dynamic: ArrayLike,
    *,
    now_ms: ArrayLike,
    params: DecayParams,
) -> DecayScores:
    """Score n memories; all arguments arrays [n], `tier` codes in the order of `memory.TIERS`.

    `now_ms` is one moment for all of them, or one for each.

    recency R = exp(-(ln 2 / H_eff) * t^beta), t days since last active (last access if ever used, else creation);
    frequency F = 1 - exp(-a/5), for a > 1 times 0.5 + 0.5 * exp(-gap/30), gap = mean days between uses;
    intrinsic I = importance * confidence; composite = weighted sum, the weights not normalised.
    """
    count, created, last_active = use_of(access_count, created_ms, last_accessed_ms)
    days = np.maximum(0.0, (np.asarray(now_ms, np.float64) - last_active) / DAY_MS)
    beta = params.betas[tier]
    with np.errstate(all="ignore"):
        loss = (np.log(2) / effective_half_life_days(importance, dynamic, params)) * days**beta
        if loss.size and np.isnan(loss.min()):
            loss[np.isnan(loss)] = 0.0  # an infinite half-life over an infinite age: nothing is lost
        recency = np.exp(-loss)
    frequency = frequency_of(count, created, last_active)
    intrinsic = np.asarray(importance, np.float64) * np.asarray(confidence, np.float64)
    composite = (
        params.recency_weight * recency
        + params.frequency_weight * frequency
        + params.intrinsic_weight * intrinsic
    )
    return DecayScores(recency, frequency, intrinsic, composite)


def use_of(
    count: ArrayLike, created_ms: ArrayLike, last_accessed_ms: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Uses, creation, and when a memory was last active: used last, or made where it never was."""
    uses, created = np.asarray(count, np.float64), np.asarray(created_ms, np.float64)
    return uses, created, np.where(uses > 0, np.asarray(last_accessed_ms, np.float64), created)


def frequency_of(count: Floats, created: Floats, last_active: Floats) -> Floats:
    """How often it was used, and how regularly."""
    frequency = 1 - np.exp(-count / FREQUENCY_SCALE)
    gap = np.maximum(1.0, (last_active - created) / DAY_MS) / np.maximum(count - 1, 1)
    regular = frequency * (GAP_FLOOR + (1 - GAP_FLOOR) * np.exp(-gap / GAP_DAYS))
    return np.where(count > 1, regular, frequency)


def search_multiplier(scores: DecayScores, tier: NDArray[Any], params: DecayParams) -> Floats:
    """What a recall score is multiplied with: b + (1-b) * max(tier floor, composite, recency), clamped to b..1."""
    low = params.search_boost_min
    best = np.maximum(params.floors[tier], np.maximum(scores.composite, scores.recency))
    return np.asarray(np.clip(low + (1 - low) * best, low, 1.0))


# How use stretches a memory's half-life: access reinforcement (spec/retrieval 8.3).

FRESHNESS_DAYS = 30.0
"""Half-life of an access itself: old uses count less."""

MOST_ACCESSES = 10_000


def access_metadata(raw: str | None) -> tuple[int, float]:
    """(count, last access in ms) as the time-decay stage reads them: the camelCase keys before the snake_case ones."""
    return access_of(parse_object(raw)[0])


def access_of(values: Mapping[str, Any]) -> tuple[int, float]:
    """The same from a parsed metadata object."""
    count = _first(values, "accessCount", "access_count")
    last = _first(values, "lastAccessedAt", "last_accessed_at")
    n, t = number(count), number(last)
    return (
        math.floor(min(MOST_ACCESSES, max(0.0, n))) if math.isfinite(n) else 0,
        t if math.isfinite(t) and t >= 0 else 0.0,
    )


def _first(values: Mapping[str, Any], *keys: str) -> Any:
    return next((values[key] for key in keys if values.get(key) is not None), 0)


def effective_half_life(
    base: ArrayLike,
    access_count: ArrayLike,
    last_accessed_ms: ArrayLike,
    *,
    now_ms: int,
    factor: float,
    max_multiplier: float,
) -> NDArray[np.float64]:
    """min(H + H*f*ln(1 + a * 2^(-d/30)), H*M), d days since the last access; H where f is 0 or a is 0."""
    base, count = np.asarray(base, np.float64), np.asarray(access_count, np.float64)
    idle = np.maximum(0.0, (now_ms - np.asarray(last_accessed_ms, np.float64)) / DAY_MS)
    effective = count * np.exp(-idle * np.log(2) / FRESHNESS_DAYS)
    stretched = np.minimum(base + base * factor * np.log1p(effective), base * max_multiplier)
    return np.where((factor > 0) & (count > 0), stretched, base)
