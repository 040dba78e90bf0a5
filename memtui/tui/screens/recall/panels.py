"""Panels of Recall; each paints one part of `RecallState`."""

from __future__ import annotations

from textual import on
from textual.content import Content
from textual.widget import Widget

from memtui.engine import counted, one_line
from memtui.tui.bound_panel import BoundPanel
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH, WIDE_WIDTH
from memtui.tui.paint.cells import crop
from memtui.tui.paint.timeline import columns
from memtui.tui.screens.recall import view
from memtui.tui.screens.recall.state import RecallState, title_of
from memtui.tui.trace import results as present
from memtui.tui.trace import stages
from memtui.tui.trace.options import chips, own_agent, recipe_named, recipes_of
from memtui.tui.widgets.breakdown import Breakdown
from memtui.tui.widgets.dropped_list import DroppedList
from memtui.tui.widgets.memory_text import MemoryText
from memtui.tui.widgets.question_line import OptionsLine, QuestionLine
from memtui.tui.widgets.result_list import ResultList
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.stage_table import StageTable
from memtui.tui.widgets.state_panel import StatePanel


class QuestionPanel(BoundPanel[RecallState]):
    """The question and its options."""

    def __init__(self) -> None:
        super().__init__(QuestionLine(), OptionsLine(), title="Question", id="ask")
        self._asks = ""
        """The question of the state that was painted last."""

    def part(self, state: RecallState) -> tuple[object, ...]:
        session, width = self.session, self.app.size.width
        return (
            state.form,
            state.phase,
            state.trace,
            state.answered,
            state.edited,
            session.engine,
            session.info,
            width,
        )

    def paint_part(self, state: RecallState) -> None:
        session, cap, width = self.session, host(self).keys.cap, self.app.size.width
        line = self.query_one(QuestionLine)
        query, before = title_of(state.form.query), self._asks
        self._asks = query
        if query != before and not line.heard(query):
            line.show(query)
        options = self.query_one(OptionsLine)
        recipes = recipes_of(session.engine)
        asker = state.trace.asker if state.trace is not None and not state.edited else None
        searched = asker.scopes or () if asker is not None and asker.how == "own-rules" else ()
        options.chips = chips(
            state.form, recipe_named(recipes, state.form.recipe), own_agent(session.engine), searched
        )
        said = Content()
        if state.phase == "running":
            said = Content.styled("asking", "$primary")
        elif state.trace is not None:
            said = Content.styled(present.counts(state.trace), "$dim")
            if moved := present.moved_on(state.trace, session.info.version if session.info else None):
                said = Content.assemble((f"{moved}: {cap('recall.again')} asks again", "$stale"), "   ", said)
            if state.edited:
                said = Content.assemble((f"changed, {cap('question.run')} asks", "$stale"), "   ", said)
        narrow = width < NORMAL_WIDTH
        options.aside = said if narrow and width >= 72 else Content()
        known = len(state.trace.findings) if state.trace is not None else 0
        where = Content(
            f"{cap('recall.ask')} question   {cap('question.run')} run   {cap('recall.again')} again"
        )
        if known:
            where = Content.assemble(
                (f"{cap('recall.settings')} {counted(known, 'note')}", "$stale"), "   ", where
            )
        self.headline(which="" if narrow else said, where="" if narrow else where)


