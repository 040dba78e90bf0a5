"""Recall: ask what the agent asked, and see why these memories came back and those did not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.reactive import var
from textual.widgets import Input

from memtui.engine import CancelToken, MemtuiError, one_line
from memtui.engine.recall import StageSummary
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.bound_panel import Bound
from memtui.tui.calls import Report
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.layout import Arrangement
from memtui.tui.messages import AskRecall, AskWhyNot, OpenBisect, OpenBlame, ShowMemory
from memtui.tui.no_store import FILLING
from memtui.tui.screens.recall import state as reduce
from memtui.tui.screens.recall.explore import Explore, with_kept_vector
from memtui.tui.screens.recall.judging import Marking
from memtui.tui.screens.recall.options_bar import Choosers
from memtui.tui.screens.recall.panels import (
    DroppedPanel,
    MemoryPanel,
    QuestionPanel,
    ResultsPanel,
    StagesPanel,
    WhyPanel,
)
from memtui.tui.screens.recall.receipts import Receipts
from memtui.tui.screens.recall.state import RecallState
from memtui.tui.screens.recall.view import shape_of
from memtui.tui.session import Session
from memtui.tui.trace import options, stages
from memtui.tui.trace.results import left_out
from memtui.tui.widgets.dropped_list import DroppedList
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.question_line import OptionsLine, QuestionLine
from memtui.tui.widgets.result_list import ResultList
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.stage_table import StageTable
from memtui.tui.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from memtui.engine import RecallRequest, Trace


QUESTION_CHARS = 60
"""Of an earlier question in the palette."""

_NEED_AN_ANSWER = frozenset(
    {
        "missing",
        "compare",
        "injected",
        "bisect",
        "right",
        "wrong",
        "raise",
        "lower",
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


AHEAD = "ahead"
"""The slot of what is read before a question is asked."""


class RecallScreen(BaseScreen):
    """One state, panels that paint it, and engine calls that change it."""

    MODE = "recall"
    CSS_PATH = "recall.tcss"
    BINDINGS = bindings("recall")
    BESIDE = frozenset((AHEAD,))

    state: var[RecallState] = var(RecallState(), init=False)

    def __init__(self) -> None:
        super().__init__()
        self._engine: Any = None
        self._wanted = False
        """A question came before the store was open: it runs when it is."""
        self._corrected = 0
        """The version of the table in which the answer was corrected; 0 when there is nothing to ask again."""

    def body(self) -> ComposeResult:
        bound = RecallScreen.state
        for part in (Choosers(), Explore(), Marking(), Receipts()):
            yield part.data_bind(state=bound)
        yield LayoutContainer(
            QuestionPanel().data_bind(state=bound),
            StagesPanel().data_bind(state=bound),
            ResultsPanel().data_bind(state=bound),
            DroppedPanel().data_bind(state=bound),
            WhyPanel().data_bind(state=bound),
            MemoryPanel().data_bind(state=bound),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.recall(width, height, shape_of(self.state, host(self), width))

    def on_mount(self) -> None:
        line = self.query_one(QuestionLine)
        line.given = True
        line.focus()

    def on_screen_resume(self) -> None:
        self.query_one(QuestionLine).settle()

    @property
    def choosers(self) -> Choosers:
        """The dialogs of the options, the settings and the ledger."""
        return self.query_one(Choosers)

    @property
    def explore(self) -> Explore:
        """Why not, what if, more like this."""
        return self.query_one(Explore)

    @property
    def marking(self) -> Marking:
        """The case of the question."""
        return self.query_one(Marking)

    @property
    def receipts(self) -> Receipts:
        """Receipts and the history."""
        return self.query_one(Receipts)

    def session_changed(self, session: Session) -> None:
        if session.engine is not self._engine:
            self._engine = session.engine
            self.runner.cancel("recall")
            recipe = session.engine.default_recipe if session.engine is not None else ""
            form = reduce.edit(
                self.state, recipe=recipe, scopes=None, agent="", everyone=False, category=None
            ).form
            self.state = RecallState(form=form, history=self.state.history)
            self._read_ahead()
        self.panels_catch_up()
        self.query_one(LayoutContainer).rearrange()
        if self._wanted and session.open:
            self._run()
        self._ask_corrected()

    def receive(self, message: AskRecall | AskWhyNot | OpenBisect) -> None:
        """A question from another screen."""
        if isinstance(message, OpenBisect):
            self.state = reduce.edit(self.state, query=message.request.query)
            self._bisect_of(message.request, message.id, message.text)
            return
        if isinstance(message, AskWhyNot):
            self.explore.why_not_of(message.id)
            return
        if not message.run and self.query_one(QuestionLine).being_typed:
            return  # whoever types is faster than what was to be filled in
        self.state = reduce.edit(self.state, query=message.query)
        if message.agent is not None:
            engine = self.session.engine
            recipe = options.recipe_named(options.recipes_of(engine), self.state.form.recipe)
            own = engine is not None and message.agent == engine.agents[0]
            agent = "" if own and recipe is not None and recipe.of_agent else message.agent
            self.state = reduce.edit(self.state, agent=agent, scopes=None, everyone=False)
        if message.run:
            self.explore.want_none()
            self._run()

    def ask(self, query: str) -> None:
        """Ask this question with the present options."""
        self.state = reduce.edit(self.state, query=query)
        self._run()

    def ask_again(self) -> None:
        """Ask what is in the form."""
        self._run()

    # ------------------------------------------------------------------ asking

    def _read_ahead(self) -> None:
        """While the question is typed, make ready what it would wait for."""
        engine, request = self.session.engine, self.state.form.request()
        self.runner.cancel(AHEAD)
        if engine is not None:
            self.call(
                AHEAD,
                lambda cancel, report: engine.read_ahead(request, cancel),
                lambda _: None,
                failed=lambda error: None,  # the question says it
            )

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

        self.explore.forget_answer()

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

        self.call(
            "recall",
            work,
            self._have_answer,
            progress=self._have_stage,
            failed=self._no_answer,
        )

    def _have_stage(self, summary: object) -> None:
        if isinstance(summary, StageSummary):
            self.state = reduce.add_stage(self.state, summary)
            if (
                summary.begins and self.state.trace is not None
            ):  # an older answer stands where it would be said
                said = stages.waits(summary)
                self.flash(f"{said}; {host(self).keys.cap('recall.back')} stops", "note")

    def _have_answer(self, trace: Trace) -> None:
        self.state = reduce.finish(self.state, trace)
        if isinstance(self.focused, QuestionLine | StatePanel):
            self._focus_list()
        self.explore.answered(trace)
        self.marking.answered(trace)

    def _no_answer(self, error: MemtuiError) -> None:
        self.state = reduce.fail(self.state, error)

    def watch_state(self, old: RecallState, new: RecallState) -> None:
        self.set_class(new.stale, "-stale")
        self.set_class(new.phase == "running", "-running")
        if _differs(old, new, "shown", "zoom", "trace", "stages", "phase", "radar"):
            self.query_one(LayoutContainer).rearrange()
        if _differs(old, new, "trace", "phase", "selected", "radar"):
            self.refresh_bindings()

    # ------------------------------------------------------------------ what the parts say

    @on(Bound.Become)
    def _become(self, message: Bound.Become) -> None:
        self.state = message.change(self.state)
        if message.ask:
            self._run()

    @on(Choosers.Chosen)
    def _options_chosen(self, message: Choosers.Chosen) -> None:
        self.choose(**message.changes)

    @on(Explore.Answered)
    def _answered(self, message: Explore.Answered) -> None:
        self.explore.answered(message.trace)

    @on(Explore.Corrected)
    def _answer_corrected(self, message: Explore.Corrected) -> None:
        self.marking.corrected(message.right, message.wrong)
        self._corrected = message.version
        self._ask_corrected()

    def _ask_corrected(self) -> None:
        """Ask the corrected question again, as soon as the session has the version in which it was corrected."""
        info = self.session.info
        if self._corrected and info is not None and info.version >= self._corrected:
            self._corrected = 0
            self._run()

    @on(Marking.Judged)
    def _judged(self, message: Marking.Judged) -> None:
        rows = self.query_one(ResultList)
        if rows.verdicts != message.verdicts:
            rows.verdicts = message.verdicts
            rows.repaint()

    @on(Receipts.Beside)
    def _beside(self, message: Receipts.Beside) -> None:
        from memtui.tui.screens.compare.screen import CompareScreen

        self.app.push_screen(CompareScreen(message.a, message.b, cases=self.marking.cases_of))

    # ------------------------------------------------------------------ what the panels say

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.state = reduce.typed(self.state, event.input.value)  # the event may be older than the line

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._run()
        if self.runner.busy("recall") or (self._wanted and self.session.busy):
            self._focus_list()  # what is typed from here on is about the answer, now or when the store is open

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
        if event.name == "what-if":
            self.explore.what_if()
        else:
            self.choosers.open(event.name)

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        self.state = reduce.select(self.state, event.key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        if not isinstance(event.rows, StageTable):
            self.state = reduce.select(self.state, event.key)
            self.choosers.ledger()
            return
        missed = first_dropped_by(self.state.trace, event.key)
        if missed:
            self.state = reduce.select(reduce.show(self.state, "dropped"), missed)
            self._focus_list()

    @on(StatePanel.Chosen)
    def _chosen(self, event: StatePanel.Chosen) -> None:
        """Do what an empty or failed panel offers."""
        choice = event.choice
        if choice.name == "again":
            self.action_again()
        elif choice.name == "dropped":
            self.action_missing()
        elif choice.name == "back":
            self.state = reduce.give_up(self.state)
        elif choice in FILLING or self.session.engine is None:
            host(self).take(choice.name, choice.value)
        elif choice.name == "scope":
            self.choose(scopes=None, everyone=True)
        elif choice.name == "category":
            self.choose(category=None)
        elif choice.name == "question" and isinstance(choice.value, str):
            self.ask(choice.value)
        elif choice.name == "recipe" and isinstance(choice.value, str):
            self.choose(recipe=choice.value, limit=None, source=None)
            self.query_one(QuestionLine).focus()
        elif choice.name == "recipe":
            self.choosers.open("recipe")
        else:
            self.query_one(QuestionLine).focus()

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
            if action in ("copy", "explain", "browse", "more_like", "raise", "lower"):
                return True if self.state.selected else None
        if action == "replace":
            return True if self.state.radar or (self.state.trace and self.state.selected) else None
        if action in ("change", "more", "fewer"):
            return True if self.session.engine is not None else None
        return True

    def action_ask(self) -> None:
        line = self.query_one(QuestionLine)
        line.type_into()
        line.focus()

    def action_again(self) -> None:
        self._run()

    def action_missing(self) -> None:
        self.state = reduce.show(self.state, "results" if self.state.shown == "dropped" else "dropped")
        self._focus_list()

    def action_why_not(self) -> None:
        self.explore.why_not()

    def action_replace(self) -> None:
        self.explore.correct()

    def action_blame(self) -> None:
        """Ask which memory a wrong answer rests on."""
        self.post_message(OpenBlame())

    def action_what_if(self) -> None:
        self.explore.what_if()

    def action_more_like(self) -> None:
        self.explore.more_like()

    def action_settings(self) -> None:
        self.choosers.settings()

    def action_change(self, name: str = "") -> None:
        """Choose the option of this name, or one of all."""
        if name:
            self.choosers.open(name)
        else:
            self.choosers.all()

    def action_more(self) -> None:
        self.state = reduce.limit_by(self.state, 1, self.choosers.recipe_limit)

    def action_fewer(self) -> None:
        self.state = reduce.limit_by(self.state, -1, self.choosers.recipe_limit)

    def action_previous(self) -> None:
        self.state = reduce.step_result(self.state, -1)

    def action_next(self) -> None:
        self.state = reduce.step_result(self.state, 1)

    def action_explain(self) -> None:
        self.choosers.ledger()

    def action_compare(self) -> None:
        """The answer beside another one, which is chosen there."""
        from memtui.tui.screens.compare.screen import CompareScreen
        from memtui.tui.screens.compare.state import Side

        trace, form = self.state.trace, self.state.answered
        if trace is not None:
            request = trace.request
            if request is not None and form is not None:
                asked = form.request()  # What if holds the clock and the version of what it began with
                request = replace(request, now_ms=asked.now_ms, table_version=asked.table_version)
            title = trace.recipe + (", changed" if request is not None and request.config else "")
            side = Side(title, request, trace)
            self.app.push_screen(CompareScreen(side, cases=self.marking.cases_of))

    def action_injected(self) -> None:
        """The block that the agent would see before its prompt."""
        from memtui.tui.screens.recall.prompt_block import PromptBlockDialog

        trace, engine = self.state.trace, self.session.engine
        if trace is not None and engine is not None:
            self.app.push_screen(PromptBlockDialog(engine, trace))

    def action_bisect(self) -> None:
        """The selected memory's rank over the versions of the table."""
        trace, selected = self.state.trace, self.state.selected
        if trace is not None and trace.request is not None and selected:
            memory = trace.memories.get(selected)
            self._bisect_of(trace.request, selected, memory.text if memory is not None else selected)

    def _bisect_of(self, request: RecallRequest, memory: str, text: str) -> None:
        """The rank of a memory for any question, over the versions of the table."""
        from memtui.tui.screens.recall.bisect import BisectScreen

        engine = self.session.engine
        if engine is not None:
            self.app.push_screen(BisectScreen(engine, request, memory, text, self.marking.cases_of))

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

    def action_raise(self) -> None:
        self.marking.grade(1)

    def action_lower(self) -> None:
        self.marking.grade(-1)

    def action_expected(self) -> None:
        self.marking.expect()

    def action_expect_nothing(self) -> None:
        self.marking.expect_nothing()

    def action_browse(self) -> None:
        if self.state.selected:
            self.app.post_message(ShowMemory(self.state.selected))

    def action_copy(self) -> None:
        self.choosers.copy()

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
        """Recipes to switch to, and earlier questions to ask again, newest first."""
        found = [
            PaletteEntry(
                "RECIPES",
                f"Recipe: {recipe.name}",
                partial(self.choose, recipe=recipe.name, limit=None, source=None),
                one_line(recipe.title),
                disabled="the present one" if recipe.name == self.state.form.recipe else "",
            )
            for recipe in options.recipes_of(self.session.engine)
        ]
        found += [
            PaletteEntry(
                "QUESTIONS", f"Ask: {one_line(query)[:QUESTION_CHARS]}", partial(self.ask, query), "ask again"
            )
            for query in reversed(self.state.history)
        ]
        return found


def first_dropped_by(trace: Trace | None, stage: str) -> str:
    """Id of the nearest miss of a stage; empty when it dropped nothing."""
    groups = stages.dropped(trace) if trace is not None else ()
    return next((group.candidates[0].id for group in groups if group.stage == stage), "")


def _differs(old: RecallState, new: RecallState, *names: str) -> bool:
    return any(getattr(old, name) is not getattr(new, name) for name in names)
