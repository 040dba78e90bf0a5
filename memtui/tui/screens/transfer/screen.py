"""Transfer: memories in, memories out, and another model for all of them; each a flow of steps in one frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import Input

from memtui.engine import Cancelled, CancelToken, Progress
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import Report
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.layouts import transfer
from memtui.tui.messages import AskExport, RunAdvanced, RunFailed, RunFinished
from memtui.tui.no_store import of_session
from memtui.tui.screens.transfer.start_page import Start, flow_named
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.state_panel import State, StatePanel
from memtui.tui.widgets.text_lines import TextLines
from memtui.tui.wizard.task import STOPPED, Call, Flow
from memtui.tui.wizard.view import foot_lines, head_line
from memtui.tui.wizard.widgets import PathLine, WizardRows

if TYPE_CHECKING:
    from memtui.engine import Engine


PANELS = ("a", "b", "c", "d")

REPORT_S = 0.06
"""Progress that comes faster than this is not shown: nobody reads it."""

TICK_S = 0.5
"""How often the time of a running call is shown anew."""


class TransferScreen(BaseScreen):
    """The frame; what is in it is the business of the flow."""

    MODE = "transfer"
    CSS_PATH = "transfer.tcss"
    BINDINGS = bindings("transfer")

    def __init__(self) -> None:
        super().__init__()
        self.flow: Flow = Start(self)
        self._serial = 0
        self._stops: dict[str, CancelToken] = {}
        self._engine: Engine | None = None
        self._revision = -1
        self._waiting: State | None = None
        """Words of the session, while there is no store."""
        self._ticking: Timer | None = None
        self._at: tuple[str, str] = ("", "")

    def body(self) -> ComposeResult:
        def rows(name: str) -> WizardRows:
            return WizardRows(partial(self._build, name), partial(self._able, name))

        yield LayoutContainer(
            TextLines(id="head"),
            Panel(PathLine(), id="line"),
            Panel(StatePanel(), id="state"),
            *(Panel(rows(name), id=name) for name in PANELS),
            TextLines(id="foot"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        if self._waiting is not None:
            return {"state": transfer(width, height)["head"]._replace(height=height)}
        return transfer(width, height, self.flow.shape())

    # ------------------------------------------------------------------ the store

    def session_changed(self, session: Session) -> None:
        same = session.engine is not None and session.engine is self._engine
        if not session.open or session.engine is None:
            self._waiting = of_session(session) or State("loading", "reading the store", skeleton=True)
            self.paint()
            return
        if same and session.revision == self._revision and self._waiting is None:
            return
        self._waiting = None
        self._revision, self._engine = session.revision, session.engine
        if not same:
            self.go(Start(self))
        else:
            self.flow.renewed()
            self.paint()

    # ------------------------------------------------------------------ flows

    def go(self, flow: Flow) -> None:
        """Begin something else."""
        self.stop_calls()
        self.flow.close()
        self._serial += 1
        self.flow = flow
        self._at = ("", "")
        flow.renewed()
        self.paint()

    def receive(self, message: Any) -> None:
        """A wish of another screen."""
        session = self.session
        if isinstance(message, AskExport) and session.open and session.engine is not None:
            self._waiting, self._engine, self._revision = None, session.engine, session.revision
            self.go(flow_named("export", self, message.ids, message.filter, message.scopes, message.format))

    def action_begin(self, name: str) -> None:
        """Begin one of the tasks."""
        self.go(flow_named(name, self))

    def home(self) -> None:
        """Back to the start page."""
        self.go(Start(self))

    def work(self, slot: str, call: Call) -> None:
        """Run an engine call for the flow; a call of the same slot is stopped first."""
        self._stop(slot)
        stop = self._stops[slot] = CancelToken()

        def run(_: CancelToken, report: Report) -> Any:
            try:
                return call(_seldom(report), stop)
            except Cancelled:
                return STOPPED

        self.runner.start(f"{self._serial}:{slot}", run)
        if self._ticking is None:
            self._ticking = self.set_interval(TICK_S, self._tick)

    def calls_busy(self, slot: str) -> bool:
        """Whether a call of the flow is running."""
        return self.runner.busy(f"{self._serial}:{slot}")

    def stop_calls(self) -> bool:
        """Ask everything that runs to stop; False when nothing does. What it answers still arrives."""
        running = [slot for slot in self._stops if self.calls_busy(slot)]
        for slot in running:
            self._stop(slot)
        return bool(running)

    def _stop(self, slot: str) -> None:
        token = self._stops.pop(slot, None)
        if token is not None:
            token.cancel()

    def on_unmount(self) -> None:
        self.stop_calls()
        self.flow.close()

    def _tick(self) -> None:
        if not any(self.calls_busy(slot) for slot in self._stops):
            if self._ticking is not None:
                self._ticking.stop()
                self._ticking = None
        else:
            self.flow.advanced("", Progress("", 0, 0))

    def _mine(self, slot: str) -> str:
        serial, _, name = slot.partition(":")
        return name if serial == str(self._serial) else ""

    def on_run_advanced(self, message: RunAdvanced) -> None:
        if self.runner.is_current(message) and (slot := self._mine(message.slot)):
            self.flow.advanced(slot, message.value)

    def on_run_finished(self, message: RunFinished) -> None:
        slot = self._mine(message.slot)
        if self.runner.done(message) and slot:
            self.flow.finished(slot, message.value)
        elif hasattr(message.value, "close"):
            message.value.close()  # a plan that nobody waits for any more

    def on_run_failed(self, message: RunFailed) -> None:
        if self.runner.done(message) and (slot := self._mine(message.slot)):
            self.flow.failed(slot, message.error)

    # ------------------------------------------------------------------ painting

    def paint(self) -> None:
        """Show the state of the flow."""
        if not self.is_mounted or not self.query(LayoutContainer):
            return
        waiting = self._waiting
        said = waiting or self.flow.said()
        panel = self.query_one(StatePanel)
        if said is not None and said != panel.state:
            panel.state = said
        self.query_one(LayoutContainer).rearrange()
        if waiting is not None:
            self.query_one("#state", Panel).headline(what="Transfer", which="", where="")
            return
        self._paint_bars()
        for name in PANELS:
            if self.shows(name):
                self.rows(name).repaint()
                self._name_panel(name)
        self._name_panel("line")
        self._name_panel("state")
        self.refresh_bindings()
        at = (self.flow.name, self.flow.step)
        if at != self._at:
            self._at = at
            self.query_one(PathLine).show(self.flow.line_text())
            self.call_after_refresh(self._focus_first)

    def _paint_bars(self) -> None:
        flow, glyphs, width = self.flow, host(self).glyphs, self.app.size.width
        head = [head_line(flow.title, flow.steps, flow.step, flow.about(), width, glyphs)]
        if size_class(width) == "narrow":
            head.append(flow.strip(width))
        self.query_one("#head", TextLines).show(head)
        foot = self.query_one("#foot", TextLines)
        advice, missing = flow.words(flow.advice()), flow.words(flow.missing())
        foot.show(foot_lines(advice, missing, width, max(1, foot.size.height), glyphs))

    def _name_panel(self, name: str) -> None:
        heading = self.flow.heading("b" if name == "state" else name)
        panel = self.query_one(f"#{name}", Panel)
        panel.headline(what=heading.what, which=heading.which, where=heading.where)

    def rows(self, name: str) -> WizardRows:
        """The list of a panel."""
        return self.query_one(f"#{name} WizardRows", WizardRows)

    def focus_list(self, name: str) -> None:
        """Put the keyboard into a list, or into the words that stand for it."""
        arranged = self.query_one(LayoutContainer)
        if arranged.shows(name):
            self.rows(name).focus()
        elif arranged.shows("state"):
            self.query_one(StatePanel).focus()

    def _focus_first(self) -> None:
        arranged = self.query_one(LayoutContainer)
        if arranged.shows("line"):
            self.query_one(PathLine).focus()
        else:
            self.focus_list("a" if arranged.shows("a") else "b")

    def _build(self, name: str, width: int, height: int) -> Sequence[Row]:
        return [] if self._waiting is not None else self.flow.rows(name, width, height)

    def _able(self, name: str, act: str, key: str) -> bool:
        return self.flow.able(act, name, key)

    def on_resize(self, event: Any) -> None:
        super().on_resize(event)
        self.call_after_refresh(self.paint)

    # ------------------------------------------------------------------ what the panels say

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        self.flow.moved(self._panel_of(event.rows), event.key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        self.flow.opened(self._panel_of(event.rows), event.key)

    @on(WizardRows.Acted)
    def _acted(self, event: WizardRows.Acted) -> None:
        self.flow.acted(event.act, self._panel_of(event.rows), event.key)

    def _panel_of(self, rows: RowList) -> str:
        return (rows.parent.id or "") if rows.parent is not None else ""

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if isinstance(event.input, PathLine) and self.flow.shape().line:
            self.flow.typed(event.value)

    @on(Input.Submitted)
    def _took(self, event: Input.Submitted) -> None:
        if isinstance(event.input, PathLine):
            self.flow.took(event.value)

    @on(PathLine.Pasted)
    def _pasted(self, event: PathLine.Pasted) -> None:
        self.flow.pasted(event.text)

    @on(PathLine.Asked)
    def _asked(self, event: PathLine.Asked) -> None:
        if event.act == "complete":
            self.flow.completed()
        else:
            self.focus_list("a" if self.query_one(LayoutContainer).shows("a") else "b")

    def shows(self, name: str) -> bool:
        """Whether a panel has a place at the present size."""
        return self.query_one(LayoutContainer).shows(name)

    def action_view(self, name: str) -> None:
        """A group was clicked in the strip."""
        if self.flow.able("view_after", "", ""):
            self.flow.moved("a", name)

    def put_line(self, text: str) -> None:
        """Put a text into the line to type into."""
        self.query_one(PathLine).show(text)

    @on(StatePanel.Chosen)
    def _chosen(self, event: StatePanel.Chosen) -> None:
        if self._waiting is not None:
            host(self).take(event.choice.name, event.choice.value)
        else:
            self.flow.chosen(event.choice.name)

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("next", "back", "stop"):
            there = self._waiting is None and bool(self.flow.steps)
            return there and (action != "next" or self.flow.goes_on())
        if action in _ACTS:
            return self._waiting is None and self.flow.able(action, "", "")
        return True

    def action_next(self) -> None:
        self.flow.next()

    def action_back(self) -> None:
        if not self.flow.back():
            self.home()

    def action_stop(self) -> None:
        if self.dismiss_flash() or self.flow.stop() or not self.flow.steps:
            return
        self.action_back()

    def action_step_to(self, name: str) -> None:
        """A step that is done was clicked: go back to it."""
        while self.flow.step != name and self.flow.back():
            pass

    def _any(self, act: str) -> None:
        self.flow.acted(act, "", "")

    def action_write(self) -> None:
        self._any("write")

    def action_stopped(self) -> None:
        self._any("stopped")

    def action_view_before(self) -> None:
        self._any("view_before")

    def action_view_after(self) -> None:
        self._any("view_after")

    def action_ledger(self) -> None:
        self._any("ledger")

    def action_paste(self) -> None:
        self._any("paste")

    def action_measure(self) -> None:
        self._any("measure")

    def action_undo(self) -> None:
        self._any("undo")

    def palette_entries(self) -> list[PaletteEntry]:
        """What the palette can do here beside the keys."""
        return self.flow.entries()


_ACTS = frozenset(("write", "stopped", "view_before", "view_after", "ledger", "paste", "measure", "undo"))


def _seldom(report: Report) -> Callable[[Progress], None]:
    """`report`, at most every `REPORT_S`; the first and the last of a phase always."""
    what, when = "", 0.0

    def heard(progress: Progress) -> None:
        nonlocal what, when
        now = time.monotonic()
        if progress.what != what or progress.done >= progress.total or now - when >= REPORT_S:
            what, when = progress.what, now
            report(progress)

    return heard
