"""Lifecycle: what will the agent forget that it should not, and what should it long have forgotten?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.reactive import var

from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.bound_panel import Bound
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.messages import ShowMemory
from memtui.tui.no_store import DEMO, FILLING, OPEN, of_session
from memtui.tui.screens.lifecycle import state as reduce
from memtui.tui.screens.lifecycle.board_view import TITLES
from memtui.tui.screens.lifecycle.panel_actions import Acting
from memtui.tui.screens.lifecycle.panels import (
    CardPanel,
    ComingPanel,
    CurvesPanel,
    FindingsPanel,
    FlowPanel,
    HeadLines,
    HistoryPanel,
    NumbersPanel,
    ReviewPanel,
    ScoresPanel,
    WhatIfPanel,
)
from memtui.tui.screens.lifecycle.questions import LifecycleQuestions
from memtui.tui.screens.lifecycle.state import LifecycleState
from memtui.tui.session import Session
from memtui.tui.widgets.curve_plot import CurvePlot
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import KnobRows, ReviewRows, RowList
from memtui.tui.widgets.state_panel import State, StatePanel, failed

if TYPE_CHECKING:
    from memtui.engine import Engine


_SHAPE = ("panel", "aside", "zoom", "reviewing", "error")
"""What of the state the arrangement of the panels depends on."""


class LifecycleScreen(BaseScreen):
    """One state, panels that paint it, and engine calls that change it."""

    MODE = "lifecycle"
    UNDO = "lifecycle.undo"
    CSS_PATH = "lifecycle.tcss"
    BINDINGS = bindings("lifecycle")

    state: var[LifecycleState] = var(LifecycleState(), init=False)

    def __init__(self) -> None:
        super().__init__()
        self._revision = -1
        self._engine: Engine | None = None
        self.said = State("loading", "counting", skeleton=True)

    def body(self) -> ComposeResult:
        bound = LifecycleScreen.state
        yield LifecycleQuestions().data_bind(state=bound)
        yield Acting().data_bind(state=bound)
        yield LayoutContainer(
            Panel(StatePanel(), title="Lifecycle", id="state"),
            HeadLines(id="head").data_bind(state=bound),
            CurvesPanel().data_bind(state=bound),
            ScoresPanel().data_bind(state=bound),
            FlowPanel().data_bind(state=bound),
            ComingPanel().data_bind(state=bound),
            WhatIfPanel().data_bind(state=bound),
            NumbersPanel().data_bind(state=bound),
            HistoryPanel().data_bind(state=bound),
            FindingsPanel().data_bind(state=bound),
            ReviewPanel().data_bind(state=bound),
            CardPanel().data_bind(state=bound),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        state = self.state
        shape = layouts.LifecycleShape(
            panel=state.panel,
            aside=state.aside,
            zoom=state.zoom,
            reviewing=state.reviewing,
            said=self.said is not None,
        )
        return layouts.lifecycle(width, height, shape)

    @property
    def _questions(self) -> LifecycleQuestions:
        return self.query_one(LifecycleQuestions)

    @property
    def _acting(self) -> Acting:
        return self.query_one(Acting)

    @on(Bound.Become)
    def _become(self, message: Bound.Become) -> None:
        self.state = message.change(self.state)

    # ------------------------------------------------------------------ the store, and what it answers

    def session_changed(self, session: Session) -> None:
        same = session.engine is not None and session.engine is self._engine
        if session.engine is None or session.phase == "reading":
            if not same or self.state.board is None:
                self.say(of_session(session) or self._reading(session))
            return
        if session.revision == self._revision:
            return
        self._revision, self._engine = session.revision, session.engine
        if not same:
            self._questions.runner.cancel_all()
            kept = self.state
            self.state = LifecycleState(
                ask=replace(kept.ask, scopes=None), measure=kept.measure, view=kept.view
            )
            self.say(State("loading", "weighing every memory", skeleton=True))
        self._questions.everything()

    def _reading(self, session: Session) -> State:
        return State("loading", "reading tiers and access counts", progress=session.progress, skeleton=True)

    def say(self, said: State | None) -> None:
        had = self.said is not None
        self.said = said
        if said is not None:
            self.query_one(StatePanel).state = said
        self.query_one(LayoutContainer).rearrange()
        if said is not None and said.choices:
            self.hand_over(self.query_one(StatePanel).focus)
        elif said is None and had:
            self.hand_over(self._focus_panel)

    def watch_state(self, old: LifecycleState, new: LifecycleState) -> None:
        self.set_class(new.stale, "-stale")
        if any(getattr(old, name) is not getattr(new, name) for name in _SHAPE):
            self.query_one(LayoutContainer).rearrange()
        self.refresh_bindings()
        if new.board is not None and old.board is not new.board and self.said is not None:
            empty = new.board.rows == 0 and new.ask.scopes is None
            self.say(
                State("empty", "Scores, tiers and coming changes will be shown here.", choices=FILLING)
                if empty
                else None
            )
        elif new.error is not None and new.error is not old.error and new.board is None:
            self.say(failed("there is no lifecycle to show", new.error, OPEN, DEMO))

    # ------------------------------------------------------------------ what the panels say

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        panel = event.rows.parent.id if event.rows.parent is not None else None
        kind, _, rest = event.key.partition(":")
        if isinstance(event, KnobRows.Turned):
            self._acting.turned(event.key, event.steps)
        elif panel == "next":
            self.state = reduce.select(self.state, rest)
        elif panel == "review":
            self.state = replace(self.state, card=rest)
        elif panel == "numbers" and kind == "remedy":
            self.state = replace(self.state, remedy=rest)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        if event.key.startswith("card:"):
            self.action_browse()
        else:
            self._acting.opened(event.key)

    @on(ReviewRows.Settled)
    def _settled(self, event: ReviewRows.Settled) -> None:
        self._acting.settle(event.how)

    @on(CurvePlot.Probed)
    def _probed(self, event: CurvePlot.Probed) -> None:
        self.state = replace(self.state, probe=event.place)

    @on(StatePanel.Chosen)
    def _chosen(self, event: StatePanel.Chosen) -> None:
        host(self).take(event.choice.name, event.choice.value)

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        ready = self.said is None
        if action in (
            "longer",
            "shorter",
            "later",
            "sooner",
            "scenario",
            "scope",
            "whatif",
            "view",
            "measure",
            "chart",
            "aside",
            "panel_before",
            "panel_after",
            "zoom",
        ):
            return (True if ready else None) if not self.state.reviewing else False
        if action in ("copy", "review"):
            return True if ready else None
        if action == "undo" and self._acting.can_reopen:
            return True
        if action in ("sweep", "undo", "redo"):
            return True if ready else None
        if action in ("act", "remedy") and self.state.reviewing:
            return False
        if action == "act":
            return True if ready and self.state.selected else None
        if action in ("remedy", "browse"):
            return True if ready and (self.state.selected or self.state.card) else None
        if action == "reset":
            return True if self.state.trying else None
        return True

    def action_panel_before(self) -> None:
        self._step_panel(-1)

    def action_panel_after(self) -> None:
        self._step_panel(1)

    def action_panel(self, name: str) -> None:
        self.state = replace(self.state, panel=name, zoom="")  # type: ignore[arg-type]
        self.hand_over(self._focus_panel)

    def _step_panel(self, by: int) -> None:
        shown = [name for name in reduce.PANELS if self.query_one(LayoutContainer).shows(name)]
        if size_class(self.app.size.width) == "narrow" or self.state.zoom:
            name = reduce.following(reduce.PANELS, self.state.zoom or self.state.panel, by)
            zoom = name if self.state.zoom else ""
            self.state = replace(self.state, panel=name, zoom=zoom)  # type: ignore[arg-type]
        else:
            name = reduce.following(tuple(shown), self._focused_panel(), by)
            self.state = replace(self.state, panel=name)  # type: ignore[arg-type]
        self.hand_over(self._focus_panel)

    def _focused_panel(self) -> str:
        around = self.focused.ancestors if self.focused else ()
        return next((node.id or "" for node in around if isinstance(node, Panel)), "")

    def _focus_panel(self) -> None:
        wanted = "review" if self.state.reviewing else self.state.zoom or self.state.panel
        if not self.query_one(LayoutContainer).shows(wanted):
            wanted = "next"
        for widget in self.query(f"#{wanted} *"):
            if widget.focusable:
                widget.focus()
                return

    def action_aside(self) -> None:
        self.state = replace(self.state, aside=reduce.following(reduce.ASIDES, self.state.aside))  # type: ignore[arg-type]

    def action_view(self) -> None:
        """The other of the two; where the list is not in sight, it comes first."""
        if not self.query_one(LayoutContainer).shows("next"):
            self.state = replace(self.state, panel="next")
            return
        self.state = replace(self.state, view="plan" if self.state.view == "forecast" else "forecast")

    def action_measure(self) -> None:
        self.state = replace(self.state, measure=reduce.following(reduce.MEASURES, self.state.measure))  # type: ignore[arg-type]

    def action_chart(self) -> None:
        shown = self.query_one(LayoutContainer).shows("history")
        chart = reduce.following(reduce.CHARTS, self.state.chart) if shown else self.state.chart
        self.state = replace(self.state, chart=chart, aside="history", panel="history")  # type: ignore[arg-type]

    def action_longer(self) -> None:
        self.state = reduce.horizon(self.state, 1)

    def action_shorter(self) -> None:
        self.state = reduce.horizon(self.state, -1)

    def action_later(self) -> None:
        self.state = reduce.ahead(self.state, 1)

    def action_sooner(self) -> None:
        self.state = reduce.ahead(self.state, -1)

    def action_scenario(self) -> None:
        self.state = reduce.other_scenario(self.state)

    def action_scope(self) -> None:
        self._acting.choose_scope()

    def action_whatif(self) -> None:
        self.state = replace(self.state, panel="whatif", reviewing=False)
        self.hand_over(self._focus_panel)

    def action_reset(self) -> None:
        self.state = reduce.reset(self.state)

    def action_remedy(self) -> None:
        self._acting.next_remedy()

    def action_act(self) -> None:
        self._acting.choose_action()

    def action_sweep(self) -> None:
        self._acting.sweep()

    def undo_last(self) -> None:
        """Take back the last change, or the last decision of the review."""
        self._acting.undo()

    def action_review(self) -> None:
        self.state = replace(self.state, reviewing=not self.state.reviewing, zoom="")
        self.hand_over(self._focus_panel)

    def action_browse(self) -> None:
        memory = self.state.card if self.state.reviewing else self.state.selected
        if memory:
            self.app.post_message(ShowMemory(memory))

    def action_copy(self) -> None:
        self._acting.copy()

    def action_zoom(self) -> None:
        panel = self._focused_panel() or "curves"
        self.state = replace(self.state, zoom="" if self.state.zoom else panel, panel=panel)  # type: ignore[arg-type]

    def action_back(self) -> None:
        if self.staging.stop() or self.dismiss_flash():
            return
        if self.state.reviewing:
            self.action_review()
        elif self.state.zoom:
            self.state = replace(self.state, zoom="")
        elif self.state.remedy:
            self.state = replace(self.state, remedy="")
        elif self.state.probe is not None:
            self.state = replace(self.state, probe=None)

    def palette_entries(self) -> list[PaletteEntry]:
        """What the palette can do here beside the keys."""
        panels = [
            PaletteEntry("PANELS", f"Panel: {TITLES[name]}", partial(self.action_panel, name))
            for name in reduce.PANELS
        ]
        return [*panels, *self._acting.entries()]
