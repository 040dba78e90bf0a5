"""Which entry an undo or a redo means."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from memtui.engine.curate.changes import CLEAN, MAINTAIN
from memtui.engine.curate.recover import INTERRUPTED, plan_revert
from memtui.engine.curate.undo import plan_shift
from memtui.engine.errors import RefusedError

if TYPE_CHECKING:
    from memtui.engine.curate.changes import ChangeSet
    from memtui.engine.curate.journal import Journal, JournalEntry
    from memtui.engine.store.writer import Writer

REVERSALS = ("undo", "redo")


def plan_undo(journal: Journal, writer: Writer, number: int | None, forced: Collection[str]) -> ChangeSet:
    """Take back entry `number`, by default the last change that is applied.

    Undoing an undo is a redo. Raises UsageError for an unknown entry, RefusedError for one that is undone.
    """
    if number is None:
        applied = journal.entries(states=("applied",))
        entry = next((each for each in applied if each.action not in (*REVERSALS, CLEAN, MAINTAIN)), None)
        if entry is None:
            raise RefusedError("There is nothing to undo.", fix="See what was changed with: memtui journal.")
    else:
        entry = journal.entry(number)
    if entry.state == INTERRUPTED:
        return plan_revert(entry, journal, writer)
    if entry.action == CLEAN:
        raise RefusedError(
            f"Entry {entry.entry} removed history: that cannot be taken back.", fix="Nothing was changed."
        )
    if entry.action == MAINTAIN:
        raise RefusedError(
            f"Entry {entry.entry} changed no memory, only how the table is kept: there is nothing to take back.",
            fix=f"The version before it was {entry.version_before}.",
        )
    if entry.action == "undo":
        return plan_redo(journal, writer, entry.entry, forced)
    if entry.action == "redo" and entry.undoes is not None:
        entry = journal.entry(journal.entry(entry.undoes).undoes or entry.undoes)
    if entry.state != "applied":
        raise RefusedError(
            f"Entry {entry.entry} is {entry.state} already.",
            fix=f"Bring it back with: memtui undo {_undo_of(journal, entry)}.",
        )
    return plan_shift(entry, journal, writer, "before", forced=forced)


def plan_redo(journal: Journal, writer: Writer, number: int | None, forced: Collection[str]) -> ChangeSet:
    """Make again what was undone: the entry `number` (or its undo), by default the last one undone."""
    undos = [each for each in journal.entries(states=("applied",)) if each.action == "undo"]
    if number is not None:
        journal.entry(number)
        undos = [each for each in undos if number in (each.entry, each.undoes)]
    if not undos:
        what = "There is nothing to redo." if number is None else f"Entry {number} is not undone."
        raise RefusedError(what, fix="See what was undone with: memtui journal.")
    return plan_shift(undos[0], journal, writer, "before", action="redo", forced=forced)


def _undo_of(journal: Journal, entry: JournalEntry) -> int:
    """The applied undo of an undone entry."""
    undos = journal.entries(states=("applied",))
    return next((each.entry for each in undos if each.undoes == entry.entry), entry.entry)
