"""A wrong answer: the turn, the verdict, the suspects, where they came from, and what would have been right."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.reactive import reactive

from memtui.engine import CancelToken, Memory, MemtuiError, Progress, UsageError, changes, counted, explain
from memtui.engine.cases import CaseBook
from memtui.paths import cases_file
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import Report
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.forget import forget
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.layout import NORMAL_WIDTH, Arrangement
from memtui.tui.messages import AskRecall, RunAdvanced, RunFailed, RunFinished, ShowMemory
from memtui.tui.paint.numbers import date
from memtui.tui.screens.blame import state as reduce
from memtui.tui.screens.blame import view
from memtui.tui.screens.blame.state import HINT, BlameState
from memtui.tui.screens.browse.memory_actions import Editing
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Build, BuiltRows, Row, RowList
from memtui.tui.widgets.state_panel import StatePanel
from memtui.tui.widgets.text_lines import TextLines
from memtui.tui.widgets.view_rows import Look, painted

if TYPE_CHECKING:
    from memtui.engine import Engine, Trace
    from memtui.engine.blame import Blame


CAUSE, EDITED, WHY_NOT, SAVED, KEPT = "cause", "edited", "why-not", "receipt-saved", "case-kept"
"""Slots of the calls."""

RECEIPTS = (
    Option("full", "save", "with its texts, secrets masked", "s"),
    Option("bare", "save without texts", "ids and numbers only: safe to show", "n"),
)


class BlameScreen(BaseScreen):
    """The cause of one sentence; opened over the screen that it was asked on, whose mode it keeps."""

    UNDO = "blame.undo"
    BESIDE = frozenset((SAVED, KEPT))
    BINDINGS = bindings("blame")
    state: reactive[BlameState] = reactive(cast(BlameState, None), init=False, repaint=False)
    """Given when the screen is made."""

    def __init__(
        self, engine: Engine, sentence: str, session: str = "", turn: int = 0, *, mode: str = "audit"
    ) -> None:
        super().__init__()
        self.MODE = mode
        self._engine = engine
        self._revision = -1
        self.set_reactive(BlameScreen.state, BlameState(sentence, session, turn))

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            Panel(TextLines(), title="Wrong answer", id="verdict"),
            Panel(StatePanel(), title="Cause", id="state"),
            Panel(BuiltRows(self._build(view.suspects), id="suspect-rows"), title="Suspects", id="suspects"),
            Panel(BuiltRows(self._build(view.memory), id="memory-rows"), title="Memory", id="memory"),
            Panel(BuiltRows(self._build(view.others), id="other-rows"), title="Right memory", id="others"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        state = self.state
        frame = 1 if width < NORMAL_WIDTH else 2
        lines = view.head(state, width - 2 * (frame - 1), host(self).glyphs)
        count = len(state.found.suspects) if state.found is not None else 0
        return layouts.blame(
            width, height, len(lines) + frame, 2 * count + frame, said=self.said is not None, zoom=state.zoom
        )

    def _build(self, paint: Callable[[BlameState, int, Look], list[Row]]) -> Build:
        return painted(host(self), lambda width, look: paint(self.state, width, look))

    def on_mount(self) -> None:
        self.query_one("#memory-rows").can_focus = True
        super().on_mount()
        self._paint()

    # the store, and what it answers

    def session_changed(self, session: Session) -> None:
        """After a change of the store the same sentence is judged again; another store has nothing to say of it."""
        if session.engine is not self._engine:
            self.runner.cancel_all()
            self.call_later(self._leave)
        elif session.open and session.revision != self._revision:
            self._revision = session.revision
            self._start()

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self._leave()

    def _leave(self) -> None:
        if self.is_current and self.session.engine is not self._engine:
            self.dismiss()

    def _start(self) -> None:
        engine, state = self._engine, reduce.again(self.state)
        self.state = state

        def work(cancel: CancelToken, report: Report) -> Blame:
            from memtui.engine.blame import find_cause

            with engine.sending_nothing():
                return find_cause(
                    engine,
                    state.sentence,
                    engine.environ,
                    Path.cwd(),
                    session=state.session or None,
                    number=state.turn if state.session else None,
                    on_progress=report,
                    cancel=cancel,
                )

        self.runner.start(CAUSE, work)
        self._paint()

    def on_run_advanced(self, message: RunAdvanced) -> None:
        if self.runner.is_current(message) and message.slot == CAUSE and isinstance(message.value, Progress):
            self.state = replace(self.state, progress=message.value)
            self._paint()

    def on_run_finished(self, message: RunFinished) -> None:
        if self.runner.done(message) and message.slot == CAUSE:
            self.state = reduce.finish(self.state, message.value)
            self._paint()

    def on_run_failed(self, message: RunFailed) -> None:
        if self.runner.done(message) and message.slot == CAUSE:
            self.state = reduce.fail(self.state, message.error)
            self._paint()

    # painting

    def focus_first(self) -> None:
        self.query_one(StatePanel if self.said is not None else "#suspect-rows").focus()

    def repaint(self) -> None:
        for name in ("suspect-rows", "memory-rows", "other-rows"):
            self.query_one(f"#{name}", BuiltRows).repaint()

    def _paint(self) -> None:
        if not self.query(LayoutContainer):
            return
        state, width = self.state, self.app.size.width
        room = width - (0 if width < NORMAL_WIDTH else 2)
        self.query_one("#verdict TextLines", TextLines).show(view.head(state, room, host(self).glyphs))
        said = view.instead_of_rows(state)
        if said != self.said or said is None:
            self.say(said)
        found = state.found
        if found is not None:
            accused = len(found.accused)
            which = f"{accused} accused" if accused else "none accused"
            self.query_one("#suspects", Panel).headline(
                which=which, where="{blame.edit} edit   {blame.forget} forget"
            )
            self.query_one("#others", Panel).headline(which=counted(len(found.missing), "memory", "memories"))
            self.query_one("#memory", Panel).headline(which=state.memory[:8])
        self.query_one(LayoutContainer).rearrange()
        self.refresh_bindings()

    # what rows do

    @on(RowList.Highlighted, "#suspect-rows")
    @on(RowList.Highlighted, "#other-rows")
    def _highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        if event.key and event.key != self.state.row and (event.rows.has_focus or not self.state.row):
            self._show(event.key)

    def on_descendant_focus(self) -> None:
        """The list that gets the keyboard shows its own memory whole."""
        rows = self.focused
        if isinstance(rows, BuiltRows) and rows.id in ("suspect-rows", "other-rows") and rows.key:
            self._show(rows.key)

    def _show(self, key: str) -> None:
        if key != self.state.row:
            self.state = replace(self.state, row=key)
            self.query_one("#memory-rows", BuiltRows).repaint()
            self.query_one("#memory", Panel).headline(which=self.state.memory[:8])
            self.refresh_bindings()

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        self.action_browse()

    @on(StatePanel.Chosen)
    def _chosen(self, message: StatePanel.Chosen) -> None:
        message.stop()
        if message.choice.name == "ask":
            self.action_ask()
        elif message.choice.name == "recall":
            self.app.post_message(AskRecall(self.state.question or self.state.sentence))
        else:
            self.action_again()

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        state = self.state
        able = {
            "edit": bool(state.memory),
            "forget": bool(state.memory),
            "browse": bool(state.memory),
            "replace": state.suspect is not None,
            "case": state.suspect is not None and bool(state.question),
            "why_not": bool(state.question) and bool(state.memory),
            "receipts": state.found is not None,
            "copy": state.found is not None,
            "zoom": self.said is None,
        }
        return True if able.get(action, True) else None

    def action_ask(self) -> None:
        """Ask for another sentence; this one is filled in."""

        def taken(sentence: str | None) -> None:
            if sentence:
                self.state = reduce.asked(self.state, sentence)
                self._start()

        self.app.push_screen(TextPrompt("Wrong answer", HINT, self.state.sentence), taken)

    def action_again(self) -> None:
        self._start()

    def action_edit(self) -> None:
        """Correct the memory under the cursor, in the form that Browse has."""
        engine, id = self._engine, self.state.memory

        def known(memory: Memory) -> None:
            stats = self.session.stats
            scopes = [scope for scope, _ in stats.scopes if scope] if stats is not None else []
            Editing(self.staging, lambda outcome: None).edit(memory, scopes)

        if self.staging.able():
            self.call(EDITED, lambda cancel, report: engine.get(id), known)

    def action_replace(self) -> None:
        """Let the memory that would have been right, else one that is picked, supersede the suspect."""
        suspect, by = self.state.suspect, self.state.right
        if suspect is None or not self.staging.able():
            return
        wrong = suspect.id

        def taken(id: str | None) -> None:
            if id == wrong:
                self.flash("That is the suspect itself.", "note")
            elif id is not None:
                self.staging.stage(lambda engine: changes.plan_supersede(engine, [wrong], id))

        if by:
            taken(by)
        else:
            self.app.push_screen(MemoryPick(self._engine, "What supersedes it"), taken)

    def action_forget(self) -> None:
        forget(self.staging, [self.state.memory], lambda outcome: None, named=True)

    def action_case(self) -> None:
        """Keep the turn's question as a case: the suspect is not expected, what would have been right is."""
        engine, found, suspect = self._engine, self.state.found, self.state.suspect
        if found is None or found.turn is None or suspect is None:
            return
        question, agent = self.state.question, found.turn.file.agent
        wrong, right, now_ms = suspect.id, self.state.right, host(self).now_ms()

        def work(cancel: CancelToken, report: Report) -> str:
            from memtui.engine import find_secrets
            from memtui.engine.cases import new_case

            if find_secrets(question):
                raise MemtuiError("The question holds a secret.", fix="Ask it without the secret in Recall.")
            scopes = explain.agent_scopes(engine, agent)
            limits = None if scopes is None else tuple(scopes)
            book = CaseBook(cases_file(engine.info.uri))
            case = book.find(question, limits, None, agent, False) or new_case(
                question, now_ms=now_ms, scopes=limits, agent=agent
            )
            case = case.marked(wrong, "wrong")
            case = case.marked(right, "expected") if right else case
            book.put(case)
            expected = counted(len(case.expected), "memory", "memories")
            return f"saved as a case: {expected} expected, {len(case.rejected)} unexpected"

        self.call(KEPT, work, self.flash)

    def action_why_not(self) -> None:
        """Why the memory under the cursor does not come back for the turn's question."""
        engine, found, id = self._engine, self.state.found, self.state.memory
        if found is None or found.turn is None or not id:
            return
        turn = found.turn

        def work(cancel: CancelToken, report: Report) -> Trace:
            from memtui.engine.witness import request_of_turn

            with engine.sending_nothing():
                return engine.recall(
                    request_of_turn(engine, turn.replayed, turn.file.agent, False), None, cancel
                )

        def asked(trace: Trace) -> None:
            from memtui.tui.screens.whynot.screen import WhyNotScreen

            def try_it(values: object, memory_id: str) -> None:
                self.app.post_message(AskRecall(trace.query, agent=turn.file.agent))

            self.app.push_screen(WhyNotScreen(engine, trace, id, try_it))

        self.flash("asking the turn's question today", "note")
        self.call(WHY_NOT, work, asked)

    def action_browse(self) -> None:
        if self.state.memory:
            self.app.post_message(ShowMemory(self.state.memory))

    def action_copy(self) -> None:
        if self.state.found is not None:
            document = json.dumps(self.state.found.as_json(), ensure_ascii=False, indent=2)
            host(self).copy(document, "verdict")

    def action_receipts(self) -> None:
        """Save the verdict as one file to hand over, with every text or with none."""
        if self.state.found is None:
            return

        def taken(value: str | None) -> None:
            if value is not None:
                self._save(texts=value == "full")

        self.app.push_screen(ChooseOne("Receipt", RECEIPTS), taken)

    def _save(self, *, texts: bool) -> None:
        engine, found = self._engine, self.state.found

        def taken(name: str | None) -> None:
            if not name or found is None:
                return

            def work(cancel: CancelToken, report: Report) -> Path:
                from memtui.engine.blame import blame_receipt
                from memtui.engine.explain import save_receipt

                if Path(name).expanduser().exists():
                    raise UsageError(f"{name} exists already.", fix="Give another name.")
                return save_receipt(blame_receipt(engine, found, texts=texts), Path(name))

            self.call(SAVED, work, lambda path: self.flash(f"saved {path}"))

        hint = "With the sentence and every text; secrets are masked." if texts else "Without any word."
        day = date(host(self).now_ms())[:10]
        proposed = str(Path(os.curdir).absolute() / f"memtui-blame-{day}.json")
        self.app.push_screen(TextPrompt("Save the receipt as", hint, proposed), taken)

    def action_zoom(self) -> None:
        around = self.focused.ancestors if self.focused else ()
        panel = next((node.id for node in around if isinstance(node, Panel)), None) or "suspects"
        self.state = replace(self.state, zoom="" if self.state.zoom else panel)
        self.query_one(LayoutContainer).rearrange()

    def action_back(self) -> None:
        if self.dismiss_flash() or self.staging.stop():
            return
        if self.runner.busy(CAUSE) and self.state.found is not None:
            self.runner.cancel(CAUSE)
            self.flash("stopped", "note")
        elif self.state.zoom:
            self.action_zoom()
        else:
            self.dismiss()
