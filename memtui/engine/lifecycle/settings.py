"""The decay and tier settings that hold for a store, and what a person should know of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import ConfigError
from memtui.engine.lifecycle.knobs import BY_KEY, KNOBS

if TYPE_CHECKING:
    from memtui.engine.lifecycle.decay import DecayParams
    from memtui.engine.lifecycle.tiers import TierParams

Changes = Mapping[str, float]
"""LifecycleSettings tried out: `block.name` (as in `Knob.key`) to a value."""


@dataclass(frozen=True, slots=True)
class LifecycleSettings:
    """Resolved settings. `values` is by `Knob.key`; `notes` are sentences for people."""

    values: Mapping[str, float]
    origin: str
    """Where they come from: "the plugin's defaults", or the configuration that sets some."""
    notes: tuple[str, ...] = ()

    @property
    def decay(self) -> DecayParams:
        """The same for the decay engine."""
        from memtui.engine.lifecycle.decay import DecayParams

        return DecayParams(**self._block("decay"))

    @property
    def tier(self) -> TierParams:
        """The same for the tier manager."""
        from memtui.engine.lifecycle.tiers import TierParams

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
    from memtui.engine.recall.config import resolve_lifecycle

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
