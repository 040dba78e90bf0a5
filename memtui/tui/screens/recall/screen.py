"""Recall: ask what the agent asked, and see why these memories came back and those did not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.reactive import reactive
from textual.widgets import Input

from memtui.engine import CancelToken, StageSummary, one_line
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import Report
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.layout import Arrangement
from memtui.tui.messages import (
    AskRecall,
    AskWhyNot,
    OpenBisect,
    RunAdvanced,
    RunFailed,
    RunFinished,
    ShowMemory,
)
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall.explore import MORE_LIKE, Explore, with_kept_vector
from memtui.tui.screens.recall.judging import Marking
from memtui.tui.screens.recall.options_bar import SETTINGS, Choosers
from memtui.tui.screens.recall.panels import Painting
from memtui.tui.screens.recall.receipts import Receipts
from memtui.tui.screens.recall.state import RecallState
from memtui.tui.screens.recall.view import RADAR, TOLD
from memtui.tui.session import Session
from memtui.tui.trace import options
from memtui.tui.trace.results import left_out
from memtui.tui.widgets.breakdown import Breakdown
from memtui.tui.widgets.dropped_list import DroppedList
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.memory_text import MemoryText
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.question_line import OptionsLine, QuestionLine
from memtui.tui.widgets.result_list import ResultList
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.stage_table import StageTable
from memtui.tui.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from memtui.engine import Trace
    from memtui.engine.recall import (
        RecallRequest,
    )


# What is opened over an answer: beside another one, as the agent would see it, over the table's versions.


def compare(screen: RecallScreen) -> None:
    """The answer beside another one, which is chosen there."""
    from memtui.tui.screens.compare.screen import CompareScreen
    from memtui.tui.screens.compare.state import Side

    trace, form = screen.state.trace, screen.state.answered
    if trace is not None:
        request = trace.request
        if request is not None and form is not None:
            asked = form.request()  # What if holds the clock and the version of what it began with
            request = replace(request, now_ms=asked.now_ms, table_version=asked.table_version)
        title = trace.recipe + (", changed" if request is not None and request.config else "")
        side = Side(title, request, trace)
        screen.app.push_screen(CompareScreen(side, cases=screen.marking.cases_of))


def injected(screen: RecallScreen) -> None:
    """The block that the agent would see before its prompt."""
    from memtui.tui.screens.recall.prompt_block import Injected

    trace, engine = screen.state.trace, screen.session.engine
    if trace is not None and engine is not None:
        screen.app.push_screen(Injected(engine, trace))


def bisect(screen: RecallScreen) -> None:
    """The selected memory's rank over the versions of the table."""
    trace, selected = screen.state.trace, screen.state.selected
    if trace is None or trace.request is None or not selected:
        return
    memory = trace.memories.get(selected)
    bisect_of(screen, trace.request, selected, memory.text if memory is not None else selected)


def bisect_of(screen: RecallScreen, request: RecallRequest, memory: str, text: str) -> None:
    """The rank of a memory for any question, over the versions of the table."""
    from memtui.tui.screens.recall.bisect import BisectScreen

    engine = screen.session.engine
    if engine is not None:
        screen.app.push_screen(BisectScreen(engine, request, memory, text, screen.marking.cases_of))


_NEED_AN_ANSWER = frozenset(
    {
        "missing",
        "compare",
        "injected",
        "bisect",
        "right",
        "wrong",
        "expected",
        "expect_nothing",
        "copy",
        "explain",
        "browse",
        "previous",
        "next",
        "again",
        "zoom",
        "why_not",
        "what_if",
        "more_like",
    }
)
"""Actions on an answer: nothing to do before there is one."""


