"""Cases: saved questions with the memories that should come back, asked of one setup or of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive

from memtui.engine import CancelToken, MemtuiError, Progress, counted, one_line
from memtui.engine.cases import CaseBook, CaseSetup
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.bound_panel import Bound, BoundPart
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.sheet import Sheet
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, size_class
from memtui.tui.messages import AskCapture
from memtui.tui.paint.bars import progress as progress_bar
from memtui.tui.paint.cells import crop
from memtui.tui.screens.cases import state as reduce
from memtui.tui.screens.cases import view
from memtui.tui.screens.cases.state import Book, CasesState, Named
from memtui.tui.session import Session
from memtui.tui.trace import options
from memtui.tui.trace.stages import told_waits
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from memtui.engine import Engine, RecallRequest
    from memtui.engine.capture import CaseTrial
    from memtui.engine.cases import Case, CaseReport, TuningResult


# What the Cases screen asks of the engine, on its own thread.

BUDGET = 60
"""Settings that a search tries at the most."""


def read(engine: Engine, book: CaseBook) -> Book:
    """The cases, the memories that they name, and whether the demo's own questions would fit here."""
    from memtui.engine.capture import CaptureCaseBook
    from memtui.engine.cases import demo_cases

    cases, talks = book.cases(), CaptureCaseBook.beside(book.path).cases()
    named = dict.fromkeys(id for case in cases for id in (*case.expected, *case.rejected))
    memories = engine.memories(list(named)) if named else {}
    demo = False
    if not cases:
        first = demo_cases(0)[0].expected
        demo = bool(engine.memories(first))
    return Book(cases, talks, memories, demo)


def run(
    engine: Engine,
    book: Book,
    setups: tuple[CaseSetup, CaseSetup | None],
    k: int,
    report: Callable[[Any], None],
    cancel: CancelToken,
) -> tuple[CaseReport | None, dict[str, CaseTrial]]:
    """Ask every case of A, and of B where there is one; capture every conversation as it is and under B's settings."""
    from memtui.engine.capture import try_settings
    from memtui.engine.cases import compare, run_cases

    cases = book.cases

    fetches = told_waits(report)

    def ask(request: RecallRequest) -> Any:
        return engine.recall(request, fetches, cancel)

    a, b = setups
    tried = try_settings(book.talks, (b.config if b is not None else None) or {}, cancel)
    trials = {trial.now.case.id: trial for trial in tried}
    if not cases:
        return None, trials
    first = run_cases(cases, a, ask, engine.memories, k=k, on_progress=report, cancel=cancel)
    if b is None:
        return first, trials
    other = run_cases(cases, b, ask, engine.memories, k=k, on_progress=report, cancel=cancel)
    return compare(first, other), trials


def search(
    engine: Engine,
    cases: Sequence[Case],
    start: CaseSetup,
    k: int,
    report: Callable[[Any], None],
    cancel: CancelToken,
) -> TuningResult:
    """Search better settings from `start`, judged on cases kept apart."""
    from memtui.engine.cases import run_cases, tune

    fetches = told_waits(report)

    def ask(request: RecallRequest) -> Any:
        return engine.recall(request, fetches, cancel)

    def asked(some: Sequence[Case], setup: CaseSetup) -> CaseReport:
        return run_cases(some, setup, ask, engine.memories, k=k, cancel=cancel)

    return tune(cases, start, asked, budget=BUDGET, on_progress=report, cancel=cancel)


def take_file(book: CaseBook, path: Path) -> tuple[int, list[tuple[str, str]]]:
    """Take the cases of a file; how many, and the lines and keys that were not."""
    from memtui.engine.cases import read_cases

    found = read_cases(path)
    book.put_all(found.taken)
    return len(found.taken), [*found.rejected, *found.unused]


def take_demo(book: CaseBook, now_ms: int) -> str:
    """Take the demo store's own questions."""
    from memtui.engine.cases import demo_cases

    cases = demo_cases(now_ms)
    book.put_all(cases)
    return f"{counted(len(cases), 'case')} taken from the demo store's questions"


