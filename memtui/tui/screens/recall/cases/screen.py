"""Cases: saved questions with the memories that should come back, asked of one setup or of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive

from memtui.engine import CancelToken, CaseBook, Progress, one_line
from memtui.engine.cases.run import Setup
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.frame import Frame
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.messages import RunAdvanced, RunFailed, RunFinished
from memtui.tui.paint.bars import progress as progress_bar
from memtui.tui.paint.numbers import plural
from memtui.tui.runner import Report
from memtui.tui.screens.recall.cases import arrange, present, working
from memtui.tui.screens.recall.cases import state as reduce
from memtui.tui.screens.recall.cases.choosing import Choosing
from memtui.tui.screens.recall.cases.state import CasesState, Named
from memtui.tui.session import Session
from memtui.tui.widgets.arranged import Arranged
from memtui.tui.widgets.built_rows import BuiltRows
from memtui.tui.widgets.lines import Lines
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.rows import Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case

_MARKS = "{recall.right} right   {recall.wrong} wrong   {recall.expected} expected   {recall.expect-nothing} nothing"


class CasesScreen(Frame):
    """Opened over Recall; `ask` asks a case there, after this screen has gone."""

    MODE = "recall"
    CSS_PATH = "cases.tcss"
    BINDINGS = bindings("cases")

    state: reactive[CasesState] = reactive(CasesState(Named("", Setup("A"))), init=False)

    def __init__(self, book: CaseBook, a: Named, b: Named | None, ask: Callable[[Case], None]) -> None:
        super().__init__()
        self._book, self._ask = book, ask
        self._choosing = Choosing(self)
        self.set_reactive(CasesScreen.state, CasesState(a, b))

    def body(self) -> ComposeResult:
        yield Arranged(
            Panel(Lines(id="head-lines"), title="Cases", id="head"),
            Panel(BuiltRows(partial(self._build, "list"), id="rows"), StatePanel(), id="list"),
            Panel(BuiltRows(partial(self._build, "measures")), title="Measures", id="measures"),
            Panel(BuiltRows(partial(self._build, "case")), title="Case", id="case"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return arrange.cases(width, height, shown=self.state.shown, filled=self._instead() is None)

    def _build(self, name: str, width: int, height: int) -> list[Row]:
        glyphs = host(self).glyphs
        if name == "measures":
            return present.measure_rows(self.state, width, glyphs, host(self).keys)
        return (present.case_rows if name == "list" else present.detail_rows)(self.state, width, glyphs)

    def on_mount(self) -> None:
        self._paint()
        self._read()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._paint()

    def session_changed(self, session: Session) -> None:
        if self.state.book is not None and session.open:
            self._read()

    def watch_state(self) -> None:
        self._paint()

    # ------------------------------------------------------------------ painting

    def _instead(self) -> State | None:
        """Words in place of the list."""
        state = self.state
        if state.error is not None and state.book is None:
            return failed("The cases cannot be read.", state.error, Choice("again", "try again"))
        if state.book is None:
            return State("loading", "reading the cases", skeleton=True)
        if state.book.cases:
            return None
        choices = [
            Choice("back", "mark what came back on Recall", _MARKS),
            Choice("import", "take cases from a file", "JSON lines", key="cases.import"),
        ]
        if state.book.demo:
            choices.insert(
                0, Choice("demo", "take the demo store's questions", "twelve telling ones", key="d")
            )
        return State("empty", "There are no cases of this store yet.", choices=tuple(choices))

    def _paint(self) -> None:
        if not self.query(Arranged):
            return
        state = self.state
        said = self._instead()
        panel = self.query_one("#list", Panel)
        panel.set_class(said is not None, "-state")
        if said is not None and self.query_one(StatePanel).state != said:
            self.query_one(StatePanel).state = said
        self._paint_head()
        rows = self.query_one("#rows", RowList)
        for each in self.query(BuiltRows):
            each.repaint(state.selected if each is rows else None)
        count = len(state.book.cases) if state.book is not None else 0
        at, _ = rows.place
        panel.headline(
            what="Questions",
            which="" if said is not None else present.list_heading(state),
            where="" if said is not None else self._where(at, count),
        )
        self.query_one("#measures", Panel).headline(
            which="" if state.report is None else f"k {state.report.k}"
        )
        self.query_one("#case", Panel).headline(which=state.selected[:8])
        self.query_one(Arranged).rearrange()
        self.refresh_bindings()
        wanted = self.query_one(StatePanel) if said is not None else rows
        if not isinstance(self.focused, BuiltRows) or said is not None:
            self.call_after_refresh(wanted.focus)

    def _where(self, at: int, count: int) -> str:
        narrow = size_class(self.app.size.width) == "narrow"
        said = "" if narrow else "   nDCG less share of wrong   enter asks it"
        return f"{at or '-'} / {count}{said}"

    def _paint_head(self) -> None:
        state, glyphs, keys = self.state, host(self).glyphs, host(self).keys
        titles = Content.assemble(
            ("A ", "bold $key"),
            (one_line(state.a.title), "$foreground"),
            ("   B ", "bold $key"),
            (
                one_line(state.b.title) if state.b is not None else "none",
                "$foreground" if state.b else "$dim",
            ),
            (f"   k {state.k}", "$dim"),
        )
        if state.work in ("running", "tuning"):
            done = state.progress
            bar = progress_bar(done.fraction if done else 0.0, 16, glyphs)
            text = f" {one_line(done.what)}, {done.done} of {done.total}" if done else " asking"
            second = Content.assemble((bar, "$primary"), text, (f"   {keys.cap('cases.back')} stops", "$dim"))
        elif state.report is not None and state.report.paired is not None:
            second = Content(state.report.paired.verdict)
        else:
            second = Content.styled(
                keys.words(
                    "{cases.run} runs all cases   {cases.other} compares with another setup"
                    "   {cases.tune} searches better settings"
                ),
                "$dim",
            )
        self.query_one("#head-lines", Lines).show(
            [Content.assemble(" ", titles), Content.assemble(" ", second)]
        )

    # ------------------------------------------------------------------ work

    def _read(self) -> None:
        engine, book = self.session.engine, self._book
        if engine is not None:
            self.runner.start("book", lambda cancel, report: working.read(engine, book))

    def _run(self) -> None:
        engine, state = self.session.engine, self.state
        if engine is None or state.book is None or not state.book.cases:
            return
        self.state = reduce.start(state, "running")
        setups = (state.a.setup, state.b.setup if state.b is not None else None)
        cases, k = state.book.cases, state.k

        def work(cancel: CancelToken, report: Report) -> Any:
            return working.run(engine, cases, setups, k, report, cancel)

        self.runner.start("work", work)

    def _tune(self) -> None:
        engine, state = self.session.engine, self.state
        if engine is None or state.book is None:
            return
        self.state = reduce.start(state, "tuning")
        cases, start, k = state.book.cases, state.a.setup, state.k

        def work(cancel: CancelToken, report: Report) -> Any:
            return working.search(engine, cases, start, k, report, cancel)

        self.runner.start("work", work)

    def _change(self, change: Callable[[], str]) -> None:
        """Change the book off the event loop, then read it anew; `change` says what it did."""
        self.runner.start("change", lambda cancel, report: change())

    def on_run_advanced(self, message: RunAdvanced) -> None:
        if self.runner.is_current(message) and isinstance(message.value, Progress):
            self.state = replace(self.state, progress=message.value)

    def on_run_finished(self, message: RunFinished) -> None:
        if not self.runner.done(message):
            return
        value = message.value
        if message.slot == "book":
            self.state = reduce.read(self.state, value)
        elif message.slot == "change":
            self.flash(value)
            self._read()
        elif message.slot == "file":
            self.state = replace(self.state, b=value)
        elif message.slot == "import":
            self._imported(value)
        elif self.state.work == "tuning":
            self.state = reduce.tuned(self.state, value)
        else:
            self.state = reduce.finish(self.state, value)

    def on_run_failed(self, message: RunFailed) -> None:
        if not self.runner.done(message):
            return
        if message.slot == "book":
            self.state = reduce.fail(self.state, message.error)
            return
        if message.slot == "work":
            self.state = reduce.stop(self.state)
        self.flash(str(message.error), "error")

    # ------------------------------------------------------------------ what the panels say

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        self.state = reduce.select(self.state, event.key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        case = self.state.case
        if case is not None:
            self.app.pop_screen()
            self._ask(case)

    @on(StatePanel.Chosen)
    def _chosen(self, event: StatePanel.Chosen) -> None:
        name = event.choice.name
        if name == "demo":
            self._change(lambda: working.take_demo(self._book, host(self).now_ms()))
        elif name == "import":
            self.action_import()
        elif name == "again":
            self._read()
        else:
            self.action_back()

    def _imported(self, value: tuple[int, list[tuple[str, str]]]) -> None:
        taken, rejected = value
        self.flash(f"{plural(taken, 'case')} taken", "done")
        if rejected:
            said = [f"{where}: {why}" for where, why in rejected]
            intro = [f"{plural(taken, 'case')} taken. {plural(len(said), 'line')} could not be read:"]
            self.app.push_screen(Sheet("Lines that are no case", intro, said, []))
        self._read()

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("run", "tune", "remove", "turn") and self._instead() is not None:
            return None
        if action in ("run", "tune") and self.state.work in ("running", "tuning"):
            return None
        if action == "copy":
            return True if self.state.tuning is not None and self.state.tuning.settings else None
        if action == "put_back":
            return True if self.state.removed is not None else None
        return True

    def action_run(self) -> None:
        self._run()

    def action_tune(self) -> None:
        self._tune()

    def action_other(self) -> None:
        self._choosing.other()

    def action_first(self) -> None:
        self._choosing.first()

    def action_how_many(self) -> None:
        self._choosing.how_many()

    def action_import(self) -> None:
        self._choosing.import_file(self._book)

    def action_remove(self) -> None:
        case, book = self.state.case, self._book
        if case is None:
            return
        self.state = replace(self.state, removed=case)

        def remove() -> str:
            book.remove(case.id)
            return "case removed; {cases.put-back} puts it back"

        self._change(remove)

    def action_put_back(self) -> None:
        case, book = self.state.removed, self._book
        if case is None:
            return
        self.state = replace(self.state, removed=None)

        def put() -> str:
            book.put(case)
            return "case put back"

        self._change(put)

    def action_copy(self) -> None:
        host(self).copy(present.block_text(self.state), "configuration block")

    def action_turn(self) -> None:
        if size_class(self.app.size.width) == "narrow":
            self.state = reduce.turn(self.state)

    def action_back(self) -> None:
        if self.runner.busy("work"):
            self.runner.cancel("work")
            self.state = reduce.stop(self.state)
            self.flash("stopped", "note")
        else:
            self.app.pop_screen()
