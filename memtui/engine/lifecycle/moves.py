"""What will become of memories, as plain values for the screen, the command line and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["stale", "rises", "sinks", "expires"]
KINDS: tuple[Kind, ...] = ("stale", "rises", "sinks", "expires")
Mover = Literal["nothing", "dreaming", "unknown"]
"""Who moves tiers here, beside a sweep by a person: dreaming, nothing (it is off), or the plugin is not known.

The plugin's tier manager is called by dreaming alone, which is off by default and looks at rows of its last two
days only (spec/retrieval 8.4, 13.4); so a dated move is what the rule would say, not what will happen.
"""


def mover_of(plugin: Mapping[str, Any] | None) -> Mover:
    """Who moves tiers under the plugin's configuration block; None where none is known."""
    if plugin is None:
        return "unknown"
    block = plugin.get("dreaming")
    return "dreaming" if isinstance(block, Mapping) and block.get("enabled") is True else "nothing"


@dataclass(frozen=True, slots=True)
class TierMove:
    """One transition of the tier manager, with the numbers that its rule looked at."""

    id: str
    before: str
    after: str
    rule: str
    """The condition that is met, with its numbers."""
    reason: str
    """The plugin's own words for it."""
    composite: float
    uses: int
    importance: float
    age_days: float
    held: str = ""
    """Why a sweep leaves it alone unless told otherwise; empty when it does not."""

    @property
    def rises(self) -> bool:
        """Whether it is a promotion."""
        order = ("core", "working", "peripheral")
        return order.index(self.after) < order.index(self.before)

    def as_json(self) -> dict[str, Any]:
        """The shape of the command line's contract."""
        return {
            "id": self.id,
            "from": self.before,
            "to": self.after,
            "rule": self.rule,
            "reason": self.reason,
            "composite": self.composite,
            "access_count": self.uses,
            "importance": self.importance,
            "age_days": self.age_days,
            "held": self.held or None,
        }


@dataclass(frozen=True, slots=True)
class TierFlow:
    """How many memories one rule moves from one tier to another."""

    before: str
    after: str
    rule: str
    """The condition that they meet, with the settings filled in."""
    rows: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """One memory meets one line at one moment (ms)."""

    id: str
    kind: Kind
    at_ms: int
    tier: str
    to: str
    """The tier that it would get; its own where the crossing is none of tiers."""
    composite: float
    """Now."""
    importance: float
    uses: int
    recalled: bool = True
    """Whether recall can still return it."""

    def as_json(self) -> dict[str, Any]:
        """The shape of the command line's contract."""
        moved = {"from": self.tier, "to": self.to} if self.kind in ("rises", "sinks") else {}
        return {
            "id": self.id,
            "kind": self.kind,
            "at_ms": self.at_ms,
            "tier": self.tier,
            **moved,
            "composite": self.composite,
            "importance": self.importance,
            "access_count": self.uses,
            "recalled": self.recalled,
        }
