"""Changing memories from Browse: marks, one preview for every change, undo and redo."""

from __future__ import annotations

from typing import Any

from textual import on

from memtui.engine import ListView, Memory, Outcome
from memtui.tui.change_request import ChangeRequests
from memtui.tui.dialogs.choose_field import choose_change
from memtui.tui.dialogs.forget import forget
from memtui.tui.host import host
from memtui.tui.paint.numbers import full, plural
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.memory_actions import Editing
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.browse.panels import BrowsePanels
from memtui.tui.screens.browse.scope_pane import ScopePane

MARKS, AMEND = "marks", "amend"
"""The slots of the engine calls that mark a range, and read a memory as it is staged."""


class BrowseChanges(BrowsePanels):
    """Browse with marks and changes; a subclass hands over the engine's answers (`concluded`)."""

    UNDO = "browse.undo"

    def __init__(self) -> None:
        super().__init__()
        self._marks_how = "add"
        self._editing = Editing(self, self._changed)

    # marks

    @property
    def marks_phrase(self) -> str:
        """How many are marked, in words; empty for none."""
        marks = self.query_one(MemoryList).marks
        here = f"{host(self).keys.cap('list.mark-range')} marks to here" if marks.anchor is not None else ""
        count = f"{full(len(marks))} marked" if len(marks) else ""
        staged = f"{full(self.session.staged)} staged" if self.session.staged else ""
        return "  ".join(part for part in (count, staged, here) if part)

    def show_staged(self) -> None:
        """Show in the list which memories have staged changes."""
        engine = self.session.engine
        staged = engine.curate.stage.ops if engine is not None and self.session.staged else {}
        self.query_one(MemoryList).show_staged(staged)

    @on(MemoryList.Marked)
    def _marked(self, message: MemoryList.Marked) -> None:
        message.stop()
        self.name_panels()

    @on(MemoryList.MarksWanted)
    def _marks_wanted(self, message: MemoryList.MarksWanted) -> None:
        message.stop()
        engine, view = self.session.engine, self.shown_view
        if engine is None or view is None:
            return
        self._marks_how = message.how
        self.runner.start(MARKS, lambda token, report: engine.ids(view, message.first, message.last + 1))

    @property
    def shown_view(self) -> ListView | None:
        """The list that is shown, as the engine made it; None before there is one."""
        raise NotImplementedError

    def clear_marks(self) -> bool:
        """No marks any more; False when there were none."""
        listing = self.query_one(MemoryList)
        had = listing.marks.clear()
        if had:
            listing.marks_changed()
        return had

    # changing

    @property
    def memory_here(self) -> Memory | None:
        """The memory that has the keyboard: the detail may show a linked one, which is not the list's."""
        detail = self.query_one(MemoryDetail)
        return detail.memory if detail.has_focus else self.query_one(MemoryList).current

    def known_scopes(self) -> list[str]:
        """The scopes of the store to choose from, as they are listed."""
        return self.query_one(ScopePane).names

    def chosen_ids(self) -> tuple[str, ...]:
        """The marked memories, else the one that has the keyboard; none is said in words."""
        if self.runner.busy(MARKS):
            self.flash("Still marking; press it again.", "note")
            return ()
        one = self.memory_here
        ids = self.query_one(MemoryList).marks.ids or ((one.id,) if one is not None and one.id else ())
        if not ids:
            self.flash("There is no memory here to change.", "error")
        return ids

    def action_forget(self) -> None:
        if self.staging.able() and (ids := self.chosen_ids()):
            forget(self.staging, ids, self._changed, named=not self.query_one(MemoryList).marks.ids)

    def action_edit(self) -> None:
        if (memory := self.memory_here) is None or not memory.id:
            self.flash("There is no memory here to change.", "error")
        elif self.session.engine is not None and memory.id in self.session.engine.curate.stage.ops:
            self._amend(memory.id)
        else:
            self._editing.edit(memory, self.known_scopes())

    def action_external(self) -> None:
        if (memory := self.memory_here) is None or not memory.id:
            self.flash("There is no memory here to change.", "error")
        else:
            self._editing.text(memory, self.known_scopes())

    def action_change(self) -> None:
        engine, listing = self.session.engine, self.query_one(MemoryList)
        if not self.staging.able() or engine is None:
            return
        ids = self.chosen_ids()
        one: Memory | None = None if listing.marks.ids else self.memory_here
        if not ids:
            return
        title = f"Change {plural(len(ids), 'memory', 'memories')}"

        def plan(field: str, value: str) -> None:
            self.staging.stage(lambda engine: engine.curate.edit(ids, {field: value}), then=self._changed)

        choose_change(self.app, title, engine.editable, one, self.known_scopes(), plan)

    def _changed(self, outcome: Outcome) -> None:
        self.clear_marks()

    @on(ChangeRequests.Waits)
    def _waits(self, message: ChangeRequests.Waits) -> None:
        message.stop()
        self.clear_marks()

    def action_staged(self) -> None:
        self.staging.staged(then=self._changed, amend=self._amend)

    def _amend(self, memory: str) -> None:
        """Open a memory in the form as it is staged."""
        engine = self.session.engine
        if engine is not None:
            self.runner.start(AMEND, lambda token, report: engine.curate.as_staged(memory))

    def action_undo(self) -> None:
        self.staging.undo()

    def action_redo(self) -> None:
        self.staging.redo()

    # what the engine says

    def concluded(self, slot: str, value: Any) -> bool:
        """Take the answer of a call that this part made; False for another's."""
        if slot == AMEND:
            self._editing.edit(value, self.known_scopes())
            return True
        if slot != MARKS:
            return False
        listing = self.query_one(MemoryList)
        (listing.marks.add if self._marks_how == "add" else listing.marks.invert)(value)
        listing.marks_changed()
        return True
