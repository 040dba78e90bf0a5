"""Why not: pick a memory, see the gate that stopped it and the smallest change that brings it back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import reactive

from memtui.engine import CancelToken, changes, explain, one_line
from memtui.engine.cases import CaseBook
from memtui.engine.explain import DROP
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH, Arrangement
from memtui.tui.messages import RunAdvanced, RunFailed, RunFinished, ShowFinding, ShowMemory
from memtui.tui.screens.whynot import state as reduce
from memtui.tui.screens.whynot.remedies import remedy_rows, tried
from memtui.tui.screens.whynot.state import WhyNotState
from memtui.tui.screens.whynot.view import (
    asked,
    change_rows,
    failed_gates,
    ladder_rows,
    on_the_memory,
    rung_words,
    searched,
    verdict_lines,
)
from memtui.tui.session import Session
from memtui.tui.trace import results
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.memory_text import MemoryText
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, Row, RowList
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.engine.explain import MemoryRemedy, Verdict


REMEDIES = "remedies"
"""Slot of the run that tries changes of memories."""

Try = Callable[[Mapping[str, Any], str], None]
"""Tries settings in place of the recipe's own, and looks at what becomes of a memory."""


class ChangeRows(BuiltRows):
    """The proposed changes."""

    BINDINGS = bindings("changes")


class RemedyRows(BuiltRows):
    """The changes of memories that help."""

    BINDINGS = bindings("changes")