class RecallScreen(BaseScreen):
    """One state, panels that paint it, and engine calls that change it."""

    MODE = "recall"
    CSS_PATH = "recall.tcss"
    BINDINGS = bindings("recall")

    state: reactive[RecallState] = reactive(RecallState(), init=False, repaint=False)

    def __init__(self) -> None:
        super().__init__()
        self._painting = Painting(self)
        self._choosers = Choosers(self)
        self.explore = Explore(self)
        self.marking = Marking(self)
        self.receipts = Receipts(self)
        self._engine: Any = None
        self._wanted = False
        """A question came before the store was open: it runs when it is."""

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            Panel(QuestionLine(), OptionsLine(), title="Question", id="ask"),
            Panel(StageTable(), title="Stages", id="stages"),
            Panel(ResultList(), StatePanel(), title="Results", id="results"),
            Panel(DroppedList(), title="Missing", id="dropped"),
            Panel(Breakdown(), title="Why", id="why"),
            Panel(MemoryText(), title="Memory", id="memory"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.recall(width, height, self._painting.shape(width, height))

    def on_mount(self) -> None:
        self.query_one(QuestionLine).focus()
        self._painting.everything()

    def session_changed(self, session: Session) -> None:
        if session.engine is not self._engine:
            self._engine = session.engine
            self.runner.cancel("recall")
            recipe = session.engine.default_recipe if session.engine is not None else ""
            form = reduce.edit(
                self.state, recipe=recipe, scopes=None, agent="", everyone=False, category=None
            ).form
            self.state = RecallState(form=form, history=self.state.history)
        self._painting.everything()
        if self._wanted and session.open:
            self._run()

    def receive(self, message: AskRecall | AskWhyNot | OpenBisect) -> None:
        """A question from another screen."""
        if isinstance(message, OpenBisect):
            self.state = reduce.edit(self.state, query=message.request.query)
            bisect_of(self, message.request, message.id, message.text)
            return
        if isinstance(message, AskWhyNot):
            self.explore.why_not_of(message.id)
            return
        self.state = reduce.edit(self.state, query=message.query)
        if message.run:
            self._run()

    def ask(self, query: str) -> None:
        """Ask this question with the present options."""
        self.state = reduce.edit(self.state, query=query)
        self._run()

    def ask_again(self) -> None:
        """Ask what is in the form."""
        self._run()

    # ------------------------------------------------------------------ asking

    def _run(self) -> None:
        if not reduce.can_ask(self.state):
            self.flash("Type a question first.", "note")
            self.query_one(QuestionLine).focus()
            return
        engine = self.session.engine
        self._wanted = engine is None
        if engine is None:
            opening = self.session.phase in ("looking", "opening")
            self.flash(
                "The question runs as soon as the store is open." if opening else "No store is open.", "note"
            )
            return
        self.state = reduce.submit(self.state)
        request = self.state.form.request()

        self.runner.cancel(TOLD)
        self.runner.cancel(RADAR)

        def work(cancel: CancelToken, report: Report) -> Trace:
            trace = engine.recall(with_kept_vector(engine, request), report, cancel)
            alone = trace.words_alone or trace
            _ = (
                alone.candidates,
                alone.memories,
                alone.proof,
                left_out(trace),
            )  # made here: no cursor movement waits for them
            return trace

        self.runner.start("recall", work)

    def on_run_advanced(self, message: RunAdvanced) -> None:
        if not self.runner.is_current(message):
            return
        if isinstance(message.value, StageSummary):
            self.state = reduce.add_stage(self.state, message.value)
        elif message.slot == TOLD:
            self.state = reduce.tell(self.state, message.value)

    def on_run_finished(self, message: RunFinished) -> None:
        if not self.runner.done(message):
            return
        if message.slot == "recall":
            self.state = reduce.finish(self.state, message.value)
            if isinstance(self.focused, QuestionLine):
                self._focus_list()
            self.explore.answered(message.value)
            self.marking.answered(message.value)
        elif any(each.done(message.slot, message.value) for each in (self.marking, self.receipts)):
            return
        elif message.slot == RADAR:
            trace, found = message.value
            if trace is self.state.trace:
                self.state = reduce.warn(self.state, found)
        elif message.slot == MORE_LIKE:
            self.explore.like_known(message.value)
        elif message.slot == SETTINGS:
            self._choosers.show_settings(message.value)
        elif message.slot == "facets":
            self._choosers.facets_known(message.value)

    def on_run_failed(self, message: RunFailed) -> None:
        if not self.runner.done(message):
            return
        if message.slot == "recall":
            self.state = reduce.fail(self.state, message.error)
        else:
            self.flash(str(message.error), "error")

    def watch_state(self, old: RecallState, new: RecallState) -> None:
        self._painting.change(old, new)

    # ------------------------------------------------------------------ what the panels say

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.state = reduce.typed(self.state, event.input.value)  # the event may be older than the line

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._run()

    @on(QuestionLine.Walked)
    def _walked(self, event: QuestionLine.Walked) -> None:
        self.state = reduce.earlier(self.state) if event.by < 0 else reduce.later(self.state)

    @on(QuestionLine.Left)
    def _left(self) -> None:
        if self.runner.busy("recall"):
            self.action_back()
        else:
            self._focus_list()

    @on(OptionsLine.Opened)
    def _option(self, event: OptionsLine.Opened) -> None:
        self._choosers.open(event.name)

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        if isinstance(event.rows, StageTable):
            self._painting.stage_words(event.key)
        else:
            self.state = reduce.select(self.state, event.key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        if not isinstance(event.rows, StageTable):
            self.state = reduce.select(self.state, event.key)
            self._choosers.ledger()
            return
        missed = self._painting.first_dropped_by(event.key)
        if missed:
            self.state = reduce.select(reduce.show(self.state, "dropped"), missed)
            self._focus_list()

    @on(StatePanel.Chosen)
    def _chosen(self, event: StatePanel.Chosen) -> None:
        self._choosers.way_out(event.choice)

    def choose(self, *, run: bool = True, **changes: Any) -> None:
        """Change options; with a question that was answered before, ask it again with them."""
        self.state = reduce.edit(self.state, **changes)
        if run and self.state.answered is not None and self.state.edited:
            self._run()

    def _focus_list(self) -> None:
        wanted = DroppedList if self.state.shown == "dropped" else ResultList
        rows = self.query_one(wanted)
        panel = rows.parent
        if panel is not None and panel.has_class("-state"):
            panel.query_one(StatePanel).focus()
        else:
            rows.focus()

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in _NEED_AN_ANSWER:
            if self.state.trace is None or (action == "missing" and not self.state.trace.candidates):
                return None
            if action in ("copy", "explain", "browse", "more_like"):
                return True if self.state.selected else None
        if action == "replace":
            return True if self.state.radar else None
        if action in ("recipe", "scope", "category", "source", "limit", "more", "fewer"):
            return True if self.session.engine is not None else None
        return True

    def action_ask(self) -> None:
        self.query_one(QuestionLine).focus()

    def action_again(self) -> None:
        self._run()

    def action_missing(self) -> None:
        self.state = reduce.show(self.state, "results" if self.state.shown == "dropped" else "dropped")
        self._focus_list()

    def action_why_not(self) -> None:
        self.explore.why_not()

    def action_replace(self) -> None:
        self.explore.disagreement()

    def action_what_if(self) -> None:
        self.explore.what_if()

    def action_more_like(self) -> None:
        self.explore.more_like()

    def action_settings(self) -> None:
        self._choosers.settings()

    def action_recipe(self) -> None:
        self._choosers.open("recipe")

    def action_scope(self) -> None:
        self._choosers.open("scope")

    def action_category(self) -> None:
        self._choosers.open("category")

    def action_source(self) -> None:
        self._choosers.open("source")

    def action_limit(self) -> None:
        self._choosers.open("limit")

    def action_more(self) -> None:
        self.state = reduce.limit_by(self.state, 1, self._choosers.recipe_limit)

    def action_fewer(self) -> None:
        self.state = reduce.limit_by(self.state, -1, self._choosers.recipe_limit)

    def action_previous(self) -> None:
        self.state = reduce.step_result(self.state, -1)

    def action_next(self) -> None:
        self.state = reduce.step_result(self.state, 1)

    def action_explain(self) -> None:
        self._choosers.ledger()

    def action_compare(self) -> None:
        compare(self)

    def action_injected(self) -> None:
        injected(self)

    def action_bisect(self) -> None:
        bisect(self)

    def action_receipts(self) -> None:
        self.receipts.menu()

    def action_history(self) -> None:
        self.receipts.history()

    def action_cases(self) -> None:
        self.marking.open_cases()

    def action_right(self) -> None:
        self.marking.judge("right")

    def action_wrong(self) -> None:
        self.marking.judge("wrong")

    def action_expected(self) -> None:
        self.marking.expect()

    def action_expect_nothing(self) -> None:
        self.marking.expect_nothing()

    def action_browse(self) -> None:
        if self.state.selected:
            self.app.post_message(ShowMemory(self.state.selected))

    def action_copy(self) -> None:
        self._choosers.copy()

    def action_zoom(self) -> None:
        around = self.focused.ancestors if self.focused else ()
        panel = next((node.id for node in around if isinstance(node, Panel)), None)
        self.state = reduce.zoomed(self.state, panel if panel and panel != "ask" else "results")

    def action_back(self) -> None:
        if self.runner.busy("recall"):
            self.runner.cancel("recall")
            self.state = reduce.give_up(self.state)
            self.flash("stopped", "note")
        elif self.state.zoom:
            self.state = reduce.zoomed(self.state, "")
        elif self.state.shown == "dropped":
            self.state = reduce.show(self.state, "results")
            self._focus_list()
        elif self.state.phase == "failed" and self.state.trace is not None:
            self.state = reduce.give_up(self.state)

    def palette_entries(self) -> list[PaletteEntry]:
        """What the palette can do here beside the keys."""

        return entries(self)

    @property
    def now_ms(self) -> int:
        """The app's clock."""
        return host(self).now_ms()


# What the palette offers on Recall beside the keys: recipes, and the questions of this session.

QUESTION_CHARS = 60


def entries(screen: RecallScreen) -> list[PaletteEntry]:
    """Recipes to switch to, and earlier questions to ask again, newest first."""
    found = [
        PaletteEntry(
            "RECIPES",
            f"Recipe: {recipe.name}",
            partial(screen.choose, recipe=recipe.name, limit=None, source=None),
            one_line(recipe.title),
            disabled="the present one" if recipe.name == screen.state.form.recipe else "",
        )
        for recipe in options.recipes_of(screen.session.engine)
    ]
    found += [
        PaletteEntry(
            "QUESTIONS", f"Ask: {one_line(query)[:QUESTION_CHARS]}", partial(screen.ask, query), "ask again"
        )
        for query in reversed(screen.state.history)
    ]
    return found
