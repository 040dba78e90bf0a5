"""Populations for lifecycle tests, and the plugin's formulas once more: one memory at a time, in plain arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from memtui.engine.core.memory import TIERS
from memtui.engine.decay.decay import DecayParams
from memtui.engine.decay.tiers import TierParams
from memtui.engine.lifecycle.population import MemoryTraits

DAY_MS = 86_400_000


def population(n: int, now_ms: int, seed: int = 0) -> MemoryTraits:
    """`n` memories of all ages, tiers and habits; some dynamic, some that expire."""
    rng = np.random.default_rng(seed)
    created = np.floor(now_ms - rng.uniform(0, 400, n) * DAY_MS)
    uses = np.floor(rng.exponential(3, n)) * (rng.random(n) < 0.7)
    last = np.floor(created + (now_ms - created) * rng.random(n))
    return MemoryTraits(
        importance=np.round(rng.random(n), 2),
        confidence=np.round(rng.random(n), 2),
        tier=rng.integers(0, 3, n).astype(np.uint8),
        uses=uses,
        created=created,
        last_used=np.where(uses > 0, last, created),
        dynamic=rng.random(n) < 0.1,
        valid_until=np.where(
            rng.random(n) < 0.1, np.floor(now_ms + rng.uniform(-30, 90, n) * DAY_MS), np.nan
        ),
        recalled=np.ones(n, np.bool_),
    )


@dataclass(frozen=True)
class One:
    """One memory for the simulation."""

    importance: float
    confidence: float
    tier: str
    uses: int
    created: float
    last: float
    dynamic: bool

    def composite(self, t: float, p: DecayParams) -> float:
        """The composite at `t`, by the formulas of spec/retrieval 8.1."""
        active = self.last if self.uses > 0 else self.created
        days = max(0.0, (t - active) / DAY_MS)
        beta = {"core": p.beta_core, "working": p.beta_working, "peripheral": p.beta_peripheral}[self.tier]
        half = p.recency_half_life_days / (3 if self.dynamic else 1)
        half *= math.exp(p.importance_modulation * self.importance)
        recency = math.exp(-(math.log(2) / half) * days**beta)
        frequency = 1 - math.exp(-self.uses / 5)
        if self.uses > 1:
            gap = max(1.0, (active - self.created) / DAY_MS) / max(self.uses - 1, 1)
            frequency *= 0.5 + 0.5 * math.exp(-gap / 30)
        intrinsic = self.importance * self.confidence
        return p.recency_weight * recency + p.frequency_weight * frequency + p.intrinsic_weight * intrinsic

    def verdict(self, t: float, p: DecayParams, q: TierParams) -> str:
        """The tier manager's verdict at `t`, by the table of spec/retrieval 8.2."""
        score, a, age = self.composite(t, p), self.uses, (t - self.created) / DAY_MS
        low, rare = score < q.peripheral_composite_threshold, a < q.working_access_threshold
        if self.tier == "peripheral":
            return "working" if not rare and score >= q.working_composite_threshold else "peripheral"
        if self.tier == "core":
            return "working" if low and rare else "core"
        if (
            a >= q.core_access_threshold
            and score >= q.core_composite_threshold
            and self.importance >= q.core_importance_threshold
        ):
            return "core"
        return "peripheral" if low or (age > q.peripheral_age_days and rare) else "working"


def one(traits: MemoryTraits, at: int) -> One:
    """Row `at` of a population."""
    return One(
        float(traits.importance[at]),
        float(traits.confidence[at]),
        TIERS[traits.tier[at]],
        int(traits.uses[at]),
        float(traits.created[at]),
        float(traits.last_used[at]),
        bool(traits.dynamic[at]),
    )


@dataclass
class Lived:
    """The first moment at which a simulated memory was seen in each state; None for never."""

    stale: float | None = None
    rises: float | None = None
    sinks: float | None = None


def live(
    memory: One, now: int, days: int, p: DecayParams, q: TierParams, gap_ms: float | None, first_ms: float
) -> Lived:
    """Step a clock day by day; uses at `first_ms` and every `gap_ms` after it, each looked at before and after."""
    lived = Lived()
    order = ("core", "working", "peripheral")
    began_stale = memory.composite(now, p) < p.stale_threshold
    began = order.index(memory.verdict(now, p, q)) - order.index(memory.tier)

    def look(t: float) -> None:
        if not began_stale and lived.stale is None and memory.composite(t, p) < p.stale_threshold:
            lived.stale = t
        step = order.index(memory.verdict(t, p, q)) - order.index(memory.tier)
        if began >= 0 and lived.rises is None and step < 0:
            lived.rises = t
        if began <= 0 and lived.sinks is None and step > 0:
            lived.sinks = t

    use = 0
    for day in range(1, days + 1):
        t = now + day * DAY_MS
        while gap_ms is not None and first_ms + use * gap_ms <= t:
            at = first_ms + use * gap_ms
            look(math.ceil(at) - 1)
            memory = replace(memory, uses=memory.uses + 1, last=at)
            look(math.ceil(at))
            use += 1
        look(t)
    return lived