class StagesPanel(BoundPanel[RecallState]):
    """The stages of the recall with their counts and times; before one, the recipe."""

    def __init__(self) -> None:
        super().__init__(StageTable(), title="Stages", id="stages")

    def part(self, state: RecallState) -> tuple[object, ...]:
        found = (state.trace, state.stages, state.phase, state.radar, state.form.recipe)
        return (*found, self.session.engine, self.app.size.width)

    def paint_part(self, state: RecallState) -> None:
        app, width, table = host(self), self.app.size.width, self.query_one(StageTable)
        narrow = width < NORMAL_WIDTH
        table.show(view.stage_timings(state, width), view.stage_notes(state, app, width))
        if state.trace is None and not state.stages:
            where = "" if narrow else "{recall.change} another"
            self.headline(what="Recipe", which=one_line(state.form.recipe), where=where)
            return
        where = "" if narrow else "{rows.open} what it dropped"
        self.headline(what="Stages", which=columns(table.size.width or width), where=where)

    @on(RowList.Highlighted)
    def _stage_chosen(self, event: RowList.Highlighted) -> None:
        """Say in the corner what the stage under the cursor asked for."""
        event.stop()
        trace = self.state.trace
        stage = next((s for s in stages.ran(trace) if s.name == event.key), None) if trace else None
        if stage is not None and self.app.size.width >= NORMAL_WIDTH:
            said = one_line(stage.note) if stages.warns(stage) else present.limits(stage)
            self.headline(where=said[:40] or "{rows.open} what it dropped")


class AnswerPanel(BoundPanel[RecallState]):
    """One of the two lists of an answer; a move of the cursor paints its place only."""

    def __init__(self, *children: Widget, title: str, id: str) -> None:
        super().__init__(*children, title=title, id=id)
        self._listed: tuple[object, ...] = ()

    def part(self, state: RecallState) -> tuple[object, ...]:
        session = self.session
        found: tuple[object, ...] = (state.trace, state.phase, state.waits, state.error, state.radar)
        found += (session.engine, session.phase, session.info)
        return (*found, state.stale, state.selected, self.app.size.width)

    def paint_part(self, state: RecallState) -> None:
        listed = self.part(state)[:8]
        if (
            any(one is not other for one, other in zip(listed, self._listed, strict=False))
            or not self._listed
        ):
            self._listed = listed
            self.show_list(state)
        else:
            self.query_one(RowList).choose(state.selected)
        self.name_list(state)

    def show_list(self, state: RecallState) -> None:
        """The answer is another one: show its rows, or words in their place."""
        raise NotImplementedError

    def name_list(self, state: RecallState) -> None:
        """Write how many and which one on the frame."""
        raise NotImplementedError


ROOM_FOR_REASONS = 90
"""Columns of the results from which on their headline says what the confidence is made of."""


class ResultsPanel(AnswerPanel):
    """What came back, in its order."""

    def __init__(self) -> None:
        super().__init__(ResultList(), StatePanel(), title="Results", id="results")

    def show_list(self, state: RecallState) -> None:
        trace, shown, app = state.trace, state.listed, host(self)
        head = present.failure(trace, app.glyphs) if trace is not None else ()
        if trace is not None and self.app.size.width < NORMAL_WIDTH:  # beside the stages is no room for them
            head = (*head, *view.disagreements(state, app)[:1], *present.warnings(trace, app.glyphs))
        self.query_one(ResultList).show(
            present.hits(shown) if shown is not None else (),
            state.selected,
            head=head,
            ends=present.prompt_ends(trace) if trace is not None else "",
        )
        said = view.results_state(state, self.session, recipes_of(self.session.engine))
        self.set_class(said is not None, "-state")
        if said is not None:
            self.query_one(StatePanel).state = said

    def name_list(self, state: RecallState) -> None:
        trace = state.trace
        ids = [c.id for c in state.listed.results] if state.listed is not None else []
        at = str(ids.index(state.selected) + 1) if state.selected in ids else "-"
        where = f"{at} / {len(ids)}" if ids else ""
        empty = not ids or self.has_class("-state")
        share = trace is not None and present.fused_by_ranks(trace)
        plain = present.SMALLER if trace is not None and present.by_distance(trace) else "score"
        which: str | Content = (
            "" if empty else "tier  share of two first places  rank" if share else f"{plain}  rank"
        )
        told = trace.confidence if trace is not None and not empty else None
        if told is not None:
            why = f"  {present.confidence_reasons(told)}" if self.size.width >= ROOM_FOR_REASONS else ""
            which = Content.assemble(present.confidence_words(told), (f"{why}   score  rank", "$dim"))
        if state.stale and trace is not None and not empty:
            which = Content.styled(f"still of {one_line(trace.recipe)}, the answer before", "$stale")
        self.headline(which=which, where="" if empty else where)


