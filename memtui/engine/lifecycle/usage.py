"""What will happen to memories from now on: nobody uses them, or they are used as often as before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from memtui.engine.lifecycle.population import Floats, Places, Traits

Scenario = Literal["no access", "access as before"]
SCENARIOS: tuple[Scenario, ...] = ("no access", "access as before")


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """When each of n memories is used again: at `first` (ms) and every `gap` ms after that; NaN: never.

    The gap is the memory's age divided by its uses. The first use comes one gap after the last one, or one
    gap from now where that time has passed. A memory that was never used, or whose age is not known, is
    never used.
    """

    first: Floats
    gap: Floats

    def take(self, at: Places) -> Usage:
        """The same of some of them."""
        return Usage(self.first[at], self.gap[at])

    def start(self, turn: Floats, now_ms: float) -> Floats:
        """The first whole millisecond of turn number `turn`: turn 0 begins now, turn 1 with the first use."""
        with np.errstate(invalid="ignore"):
            return np.where(turn > 0, np.ceil(self.first + (turn - 1) * self.gap), float(now_ms))

    def end(self, turn: Floats, now_ms: float, until_ms: float) -> Floats:
        """The last whole millisecond of that turn; `until_ms` where the next use comes later or never."""
        with np.errstate(invalid="ignore"):
            following = np.where(turn > 0, self.first + turn * self.gap, self.first)
            last = np.maximum(self.start(turn, now_ms), np.ceil(following) - 1)
        return np.where(following <= until_ms, last, float(until_ms))

    def turns(self, until_ms: float) -> Floats:
        """How many uses come until then."""
        with np.errstate(invalid="ignore", divide="ignore"):
            count = np.floor((until_ms - self.first) / self.gap) + 1
        return np.where(self.first <= until_ms, np.maximum(count, 1.0), 0.0)

    def during(self, traits: Traits, turn: Floats) -> Traits:
        """The memories as they are in that time: so many uses more, the last of them at its start."""
        if not np.any(turn):
            return traits
        with np.errstate(invalid="ignore"):
            used = np.where(turn > 0, self.first + (turn - 1) * self.gap, traits.last_used)
        return replace(traits, uses=traits.uses + turn, last_used=used)

    def turn_at(self, at_ms: Floats | float) -> Floats:
        """How many uses there were by then."""
        with np.errstate(invalid="ignore", divide="ignore"):
            count = np.floor((at_ms - self.first) / self.gap) + 1
        return np.where(self.first <= at_ms, np.maximum(count, 1.0), 0.0)


def usage_of(traits: Traits, now_ms: int, scenario: Scenario) -> Usage:
    """When the memories are used from `now_ms` on."""
    never = np.full(traits.n, np.nan)
    if scenario == "no access":
        return Usage(never, never)
    used = (traits.uses > 0) & (traits.created > 0) & (traits.created < now_ms)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(used, (now_ms - traits.created) / traits.uses, np.nan)
    due = traits.last_used + gap
    return Usage(np.where(due > now_ms, due, now_ms + gap), gap)
