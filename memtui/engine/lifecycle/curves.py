"""Curves to draw: how a memory fades in each tier, and where it stands on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from memtui.engine.core.memory import TIERS
from memtui.engine.decay.decay import DecayParams, effective_half_life_days, search_multiplier
from memtui.engine.lifecycle.crossings import Scenario, usage_of
from memtui.engine.lifecycle.population import Floats, MemoryTraits, score_at

# One memory's life and the model's curves, as plain values to draw and to read.

Measure = Literal["composite", "recency", "boost"]


@dataclass(frozen=True, slots=True)
class TierCurve:
    """One tier's curve: `values` over the x of its `Curves`."""

    tier: str
    values: tuple[float, ...]
    half_days: float
    """Days since the last use after which recency is 1/2; infinite where it never is."""
    fold_days: float
    """Days after which it is 1/e, which the article (and other programs) call the half-life."""
    floor: float
    """What composite and recency count as at least, in the search boost."""
    floor_boost: float
    """The search boost at that floor."""


@dataclass(frozen=True, slots=True)
class Curves:
    """The model: one curve a tier over `x` days, counted from the memory's last use."""

    measure: Measure
    days: float
    x: tuple[float, ...]
    tiers: tuple[TierCurve, ...]
    stale_line: float


@dataclass(frozen=True, slots=True)
class FormulaLine:
    """One number and where it comes from: `formula` has the numbers filled in."""

    symbol: str
    name: str
    formula: str
    value: float
    note: str = ""


DAY_MS = 86_400_000

TYPICAL = (0.7, 0.7)
"""Importance and confidence of the memory that the model is drawn for when none is chosen."""

Level = Literal["half", "e-folding"]


def typical(now_ms: int) -> MemoryTraits:
    """A memory as the plugin makes one by default, written now and not used yet."""
    importance, confidence = TYPICAL
    return MemoryTraits(
        importance=np.array([importance]),
        confidence=np.array([confidence]),
        tier=np.array([TIERS.index("working")], np.uint8),
        uses=np.zeros(1),
        created=np.array([float(now_ms)]),
        last_used=np.array([float(now_ms)]),
        dynamic=np.zeros(1, np.bool_),
        valid_until=np.full(1, np.nan),
        recalled=np.ones(1, np.bool_),
    )


def model_curves(
    one: MemoryTraits, decay: DecayParams, *, measure: Measure, begin_ms: float, days: float, points: int
) -> Curves:
    """The curves of the three tiers for a memory like `one` (a single row), over days from `begin_ms` on.

    That is its last use, where the axis reads as days since then.
    """
    x = np.linspace(0.0, max(days, 1e-6), max(2, points))
    at = begin_ms + x * DAY_MS
    tiers = []
    for code, name in enumerate(TIERS):
        some = repeated(replace(one, tier=np.array([code], np.uint8)), x.size)
        half, fold = (days_to(one, code, decay, level) for level in ("half", "e-folding"))
        values = values_at(some, at, decay, measure)
        floor = float(decay.floors[code])
        at_floor = decay.search_boost_min + (1 - decay.search_boost_min) * floor
        tiers.append(TierCurve(name, tuple(values.tolist()), half, fold, floor, at_floor))
    return Curves(measure, days, tuple(x.tolist()), tuple(tiers), decay.stale_threshold)


def days_to(one: MemoryTraits, code: int, decay: DecayParams, level: Level) -> float:
    """Days after which recency is 1/2 ("half"), or 1/e, what other programs call half-life ("e-folding").

    (H_eff)^(1/beta) and (H_eff / ln 2)^(1/beta); infinite where that is no finite number.
    """
    half_life = float(effective_half_life_days(one.importance, one.dynamic, decay)[0])
    base = half_life if level == "half" else half_life / math.log(2)
    try:
        return float(base ** (1 / float(decay.betas[code])))
    except OverflowError:
        return math.inf


def own_curve(
    one: MemoryTraits,
    decay: DecayParams,
    *,
    measure: Measure,
    scenario: Scenario,
    now_ms: int,
    at_ms: Sequence[float],
) -> tuple[float, ...]:
    """The value of one memory (a single row) at each moment: its uses are known up to now, supposed after."""
    at = np.asarray(at_ms, np.float64)
    some = repeated(one, at.size)
    usage = usage_of(some, now_ms, scenario)
    later = usage.during(some, usage.turn_at(at))
    return tuple(values_at(later, at, decay, measure).tolist())


def values_at(some: MemoryTraits, at_ms: Floats, decay: DecayParams, measure: Measure) -> Floats:
    """Recency, composite or search boost of n memories, each at its own moment."""
    scores = score_at(some, at_ms, decay)
    if measure == "boost":
        return search_multiplier(scores, some.tier, decay)
    return scores.recency if measure == "recency" else scores.composite


def repeated(one: MemoryTraits, n: int) -> MemoryTraits:
    """The same memory n times."""
    return MemoryTraits(*(np.repeat(getattr(one, name), n) for name in one.__slots__))