class WhyNotScreen(BaseScreen):
    """The verdict on one memory for the recall that made `trace`; `try_it` takes a change of the question."""

    MODE = "recall"
    OF_ROW = frozenset((REMEDIES,))
    BINDINGS = bindings("whynot")
    state: reactive[WhyNotState] = reactive(cast(WhyNotState, None), init=False, repaint=False)
    """Given when the screen is made."""

    def __init__(self, engine: Engine, trace: Trace, memory_id: str, try_it: Try) -> None:
        super().__init__()
        self._engine, self._try = engine, try_it
        self._revision = -1
        self.set_reactive(WhyNotScreen.state, WhyNotState(memory_id, trace))

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            Panel(TextLines(), title="Why not", id="verdict"),
            Panel(BuiltRows(partial(self._build, "ladder")), title="Checks", id="ladder"),
            Panel(ChangeRows(partial(self._build, "changes")), title="Smallest change", id="changes"),
            Panel(RemedyRows(self._remedies), title="Memory changes", id="remedies"),
            Panel(MemoryText(), title="Memory", id="memory"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        frame = 1 if width < NORMAL_WIDTH else 2
        lines = verdict_lines(self.state, width - 2 * (frame - 1), host(self).glyphs)
        beside = width if width < NORMAL_WIDTH else width // 3
        wanted = sum(len(row.lines) for row in self._remedies(beside, height))
        return layouts.why_not(width, height, len(lines) + frame, max(1, wanted) + frame, self.state.zoom)

    def on_mount(self) -> None:
        self.query_one(ChangeRows).focus()
        self._paint(None, self.state)

    def session_changed(self, session: Session) -> None:
        """After a change of the store the same question is asked again."""
        if session.engine is not self._engine:
            self.runner.cancel_all()
            self.call_later(self._leave)
        elif session.open and session.revision != self._revision:
            again = self._revision >= 0
            self._revision = session.revision
            self._start(again=again)

    def on_screen_resume(self) -> None:
        self._leave()

    def _leave(self) -> None:
        """The question was one to another store: there is nothing to be said of it here."""
        if self.is_current and self.session.engine is not self._engine:
            self.dismiss()

    # ------------------------------------------------------------------ finding out

    def _start(self, *, again: bool = False) -> None:
        engine, state = self._engine, self.state
        self.runner.cancel(REMEDIES)
        self.state = state = replace(state, remedies=None, trying=None, remedies_error=None)

        def work(cancel: CancelToken, report: Report) -> tuple[Trace, Verdict, str]:
            request = state.trace.request
            trace = engine.recall(request, None, cancel) if again and request is not None else state.trace
            memory = engine.memories([state.memory_id]).get(state.memory_id)
            if memory is not None:
                report(memory)
            verdict = explain.why_not_in(
                engine, trace, state.memory_id, on_progress=report, on_verdict=report, cancel=cancel
            )
            return trace, verdict, explain.explain(trace, state.memory_id).text

        self.runner.start("whynot", work)

    def on_run_advanced(self, message: RunAdvanced) -> None:
        if self.runner.is_current(message) and message.slot == REMEDIES:
            self.state = replace(self.state, trying=message.value)
        elif self.runner.is_current(message):
            self.state = reduce.hear(self.state, message.value)

    def on_run_finished(self, message: RunFinished) -> None:
        if not self.runner.done(message):
            return
        if message.slot == REMEDIES:
            self.state = reduce.tried(self.state, message.value)
            if self.state.remedies:
                self.query_one(RemedyRows).focus()
        else:
            trace, verdict, story = message.value
            self.state = reduce.finish(replace(self.state, trace=trace, story=story), verdict)

    def on_run_failed(self, message: RunFailed) -> None:
        if not self.runner.done(message):
            return
        if message.slot == REMEDIES:
            self.state = replace(self.state, trying=None, remedies_error=message.error)
        else:
            self.state = reduce.fail(self.state, message.error)

    def ask_of(self, memory_id: str) -> None:
        """The same question for another memory."""
        self.state = reduce.ask_of(self.state, memory_id)
        self._start()

    def _try_remedies(self) -> None:
        """Look for changes of memories, each tried on a copy: the whole recall, and every saved case."""
        from memtui.paths import cases_file

        engine, state = self._engine, self.state

        def work(cancel: CancelToken, report: Report) -> tuple[MemoryRemedy, ...]:
            cases = CaseBook(cases_file(engine.info.uri)).cases()
            return explain.find_remedies(
                engine, state.trace, state.memory_id, cases, on_progress=report, cancel=cancel
            )

        self.state = reduce.try_remedies(state)
        self.runner.start(REMEDIES, work)

    # ------------------------------------------------------------------ painting

    def watch_state(self, old: WhyNotState, new: WhyNotState) -> None:
        if self.query(LayoutContainer):
            self._paint(old, new)

    def _build(self, name: str, width: int, height: int) -> Sequence[Row]:
        state, glyphs = self.state, host(self).glyphs
        if state.verdict is None:
            said = "" if state.error is not None else "  looking"
            return [Row((Content.styled(said, "$dim"),))]
        if name == "ladder":
            return ladder_rows(state.verdict, width, height, glyphs)
        searching = state.phase in ("looking", "searching")
        rows = change_rows(state.verdict, searching, width, glyphs)
        if state.verdict.returned:
            story = Content(one_line(state.story) or "Nothing has to change.")
            rows += [Row((Content.assemble("   ", line),)) for line in story.wrap(max(12, width - 6))]
        return rows or [Row((Content.styled("  searching" if searching else "", "$dim"),))]

    def _remedies(self, width: int, height: int) -> Sequence[Row]:
        shown = host(self)
        return remedy_rows(self.state, width, shown.glyphs, shown.keys.cap("whynot.remedy"))

    def _paint(self, old: WhyNotState | None, new: WhyNotState) -> None:
        glyphs, width = host(self).glyphs, self.app.size.width
        narrow = width < NORMAL_WIDTH
        room = width - (0 if narrow else 2)
        self.query_one("#verdict TextLines", TextLines).show(verdict_lines(new, room, glyphs))
        title = "Why" if new.verdict is not None and new.verdict.returned else "Why not"
        self.query_one("#verdict", Panel).headline(what=title, which=asked(new, width - 24, glyphs))
        if (
            old is None
            or old.verdict is not new.verdict
            or old.phase != new.phase
            or old.error is not new.error
        ):
            self.query_one("#ladder BuiltRows", BuiltRows).repaint()
            rows = self.query_one(ChangeRows)
            rows.repaint(rows.key or None)
        self.query_one("#ladder", Panel).headline(which=failed_gates(new))
        self.query_one("#changes", Panel).headline(which=searched(new, glyphs))
        self._place_words()
        known = (new.remedies, new.trying, new.remedies_error, new.verdict)
        if old is None or (old.remedies, old.trying, old.remedies_error, old.verdict) != known:
            self.query_one(RemedyRows).repaint()
            self.query_one("#remedies", Panel).headline(which=tried(new, glyphs))
            self.query_one(LayoutContainer).rearrange()
        if old is None or old.memory is not new.memory:
            facts = results.facts(new.memory, glyphs, host(self).now_ms())
            self.query_one(MemoryText).show(new.memory, results.words_of(new.trace.query), facts)
        if old is None or (old.memory, old.verdict, old.error, old.zoom) != (
            new.memory,
            new.verdict,
            new.error,
            new.zoom,
        ):
            self.query_one(LayoutContainer).rearrange()
        self.refresh_bindings()

    def _place_words(self) -> None:
        change = self.state.change_of.get(self.query_one(ChangeRows).key.removeprefix("change:"))
        what = (
            ""
            if change is None
            else "{changes.open} change the memory"
            if on_the_memory(change.knob)
            else "{changes.open} see it in Health"
            if change.knob == DROP
            else "{changes.open} try it"
        )
        narrow = self.app.size.width < NORMAL_WIDTH
        self.query_one("#changes", Panel).headline(where="" if narrow else what)

    # ------------------------------------------------------------------ what rows do

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        if event.key.startswith("gate:") and self.state.verdict is not None:
            width = max(16, event.rows.size.width - 6)
            words = rung_words(self.state.verdict, event.key)
            self.query_one("#ladder", Panel).headline(where=words if len(words) <= width else "")
        else:
            self._place_words()

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        if event.key.startswith("remedy:"):
            self._stage_remedy(event.key)
            return
        change = self.state.change_of.get(event.key.removeprefix("change:"))
        if change is None:
            return
        if on_the_memory(change.knob):
            memory_id = self.state.memory_id
            self.staging.stage(lambda engine: changes.plan_change(engine, memory_id, change))
        elif change.knob == DROP:
            self.app.post_message(ShowFinding("D11"))
        else:
            self.dismiss()
            self._try({change.knob: change.after}, self.state.memory_id)

    def _stage_remedy(self, key: str) -> None:
        """Look at a remedy, to write or to stage it; the mildest when no row is chosen."""
        found = self.state.remedies or ()
        chosen = next(
            (remedy for remedy in found if f"remedy:{remedy.name}" == key), found[0] if found else None
        )
        if chosen is not None:
            planned = chosen.planned
            self.staging.stage(lambda engine: planned)

    # ------------------------------------------------------------------ keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "remedy":
            verdict = self.state.verdict
            known = verdict is not None and verdict.gate != "unknown_id" and verdict.failure is None
            return True if known and self.state.trying is None else None
        return True

    def action_remedy(self) -> None:
        if self.state.remedies is None:
            self._try_remedies()
        else:
            self._stage_remedy(self.query_one(RemedyRows).key)

    def action_pick(self) -> None:
        def taken(memory_id: str | None) -> None:
            if memory_id is not None:
                self.ask_of(memory_id)

        self.app.push_screen(MemoryPick(self._engine, "Why does this not come back?"), taken)

    def action_again(self) -> None:
        self.state = reduce.ask_of(self.state, self.state.memory_id)
        self._start(again=True)

    def action_browse(self) -> None:
        self.app.post_message(ShowMemory(self.state.memory_id))

    def action_copy(self) -> None:
        if self.state.verdict is not None:
            document = json.dumps(self.state.verdict.as_json(), ensure_ascii=False, indent=2)
            host(self).copy(document, "verdict")

    def action_zoom(self) -> None:
        around = self.focused.ancestors if self.focused else ()
        panel = next((node.id for node in around if isinstance(node, Panel)), None) or "changes"
        self.state = replace(self.state, zoom="" if self.state.zoom else panel)

    def action_back(self) -> None:
        if self.dismiss_flash() or self.staging.stop():
            return
        if self.runner.busy(REMEDIES):
            self.runner.cancel(REMEDIES)
            self.state = replace(self.state, trying=None)
        elif self.runner.busy("whynot") and self.state.verdict is not None:
            self.runner.cancel("whynot")
            self.state = reduce.stop(self.state)
        elif self.state.zoom:
            self.state = replace(self.state, zoom="")
        else:
            self.dismiss()
