"""The smallest change that brings a memory back: for each knob alone, by search, confirmed by a full recall."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import OnProgress, Progress
from memtui.engine.explain.candidate_changes import CandidateChange
from memtui.engine.explain.variation import Recompute, changed_request, memory_of
from memtui.engine.explain.verdict import VECTOR_INDEX, IdleKnob, SmallestChange, Verdict
from memtui.engine.recall.io_cache import NotCached

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


OnVerdict = Callable[[Verdict], None]

HARD = frozenset(
    {
        "unknown_id",
        "scope",
        "inactive",
        "expired",
        "adaptive_gate",
        "category",
        "state",
        "suppressed",
        "noise_filter",
    }
)
"""Gates that depend on no rank or score: while one of them is shut, nothing else helps."""

LOOKS = 9
"""Values looked at over the range of a number, even steps and as many that grow apart from where it stands."""


def with_changes(
    verdict: Verdict,
    trace: Trace,
    moves: Sequence[CandidateChange],
    powerless: Mapping[str, str],
    ask: Recompute,
    on_progress: OnProgress | None = None,
    on_verdict: OnVerdict | None = None,
) -> Verdict:
    """The verdict with what would bring the memory back, smallest change first, and what cannot.

    `on_verdict` hears of it as it grows, one change or powerless knob at a time.

    Each number is searched outward from where it stands, on its own steps; `one_less` is the value one step nearer,
    which does not bring it back. `powerless` are knobs known to be unable, with the reason.
    """
    if verdict.returned or verdict.gate == "unknown_id" or verdict.failure is not None:
        return verdict
    search = _Search(trace, verdict.id, ask)
    shut = _shut(verdict)
    changes = {change.knob: change for change in verdict.changes}
    unable = dict(powerless)
    looked: dict[str, list[CandidateChange]] = {}

    def so_far() -> Verdict:
        found = sorted(changes.values(), key=lambda c: (c.size, c.knob))
        told = tuple(IdleKnob(knob, why) for knob, why in unable.items() if knob not in changes)
        return replace(verdict, changes=tuple(found), powerless=told)

    for done, move in enumerate(moves):
        if on_progress is not None:
            on_progress(Progress("looking for the smallest change", done, len(moves), "knobs"))
        still = next((rung.gate for rung in verdict.ladder if rung.gate in shut - move.opens), None)
        if still is not None:
            unable.setdefault(move.knob, f"it cannot open the gate {still.replace('_', ' ')}")
            continue
        looked.setdefault(move.knob, []).append(move)
        try:
            change = search.smallest(move)
        except MemtuiError as error:  # that cannot be asked here; the other knobs can
            change = None
            unable.setdefault(move.knob, error.message)
            looked[move.knob].pop()
        if change is None:
            if looked[move.knob] and move.knob not in powerless:
                unable[move.knob] = _stays_out(looked[move.knob])
        elif move.knob not in changes or change.size < changes[move.knob].size:
            changes[move.knob] = search.confirm(change)
        else:
            continue
        if on_verdict is not None:
            on_verdict(so_far())
    return so_far()


def _shut(verdict: Verdict) -> frozenset[str]:
    """The gates that a change has to open: the first that failed, and every failed one that no rank decides."""
    failed = {rung.gate for rung in verdict.ladder if rung.passed is False}
    first = {verdict.gate} if verdict.gate and verdict.gate != VECTOR_INDEX else set()  # tried, not decided
    return frozenset(first) | (failed & HARD)


class _Search:
    """Tries moves on one recall; nothing is asked of the outside twice."""

    def __init__(self, trace: Trace, memory_id: str, ask: Recompute) -> None:
        self.trace = trace
        self.id = memory_id
        self.ask = ask
        self.made: dict[str, tuple[CandidateChange, Any]] = {}

    def smallest(self, move: CandidateChange) -> SmallestChange | None:
        """The least of its steps that returns the memory; None when none does."""
        if move.is_switch:
            step = 1 if self._rank(move, move.value(1)) is not None else None
        elif not move.hints and self._idle(move):
            return None
        else:
            step = first_true(lambda k: self._rank(move, move.value(k)) is not None, move.steps, move.hints)
        if step is None:
            return None
        value = move.value(step)
        self.made[move.knob + repr(value)] = (move, value)
        return SmallestChange(
            knob=move.knob,
            before=move.before,
            after=value,
            confirmed=False,
            size=move.size(step),
            rank=self._rank(move, value),
            one_less=None if move.is_switch else move.value(step - 1) if step > 1 else move.before,
            note=move.note,
        )

    def _idle(self, move: CandidateChange) -> bool:
        """Whether the list is the same at both ends and in the middle: then nothing in between is looked at."""
        ends = {1, (1 + move.steps) // 2, move.steps}
        return all(self._after(move, move.value(step)).returned == self.trace.returned for step in ends)

    def confirm(self, change: SmallestChange) -> SmallestChange:
        """The change with `confirmed` set by a recall that asks everything anew."""
        move, value = self.made[change.knob + repr(change.after)]
        if move.estimate:
            return change
        request = changed_request(self.trace, move.changes(value))
        outside = self.ask.context.outside(request.table_version).with_edits(move.edits(value))
        return replace(change, confirmed=self.id in self.ask(request, outside).returned)

    def _rank(self, move: CandidateChange, value: Any) -> int | None:
        """Where the memory stands after the move; None when it does not come back."""
        ids: Sequence[str] = self._after(move, value).returned
        return ids.index(self.id) + 1 if self.id in ids else None

    def _after(self, move: CandidateChange, value: Any) -> Trace:
        request = changed_request(self.trace, move.changes(value))
        memory = memory_of(self.trace)
        edits: Mapping[str, Any] = move.edits(value)
        memory = memory.with_edits(edits) if edits else memory
        try:
            return self.ask(request, memory.offline())
        except NotCached:
            return self.ask(request, memory)


def _stays_out(moves: Sequence[CandidateChange]) -> str:
    """What a knob that was tried and does not help says."""
    if moves[0].knob == "query":
        added = [str(move.value(1)).removeprefix(str(move.before)).strip() for move in moves]
        return f"with {', '.join(added)} added it stays out"
    if all(move.is_switch for move in moves):
        return f"with {', '.join(_shown(move.value(1)) for move in moves)} it stays out"
    ends = [each for move in moves for each in (move.value(1), move.value(move.steps), move.before)]
    return f"still missing at every value tested, {min(ends)} to {max(ends)}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "it removed" if value is None else str(value)


def first_true(holds: Callable[[int], bool], steps: int, hints: Sequence[int] = ()) -> int | None:
    """The smallest of 1..steps at which `holds` turns true, where it does not hold at 0.

    Looks at `LOOKS` steps that grow apart and at the hints; the turn before the first success is then found by
    halving, so the step before the answer never holds.
    """
    looks: set[int] = {1, steps, *(round(float(steps) ** (i / (LOOKS - 1))) for i in range(LOOKS))}
    looks |= {round(steps * i / LOOKS) for i in range(1, LOOKS)}
    looks |= {step for hint in hints for step in (hint - 1, hint, hint + 1)}
    below = 0
    for step in sorted(step for step in looks if 1 <= step <= steps):
        if holds(step):
            above = step
            while above - below > 1:
                middle = (below + above) // 2
                if holds(middle):
                    above = middle
                else:
                    below = middle
            return above
        below = step
    return None