class DroppedPanel(AnswerPanel):
    """What did not come back, by the stage that dropped it."""

    def __init__(self) -> None:
        super().__init__(DroppedList(), title="Dropped", id="dropped")

    def show_list(self, state: RecallState) -> None:
        rows, trace = self.query_one(DroppedList), state.trace
        rows.show(present.gates(trace) if trace is not None else ())
        rows.choose(state.selected)
        nothing = trace is None and view.results_state(state, self.session, recipes_of(self.session.engine))
        self.set_class(bool(nothing), "-state")

    def name_list(self, state: RecallState) -> None:
        trace = state.trace
        gone = sum(1 for c in trace.candidates if c.rank is None) if trace is not None else 0
        self.headline(
            which=f"{gone} of {len(trace.candidates)}" if trace is not None else "",
            where="{recall.missing} results" if NORMAL_WIDTH <= self.app.size.width < WIDE_WIDTH else "",
        )


class WhyPanel(BoundPanel[RecallState]):
    """How the selected candidate got its score and its place."""

    def __init__(self) -> None:
        super().__init__(Breakdown(), title="Why", id="why")

    def part(self, state: RecallState) -> tuple[object, ...]:
        widths = (self.app.size.width, self.outer_size.width)
        return (state.trace, state.listed, state.selected, state.told, *widths)

    def on_resize(self) -> None:  # beside the panel's own: Textual calls both
        self.catch_up()

    def paint_part(self, state: RecallState) -> None:
        glyphs, now_ms, width = host(self).glyphs, host(self).now_ms(), self.app.size.width
        trace = state.listed
        candidate = present.candidate_of(trace, state.selected)
        if trace is None or candidate is None:
            self.query_one(Breakdown).show(None)
            self.headline(what="Why", which="", where="")
            return
        why = present.why(trace, candidate, glyphs, now_ms, state.told.get(candidate.id))
        memory = trace.memories.get(candidate.id)
        self.query_one(Breakdown).show(why)
        mark = present.trust(trace, candidate, why.fall, glyphs)
        place = f"#{candidate.rank}"
        who = f"Why {place}" if candidate.rank else "Why not"
        if state.trace is not None and state.trace.failure is not None:
            who = f"By keywords alone {place}"
        if width >= NORMAL_WIDTH and memory is not None:
            room = max(8, (self.outer_size.width or width) - len(who) - mark.cell_length - 14)
            who = f"{who}  {crop(one_line(memory.text)[:400], room, glyphs.ellipsis)}"
        self.headline(what=who, which=mark, where="" if width < NORMAL_WIDTH else "{rows.open} every stage")


class MemoryPanel(BoundPanel[RecallState]):
    """The text of the selected candidate, the words of the question marked in it."""

    def __init__(self) -> None:
        super().__init__(MemoryText(), title="Memory", id="memory")

    def part(self, state: RecallState) -> tuple[object, ...]:
        return (state.trace, state.listed, state.selected, state.told)

    def paint_part(self, state: RecallState) -> None:
        trace, text = state.listed, self.query_one(MemoryText)
        candidate = present.candidate_of(trace, state.selected)
        if trace is None or candidate is None:
            text.show(None)
            return
        told = state.told.get(candidate.id)
        why = present.why(trace, candidate, host(self).glyphs, host(self).now_ms(), told)
        text.show(trace.memories.get(candidate.id), present.words_of(trace.query), why.facts)
        self.headline(which=f"#{candidate.rank}" if candidate.rank else "dropped")
