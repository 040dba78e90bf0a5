"""What if: the same question under other parameters, from what the recall remembers of its searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import UsageError
from memtui.engine.explain.knobs import with_values

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.recall.io_cache import IoCache
    from memtui.engine.recall.knob import Knob
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.trace import OnStage


@dataclass(frozen=True)
class WhatIf:
    """The answer under other parameters."""

    trace: Trace
    asked: str
    """What had to be asked anew, empty when what was found before was enough."""
    changed: bool
    """Whether other memories come back, or in another order."""


class Recompute:
    """Runs recalls in one context: with remembered answers, or asking everything anew."""

    def __init__(
        self, context: RecallContext, cancel: CancelToken | None = None, on_stage: OnStage | None = None
    ) -> None:
        self.context = context
        self.cancel = cancel
        self.on_stage = on_stage

    def __call__(self, request: RecallRequest, outside: IoCache | None) -> Trace:
        """Run `request` over the answers remembered in `outside`; None asks everything anew."""
        from memtui.engine.recall.answer import recall

        if self.cancel is not None:
            self.cancel.check()
        return recall(request, self.context, outside=outside, on_stage=self.on_stage, cancel=self.cancel)


def what_if(trace: Trace, changes: Mapping[str, Any], ask: Recompute) -> WhatIf:
    """`trace` as it would be with `changes`: knob paths (`limit`, `retrieval.minScore`) or request fields to values.

    The clock is `now_ms`, the agent's effective scopes are `scopes`, the table version is `table_version`. Stages
    run again over what was found; only where that does not suffice is the store searched again, and `asked` says
    so. Raises UsageError for a path that is none, or a setting of a decay engine that is off.
    """
    from memtui.engine.recall.io_cache import NotCached

    request = changed_request(trace, changes)
    if "table_version" in changes and changes["table_version"] != trace.table_version:
        return _result(trace, ask(request, None), "another version of the table has to be searched")
    try:
        return _result(trace, ask(request, memory_of(trace).offline()), "")
    except NotCached as missing:
        return _result(trace, ask(request, memory_of(trace)), missing.what)


def at_hand(trace: Trace, changes: Mapping[str, Any], ask: Recompute) -> Trace | None:
    """The same without asking anything; None where that does not suffice."""
    from memtui.engine.recall.io_cache import NotCached

    try:
        return ask(changed_request(trace, changes), memory_of(trace).offline())
    except NotCached:
        return None


def changed_request(trace: Trace, changes: Mapping[str, Any]) -> RecallRequest:
    """The request of `trace` with `changes`, at the same moment and on the same version unless they say otherwise."""
    if trace.request is None:
        raise UsageError("This trace does not know its request.", fix="Ask the question again.")
    if trace.config.get("decay") is None and any(path.startswith("decay.") for path in changes):
        raise UsageError(
            "This recall runs without a decay engine.", fix="Choose a recipe with one, for example pro/tool."
        )
    frozen = replace(trace.request, now_ms=trace.now_ms, table_version=trace.table_version)
    return with_values(frozen, changes)


def memory_of(trace: Trace) -> IoCache:
    """What the recall asked and was told; UsageError for a trace that was read from a file."""
    if trace.outside is None:
        raise UsageError("This trace was read from a file.", fix="Ask the question again on its store.")
    return trace.outside


def _result(before: Trace, after: Trace, asked: str) -> WhatIf:
    return WhatIf(after, asked, before.returned != after.returned)


# Flip points: the values of a parameter at which other memories come back, or in another order.

LOOKS = 32
"""Evenly spaced values looked at first; a stretch shorter than the gap between them may be missed."""


@dataclass(frozen=True, slots=True)
class ValueFlip:
    """Between `before` and `after`, one step apart, the list changes."""

    before: float
    after: float
    left: tuple[str, ...]
    """Ids that are gone above the flip."""
    entered: tuple[str, ...]
    reordered: bool
    """Whether only the order changes."""


@dataclass(frozen=True, slots=True)
class ValueStrip:
    """The whole range of one parameter: its flip points, ascending, and where another search would be needed."""

    path: str
    value: float
    low: float
    high: float
    flips: tuple[ValueFlip, ...]
    unknown: tuple[tuple[float, float], ...] = ()
    """Stretches that cannot be answered from what was found."""

    @property
    def safe(self) -> tuple[float, float]:
        """The range around the present value in which the list stays as it is."""
        low = max((flip.after for flip in self.flips if flip.after <= self.value), default=self.low)
        high = min((flip.before for flip in self.flips if flip.before >= self.value), default=self.high)
        return low, high


Seen = tuple[str, ...] | None


def strip(trace: Trace, knob: Knob, value: float, ask: Recompute) -> ValueStrip:
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
    flips: list[ValueFlip] = []
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
            flips.append(ValueFlip(*ends, left, entered, not left and not entered))
    return ValueStrip(knob.path, value, knob.low, knob.high, tuple(flips), tuple(unknown))


def _changes(look: Callable[[int], Seen], low: int, high: int) -> list[tuple[int, int]]:
    """Neighbouring steps between which the list changes, found by halving; (low, high) where it is unknown."""
    if look(low) == look(high):
        return [(low, high)] if look(low) is None else []
    if high - low == 1:
        return [(low, high)]
    middle = (low + high) // 2
    return [*_changes(look, low, middle), *_changes(look, middle, high)]
