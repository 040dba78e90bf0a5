"""The decay and tier settings that hold for a store, and what a person should know of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import ConfigError

if TYPE_CHECKING:
    from memtui.engine.decay.decay import DecayParams
    from memtui.engine.decay.tiers import TierParams


# Every setting of decay and tiers that a person can turn: its range, its step, what it means.


@dataclass(frozen=True, slots=True)
class DecayKnob:
    """A decay or tier setting. `key` is `block.name` in the plugin; `low` to `high` is what its schema allows."""

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


KNOBS: tuple[DecayKnob, ...] = (
    DecayKnob(
        "decay.recencyHalfLifeDays", "half-life", 1, 365, 5, 30, "half-life in days at importance 0", "d"
    ),
    DecayKnob(
        "decay.importanceModulation", "imp. stretch", 0, 10, 0.1, 1.5, "how much importance stretches it"
    ),
    DecayKnob(
        "decay.betaCore", "beta core", 0.1, 5, 0.05, 0.8, "shape of the core curve: low is slow to end"
    ),
    DecayKnob("decay.betaWorking", "beta working", 0.1, 5, 0.05, 1.0, "shape of the working curve"),
    DecayKnob("decay.betaPeripheral", "beta periph.", 0.1, 5, 0.05, 1.3, "shape of the peripheral curve"),
    DecayKnob("decay.recencyWeight", "w recency", 0, 1, 0.05, 0.4, "share of recency in the composite"),
    DecayKnob("decay.frequencyWeight", "w frequency", 0, 1, 0.05, 0.3, "share of use"),
    DecayKnob("decay.intrinsicWeight", "w intrinsic", 0, 1, 0.05, 0.3, "share of importance and confidence"),
    DecayKnob("decay.staleThreshold", "stale below", 0, 1, 0.01, 0.3, "a composite below it is called stale"),
    DecayKnob("decay.searchBoostMin", "boost min", 0, 1, 0.05, 0.3, "the least that decay leaves of a score"),
    DecayKnob("decay.coreDecayFloor", "floor core", 0, 1, 0.05, 0.9, "a core memory never ranks as less"),
    DecayKnob("decay.workingDecayFloor", "floor working", 0, 1, 0.05, 0.7, "a working one"),
    DecayKnob("decay.peripheralDecayFloor", "floor periph.", 0, 1, 0.05, 0.5, "a peripheral one"),
    DecayKnob("tier.coreAccessThreshold", "core: uses", 0, 100, 1, 10, "uses that a core memory needs"),
    DecayKnob("tier.coreCompositeThreshold", "core: score", 0, 1, 0.05, 0.7, "composite that it needs"),
    DecayKnob("tier.coreImportanceThreshold", "core: import.", 0, 1, 0.05, 0.8, "importance that it needs"),
    DecayKnob(
        "tier.workingAccessThreshold", "working: uses", 0, 100, 1, 3, "uses that lift out of peripheral"
    ),
    DecayKnob("tier.workingCompositeThreshold", "working: score", 0, 1, 0.05, 0.4, "composite for that"),
    DecayKnob(
        "tier.peripheralCompositeThreshold", "sink: score", 0, 1, 0.01, 0.15, "below it a memory sinks"
    ),
    DecayKnob("tier.peripheralAgeDays", "sink: age", 1, 730, 5, 60, "older and rarely used, it sinks", "d"),
)

BY_KEY: Mapping[str, DecayKnob] = {knob.key: knob for knob in KNOBS}

Changes = Mapping[str, float]
"""LifecycleSettings tried out: `block.name` (as in `Knob.key`) to a value."""


@dataclass(frozen=True, slots=True)
class LifecycleSettings:
    """Resolved settings. `values` is by `DecayKnob.key`; `notes` are sentences for people."""

    values: Mapping[str, float]
    origin: str
    """Where they come from: "the plugin's defaults", or the configuration that sets some."""
    notes: tuple[str, ...] = ()

    @property
    def decay(self) -> DecayParams:
        """The values that the decay engine takes."""
        from memtui.engine.decay.decay import DecayParams

        return DecayParams(**self._block("decay"))

    @property
    def tier(self) -> TierParams:
        """The values that the tier manager takes."""
        from memtui.engine.decay.tiers import TierParams

        return TierParams(**self._block("tier"))

    def _block(self, block: str) -> dict[str, Any]:
        from pydantic.alias_generators import to_snake

        return {
            to_snake(key.split(".")[1]): value
            for key, value in self.values.items()
            if key.startswith(f"{block}.")
        }

    def as_blocks(self) -> dict[str, dict[str, float]]:
        """`{"decay": {...}, "tier": {...}}` under the plugin's names: to paste into its configuration."""
        blocks: dict[str, dict[str, float]] = {"decay": {}, "tier": {}}
        for key, value in self.values.items():
            block, name = key.split(".")
            blocks[block][name] = value
        return blocks


def resolve_settings(
    given: Mapping[str, Any] | None,
    *,
    base_decay: Mapping[str, Any] | None = None,
    base_tier: Mapping[str, Any] | None = None,
    origin: str = "",
) -> LifecycleSettings:
    """`given` ({"decay": {...}, "tier": {...}}) over the store's own blocks over the plugin's defaults.

    A block of the store's configuration that makes no curve (a half-life of 0) is left out with a note: the
    plugin's host would refuse it. Raises ConfigError for a bad key or value in `given`.
    """
    from memtui.engine.recall.recipes.pro.settings import resolve_lifecycle

    notes: list[str] = []
    own: dict[str, Mapping[str, Any] | None] = {"decay": base_decay, "tier": base_tier}
    for block, base in own.items():
        try:
            resolve_lifecycle({block: base})
        except ConfigError as error:
            notes.append(f"{error.message} The plugin's defaults are shown in its place.")
            own[block] = None
    decay, tier = resolve_lifecycle(given, base_decay=own["decay"], base_tier=own["tier"])
    values = {f"decay.{name}": value for name, value in decay.as_block().items()}
    values |= {f"tier.{name}": value for name, value in tier.as_block().items()}
    set_by = [block for block, base in own.items() if base]
    where = (
        f"{' and '.join(set_by)} of {origin or 'the configuration'}" if set_by else "the plugin's defaults"
    )
    return LifecycleSettings(values, where, (*notes, *_notes(values)))


def with_changes(settings: LifecycleSettings, changes: Changes) -> LifecycleSettings:
    """The settings with some of them changed; raises ConfigError for one that is unknown or makes no curve."""
    blocks: dict[str, Any] = settings.as_blocks()
    for key, value in changes.items():
        if key not in BY_KEY:
            raise ConfigError(
                f"{key} is not a known setting.", path=key, fix=f"Known keys: {', '.join(BY_KEY)}."
            )
        blocks[BY_KEY[key].block][BY_KEY[key].name] = value
    return resolve_settings(blocks, origin=settings.origin) if changes else settings


def _notes(values: Mapping[str, float]) -> list[str]:
    out = [
        f"{knob.key} = {values[knob.key]:g} is outside {knob.low:g} to {knob.high:g}:"
        " the plugin's host would refuse it."
        for knob in KNOBS
        if not knob.low <= values[knob.key] <= knob.high and knob.block == "decay"
    ]
    weights = sum(values[f"decay.{part}Weight"] for part in ("recency", "frequency", "intrinsic"))
    if abs(weights - 1) > 1e-9:
        out.append(f"The three weights add up to {weights:g}: composites reach {weights:g}, not 1.")
    return out
