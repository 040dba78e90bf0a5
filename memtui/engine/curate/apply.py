"""Writing a change set: one guarded commit, journalled before, verified after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.curate.access import Access, Gatekeeper, Hold
from memtui.engine.curate.changes import ChangeSet, Conflict, Outcome
from memtui.engine.curate.journal import Journal, JournalEntry
from memtui.engine.curate.lock import LockLostError
from memtui.engine.curate.materialise import Material, materialise
from memtui.engine.curate.overtaken import overtaken
from memtui.engine.curate.rows import ID, differing, places
from memtui.engine.curate.whereabouts import Whereabouts, whereabouts
from memtui.engine.errors import MemtuiError, RefusedError
from memtui.engine.store.writer import ID_INDEX_ROWS, CommitConflictError, Writer

if TYPE_CHECKING:
    import pyarrow as pa

ATTEMPTS = 5
"""How often a commit is tried that another program's was faster than."""
LONGEST_WAIT_S = 1.0


class ConflictError(RefusedError):
    """Rows are no longer what the plan expects. `conflicts` has mine, theirs and before of each."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        first = conflicts[0]
        more = f" (and {len(conflicts) - 1} more)" if len(conflicts) > 1 else ""
        super().__init__(
            f"{first.id}: {first.sentence}{more}",
            fix="Look at it again, or leave these memories out; nothing was changed.",
        )
        self.conflicts = tuple(conflicts)


@dataclass(frozen=True, slots=True)
class Bench:
    """What writing needs: the handle, the journal, the locks, the rules of the store, the clock."""

    writer: Writer
    journal: Journal
    gatekeeper: Gatekeeper
    access: Access
    now: Callable[[], int]
    client: str = ""
    """Who changes the store, where that is not the person at this program: kept with each entry."""


def apply(
    change_set: ChangeSet, bench: Bench, *, confirmed: bool = False, detail: Mapping[str, Any] | None = None
) -> Outcome:
    """Write the set in one commit and one entry of the journal, or nothing at all.

    `confirmed`: a person said that the agent is stopped, where the store asks for that. Raises ConflictError
    when a row is not what the plan expects, RefusedError when the store may not be written, MemtuiError
    when the write failed: then the table is as before.
    """
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

    bench.access.require(confirmed=confirmed)
    if change_set.conflicts:
        raise ConflictError(change_set.conflicts)
    if not change_set.changes:
        return Outcome(None, change_set.action, (), change_set.left, change_set.warnings)
    retrying = Retrying(
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.02, max=LONGEST_WAIT_S),
        retry=retry_if_exception_type(CommitConflictError),
        reraise=True,
    )
    outcome: Outcome = retrying(_once, change_set, bench, detail)
    bench.journal.tidy()
    return outcome


def _once(change_set: ChangeSet, bench: Bench, detail: Mapping[str, Any] | None) -> Outcome:
    writer, journal = bench.writer, bench.journal
    with bench.gatekeeper.hold() as hold:
        before = writer.newest()
        current, trusted = _current(change_set, writer, before)
        material = materialise(change_set, current, writer.dialect, trusted=trusted)
        if material.conflicts:
            raise ConflictError(material.conflicts)
        rows = writer.count() if material.deletes else 0
        if writer.dialect.name == "memtui" and _wants_index(writer):
            before = writer.build_id_index()
        hold.check()
        entry = journal.intend(
            time_ms=bench.now(),
            action=change_set.action,
            title=change_set.title,
            changes=change_set.changes,
            images=material.images,
            version_before=before,
            undoes=change_set.undoes,
            detail={**(detail or {}), "client": bench.client} if bench.client else detail,
        )
        after = _committed(material, writer, journal, entry)
        return _settled(change_set, material, bench, hold, _Commit(entry, before, after, rows))


def _wants_index(writer: Writer) -> bool:
    return writer.count() >= ID_INDEX_ROWS and not writer.has_id_index()


@dataclass(frozen=True, slots=True)
class _Commit:
    entry: int
    before: int
    after: int
    rows: int
    """Rows of the table before."""


def _current(change_set: ChangeSet, writer: Writer, version: int) -> tuple[pa.Table, bool]:
    """All rows with one of the set's ids, and whether they are the very ones that it was planned on."""
    base = change_set.base
    if base is not None and base.schema != writer.schema:
        raise RefusedError(
            f"{writer.where} has other columns than when this was planned.",
            fix="Open it again; nothing was changed.",
        )
    if base is not None and change_set.mark is not None and writer.mark(version) == change_set.mark:
        return base, True
    return writer.rows(change_set.ids), False