# Choosing what the cases are asked with: A, B, how many results count, and a file of more cases.

Imported = tuple[int, list[tuple[str, str]]]
"""How many cases of a file were taken; place and reason of each line that could not be."""

KS = (1, 3, 5, 10, 20)

ALONE, FILE = "\0alone", "\0file"
"""Values of the chooser of B that are no recipe."""


class Choosing(BoundPart[CasesState]):
    """Opens the dialogs of Cases, and changes its state."""

    def _recipes(self) -> list[Option]:
        return options.recipe_options(options.recipes_of(self.session.engine))

    def other(self) -> None:
        """Choose B."""
        rest = [
            Option(FILE, "a configuration file", "the plugin's retrieval and decay blocks", "f"),
            Option(ALONE, "nothing", "only A is run", "0"),
        ]

        def taken(value: str | None) -> None:
            if value == ALONE:
                self.become(lambda state: replace(state, b=None))
            elif value == FILE:
                self._file()
            elif value is not None:
                b = Named(value, CaseSetup("B", value))
                self.become(lambda state: replace(state, b=b))

        b = self.state.b
        now = ALONE if b is None else b.title if b.title == b.setup.recipe else FILE
        self.app.push_screen(ChooseOne("Compare with", [*self._recipes(), *rest], now), taken)

    def change(self, name: str = "") -> None:
        """Choose what to run with: the recipe of A ("first"), how many results count ("how-many"), or which of both."""

        def taken(value: str | None) -> None:
            if value is not None:
                (self.first if value == "first" else self.how_many)()

        if name:
            taken(name)
            return
        found = [
            Option("first", "recipe of A", self.state.a.setup.recipe, "r"),
            Option("how-many", "how many results count", str(self.state.k), "h"),
        ]
        self.app.push_screen(ChooseOne("Run with", found), taken)

    def first(self) -> None:
        """Choose A."""

        def taken(value: str | None) -> None:
            if value is not None:
                a = Named(value, CaseSetup("A", value))
                self.become(lambda state: replace(state, a=a))

        self.app.push_screen(
            ChooseOne("Run with the recipe", self._recipes(), self.state.a.setup.recipe), taken
        )

    def _file(self) -> None:
        """B is A with the settings of a file."""
        base = self.state.a.setup

        def taken(path: str | None) -> None:
            def read(cancel: CancelToken, report: Report) -> Named:
                from memtui.engine.discovery import read_config

                return Named(
                    one_line(Path(path or "").name), replace(base, name="B", config=read_config(path))
                )

            if path:
                self.call("file", read, lambda b: self.become(lambda state: replace(state, b=b)))

        self.app.push_screen(
            TextPrompt("Configuration file", 'JSON or JSON5: {"retrieval": {...}, "decay": {...}}.'), taken
        )

    def how_many(self) -> None:
        """How many results count."""

        def taken(value: str | None) -> None:
            if value is not None:
                k = int(value)
                self.become(lambda state: replace(state, k=k))

        found = [Option(str(k), str(k), "results count") for k in KS]
        self.app.push_screen(ChooseOne("How many results count", found, str(self.state.k)), taken)

    def import_file(self, book: CaseBook, then: Callable[[Imported], None]) -> None:
        """Take the cases of a file."""

        def taken(path: str | None) -> None:
            if path:
                self.call("import", lambda cancel, report: take_file(book, Path(path)), then)

        hint = 'One JSON object a line: {"query": "...", "expected": ["id"]}.'
        self.app.push_screen(TextPrompt("Cases file", hint), taken)


_MARKS = "{recall.raise} {recall.lower} grade   {recall.expected} expected   {recall.expect-nothing} nothing"


