"""What the What-if screen knows: one frozen value, and the pure functions that make the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine import MemtuiError, Trace
    from memtui.engine.explain import Bounds, Parameter, ValueStrip, WhatIf


CLOCK, VERSION, SCOPES, CATEGORY, VECTOR = "now_ms", "table_version", "scopes", "category", "query_vector"

QUESTION = (CLOCK, VERSION, SCOPES, CATEGORY, VECTOR)
"""What is asked, beside the settings of the recipe; each the name of a field of the request."""

OWNER = "agent"
"""Whose rows are searched, in stores whose rows belong to agents."""

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class WhatIfState:
    """A recall, what is tried on it, and what comes of that."""

    tried: Mapping[str, Any] = field(default_factory=dict)
    """Settings by path and fields of the request, those that differ from the base's own."""
    base: Trace | None = None
    """The answer without anything tried."""
    found: WhatIf | None = None
    """The answer to `answers`."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    """Of the base; what is idle and found there is that of the newest answer."""
    bounds: Bounds | None = None
    strips: Mapping[str, ValueStrip] = field(default_factory=dict)
    """Flip points around the present answer, by path, as far as they are known."""
    as_question: str = ""
    """In words, what the question's vector is when it is not its own."""
    key: str = ""
    """The row of sliders under the cursor."""
    selected: str = ""
    """Id of the memory that is watched."""
    running: bool = False
    waits: str = ""
    """What the answer has to fetch first, where that takes long."""
    error: MemtuiError | None = None
    zoom: str = ""

    @property
    def trace(self) -> Trace | None:
        """The answer on the screen."""
        return self.found.trace if self.found is not None else self.base


def questions(state: WhatIfState) -> tuple[str, ...]:
    """The fields of the request that can be tried here."""
    base, bounds = state.base, state.bounds
    from memtui.engine.recall import recipe_named

    if base is None or bounds is None or not bounds.owners or not recipe_named(base.recipe).own_rows:
        return QUESTION
    return (*QUESTION, OWNER)


def parameter(state: WhatIfState, path: str) -> Parameter | None:
    """The setting of this path."""
    return next((each for each in state.parameters if each.knob.path == path), None)


def own(state: WhatIfState, path: str) -> Any:
    """What the base has for a setting or a field of the request."""
    known = parameter(state, path)
    if known is not None:
        return known.value
    base = state.base
    if base is None:
        return None
    if path == CLOCK:
        return base.now_ms
    if path == VERSION:
        return base.table_version
    return base.filters.get(path)


def value(state: WhatIfState, path: str) -> Any:
    """What it is now, tried values included."""
    return state.tried[path] if path in state.tried else own(state, path)


def put(state: WhatIfState, path: str, new: Any) -> WhatIfState:
    """Try one setting at a value; its own value takes the trial back."""
    tried = {name: each for name, each in state.tried.items() if name != path}
    if new != own(state, path):
        tried[path] = new
    return replace(state, tried=tried)


def reset(state: WhatIfState, path: str = "") -> WhatIfState:
    """Take one trial back, or all; the vector of another question goes with that question."""
    gone = {path, "query"} if path == VECTOR else {path}
    tried = {name: each for name, each in state.tried.items() if path and name not in gone}
    return replace(state, tried=tried, as_question="" if VECTOR not in tried else state.as_question)


def turn(state: WhatIfState, path: str, notches: int) -> WhatIfState:
    """Turn a setting: numbers by notches, choices and switches to the next."""
    now = value(state, path)
    if path == CLOCK:
        return _turn_clock(state, int(now), notches)
    if path == VERSION:
        return (
            put(state, path, _next([v for v, _ in state.bounds.versions], now, notches))
            if state.bounds
            else state
        )
    known = parameter(state, path)
    if known is None:
        return state
    knob = known.knob
    if knob.kind in ("number", "whole"):
        return put(state, path, knob.clamp(float(now or 0) + notches * knob.notch))
    if knob.kind == "switch":
        return put(state, path, not now)
    return put(state, path, _next(list(knob.choices), now, notches, around=True))


def _turn_clock(state: WhatIfState, now: int, notches: int) -> WhatIfState:
    low, high = clock_range(state)
    return put(state, CLOCK, max(low, min(high, now + notches * notch_of_clock(state))))


def clock_range(state: WhatIfState) -> tuple[int, int]:
    """From a day before the first memory to the base's own moment."""
    high = int(own(state, CLOCK) or 0)
    oldest = state.bounds.oldest_ms if state.bounds is not None else None
    return min(high, (oldest or high) - DAY_MS), high


def notch_of_clock(state: WhatIfState) -> int:
    """Whole days: about a fortieth of the time since the first memory."""
    low, high = clock_range(state)
    return max(1, (high - low) // DAY_MS // 40) * DAY_MS


def _next(values: list[Any], now: Any, by: int, *, around: bool = False) -> Any:
    if not values:
        return now
    at = values.index(now) + by if now in values else (0 if by > 0 else len(values) - 1)
    return values[at % len(values)] if around else values[max(0, min(len(values) - 1, at))]


def flips_wanted(state: WhatIfState, each: Parameter) -> bool:
    """Whether a setting has flip points that are not known yet."""
    return each.knob.kind in ("number", "whole") and not each.inert and each.knob.path not in state.strips


def next_flip(state: WhatIfState, path: str, by: int) -> float | None:
    """The nearest value above (or below) the present one at which the list is another; None where there is none."""
    strip, now = state.strips.get(path), value(state, path)
    if strip is None or not isinstance(now, int | float):
        return None
    if by > 0:
        return min((flip.after for flip in strip.flips if flip.after > now), default=None)
    return max((flip.before for flip in strip.flips if flip.before < now), default=None)


def answer(state: WhatIfState, tried: Mapping[str, Any], found: WhatIf) -> WhatIfState:
    """The list for what is tried has come; flip points of the list before are no longer right."""
    same = state.found is not None and dict(state.answers) == dict(tried)
    strips = state.strips if same else {}
    return replace(state, found=found, answers=tried, strips=strips, running=False, error=None)
