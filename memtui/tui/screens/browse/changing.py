"""Changing memories from Browse: marks, one preview for every change, undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from textual import on

from memtui.engine import ChangeSet, ListView, Memory, Outcome, RefusedError
from memtui.tui.dialogs.preview import Answer, Preview
from memtui.tui.host import host
from memtui.tui.paint.numbers import full, plural
from memtui.tui.screens.browse.choosing import choose_change
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.browse.panels import BrowsePanels

if TYPE_CHECKING:
    from memtui.engine import Engine

MARKS, PLAN, APPLY = "marks", "plan", "apply"
"""The slots of the engine calls that this part makes."""

Planner = Callable[[Collection[str]], ChangeSet | None]
"""Plans a reversal; over these rows also where another program changed them."""


class BrowseChanges(BrowsePanels):
    """Browse with marks and changes; a subclass hands over the engine's answers (`concluded`)."""

    def __init__(self) -> None:
        super().__init__()
        self._reversal: Planner | None = None
        self._marks_how = "add"

    # marks

    @property
    def marks_phrase(self) -> str:
        """How many are marked, in words; empty for none."""
        marks = self.query_one(MemoryList).marks
        range_words = "v marks to here" if marks.anchor is not None else ""
        count = f"{full(len(marks))} marked" if len(marks) else ""
        return "  ".join(part for part in (count, range_words) if part)

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

    def _able(self) -> Engine | None:
        """The engine when it may write and is at rest; else why not is said."""
        engine = self.session.engine
        if engine is None:
            return None
        if self.runner.busy(APPLY):
            self.flash("A change is being written.", "error")
            return None
        reason = engine.read_only_because
        if reason:
            opened = (
                "" if engine.curate.access.verdict == "read-only" else " Start memtui with --rw to change it."
            )
            self.flash(f"Nothing was changed. {reason}{opened}", "error")
            return None
        return engine

    def action_change(self) -> None:
        engine, listing = self._able(), self.query_one(MemoryList)
        if engine is None:
            return
        marked = listing.marks.ids
        detail = self.query_one(MemoryDetail)  # it may show a linked memory, which is not the list's
        here = detail.memory if detail.has_focus else listing.current
        one: Memory | None = None if marked else here
        ids = marked or ((one.id,) if one is not None and one.id else ())
        if not ids:
            self.flash("There is no memory here to change.", "error")
            return
        title = f"Change {plural(len(ids), 'memory', 'memories')}"

        def plan(field: str, value: str) -> None:
            self._reversal = None
            self.runner.start(PLAN, lambda token, report: engine.curate.edit(ids, {field: value}))

        choose_change(self.app, title, engine.editable, one, plan)

    def action_undo(self) -> None:
        engine = self._able()
        if engine is not None:
            self._reverse(lambda forced: engine.curate.undo(forced=forced))

    def action_redo(self) -> None:
        engine = self._able()
        if engine is not None:
            self._reverse(lambda forced: engine.curate.redo(forced=forced))

    def _reverse(self, planner: Planner, forced: Collection[str] = ()) -> None:
        self._reversal = planner
        self.runner.start(PLAN, lambda token, report: planner(forced))

    # what the engine says

    def concluded(self, slot: str, value: Any) -> bool:
        """Take the answer of a call that this part made; False for another's."""
        if slot == MARKS:
            listing = self.query_one(MemoryList)
            (listing.marks.add if self._marks_how == "add" else listing.marks.invert)(value)
            listing.marks_changed()
        elif slot == PLAN:
            self._preview(value)
        elif slot == APPLY:
            self._written(value)
        else:
            return False
        return True

    def _preview(self, plan: ChangeSet | None) -> None:
        engine, reversal = self.session.engine, self._reversal
        if engine is None:
            return
        if plan is None:
            self.flash("The interrupted change had written nothing; it is dropped.")
            return
        if not plan.changes and not plan.conflicts:
            self.flash("It is so already; nothing was changed.", "note")
            return
        access = engine.curate.access

        def answered(answer: Answer | None) -> None:
            if answer is None:
                self.flash("Nothing was changed.", "note")
            elif answer.what == "force" and reversal is not None:
                self._reverse(reversal, [each.id for each in answer.change_set.conflicts])
            else:
                self.runner.start(
                    APPLY,
                    lambda token, report: engine.curate.apply(answer.change_set, confirmed=answer.confirmed),
                )

        stop = access.reason if access.verdict == "confirm" else ""
        self.app.push_screen(
            Preview(plan, warning=access.warning, stop_agent=stop, forcible=reversal is not None), answered
        )

    def _written(self, outcome: Outcome) -> None:
        if outcome.entry is None:
            why = outcome.conflicts[0].sentence if outcome.conflicts else "There was nothing to write."
            self.flash(
                str(RefusedError(why, fix="Nothing was changed; press r to see what is there now.")), "error"
            )
            return
        back = "U makes it again" if outcome.action == "undo" else "u takes it back"
        done = {"undo": "taken back", "redo": "made again"}.get(outcome.action, "changed")
        self.clear_marks()
        said = f"{plural(outcome.changed, 'memory', 'memories')} {done} (entry {outcome.entry}); {back}"
        host(self).take("changed", said)
