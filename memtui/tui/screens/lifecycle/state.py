"""What the Lifecycle screen knows: one frozen value, and the pure functions that make the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from memtui.engine.lifecycle import KNOBS, BoardAsk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.engine import Memory, MemtuiError
    from memtui.engine.catalog import Finding
    from memtui.engine.lifecycle import (
        Board,
        CaseLoss,
        DecayKnob,
        LifecycleSettings,
        MemoryLife,
        Review,
        StoreHistory,
    )


Panel = Literal["curves", "scores", "flow", "next", "whatif", "numbers", "history", "findings"]

PANELS: tuple[Panel, ...] = (
    "curves",
    "scores",
    "flow",
    "next",
    "whatif",
    "numbers",
    "history",
    "findings",
)

ASIDES: tuple[Panel, ...] = ("flow", "numbers", "history", "findings")
"""Panels that take turns where there is no room for all."""

Chart = Literal["written", "used", "ages", "uses", "scopes", "categories"]

CHARTS: tuple[Chart, ...] = ("written", "used", "ages", "uses", "scopes", "categories")

Measure = Literal["composite", "recency", "boost"]

MEASURES: tuple[Measure, ...] = ("composite", "recency", "boost")

View = Literal["forecast", "plan"]

HORIZONS = (7.0, 30.0, 90.0, 180.0, 365.0, 3652.5, 36525.0)

AHEAD = (0.0, 1.0, 3.0, 7.0, 14.0, 30.0, 60.0, 90.0, 180.0, 365.0, 730.0)

SCENARIOS = ("no access", "access as before")


@dataclass(frozen=True, slots=True)
class LifecycleState:
    """`board` answers `ask`; while another is computed it is the one before. `base` is without what-if changes."""

    ask: BoardAsk = BoardAsk()  # noqa: RUF009 - immutable
    measure: Measure = "composite"
    view: View = "forecast"
    panel: Panel = "curves"
    """The panel that is shown where there is room for one."""
    aside: Panel = "flow"
    chart: Chart = "written"
    zoom: str = ""
    reviewing: bool = False
    settings: LifecycleSettings | None = None
    base: Board | None = None
    board: Board | None = None
    history: StoreHistory | None = None
    findings: tuple[Finding, ...] | None = None
    losses: tuple[CaseLoss, ...] | None = None
    """None while the cases are asked, or where there are none."""
    cases: int | None = None
    """How many there are; None while that is not known."""
    effect: tuple[Mapping[str, float | None], Mapping[str, float | None]] | None = None
    """Measures of the cases with the store's own settings and with the tried ones."""
    life: MemoryLife | None = None
    selected: str = ""
    """Id of the memory on the curves; empty: the model alone."""
    review: Review | None = None
    card: str = ""
    memory: Memory | None = None
    """The memory of the card, in full."""
    others: tuple[Memory, ...] = ()
    """The memories that its reasons speak of."""
    error: MemtuiError | None = None
    probe: float | None = None
    """Place of the probe on the curves, 0 to 1."""
    remedy: str = ""
    """Name of the remedy whose curve is drawn beside the memory's own."""

    @property
    def stale(self) -> bool:
        """Whether the board on the screen answers an older question than the one that is asked."""
        return self.board is not None and self.board.ask != self.ask

    @property
    def trying(self) -> bool:
        """Whether settings are tried out."""
        return bool(self.ask.changes)


def turn(state: LifecycleState, knob: DecayKnob, steps: int) -> LifecycleState:
    """Turn one setting by so many steps; back at its own value it is no change any more."""
    if state.settings is None:
        return state
    own = state.settings.values[knob.key]
    now = state.ask.changes.get(knob.key, own)
    return put(state, knob, knob.moved(now, steps))


def put(state: LifecycleState, knob: DecayKnob, value: float) -> LifecycleState:
    """Try one setting at a value."""
    if state.settings is None:
        return state
    changes = {key: each for key, each in state.ask.changes.items() if key != knob.key}
    if value != state.settings.values[knob.key]:
        changes[knob.key] = value
    return asked(state, changes=changes)


def reset(state: LifecycleState, key: str = "") -> LifecycleState:
    """Take one change back, or all."""
    changes = {name: value for name, value in state.ask.changes.items() if key and name != key}
    return asked(state, changes=changes)


def asked(state: LifecycleState, **changes: object) -> LifecycleState:
    """Ask for another board."""
    return replace(state, ask=replace(state.ask, **changes))  # type: ignore[arg-type]


def answer(state: LifecycleState, board: Board) -> LifecycleState:
    """A board arrived; one without changes is what others are compared with."""
    base = board if not board.ask.changes else state.base
    return replace(
        state, board=board, base=base, error=None, selected=state.selected or first(state.view, board)
    )


def first(view: View, board: Board) -> str:
    """Id of the memory on top of the list."""
    listed = (
        [move.id for move in board.moves] if view == "plan" else [crossing.id for crossing in board.crossings]
    )
    return listed[0] if listed else ""


def horizon(state: LifecycleState, by: int) -> LifecycleState:
    """A longer or shorter look ahead."""
    return asked(state, horizon_days=_step(HORIZONS, state.ask.horizon_days, by))


def ahead(state: LifecycleState, by: int) -> LifecycleState:
    """The board of a later (or less late) day."""
    return asked(state, ahead_days=_step(AHEAD, state.ask.ahead_days, by))


def _step(stops: tuple[float, ...], value: float, by: int) -> float:
    if by > 0:
        return next((stop for stop in stops if stop > value), stops[-1])
    return next((stop for stop in reversed(stops) if stop < value), stops[0])


def other_scenario(state: LifecycleState) -> LifecycleState:
    """Switch between two scenarios: memories are not used any more, or as before."""
    return asked(state, scenario=SCENARIOS[1 - SCENARIOS.index(state.ask.scenario)])


def select(state: LifecycleState, memory: str) -> LifecycleState:
    """Put a memory on the curves."""
    return state if memory == state.selected else replace(state, selected=memory, remedy="", probe=None)


def following(names: tuple[str, ...], name: str, by: int = 1) -> str:
    """The one after (or before) `name`, around the end."""
    at = names.index(name) if name in names else -by
    return names[(at + by) % len(names)]


def knob(key: str) -> DecayKnob | None:
    """The setting of this key."""
    return next((each for each in KNOBS if each.key == key), None)


def value_of(state: LifecycleState, each: DecayKnob) -> float:
    """What a setting is now, tried values included."""
    own = state.settings.values.get(each.key, each.default) if state.settings else each.default
    return state.ask.changes.get(each.key, own)
