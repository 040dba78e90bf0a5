"""Which entry an undo or a redo means."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memtui.engine.changes.applied_state import AppliedState, whereabouts
from memtui.engine.changes.applier import bookkeeping, write_rows
from memtui.engine.changes.bulk_shift import LARGE, apply_bulk, bulk_whereabouts
from memtui.engine.changes.change_set import CLEAN, MAINTAIN, PIN, ChangeSet, Outcome
from memtui.engine.changes.files_beside import edits_in, files_written, prepare_files
from memtui.engine.changes.journal import INTENDED, LEFT, JournalEntry
from memtui.engine.changes.reverse import files_of, plan_shift
from memtui.engine.changes.streamed_rows import large_edit, streamed_whereabouts
from memtui.engine.changes.undo_restore import is_whole_restore, plan_undo_of_restore
from memtui.engine.changes.version_tags import tags_in, write_tags
from memtui.engine.core.errors import RefusedError

if TYPE_CHECKING:
    from memtui.engine.changes.applier import Applier
    from memtui.engine.changes.journal import Journal
    from memtui.engine.engine import Engine
    from memtui.engine.store.writer import Writer


# What became of a change whose program was killed in the middle, and how to finish it or take it back.

INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An entry that was never reported as done, and what the table says about it."""

    entry: JournalEntry
    found: AppliedState

    @property
    def sentence(self) -> str:
        """What happened and what can be done, in two sentences."""
        number = self.entry.entry
        what = f"Entry {number} ({self.entry.title}) was interrupted; its change is {self.found.value}."
        if self.found is AppliedState.WHOLE:
            return f"{what} Keep it with: memtui journal --finish {number}; undo with: memtui undo {number}."
        if self.found is AppliedState.NOTHING:
            return (
                f"{what} Make it with: memtui journal --finish {number}; drop it with: memtui undo {number}."
            )
        return (
            f"{what} Show it with: memtui journal {number};"
            f" close it as it is with: memtui journal --leave {number}."
        )


def find_interrupted(engine: Engine) -> list[Interrupted]:
    """Changes whose program was killed in the middle, and what the table says of them; ask at every start.

    The newest first; writes to the journal only. An entry that another memtui is writing at this moment is not
    interrupted, and left alone.
    """
    writing = engine.write_state
    if engine.state is None or writing.access.verdict == "read-only":
        return []
    journal = writing.journal
    if not journal.path.exists():
        return []
    with writing.make_gate().alone() as nobody_writes:
        if nobody_writes:
            for entry in journal.entries(states=(INTENDED,)):
                journal.mark(entry.entry, INTERRUPTED)
    entries = journal.entries(states=(INTERRUPTED,))
    if not entries:
        return []
    if engine.store.dialect.can.edits_files:
        return [Interrupted(entry, _found_in_notes(entry)) for entry in entries]
    writer = engine.store.writer()
    writer.newest()
    return [Interrupted(entry, _found(entry, journal, writer)) for entry in entries]


def _found_in_notes(entry: JournalEntry) -> AppliedState:
    from memtui.engine.changes.note_changes import notes_applied

    said = notes_applied(entry)
    if said is None:
        return AppliedState.CHANGED
    return AppliedState.WHOLE if said else AppliedState.NOTHING


def _found(entry: JournalEntry, journal: Journal, writer: Writer) -> AppliedState:
    """Whether the change of an entry is there: its rows tell, and where it has none its files and names."""
    if entry.rows > LARGE and journal.unlisted(entry.entry):
        return bulk_whereabouts(entry, journal, writer)
    if entry.rows:
        if large_edit(journal, entry.entry, entry.rows):
            return streamed_whereabouts(journal, entry.entry, writer)
        return whereabouts(journal.images(entry.entry), writer)
    there = writer.tags() if (tags := tags_in(entry.detail)) else {}
    said = files_written(edits_in(entry.detail))
    said |= {
        (there.get(tag.after) if tag.after else None) == tag.version if tag.after else tag.before not in there
        for tag in tags
    }
    if len(said) == 2:
        return AppliedState.HALF
    return AppliedState.NOTHING if False in said else AppliedState.WHOLE if said else AppliedState.CHANGED


def plan_finish(engine: Engine, number: int) -> ChangeSet:
    """Plan to complete an interrupted entry; an empty set when it is wholly there."""
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import plan_note_shift

        entry = engine.write_state.journal.entry(number)
        _check(entry)
        planned = plan_note_shift(engine, entry, "after", action=entry.action)
        return replace(planned, title=entry.title, undoes=entry.undoes)
    journal, writer = engine.write_state.journal, engine.store.writer()
    entry = journal.entry(number)
    _check(entry)
    version = writer.newest()
    if _found(entry, journal, writer) is AppliedState.WHOLE:
        files = files_of(entry, "after")  # a program may die between the rows and the files
        return ChangeSet(entry.action, entry.title, (), version, undoes=entry.undoes, files=files)
    planned = plan_shift(entry, journal, writer, "after", action=entry.action)
    return replace(planned, title=entry.title, undoes=entry.undoes)


def finish_entry(engine: Engine, number: int, *, confirmed: bool = False) -> Outcome:
    """Complete an interrupted entry; one that is wholly there counts as applied from now on.

    Where rows are written, their entry takes the place of the interrupted one.
    """
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import finish_notes

        return finish_notes(engine, engine.write_state.journal.entry(number), plan_finish(engine, number))
    applier = engine.write_state.applier
    entry = applier.journal.entry(number)
    outcome = _finish(entry, plan_finish(engine, number), applier, confirmed=confirmed)
    engine.write_state.behind = True
    return outcome


