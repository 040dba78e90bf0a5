"""Flip points: the values of a parameter at which other memories come back, or in another order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from memtui.engine.errors import UsageError
from memtui.engine.lab.whatif import Ask, at_hand

if TYPE_CHECKING:
    from memtui.engine.lab.knobs import Knob
    from memtui.engine.recall.record import Trace

LOOKS = 32
"""Evenly spaced values looked at first; a stretch shorter than the gap between them may be missed."""


@dataclass(frozen=True, slots=True)
class Flip:
    """Between `before` and `after`, one step apart, the list changes."""

    before: float
    after: float
    left: tuple[str, ...]
    """Ids that are gone above the flip."""
    entered: tuple[str, ...]
    reordered: bool
    """Whether only the order changes."""


@dataclass(frozen=True, slots=True)
class Strip:
    """The whole range of one parameter: its flip points, ascending, and where another search would be needed."""

    path: str
    value: float
    low: float
    high: float
    flips: tuple[Flip, ...]
    unknown: tuple[tuple[float, float], ...] = ()
    """Stretches that cannot be answered from what was found."""

    @property
    def safe(self) -> tuple[float, float]:
        """The range around the present value in which the list stays as it is."""
        low = max((flip.after for flip in self.flips if flip.after <= self.value), default=self.low)
        high = min((flip.before for flip in self.flips if flip.before >= self.value), default=self.high)
        return low, high


Seen = tuple[str, ...] | None


def strip(trace: Trace, knob: Knob, value: float, ask: Ask) -> Strip:
    """The flip points of a number `knob` that stands at `value`, each confirmed on both sides.

    The range is looked at in even steps, then each change is narrowed down to one step of the knob.
    """
    if knob.kind not in ("number", "whole"):
        raise UsageError(f"{knob.path} is no number.", fix="Only numbers have flip points.")
    seen: dict[int, Seen] = {}
    last = round(knob.span / knob.step)

    def look(step: int) -> Seen:
        if step not in seen:
            after = at_hand(trace, {knob.path: knob.clamp(knob.low + step * knob.step)}, ask)
            seen[step] = None if after is None else after.returned
        return seen[step]

    here = min(last, max(0, round((value - knob.low) / knob.step)))
    steps = sorted({round(last * i / LOOKS) for i in range(LOOKS + 1)} | {here})
    flips: list[Flip] = []
    unknown: list[tuple[float, float]] = []
    for low, high in pairwise(steps):
        for a, b in _changes(look, low, high):
            before, after = look(a), look(b)
            ends = (knob.clamp(knob.low + a * knob.step), knob.clamp(knob.low + b * knob.step))
            if before is None or after is None:
                unknown.append(ends)
                continue
            left = tuple(key for key in before if key not in after)
            entered = tuple(key for key in after if key not in before)
            flips.append(Flip(*ends, left, entered, not left and not entered))
    return Strip(knob.path, value, knob.low, knob.high, tuple(flips), tuple(unknown))


def _changes(look: Callable[[int], Seen], low: int, high: int) -> list[tuple[int, int]]:
    """Neighbouring steps between which the list changes, found by halving; (low, high) where it is unknown."""
    if look(low) == look(high):
        return [(low, high)] if look(low) is None else []
    if high - low == 1:
        return [(low, high)]
    middle = (low + high) // 2
    return [*_changes(look, low, middle), *_changes(look, middle, high)]
