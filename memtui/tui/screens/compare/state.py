"""What the comparison knows: two sides, what differs between them, and what is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from memtui.engine import Memory, MemtuiError, RecallRequest
    from memtui.engine.cases import Case
    from memtui.engine.explain import Comparison, RankFlow, ScoreAccount


Shown = Literal["a", "b", "differs"]
"""What the lower panel tells where there is room for one: A's account, B's, or what differs."""

Phase = Literal["choosing", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two recalls. `request` None: it was read from a file and cannot be asked again."""

    title: str
    request: RecallRequest | None
    account: ScoreAccount | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that were changed by hand for this comparison, by the path of the knob."""
    before: str = ""
    """The title before they were."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Both answers, and what differs."""

    a: Side
    b: Side
    comparison: Comparison
    memories: Mapping[str, Memory]
    case: Case | None = None
    """The saved case of this question."""


@dataclass(frozen=True, slots=True)
class CompareState:
    """`pair` is on the screen; `a` and `b` are what is asked next, or was asked last."""

    a: Side
    b: Side | None = None
    phase: Phase = "choosing"
    pair: Pair | None = None
    error: MemtuiError | None = None
    waits: str = ""
    """What an answer has to fetch first, where that takes long."""
    selected: str = ""
    shown: Shown = "differs"
    zoom: str = ""

    @property
    def stale(self) -> bool:
        """Whether the screen shows an older pair than the one that is asked."""
        return self.pair is not None and self.phase in ("running", "failed")


def take(state: CompareState, b: Side) -> CompareState:
    """Compare with this."""
    return replace(state, b=b, phase="running", error=None, waits="")


def again(state: CompareState) -> CompareState:
    """Ask both once more."""
    return replace(state, phase="running", error=None, waits="")


def swap(state: CompareState) -> CompareState:
    """A becomes B."""
    if state.b is None:
        return state
    return replace(state, a=state.b, b=state.a, phase="running", error=None, waits="")


def finish(state: CompareState, pair: Pair) -> CompareState:
    """Both answers are there; the selection stays where the memory is still in one of the lists."""
    ids = [flow.id for flow in pair.comparison.flows]
    selected = state.selected if state.selected in ids else (ids[0] if ids else "")
    return replace(state, a=pair.a, b=pair.b, phase="done", pair=pair, error=None, selected=selected)


def fail(state: CompareState, error: MemtuiError) -> CompareState:
    """The state after a side could not be asked; what was on the screen stays."""
    return replace(state, phase="failed", error=error)


def give_up(state: CompareState) -> CompareState:
    """Stopped, or the error put away: back to the pair before, or to choosing."""
    if state.pair is None:
        return replace(state, phase="choosing", b=None, error=None)
    return replace(state, phase="done", a=state.pair.a, b=state.pair.b, error=None)


def select(state: CompareState, id: str) -> CompareState:
    """Another memory is looked at."""
    return replace(state, selected=id)


def step(state: CompareState, by: int) -> CompareState:
    """The memory before or after the selected one, stopping at the ends."""
    ids = [flow.id for flow in ordered(state.pair)]
    if not ids:
        return state
    at = ids.index(state.selected) + by if state.selected in ids else 0
    return replace(state, selected=ids[max(0, min(len(ids) - 1, at))])


def turn(state: CompareState) -> CompareState:
    """The next thing to tell in the lower panel."""
    order: tuple[Shown, ...] = ("differs", "a", "b")
    return replace(state, shown=order[(order.index(state.shown) + 1) % len(order)])


def zoomed(state: CompareState, panel: str) -> CompareState:
    """One panel fills the screen, or all are back."""
    return replace(state, zoom="" if state.zoom else panel)


def listed(pair: Pair, side: Literal["a", "b"]) -> tuple[RankFlow, ...]:
    """One side's list: what it returned in order, then what only the other one has, in the other's order."""
    flows = pair.comparison.flows
    own = [f for f in flows if (f.rank_a if side == "a" else f.rank_b) is not None]
    rest = [f for f in flows if (f.rank_a if side == "a" else f.rank_b) is None]
    if side == "a":
        return (*sorted(own, key=lambda f: f.rank_a or 0), *sorted(rest, key=lambda f: f.rank_b or 0))
    return (*sorted(own, key=lambda f: f.rank_b or 0), *sorted(rest, key=lambda f: f.rank_a or 0))


def ordered(pair: Pair | None) -> tuple[RankFlow, ...]:
    """Every memory of both lists, the best place in either first."""
    if pair is None:
        return ()
    last = len(pair.comparison.flows) + 1
    return tuple(
        sorted(
            pair.comparison.flows,
            key=lambda f: (min(f.rank_a or last, f.rank_b or last), f.rank_a or last),
        )
    )
