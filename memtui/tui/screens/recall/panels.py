"""State to panels: which panel must be painted anew, and with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from memtui.engine import one_line
from memtui.tui import layouts
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH, WIDE_WIDTH, size_class
from memtui.tui.layouts import RecallShape
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.timeline import StageTiming, columns
from memtui.tui.screens.recall.state import RecallState, title_of
from memtui.tui.screens.recall.view import results_state
from memtui.tui.trace import results as present
from memtui.tui.trace import stages
from memtui.tui.trace.options import chips, recipe_named, recipes_of
from memtui.tui.widgets.breakdown import Breakdown
from memtui.tui.widgets.dropped_list import DroppedList
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.memory_text import MemoryText
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.question_line import OptionsLine, QuestionLine
from memtui.tui.widgets.result_list import ResultList
from memtui.tui.widgets.stage_table import StageTable
from memtui.tui.widgets.state_panel import StatePanel

if TYPE_CHECKING:
    from memtui.engine import StageSummary
    from memtui.tui.screens.recall.screen import RecallScreen


class Painting:
    """Paints the panels of one Recall screen."""

    def __init__(self, screen: RecallScreen) -> None:
        self._screen = screen
        self._shape = RecallShape()

    @property
    def _state(self) -> RecallState:
        return self._screen.state

    @property
    def _glyphs(self) -> Glyphs:
        return host(self._screen).glyphs

    def shape(self, width: int, height: int) -> RecallShape:
        """What the arrangement needs to know of the state."""
        state = self._state
        rows = len(self._laps(width)) + len(self._notes(width))
        moves = 8
        listed = state.listed
        candidate = present.candidate_of(listed, state.selected)
        if listed is not None and candidate is not None:
            moves = max(5, max((len(stages.fall(listed, c).moves) for c in listed.results), default=5))
        alone = state.trace is None and (width < NORMAL_WIDTH or self._screen.session.engine is None)
        return RecallShape(
            stages=0 if alone and not state.stages else rows,
            results=len(state.listed.results) if state.listed is not None else 0,
            moves=moves,
            dropped=state.shown == "dropped",
            zoom=state.zoom,
            answered=candidate is not None,
        )

    def everything(self) -> None:
        """Paint all panels."""
        self.change(None, self._state)

    def change(self, old: RecallState | None, new: RecallState) -> None:
        """Paint the panels whose part of the state has changed."""
        screen = self._screen
        if not screen.query(LayoutContainer):
            return

        def differs(*names: str) -> bool:
            return old is None or any(getattr(old, name) is not getattr(new, name) for name in names)

        screen.set_class(new.stale, "-stale")
        screen.set_class(new.phase == "running", "-running")
        if differs("form", "phase", "trace", "answered"):
            self._ask(new)
        if differs("trace", "stages", "phase", "radar") or (
            old is not None and old.form.recipe != new.form.recipe
        ):
            self._stages(new)
        if differs("trace", "phase", "error"):
            self._lists(new)
        elif differs("selected"):
            screen.query_one(ResultList).choose(new.selected)
            screen.query_one(DroppedList).choose(new.selected)
            self._places(new)
        if differs("trace", "selected", "told"):
            self._why(new)
        if differs("shown", "zoom", "trace", "stages", "phase", "radar"):
            screen.query_one(LayoutContainer).rearrange()
        if differs("trace", "phase", "selected", "radar"):
            screen.refresh_bindings()

    def _panel(self, name: str) -> Panel:
        return self._screen.query_one(f"#{name}", Panel)

    # ------------------------------------------------------------------ question and stages

    def _ask(self, state: RecallState) -> None:
        screen = self._screen
        line = screen.query_one(QuestionLine)
        if title_of(line.value) != title_of(state.form.query):  # what is being typed stays as it is
            line.show(title_of(state.form.query))
        options, cap = screen.query_one(OptionsLine), host(screen).keys.cap
        recipes = recipes_of(screen.session.engine)
        own_agent = screen.session.engine.agents[0] if screen.session.engine is not None else ""
        options.chips = chips(state.form, recipe_named(recipes, state.form.recipe), own_agent)
        said = Content()
        if state.phase == "running":
            said = Content.styled("asking", "$primary")
        elif state.trace is not None:
            said = Content.styled(present.counts(state.trace), "$dim")
            info = screen.session.info
            if moved := present.moved_on(state.trace, info.version if info is not None else None):
                said = Content.assemble((f"{moved}: {cap('recall.again')} asks again", "$stale"), "   ", said)
            if state.edited:
                said = Content.assemble((f"changed, {cap('question.run')} asks", "$stale"), "   ", said)
        narrow = screen.app.size.width < NORMAL_WIDTH
        options.aside = said if narrow and screen.app.size.width >= 72 else Content()
        known = len(state.trace.findings) if state.trace is not None else 0
        where = Content(
            f"{cap('recall.ask')} question   {cap('question.run')} run   {cap('recall.again')} again"
        )
        if known:
            where = Content.assemble((f"{cap('recall.settings')} {known} to know", "$stale"), "   ", where)
        self._panel("ask").headline(which="" if narrow else said, where="" if narrow else where)

    def _arrived(self, state: RecallState) -> tuple[list[StageSummary], list[StageSummary]]:
        """The stages to show now, and those of the recall before that have not been replaced yet."""
        before = list(stages.ran(state.trace)) if state.trace is not None else []
        if state.phase != "running":
            return before, []
        now = list(state.stages)
        names = {stage.name for stage in now}
        seen = max((i for i, stage in enumerate(before) if stage.name in names), default=-1)
        return now, [stage for stage in before[seen + 1 :] if stage.name not in names]

    def _laps(self, width: int) -> list[StageTiming]:
        now, awaited = self._arrived(self._state)
        return stages.laps(now, stale=awaited, merged=size_class(width) == "narrow")

    def _notes(self, width: int) -> tuple[Content, ...]:
        state = self._state
        if state.trace is None or state.phase == "running":
            info = recipe_named(recipes_of(self._screen.session.engine), state.form.recipe)
            if info is None or state.phase == "running":
                return ()
            return (
                Content.styled(one_line(info.title), "$foreground"),
                Content.styled(one_line(info.description), "$dim"),
            )
        notes = (*self._disagreements(), *present.notes(state.trace, self._glyphs))
        return () if size_class(width) == "narrow" else notes

    def _disagreements(self) -> list[Content]:
        cap = host(self._screen).keys.cap("recall.replace")
        return present.disagreements(self._state.radar, self._screen.now_ms, self._glyphs, cap)

    def _stages(self, state: RecallState) -> None:
        width = self._screen.app.size.width
        table = self._screen.query_one(StageTable)
        narrow = width < NORMAL_WIDTH
        table.show(self._laps(width), self._notes(width))
        panel = self._panel("stages")
        if state.trace is None and not state.stages:
            where = "" if narrow else "{recall.recipe} another"
            panel.headline(what="Recipe", which=one_line(state.form.recipe), where=where)
            return
        said = []
        if narrow and state.trace is not None:
            said = [*self._disagreements(), *present.warnings(state.trace, self._glyphs)]
        what = "Stages"
        if said and state.phase != "running":  # no row to spare for a note: it stands in the rule
            what = crop(f"Stages  {said[0].plain}", max(8, width - 24), self._glyphs.ellipsis)
        where = "" if narrow else "enter what it dropped"
        panel.headline(what=what, which=columns(table.size.width or width), where=where)

    def stage_words(self, name: str) -> None:
        """Say in the panel's corner what the stage under the cursor asked for."""
        trace = self._state.trace
        stage = next((s for s in stages.ran(trace) if s.name == name), None) if trace is not None else None
        if stage is not None and self._screen.app.size.width >= NORMAL_WIDTH:
            said = one_line(stage.note) if stages.warns(stage) else present.limits(stage)
            self._panel("stages").headline(where=said[:40] or "enter what it dropped")

    def _width_of(self, name: str) -> int:
        """The width that the arrangement gives a panel: it may not have been laid out yet."""
        size = self._screen.query_one(LayoutContainer).size
        box = layouts.recall(*size, self.shape(*size)).get(name) if size.width else None
        return box.width if box is not None else self._screen.app.size.width

    def first_dropped_by(self, name: str) -> str:
        """Id of the nearest miss of a stage; empty when it dropped nothing."""
        if self._state.trace is None:
            return ""
        groups = stages.dropped(self._state.trace)
        return next((group.candidates[0].id for group in groups if group.stage == name), "")

    # ------------------------------------------------------------------ lists and account

    def _lists(self, state: RecallState) -> None:
        screen = self._screen
        results, missing = screen.query_one(ResultList), screen.query_one(DroppedList)
        trace = state.trace
        shown = state.listed
        results.show(
            present.hits(shown) if shown is not None else (),
            state.selected,
            head=present.failure(trace, self._glyphs) if trace is not None else (),
            ends=present.prompt_ends(trace) if trace is not None else "",
        )
        missing.show(present.gates(trace) if trace is not None else ())
        missing.choose(state.selected)
        said = results_state(state, screen.session, recipes_of(screen.session.engine))
        for rows in (results, missing):
            panel = rows.parent
            if not isinstance(panel, Widget):
                continue
            instead = said if rows is results or trace is None else None
            panel.set_class(instead is not None, "-state")
            if instead is not None and panel.query(StatePanel):
                panel.query_one(StatePanel).state = instead
        self._places(state)

    def _places(self, state: RecallState) -> None:
        screen = self._screen
        trace = state.trace
        ids = [c.id for c in state.listed.results] if state.listed is not None else []
        at = str(ids.index(state.selected) + 1) if state.selected in ids else "-"
        where = f"{at} / {len(ids)}" if ids else ""
        empty = not ids or self._panel("results").has_class("-state")
        which: str | Content = "" if empty else "score  rank"
        told = trace.confidence if trace is not None and not empty else None
        if told is not None:
            which = Content.assemble(present.confidence_words(told), ("   score  rank", "$dim"))
        if state.stale and trace is not None and not empty:
            which = Content.styled(f"still of {one_line(trace.recipe)}, the answer before", "$stale")
        self._panel("results").headline(which=which, where="" if empty else where)
        gone = sum(1 for c in trace.candidates if c.rank is None) if trace is not None else 0
        self._panel("dropped").headline(
            which=f"{gone} of {len(trace.candidates)}" if trace is not None else "",
            where="{recall.missing} results" if NORMAL_WIDTH <= screen.app.size.width < WIDE_WIDTH else "",
        )

    def _why(self, state: RecallState) -> None:
        screen, glyphs = self._screen, self._glyphs
        breakdown, text, panel = screen.query_one(Breakdown), screen.query_one(MemoryText), self._panel("why")
        trace = state.listed
        candidate = present.candidate_of(trace, state.selected)
        if trace is None or candidate is None:
            breakdown.show(None)
            text.show(None)
            panel.headline(what="Why", which="", where="")
            return
        told = state.told.get(candidate.id)
        why = present.why(trace, candidate, glyphs, screen.now_ms, told)
        memory = trace.memories.get(candidate.id)
        breakdown.show(why)
        text.show(memory, present.words_of(trace.query), why.facts)
        mark = present.trust(trace, candidate, why.fall, glyphs)
        place = f"#{candidate.rank}"
        width = screen.app.size.width
        who = f"Why {place}" if candidate.rank else "Why not"
        if state.trace is not None and state.trace.failure is not None:
            who = f"By words alone {place}"
        if width >= NORMAL_WIDTH and memory is not None:
            room = max(8, self._width_of("why") - len(who) - mark.cell_length - 14)
            who = f"{who}  {crop(one_line(memory.text[:400]), room, glyphs.ellipsis)}"
        panel.headline(what=who, which=mark, where="" if width < NORMAL_WIDTH else "enter every stage")
        self._panel("memory").headline(which=place if candidate.rank else "dropped")