class CasesScreen(BaseScreen):
    """Opened over Recall; `ask` asks a case there, after this screen has gone."""

    MODE = "recall"
    OF_ROW = frozenset(("work",))
    CSS_PATH = "cases.tcss"
    BINDINGS = bindings("cases")

    state: reactive[CasesState] = reactive(CasesState(Named("", CaseSetup("A"))), init=False)

    def __init__(self, book: CaseBook, a: Named, b: Named | None, ask: Callable[[Case], None]) -> None:
        super().__init__()
        self._book, self._ask = book, ask
        self.set_reactive(CasesScreen.state, CasesState(a, b))

    def body(self) -> ComposeResult:
        yield Choosing().data_bind(state=CasesScreen.state)
        yield LayoutContainer(
            Panel(TextLines(id="head-lines"), title="Cases", id="head"),
            Panel(BuiltRows(partial(self._build, "list"), id="rows"), StatePanel(), id="list"),
            Panel(BuiltRows(partial(self._build, "measures")), title="Measures", id="measures"),
            Panel(BuiltRows(partial(self._build, "case")), title="Case", id="case"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.cases(width, height, shown=self.state.shown, filled=self._instead() is None)

    def _build(self, name: str, width: int, height: int) -> list[Row]:
        glyphs = host(self).glyphs
        if name == "measures":
            return view.measure_rows(self.state, width, glyphs, host(self).keys)
        return (view.case_rows if name == "list" else view.detail_rows)(self.state, width, glyphs)

    @property
    def _choosing(self) -> Choosing:
        return self.query_one(Choosing)

    @on(Bound.Become)
    def _become(self, message: Bound.Become) -> None:
        self.state = message.change(self.state)

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
        if not state.empty:
            return None
        choices = [
            Choice("back", "judge results in Recall", _MARKS),
            Choice("import", "import cases from a file", "JSON lines", key="cases.import"),
        ]
        if state.book.demo:
            choices.insert(0, Choice("demo", "add the demo store's questions", "twelve of them", key="d"))
        return State("empty", "Saved questions will be listed here.", choices=tuple(choices))

    def _paint(self) -> None:
        if not self.query(LayoutContainer):
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
        count = len(state.book.cases) + len(state.book.talks) if state.book is not None else 0
        at, _ = rows.place
        panel.headline(
            what="Questions, conversations" if state.book is not None and state.book.talks else "Questions",
            which="" if said is not None else view.list_heading(state),
            where="" if said is not None else self._where(at, count),
        )
        self.query_one("#measures", Panel).headline(
            which="" if state.report is None else f"k {state.report.k}"
        )
        self.query_one("#case", Panel).headline(which=state.selected[:8])
        self.query_one(LayoutContainer).rearrange()
        self.refresh_bindings()
        wanted = self.query_one(StatePanel) if said is not None else rows
        if not isinstance(self.focused, BuiltRows) or said is not None:
            self.hand_over(wanted.focus)

    def _where(self, at: int, count: int) -> str:
        narrow = size_class(self.app.size.width) == "narrow"
        said = "" if narrow else "   nDCG minus wrong-answer rate   {rows.open} asks it"
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
            text = f" {state.waits}" if state.waits else text
            stop = f"   {keys.cap('cases.back')} stops"
            text = crop(text, max(20, self.app.size.width - 24 - len(stop)), glyphs.ellipsis)
            second = Content.assemble((bar, "$primary"), text, (stop, "$dim"))
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
        self.query_one("#head-lines", TextLines).show(
            [Content.assemble(" ", titles), Content.assemble(" ", second)]
        )

    # ------------------------------------------------------------------ work

    def _read(self) -> None:
        engine, book = self.session.engine, self._book
        if engine is not None:
            self.call(
                "book", lambda cancel, report: read(engine, book), self._have_book, failed=self._no_book
            )

    def _run(self) -> None:
        engine, state = self.session.engine, self.state
        if engine is None or state.book is None or state.empty:
            return
        self.state = reduce.start(state, "running")
        setups = (state.a.setup, state.b.setup if state.b is not None else None)
        book, k = state.book, state.k

        def work(cancel: CancelToken, report: Report) -> Any:
            return run(engine, book, setups, k, report, cancel)

        self.call("work", work, self._have_report, progress=self._advanced, failed=self._no_work)

    def _tune(self) -> None:
        engine, state = self.session.engine, self.state
        if engine is None or state.book is None:
            return
        self.state = reduce.start(state, "tuning")
        cases, start, k = state.book.cases, state.a.setup, state.k

        def work(cancel: CancelToken, report: Report) -> Any:
            return search(engine, cases, start, k, report, cancel)

        self.call("work", work, self._have_tuning, progress=self._advanced, failed=self._no_work)

    def _change(self, change: Callable[[], str]) -> None:
        """Change the book off the event loop, then read it anew; `change` says what it did."""
        self.call("change", lambda cancel, report: change(), self._changed)

    def _advanced(self, told: Progress | str) -> None:
        """How far it is, or in words what a case has to fetch first."""
        if isinstance(told, str):
            self.state = replace(self.state, waits=told)
        else:
            self.state = replace(self.state, progress=told, waits="")

    def _have_book(self, book: Book) -> None:
        self.state = reduce.read(self.state, book)

    def _no_book(self, error: MemtuiError) -> None:
        self.state = reduce.fail(self.state, error)

    def _changed(self, said: str) -> None:
        self.flash(said)
        self._read()

    def _have_report(self, found: Any) -> None:
        self.state = reduce.finish(self.state, *found)

    def _have_tuning(self, found: TuningResult) -> None:
        self.state = reduce.tuned(self.state, found)

    def _no_work(self, error: MemtuiError) -> None:
        self.state = reduce.stop(self.state)
        self.call_failed(error)

    # ------------------------------------------------------------------ what the panels say

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        self.state = reduce.select(self.state, event.key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        case, talk = self.state.case, self.state.talk
        if case is not None:
            self.app.pop_screen()
            self._ask(case)
        elif talk is not None:
            self.app.pop_screen()
            self.app.post_message(AskCapture("", talk))

    @on(StatePanel.Chosen)
    def _chosen(self, event: StatePanel.Chosen) -> None:
        name = event.choice.name
        if name == "demo":
            self._change(lambda: take_demo(self._book, host(self).now_ms()))
        elif name == "import":
            self.action_import()
        elif name == "again":
            self._read()
        else:
            self.action_back()

    def _imported(self, value: Imported) -> None:
        taken, rejected = value
        self.flash(f"{counted(taken, 'case')} taken", "done")
        if rejected:
            said = [f"{where}: {why}" for where, why in rejected]
            intro = [f"{counted(taken, 'case')} taken. Not used in {counted(len(said), 'place')}:"]
            self.app.push_screen(Sheet("What was not used", intro, said, []))
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

    def action_change(self, name: str = "") -> None:
        """Choose what to run with: of this name, or one of both."""
        self._choosing.change(name)

    def action_import(self) -> None:
        self._choosing.import_file(self._book, self._imported)

    def action_remove(self) -> None:
        case, talk, book = self.state.case, self.state.talk, self._book
        if case is None and talk is None:
            return
        self.state = replace(self.state, removed=case or talk)

        def remove() -> str:
            from memtui.engine.capture import CaptureCaseBook

            if case is not None:
                book.remove(case.id)
            elif talk is not None:
                CaptureCaseBook.beside(book.path).remove(talk.id)
            return "case removed; {cases.put-back} puts it back"

        self._change(remove)

    def action_put_back(self) -> None:
        case, book = self.state.removed, self._book
        if case is None:
            return
        self.state = replace(self.state, removed=None)

        def put() -> str:
            from memtui.engine.capture import CaptureCase, CaptureCaseBook

            if isinstance(case, CaptureCase):
                CaptureCaseBook.beside(book.path).put(case)
            else:
                book.put(case)
            return "case put back"

        self._change(put)

    def action_copy(self) -> None:
        host(self).copy(view.block_text(self.state), "configuration block")

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