def _finish(entry: JournalEntry, planned: ChangeSet, applier: Applier, *, confirmed: bool) -> Outcome:
    if planned.changes or planned.conflicts:
        write = write_rows if planned.bulk is None else apply_bulk
        outcome = write(planned, applier, confirmed=confirmed)
        applier.journal.drop(entry.entry)
        return outcome
    warnings = tuple(prepare_files(planned.files).take())
    if planned.tags:
        there = applier.writer.tags()
        with applier.gatekeeper.hold():
            write_tags(applier.writer, [tag for tag in planned.tags if there.get(tag.after) != tag.version])
    version = applier.writer.newest()
    applier.journal.applied(entry.entry, version, **bookkeeping(entry.undoes, applier.journal))
    return Outcome(entry.entry, entry.action, (), warnings=warnings, version_after=version)


def leave_entry(engine: Engine, number: int) -> None:
    """Settle an interrupted entry as it is: nothing is written to the table, nothing warns of it any more.

    For an entry whose rows were changed again, which can be neither finished nor taken back.
    """
    journal = engine.write_state.journal
    entry = journal.entry(number)
    _check(entry)
    journal.mark(entry.entry, LEFT)


def _plan_revert(entry: JournalEntry, journal: Journal, writer: Writer) -> ChangeSet:
    """What is to be taken back of an interrupted entry; an empty set when nothing of it is there."""
    _check(entry)
    version = writer.newest()
    if _found(entry, journal, writer) is AppliedState.NOTHING:
        files = files_of(entry, "before")
        return ChangeSet(
            "undo",
            f"undo of entry {entry.entry}: {entry.title}",
            (),
            version,
            undoes=entry.entry,
            files=files,
        )
    return plan_shift(entry, journal, writer, "before")


def _check(entry: JournalEntry) -> None:
    if entry.state != INTERRUPTED:
        raise RefusedError(
            f"Entry {entry.entry} was not interrupted: it is {entry.state}.", fix="Undo it instead."
        )


REVERSALS = ("undo", "redo")


def plan_undo(engine: Engine, number: int | None = None, *, forced: Collection[str] = ()) -> ChangeSet:
    """Plan to take back entry `number`, by default the last change that is applied.

    Rows in `forced` are brought back even where another program changed them since. The set is empty when
    there is nothing to write, as for an interrupted entry that never reached the table; apply it all the same.
    Undoing an undo is a redo. Raises UsageError for an unknown entry, RefusedError for one that is undone.
    """
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import plan_note_undo

        return plan_note_undo(engine, number)
    journal, writer = engine.write_state.journal, engine.store.writer()
    if number is None:
        applied = journal.entries(states=("applied",))
        # A copy of a version is taken away only by its number: it is no change of the store.
        entry = next(
            (
                entry
                for entry in applied
                if entry.action not in (*REVERSALS, CLEAN, MAINTAIN, PIN) or is_whole_restore(entry)
            ),
            None,
        )
        if entry is None:
            raise RefusedError("There is nothing to undo.", fix="See what was changed with: memtui journal.")
    else:
        entry = journal.entry(number)
    if entry.state == INTERRUPTED:
        return _plan_revert(entry, journal, writer)
    if entry.action == CLEAN:
        raise RefusedError(
            f"Entry {entry.entry} removed history: that cannot be undone.", fix="Nothing was changed."
        )
    if is_whole_restore(entry) and entry.state == "applied":
        return plan_undo_of_restore(entry, writer, forced=forced)
    if entry.action == MAINTAIN and entry.state == "applied":
        raise RefusedError(
            f"Entry {entry.entry} changed no memory, only how the table is kept: there is nothing to undo.",
            fix=f"Restore the table of before: memtui versions restore {entry.version_before}, while it is kept.",
        )
    if entry.action == "undo":
        return plan_redo(engine, entry.entry, forced=forced)
    if entry.action == "redo" and entry.undoes is not None:
        entry = journal.entry(journal.entry(entry.undoes).undoes or entry.undoes)
    if entry.state == LEFT:
        raise RefusedError(
            f"Entry {entry.entry} was cut off and closed: how much of it is in the table is not known.",
            fix=f"See what it was about with: memtui journal {entry.entry}; change those memories by hand.",
        )
    if entry.state != "applied":
        raise RefusedError(
            f"Entry {entry.entry} is {entry.state} already.",
            fix=f"Bring it back with: memtui undo {_undo_of(journal, entry)}.",
        )
    return plan_shift(entry, journal, writer, "before", forced=forced)


def plan_redo(engine: Engine, number: int | None = None, *, forced: Collection[str] = ()) -> ChangeSet:
    """Plan to make again what was undone: the entry `number` (or its undo), by default the last one undone."""
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import plan_note_redo

        return plan_note_redo(engine, number)
    journal, writer = engine.write_state.journal, engine.store.writer()
    undos = [entry for entry in journal.entries(states=("applied",)) if entry.action == "undo"]
    undos = [undo for undo in undos if undo.rows or edits_in(undo.detail) or tags_in(undo.detail)]
    if number is not None:
        journal.entry(number)
        undos = [undo for undo in undos if number in (undo.entry, undo.undoes)]
    if not undos:
        what = "There is nothing to redo." if number is None else f"Entry {number} is not undone."
        raise RefusedError(what, fix="See what was undone with: memtui journal.")
    return plan_shift(undos[0], journal, writer, "before", action="redo", forced=forced)


def _undo_of(journal: Journal, entry: JournalEntry) -> int:
    """The applied undo of an undone entry."""
    undos = journal.entries(states=("applied",))
    return next((undo.entry for undo in undos if undo.undoes == entry.entry), entry.entry)