def _committed(material: Material, writer: Writer, journal: Journal, entry: int) -> int:
    """Commit; when that fails, look whether it is there all the same, and drop the entry when it is not."""
    try:
        return writer.commit(material.updates, material.adds, material.deletes)
    except MemtuiError:
        try:
            version = writer.newest()
            found = whereabouts(material.images, writer)
        except MemtuiError:
            journal.mark(entry, "interrupted")
            raise
        if found is Whereabouts.WHOLE:
            return version
        if found is Whereabouts.NOTHING:
            journal.drop(entry)
        else:
            journal.mark(entry, "interrupted")
        raise


def _settled(change_set: ChangeSet, material: Material, bench: Bench, hold: Hold, done: _Commit) -> Outcome:
    """After the commit: put back what was overtaken, verify, and write into the journal that it is there."""
    writer, journal = bench.writer, bench.journal
    version, warnings = done.after, list(change_set.warnings)
    if bench.access.warning:
        warnings.append(bench.access.warning)
    repair = overtaken(change_set, material, writer, done.before, done.after)
    if repair is not None:
        if repair.updates is not None or repair.adds is not None or repair.deletes:
            version = writer.commit(repair.updates, repair.adds, repair.deletes)
        left_out = [conflict.id for conflict in repair.conflicts]
        journal.correct(done.entry, repair.images, left_out)
        change_set = change_set.without(left_out)
        warnings.append(
            "Another program wrote to the same memories at the same moment; its changes are kept."
        )
    else:
        alone = done.after == done.before + 1
        warnings += _verified(material, writer, done.rows if alone else None)
    journal.applied(done.entry, version, **bookkeeping(change_set.undoes, journal))
    try:
        hold.check()
    except LockLostError as lost:
        warnings.append(f"{lost.message} The change is there all the same.")
    return Outcome(
        done.entry,
        change_set.action,
        change_set.changes,
        conflicts=(*change_set.left, *(repair.conflicts if repair else ())),
        warnings=tuple(warnings),
        copies=change_set.copies,
        version_before=done.before,
        version_after=version,
    )


def bookkeeping(undoes: int | None, journal: Journal) -> dict[str, int]:
    """Which entries change their state with one that `undoes` another: that one, and what a redo brings back."""
    if undoes is None:
        return {}
    undone: JournalEntry = journal.entry(undoes)
    again = {} if undone.undoes is None else {"redone": undone.undoes}
    return {"undoes": undone.entry, **again}


def _verified(material: Material, writer: Writer, rows_before: int | None) -> list[str]:
    """Read back what was written and compare; raises when the table does not hold it."""
    written = [part for part in (material.updates, material.adds) if part is not None]
    bad: list[str] = []
    if written:
        import pyarrow as pa

        rows = pa.concat_tables(written)
        columns = (
            rows.schema.names if material.adds is not None else [*dict.fromkeys((ID, *material.touched))]
        )
        ids = rows.column(ID).to_pylist()
        found = writer.last_rows(rows.num_rows, columns)
        if set(found.column(ID).to_pylist()) != set(ids):
            found = writer.rows(ids, columns)
        bad = [each for each, at in places(found).items() if len(at) > 1]
        bad = bad or differing(rows, found, columns)
    added = material.adds.num_rows if material.adds is not None else 0
    if material.deletes and (
        rows_before is None or writer.count() != rows_before + added - len(material.deletes)
    ):
        bad += writer.rows(material.deletes, [ID]).column(ID).to_pylist()
    if not bad:
        return []
    raise MemtuiError(
        f"{len(bad)} of the memories are not in {writer.where} as they were written (first: {bad[0]}).",
        fix="Look at the journal: memtui journal; it says what is there, and can finish or take it back.",
    )
