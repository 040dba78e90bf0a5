"""What became of a change whose program was killed in the middle, and how to finish it or take it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memtui.engine.curate.apply import Bench, apply, bookkeeping
from memtui.engine.curate.changes import ChangeSet, Outcome
from memtui.engine.curate.journal import INTENDED, JournalEntry
from memtui.engine.curate.undo import plan_shift
from memtui.engine.curate.whereabouts import Whereabouts, whereabouts
from memtui.engine.errors import RefusedError

if TYPE_CHECKING:
    from memtui.engine.curate.access import Gatekeeper
    from memtui.engine.curate.journal import Journal
    from memtui.engine.store.writer import Writer

INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An entry that was never reported as done, and what the table says about it."""

    entry: JournalEntry
    found: Whereabouts

    @property
    def sentence(self) -> str:
        """What happened and what can be done, in two sentences."""
        number = self.entry.entry
        what = f"Entry {number} ({self.entry.title}) was interrupted; its change is {self.found.value}."
        if self.found is Whereabouts.WHOLE:
            return f"{what} Keep it with: memtui journal --finish {number}; take it back with: memtui undo {number}."
        if self.found is Whereabouts.NOTHING:
            return (
                f"{what} Make it with: memtui journal --finish {number}; drop it with: memtui undo {number}."
            )
        return f"{what} Look at it with: memtui journal {number}."


def look(journal: Journal, gatekeeper: Gatekeeper, open_writer: Callable[[], Writer]) -> list[Interrupted]:
    """Every interrupted entry, newest first, compared with the table as it is now; writes to the journal only.

    An entry that another memtui is writing at this moment is not interrupted, and left alone.
    """
    if not journal.path.exists():
        return []
    with gatekeeper.alone() as nobody_writes:
        if nobody_writes:
            for entry in journal.entries(states=(INTENDED,)):
                journal.mark(entry.entry, INTERRUPTED)
    entries = journal.entries(states=(INTERRUPTED,))
    if not entries:
        return []
    writer = open_writer()
    writer.newest()
    return [Interrupted(each, whereabouts(journal.images(each.entry), writer)) for each in entries]


def plan_finish(entry: JournalEntry, journal: Journal, writer: Writer) -> ChangeSet:
    """What is still to be written of an interrupted entry; an empty set when all is there."""
    _check(entry)
    version = writer.newest()
    if whereabouts(journal.images(entry.entry), writer) is Whereabouts.WHOLE:
        return ChangeSet(entry.action, entry.title, (), version, undoes=entry.undoes)
    planned = plan_shift(entry, journal, writer, "after", action=entry.action)
    return replace(planned, title=entry.title, undoes=entry.undoes)


def finish(entry: JournalEntry, planned: ChangeSet, bench: Bench, *, confirmed: bool) -> Outcome:
    """Write what `plan_finish` found; the entry of that takes the place of the interrupted one."""
    if planned.changes or planned.conflicts:
        outcome = apply(planned, bench, confirmed=confirmed)
        bench.journal.drop(entry.entry)
        return outcome
    version = bench.writer.newest()
    bench.journal.applied(entry.entry, version, **bookkeeping(entry.undoes, bench.journal))
    return Outcome(entry.entry, entry.action, (), version_after=version)


def plan_revert(entry: JournalEntry, journal: Journal, writer: Writer) -> ChangeSet:
    """What is to be taken back of an interrupted entry; an empty set when nothing of it is there."""
    _check(entry)
    version = writer.newest()
    if whereabouts(journal.images(entry.entry), writer) is Whereabouts.NOTHING:
        return ChangeSet(
            "undo", f"undo of entry {entry.entry}: {entry.title}", (), version, undoes=entry.entry
        )
    return plan_shift(entry, journal, writer, "before")


def _check(entry: JournalEntry) -> None:
    if entry.state != INTERRUPTED:
        raise RefusedError(
            f"Entry {entry.entry} was not interrupted: it is {entry.state}.", fix="Undo it instead."
        )
