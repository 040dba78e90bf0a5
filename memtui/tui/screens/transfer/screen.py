"""Transfer: memories in, memories out, and another model for all of them; each a task of steps in one frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.timer import Timer
from textual.widgets import Input

from memtui.engine import Cancelled, CancelToken, MemtuiError, Progress, changes
from memtui.tui.actions.action import Action
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.dialogs.text_prompt import Paste, TextPrompt
from memtui.tui.dialogs.unlock import unlocked
from memtui.tui.host import Host, host
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.layouts import transfer
from memtui.tui.messages import AskExport, AskImport, RunAdvanced, RunFailed, RunFinished
from memtui.tui.no_store import of_session
from memtui.tui.screens.transfer.start_page import START
from memtui.tui.screens.transfer.tasks import TASKS, task_named
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.screen_bars import FlashLine
from memtui.tui.widgets.state_panel import State, StatePanel
from memtui.tui.widgets.text_lines import TextLines
from memtui.tui.wizard.view import foot_lines, head_line
from memtui.tui.wizard.widgets import PathLine, WizardRows
from memtui.tui.wizard.wizard import STOPPED, Call, Task, TaskRun

if TYPE_CHECKING:
    from memtui.engine import Engine


PANELS = ("a", "b", "c", "d")

REPORT_S = 0.06
"""Progress that comes faster than this is not shown: nobody reads it."""

TICK_S = 0.5
"""How often the time of a running call is shown anew."""


class TransferScreen(BaseScreen):
    """The frame of a task; what is in it is the business of the task."""

    MODE = "transfer"
    BESIDE = frozenset(("sums", "size", "begins", "estimate", "measure", "answers"))
    OF_ROW = frozenset(
        ("look", "places", "page", "count", "stores", "plan", "trial", "preview", "rehearse", "run", "source")
    )
    CSS_PATH = "transfer.tcss"
    BINDINGS = bindings("transfer")

    def __init__(self) -> None:
        super().__init__()
        self.run: TaskRun[Any] | None = None
        """The task that is shown; None before a store is open."""
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
        if self._waiting is not None or self.run is None:
            return {"state": transfer(width, height)["head"]._replace(height=height)}
        return transfer(width, height, self.run.shape())

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
        if not same or self.run is None:
            self.begin("")
        else:
            self.run.renewed()
            self.paint()

    # ------------------------------------------------------------------ tasks

    def begin(self, name: str, *given: Any, act: str = "") -> None:
        """Leave what is shown and begin a task; no name is the start page. `act` is a letter to press there."""
        self.go(task_named(name) if name else START, *given)
        if act:
            self._any(act)

    def go(self, task: Task[Any], *given: Any) -> None:
        """Begin a task that is at hand; what stands in its way is said, and what is shown stays."""
        try:
            run = TaskRun(task, self, *given)
        except MemtuiError as error:
            self.flash(str(error), "error")
            if self.run is None:
                self.go(START)
            return
        self.stop_calls()
        if self.run is not None:
            self.run.close()
            self.query_one(FlashLine).dismiss()  # what the task before said is not of this one
        self._serial += 1
        self.run = run
        self._at = ("", "")
        self.run.renewed()
        self.paint()

    def receive(self, message: Any) -> None:
        """A wish of another screen."""
        session = self.session
        if isinstance(message, AskExport) and session.open and session.engine is not None:
            self._waiting, self._engine, self._revision = None, session.engine, session.revision
            self.begin("export", message.ids, message.filter, message.scopes, message.format)
        elif isinstance(message, AskImport) and session.open and session.engine is not None:
            self._waiting, self._engine, self._revision = None, session.engine, session.revision
            self.begin("import")
            self.put_line(message.path)

    def action_begin(self, name: str) -> None:
        """Begin one of the tasks."""
        self.begin(name)

    # ------------------------------------------------------------------ what a task may ask

    @property
    def host(self) -> Host:
        """The app."""
        return host(self)

    @property
    def engine(self) -> Engine:
        """The open store."""
        engine = self.session.engine
        assert engine is not None
        return engine

    @property
    def forbidden(self) -> str:
        """Why nothing can be written, with what to do; empty when it can."""
        return self.staging.forbidden

    def show_dialog(self, dialog: TextPrompt | ChooseOne | Paste, then: Callable[[Any], None]) -> None:
        """Put a dialog on top; `then` gets what it was closed with."""
        self.app.push_screen(dialog, then)

    def take_back(self, entry: int, then: Callable[[], None] | None = None) -> None:
        """Show what taking back an entry of the journal means, and do it when a person agrees."""
        self.staging.stage(
            lambda engine: changes.plan_undo(engine, entry),
            force=lambda engine, ids: changes.plan_undo(engine, entry, forced=ids),
            then=None if then is None else lambda outcome: then(),
        )

    def send(self, message: Any) -> None:
        """Post a message to the app: open something on another screen."""
        self.app.post_message(message)

    def later(self, act: Callable[[], None]) -> None:
        """Do this, which may move the keyboard, after what is shown was painted; until then keys wait."""
        self.hand_over(act)

    def at(self, panel: str) -> str:
        """The key of the row under the cursor of a list."""
        return self.rows(panel).key if self.is_mounted else ""

    def has_keyboard(self, panel: str) -> bool:
        """Whether a list has the keyboard."""
        return self.rows(panel).has_focus

    def move_to(self, panel: str, key: str = "") -> None:
        """Put the cursor of a list on a row; without a key, a row further."""
        if key:
            self.rows(panel).repaint(key)
        else:
            self.rows(panel).action_down()

    def work(self, slot: str, call: Call) -> None:
        """Run an engine call for the task; a call of the same slot is stopped first."""
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
        """Whether a call of the task is running."""
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
        if self.run is not None:
            self.run.close()

    def _tick(self) -> None:
        if not any(self.calls_busy(slot) for slot in self._stops):
            if self._ticking is not None:
                self._ticking.stop()
                self._ticking = None
        elif self.run is not None:
            self.run.advanced("", Progress("", 0, 0))

    def _mine(self, slot: str) -> str:
        serial, _, name = slot.partition(":")
        return name if serial == str(self._serial) else ""

    def on_run_advanced(self, message: RunAdvanced) -> None:
        if self.run is not None and self.runner.is_current(message) and (slot := self._mine(message.slot)):
            self.run.advanced(slot, message.value)

    def on_run_finished(self, message: RunFinished) -> None:
        slot = self._mine(message.slot)
        if self.runner.done(message) and slot and self.run is not None:
            self.run.finished(slot, message.value)
        elif hasattr(message.value, "close"):
            message.value.close()  # a plan that nobody waits for any more

    def on_run_failed(self, message: RunFailed) -> None:
        if self.runner.done(message) and (slot := self._mine(message.slot)) and self.run is not None:
            self.run.failed(slot, message.error)

    # ------------------------------------------------------------------ painting

    def paint(self) -> None:
        """Show the state of the task."""
        if not self.is_mounted or not self.query(LayoutContainer):
            return
        waiting, run = self._waiting, self.run
        said = waiting or (run.part.said(run) if run is not None else None)
        panel = self.query_one(StatePanel)
        if said is not None and said != panel.state:
            panel.state = said
        self.query_one(LayoutContainer).rearrange()
        if waiting is not None or run is None:
            self.query_one("#state", Panel).headline(what="Transfer", which="", where="")
            return
        self._paint_bars(run)
        for name in PANELS:
            if self.shows(name):
                self.rows(name).repaint()
                self._name_panel(run, name)
        self._name_panel(run, "line")
        self._name_panel(run, "state")
        self.refresh_bindings()
        at = (run.task.name, run.step)
        if at != self._at:
            self._at = at
            self.query_one(PathLine).show(run.part.line(run.state))
            self.hand_over(self._focus_first)

    def _paint_bars(self, run: TaskRun[Any]) -> None:
        task, width = run.task, self.app.size.width
        head = [head_line(task.title, run.steps, run.step, task.about(run), width, run.glyphs)]
        if size_class(width) == "narrow":
            head.append(task.strip(run, width))
        self.query_one("#head", TextLines).show(head)
        foot = self.query_one("#foot", TextLines)
        advice, missing = run.words(run.advice()), run.words(run.part.missing(run))
        foot.show(foot_lines(advice, missing, width, max(1, foot.size.height), run.glyphs))

    def _name_panel(self, run: TaskRun[Any], name: str) -> None:
        heading = run.part.heading(run, "b" if name == "state" else name)
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
        if self.run is not None and (first := self.run.part.first(self.run)):
            self.focus_list(first)
        elif arranged.shows("line"):
            self.query_one(PathLine).focus()
        else:
            self.focus_list("a" if arranged.shows("a") else "b")

    def _build(self, name: str, width: int, height: int) -> Sequence[Row]:
        run = self.run
        return [] if self._waiting is not None or run is None else run.part.rows(run, name, width, height)

    def _able(self, name: str, act: str, key: str) -> bool:
        return self.run is not None and self.run.able(act, name, key)

    def on_resize(self, event: Any) -> None:
        super().on_resize(event)
        self.call_after_refresh(self.paint)

    # ------------------------------------------------------------------ what the panels say

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        if (run := self.run) is not None:
            run.part.moved(run, self._panel_of(event.rows), event.key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        if self.run is not None:
            self.run.opened(self._panel_of(event.rows), event.key)

    @on(WizardRows.Acted)
    def _acted(self, event: WizardRows.Acted) -> None:
        if self.run is not None:
            self.run.acted(event.act, self._panel_of(event.rows), event.key)

    def _panel_of(self, rows: RowList) -> str:
        return (rows.parent.id or "") if rows.parent is not None else ""

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if (run := self.run) is not None and isinstance(event.input, PathLine) and run.shape().line:
            run.part.typed(run, event.value)

    @on(Input.Submitted)
    def _took(self, event: Input.Submitted) -> None:
        if (run := self.run) is not None and isinstance(event.input, PathLine):
            run.part.took(run, event.value)

    @on(PathLine.Pasted)
    def _pasted(self, event: PathLine.Pasted) -> None:
        if (run := self.run) is not None:
            run.part.pasted(run, event.text)

    @on(PathLine.Asked)
    def _asked(self, event: PathLine.Asked) -> None:
        if event.act == "complete" and (run := self.run) is not None:
            run.part.completed(run)
        else:
            self.focus_list("a" if self.query_one(LayoutContainer).shows("a") else "b")

    def shows(self, name: str) -> bool:
        """Whether a panel has a place at the present size."""
        return self.query_one(LayoutContainer).shows(name)

    def action_view(self, name: str) -> None:
        """A group was clicked in the strip."""
        if (run := self.run) is not None and run.able("view_after", "", ""):
            run.part.moved(run, "a", name)

    def put_line(self, text: str) -> None:
        """Put a text into the line to type into."""
        self.query_one(PathLine).show(text)

    @on(StatePanel.Chosen)
    def _chosen(self, event: StatePanel.Chosen) -> None:
        if self._waiting is not None:
            host(self).take(event.choice.name, event.choice.value)
        elif (run := self.run) is not None:
            run.part.chosen(run, event.choice.name)

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("next", "back", "stop"):
            there = self._waiting is None and self.run is not None and bool(self.run.steps)
            return there and (action != "next" or (self.run is not None and self.run.goes_on()))
        if action in _ACTS:
            return self._waiting is None and self._able("", action, "")
        return True

    def holds(self, key: Action | None, able: bool = True) -> bool:
        """As on every screen; a key that cannot act yet also waits for the sums, which decide what may be written."""
        undecided = (key is None or not able) and self.calls_busy("sums")
        return undecided or super().holds(key, able)

    def action_next(self) -> None:
        if (run := self.run) is not None:
            run.part.next(run)

    def action_back(self) -> None:
        if (run := self.run) is not None and not run.part.back(run):
            self.begin("")

    def action_stop(self) -> None:
        if self.dismiss_flash() or self.run is None or self.run.stop() or not self.run.steps:
            return
        self.action_back()

    def action_step_to(self, name: str) -> None:
        """A step that is done was clicked: go back to it."""
        while (run := self.run) is not None and run.step != name and run.part.back(run):
            pass

    def _any(self, act: str) -> None:
        if self.run is not None:
            self.run.acted(act, "", "")

    def action_write(self) -> None:
        self._write("write")

    def action_stopped(self) -> None:
        self._write("stopped")

    def _write(self, act: str) -> None:
        """What writes to the open store asks for it to be unlocked first; what makes new files and stores need not."""
        key = self.run.part.keys.get(act) if self.run is not None else None
        if key is not None and key.unlocks:
            unlocked(self, key.unlocks, lambda: self._any(act))
        else:
            self._any(act)

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

    def action_send(self) -> None:
        self._any("send")

    def action_rehearse(self) -> None:
        self._any("rehearse")

    def action_undo(self) -> None:
        self._any("undo")

    def palette_entries(self) -> list[PaletteEntry]:
        """What the palette can do here beside the keys: from the start page, begin a task."""
        if self.run is None or self.run.steps:
            return []
        return [
            PaletteEntry("TRANSFER", task.title, partial(self.begin, task.name), task.about) for task in TASKS
        ]


_ACTS = frozenset(
    (
        "write",
        "stopped",
        "view_before",
        "view_after",
        "ledger",
        "paste",
        "measure",
        "send",
        "rehearse",
        "undo",
    )
)


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
