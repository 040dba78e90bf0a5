"""Lifecycle: what will the agent forget that it should not, and what should it long have forgotten?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.reactive import reactive

from memtui.engine import CancelToken, CaseBook, MemtuiError, ReviewProgress
from memtui.paths import store_state_dir
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import Report
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.messages import RunFailed, RunFinished, ShowInBrowse, ShowMemory
from memtui.tui.no_store import DEMO, OPEN, of_session
from memtui.tui.screens.lifecycle import state as reduce
from memtui.tui.screens.lifecycle.board_view import TITLES
from memtui.tui.screens.lifecycle.panel_actions import Acting
from memtui.tui.screens.lifecycle.panels import Painting
from memtui.tui.screens.lifecycle.state import LifecycleState
from memtui.tui.session import Session
from memtui.tui.widgets.curve_plot import CurvePlot
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, KnobRows, ReviewRows, RowList
from memtui.tui.widgets.state_panel import State, StatePanel, failed
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from memtui.engine import Engine


# Which engine calls the state needs, and what becomes of their answers.

POINTS = 320
"""Moments of a curve: more than a wide screen has dots."""


class Asking:
    """Runs what one Lifecycle screen needs, each kind of question in a slot of its own."""

    def __init__(self, screen: LifecycleScreen) -> None:
        self._screen = screen
        self._fresh = True
        """Whether what depends on the store alone has to be asked with the next board."""
        self._cases_of: object = None
        """What the cases were asked for: horizon, scenario and settings."""

    @property
    def _state(self) -> LifecycleState:
        return self._screen.state

    @_state.setter
    def _state(self, state: LifecycleState) -> None:
        self._screen.state = state

    def everything(self) -> None:
        """The store is new, or was read anew."""
        self._fresh, self._cases_of = True, None
        self._board()
        if self._state.reviewing:
            self._review()

    def follow(self, old: LifecycleState, new: LifecycleState) -> None:
        """The state changed: ask what has become unknown by that."""
        if self._screen.session.engine is None:
            return
        if old.ask != new.ask:
            self._board()
            if old.ask.scopes != new.ask.scopes:
                self._history()
        if new.board is not None and (
            old.selected != new.selected or old.board is not new.board or old.measure != new.measure
        ):
            self._life()
        if new.reviewing and new.review is None and not self._screen.runner.busy("review"):
            self._review()
        if new.card and old.card != new.card:
            self._memory(new.card)

    def answered(self, slot: str, value: Any) -> None:
        """An answer arrived."""
        state = self._state
        if slot == "board":
            settings, board = value
            self._state = reduce.answer(replace(state, settings=settings), board)
            if self._fresh:
                self._fresh = False
                self._history()
                self._findings()
            ask = board.ask
            wanted = (ask.horizon_days, ask.scenario, tuple(sorted(ask.changes.items())))
            if wanted != self._cases_of:
                self._cases_of = wanted
                self._cases()
        elif slot == "life":
            if value.id == state.selected:
                self._state = replace(state, life=value)
        elif slot == "cases":
            count, losses = value
            self._state = replace(state, cases=count, losses=losses)
        elif slot == "review":
            there = any(each.id == state.card for each in value.cards)
            card = state.card if there else value.cards[0].id if value.cards else ""
            self._state = replace(state, review=value, card=card)
        elif slot == "memory":
            others = tuple(each for name, each in value.items() if name != state.card)
            self._state = replace(state, memory=value.get(state.card), others=others)
        elif slot in ("history", "findings", "effect"):
            self._state = replace(state, **{slot: value})
            if slot == "findings":
                self._board()  # what is pinned is known only now

    # ------------------------------------------------------------------ the calls

    @property
    def _lifecycle(self) -> Any:
        engine = self._screen.session.engine
        assert engine is not None
        return engine.lifecycle

    def _board(self) -> None:
        lifecycle, ask = self._lifecycle, self._state.ask

        def work(cancel: CancelToken) -> Any:
            settings = lifecycle.settings()
            return settings, lifecycle.board(ask, settings, cancel=cancel)

        self._screen.work("board", work)

    def _life(self) -> None:
        lifecycle, state = self._lifecycle, self._state

        def work(cancel: CancelToken) -> Any:
            return lifecycle.life(
                state.selected, state.ask, measure=state.measure, points=POINTS, settings=state.settings
            )

        self._screen.work("life", work)

    def _history(self) -> None:
        lifecycle, scopes = self._lifecycle, self._state.ask.scopes
        self._screen.work("history", lambda cancel: lifecycle.history(scopes))

    def _findings(self) -> None:
        lifecycle = self._lifecycle
        self._screen.work("findings", lambda cancel: lifecycle.findings(cancel=cancel))

    def _review(self) -> None:
        lifecycle, progress = self._lifecycle, self._screen.progress()
        self._screen.work("review", lambda cancel: lifecycle.review(progress, limit=200, cancel=cancel))

    def _memory(self, memory: str) -> None:
        """The memory of the card, and those that its reasons speak of."""
        engine, review = self._screen.session.engine, self._state.review
        assert engine is not None
        card = next((each for each in (review.cards if review else ()) if each.id == memory), None)
        ids = dict.fromkeys([memory, *(each.other for each in (card.reasons if card else ()) if each.other)])
        self._screen.work("memory", lambda cancel: engine.memories(list(ids)))

    def _cases(self) -> None:
        """What becomes of the saved questions: their measures now, then whose answers get lost, and when."""
        lifecycle, book, state = self._lifecycle, self._screen.case_book(), self._state
        board, base = state.board, state.base
        if board is None:
            return
        own = base.settings if base is not None else board.settings
        self._state = replace(state, effect=None)

        def effect(cancel: CancelToken) -> Any:
            cases = book.cases()
            if not cases:
                return None
            before = lifecycle.effect(cases, own, cancel=cancel)
            same = board.settings.values == own.values
            return before, before if same else lifecycle.effect(cases, board.settings, cancel=cancel)

        def losses(cancel: CancelToken) -> Any:
            cases, ask = book.cases(), board.ask
            if not cases:
                return 0, ()
            found = lifecycle.losses(
                cases,
                days=ask.horizon_days,
                scenario=ask.scenario,
                settings=board.settings if ask.changes else None,
                cancel=cancel,
            )
            return len(cases), found

        self._screen.work("effect", effect)
        self._screen.work("cases", losses)


class LifecycleScreen(BaseScreen):
    """One state, panels that paint it, and engine calls that change it."""

    MODE = "lifecycle"
    UNDO = "lifecycle.undo"
    CSS_PATH = "lifecycle.tcss"
    BINDINGS = bindings("lifecycle")

    state: reactive[LifecycleState] = reactive(LifecycleState(), init=False)

    def __init__(self) -> None:
        super().__init__()
        self._painting = Painting(self)
        self._asking = Asking(self)
        self._acting = Acting(self)
        self._revision = -1
        self._engine: Engine | None = None
        self.said: State | None = State("loading", "counting", skeleton=True)
        """Words instead of panels; None where there is a board."""

    def body(self) -> ComposeResult:
        def rows(name: str) -> BuiltRows:
            return BuiltRows(partial(self._painting.build, name))

        yield LayoutContainer(
            Panel(StatePanel(), title="Lifecycle", id="state"),
            TextLines(id="head"),
            Panel(CurvePlot(), title=TITLES["curves"], id="curves"),
            *(Panel(rows(name), title=TITLES[name], id=name) for name in ("scores", "flow", "next")),
            Panel(
                KnobRows(partial(self._painting.build, "knobs")),
                TextLines(),
                title=TITLES["whatif"],
                id="whatif",
            ),
            *(Panel(rows(name), title=TITLES[name], id=name) for name in ("numbers", "history", "findings")),
            Panel(ReviewRows(partial(self._painting.build, "review")), title=TITLES["review"], id="review"),
            Panel(rows("card"), title=TITLES["card"], id="card"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.lifecycle(width, height, self._painting.shape())

    @property
    def now_ms(self) -> int:
        """The app's clock."""
        return host(self).now_ms()

    # ------------------------------------------------------------------ the store, and what it answers

    def session_changed(self, session: Session) -> None:
        same = session.engine is not None and session.engine is self._engine
        if session.engine is None or session.phase == "reading":
            if not same or self.state.board is None:
                self._say(of_session(session) or self._reading(session))
            return
        if session.revision == self._revision:
            return
        self._revision, self._engine = session.revision, session.engine
        if not same:
            self.runner.cancel_all()
            kept = self.state
            self.state = LifecycleState(
                ask=replace(kept.ask, scopes=None), measure=kept.measure, view=kept.view
            )
            self._say(State("loading", "weighing every memory", skeleton=True))
        self._asking.everything()

    def _reading(self, session: Session) -> State:
        return State("loading", "reading tiers and access counts", progress=session.progress, skeleton=True)

    def _say(self, said: State | None) -> None:
        had = self.said is not None
        self.said = said
        if said is not None:
            self.query_one(StatePanel).state = said
        self._painting.everything()
        self.query_one(LayoutContainer).rearrange()
        if said is not None and said.choices:
            self.call_after_refresh(self.query_one(StatePanel).focus)
        elif said is None and had:
            self.call_after_refresh(self._focus_panel)

    def on_run_finished(self, message: RunFinished) -> None:
        if not self.runner.done(message):
            return
        self._asking.answered(message.slot, message.value)
        if message.slot == "board" and self.said is not None:
            empty = (
                self.state.board is not None and self.state.board.rows == 0 and self.state.ask.scopes is None
            )
            self._say(
                State("empty", "there are no memories to weigh", choices=(OPEN, DEMO)) if empty else None
            )

    def on_run_failed(self, message: RunFailed) -> None:
        if not self.runner.done(message):
            return
        if message.slot == "board":
            self.state = replace(self.state, error=message.error)
            if self.state.board is None:
                self._say(self._failed(message.error))
                return
        self.flash(str(message.error), "error")

    def _failed(self, error: MemtuiError) -> State:
        return failed("there is no lifecycle to show", error, OPEN, DEMO)

    def watch_state(self, old: LifecycleState, new: LifecycleState) -> None:
        self._painting.change(old, new)
        self._asking.follow(old, new)

    def progress(self) -> ReviewProgress:
        """Where the decisions of the review are kept."""
        return ReviewProgress(self._state_dir() / "review.json")

    def case_book(self) -> CaseBook:
        """The saved questions of this store."""
        return CaseBook(self._state_dir() / "cases.json")

    def _state_dir(self) -> Path:
        info = self.session.info
        return store_state_dir(info.uri if info is not None else "")

    def work(self, slot: str, work: Any) -> None:
        """Run an engine call; its answer comes back to `Asking.answered` under this slot."""

        def run(cancel: CancelToken, report: Report) -> Any:
            return work(cancel)

        self.runner.start(slot, run)

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
        self._painting.place_words(panel or "")

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
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
            return True if ready and not self.staging.forbidden else None
        if action in ("act", "remedy") and self.state.reviewing:
            return False
        if action == "act":
            return True if ready and self.state.selected and not self.staging.forbidden else None
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
        self.call_after_refresh(self._focus_panel)

    def _step_panel(self, by: int) -> None:
        shown = [name for name in reduce.PANELS if self.query_one(LayoutContainer).shows(name)]
        if size_class(self.app.size.width) == "narrow" or self.state.zoom:
            name = reduce.following(reduce.PANELS, self.state.zoom or self.state.panel, by)
            zoom = name if self.state.zoom else ""
            self.state = replace(self.state, panel=name, zoom=zoom)  # type: ignore[arg-type]
        else:
            name = reduce.following(tuple(shown), self._focused_panel(), by)
            self.state = replace(self.state, panel=name)  # type: ignore[arg-type]
        self.call_after_refresh(self._focus_panel)

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
        self.call_after_refresh(self._focus_panel)

    def action_reset(self) -> None:
        self.state = reduce.reset(self.state)

    def action_remedy(self) -> None:
        self._acting.next_remedy()

    def action_act(self) -> None:
        self._acting.choose_action()

    def action_sweep(self) -> None:
        self._acting.sweep()

    def action_undo(self) -> None:
        self._acting.undo()

    def action_review(self) -> None:
        self.state = replace(self.state, reviewing=not self.state.reviewing, zoom="")
        self.call_after_refresh(self._focus_panel)

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

    def show_filter(self, text: str) -> None:
        """Go to Browse with this filter."""
        self.app.post_message(ShowInBrowse(text))

    def palette_entries(self) -> list[PaletteEntry]:
        """What the palette can do here beside the keys."""
        return self._acting.entries()
