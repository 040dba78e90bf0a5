"""Every setting of decay and tiers that a person can turn: its range, its step, what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting. `key` is `block.name` as the plugin spells it; `low` to `high` is what its schema allows."""

    key: str
    title: str
    low: float
    high: float
    step: float
    default: float
    meaning: str
    unit: str = ""

    @property
    def block(self) -> str:
        """`decay` or `tier`."""
        return self.key.split(".")[0]

    @property
    def name(self) -> str:
        """The name within its block."""
        return self.key.split(".")[1]

    @property
    def whole(self) -> bool:
        """Whether it counts something."""
        return self.name.endswith("AccessThreshold")

    def moved(self, value: float, steps: int) -> float | int:
        """`value` after so many steps, within the range and on the grid of steps."""
        wanted = round(value / self.step) * self.step + steps * self.step
        kept = min(self.high, max(self.low, wanted))
        return round(kept) if self.whole else round(kept, 6)


KNOBS: tuple[Knob, ...] = (
    Knob("decay.recencyHalfLifeDays", "half-life", 1, 365, 5, 30, "days to half, for importance 0", "d"),
    Knob("decay.importanceModulation", "imp. stretch", 0, 10, 0.1, 1.5, "how much importance stretches it"),
    Knob("decay.betaCore", "beta core", 0.1, 5, 0.05, 0.8, "shape of the core curve: low is slow to end"),
    Knob("decay.betaWorking", "beta working", 0.1, 5, 0.05, 1.0, "shape of the working curve"),
    Knob("decay.betaPeripheral", "beta periph.", 0.1, 5, 0.05, 1.3, "shape of the peripheral curve"),
    Knob("decay.recencyWeight", "w recency", 0, 1, 0.05, 0.4, "share of recency in the composite"),
    Knob("decay.frequencyWeight", "w frequency", 0, 1, 0.05, 0.3, "share of use"),
    Knob("decay.intrinsicWeight", "w intrinsic", 0, 1, 0.05, 0.3, "share of importance and confidence"),
    Knob("decay.staleThreshold", "stale line", 0, 1, 0.01, 0.3, "a composite below it is called stale"),
    Knob("decay.searchBoostMin", "boost min", 0, 1, 0.05, 0.3, "the least that decay leaves of a score"),
    Knob("decay.coreDecayFloor", "floor core", 0, 1, 0.05, 0.9, "a core memory never ranks as less"),
    Knob("decay.workingDecayFloor", "floor working", 0, 1, 0.05, 0.7, "a working one"),
    Knob("decay.peripheralDecayFloor", "floor periph.", 0, 1, 0.05, 0.5, "a peripheral one"),
    Knob("tier.coreAccessThreshold", "core: uses", 0, 100, 1, 10, "uses that a core memory needs"),
    Knob("tier.coreCompositeThreshold", "core: score", 0, 1, 0.05, 0.7, "composite that it needs"),
    Knob("tier.coreImportanceThreshold", "core: import.", 0, 1, 0.05, 0.8, "importance that it needs"),
    Knob("tier.workingAccessThreshold", "working: uses", 0, 100, 1, 3, "uses that lift out of peripheral"),
    Knob("tier.workingCompositeThreshold", "working: score", 0, 1, 0.05, 0.4, "composite for that"),
    Knob("tier.peripheralCompositeThreshold", "sink: score", 0, 1, 0.01, 0.15, "below it a memory sinks"),
    Knob("tier.peripheralAgeDays", "sink: age", 1, 730, 5, 60, "older and rarely used, it sinks", "d"),
)
BY_KEY: Mapping[str, Knob] = {knob.key: knob for knob in KNOBS}
