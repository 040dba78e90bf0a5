"""Writing a change set: one guarded commit, journalled before, verified after."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.applied_state import AppliedState, whereabouts
from memtui.engine.changes.change_set import ChangeSet, Conflict, Outcome, subject_of
from memtui.engine.changes.journal import Journal, JournalEntry, RowImages
from memtui.engine.changes.journal_file import JournalError
from memtui.engine.changes.materialize import MaterializedRows, bare_rows, materialise, refuse_bare_rows
from memtui.engine.changes.owner_lock import LockLostError
from memtui.engine.changes.streamed_rows import (
    edited_rows,
    is_stream,
    not_there,
    stream_edit,
    streamed_whereabouts,
)
from memtui.engine.changes.write_access import LockHold, WriteAccess, WriteGate
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.store.errors import CommitConflictError
from memtui.engine.store.row_values import ID, differing, differing_rows, places
from memtui.engine.store.writer import ID_INDEX_ROWS, Writer

if TYPE_CHECKING:
    import pyarrow as pa


# What another program wrote at the last moment, without a lock, and what our commit would have lost of it.


@dataclass(frozen=True, slots=True, eq=False)
class ConcurrentRepair:
    """A second commit that puts the other program's change back, with ours on top where both can stand."""

    updates: pa.Table | None
    adds: pa.Table | None
    deletes: tuple[str, ...]
    images: RowImages
    """What our change replaced and made, for the journal: on top of the other program's rows."""
    conflicts: tuple[Conflict, ...]
    """Rows that are left as the other program wrote them."""


def overtaken(
    change_set: ChangeSet, written: MaterializedRows, writer: Writer, version_before: int, version_after: int
) -> ConcurrentRepair | None:
    """Compare the rows we read, at `version_before`, with those just before our commit; None when equal.

    A commit replaces whole rows. Where others committed in between and changed one of ours, their version is
    the one to change: what we wrote was made from an older one.
    """
    before = written.images.before
    if version_after == version_before + 1 or before is None:
        return None
    names = before.schema.names
    ids = before.column(ID).to_pylist()
    theirs = writer.at(version_after - 1).rows_by_id(ids, names).select(names)
    changed = set(differing(before, theirs, names))
    if not changed:
        return None
    part = replace(change_set, changes=tuple(change for change in change_set.changes if change.id in changed))
    again = materialise(part, theirs, writer.dialect, trusted=False)
    lost = {conflict.id for conflict in again.conflicts}
    there = places(theirs)
    edited = set() if written.updates is None else set(written.updates.column(ID).to_pylist())
    left = _only(theirs, lost)
    images = RowImages(
        before=_replaced(before, theirs, changed, lost),
        after=_replaced(written.images.after, again.images.after, changed, lost),
        added=written.images.added,
    )
    return ConcurrentRepair(
        updates=_joined(again.updates, _only(left, edited)),
        adds=_only(left, {each for each in lost if each not in edited}),
        # A commit that also adds rows brings back an edited one that was deleted meanwhile.
        deletes=tuple(each for each in edited & lost - there.keys() if written.adds is not None),
        images=images,
        conflicts=again.conflicts,
    )


def _replaced(
    old: pa.Table | None, new: pa.Table | None, changed: Collection[str], lost: Collection[str]
) -> pa.Table | None:
    """`old` with the rows in `changed` taken from `new`, and without those in `lost`."""
    if old is None:
        return None
    kept = _only(old, {value for value in old.column(ID).to_pylist() if value not in changed})
    fresh = _only(new, set(changed) - set(lost))
    return _joined(kept, fresh.select(old.schema.names) if fresh is not None else None)


def _only(table: pa.Table | None, ids: Collection[str]) -> pa.Table | None:
    import pyarrow as pa

    if table is None:
        return None
    at = [n for n, value in enumerate(table.column(ID).to_pylist()) if value in ids]
    return table.take(pa.array(at, pa.int64())) if at else None


def _joined(*parts: pa.Table | None) -> pa.Table | None:
    import pyarrow as pa

    there = [part for part in parts if part is not None]
    return pa.concat_tables(there) if there else None


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
            fix="Preview it again, or exclude these memories; nothing was changed.",
        )
        self.conflicts = tuple(conflicts)


@dataclass(frozen=True, slots=True)
class Applier:
    """What writing needs: the handle, the journal, the locks, the rules of the store, the clock."""

    writer: Writer
    journal: Journal
    gatekeeper: WriteGate
    access: WriteAccess
    now: Callable[[], int]
    client: str = ""
    """Who changes the store, where that is not the person at this program: kept with each entry."""


def write_rows(
    change_set: ChangeSet,
    applier: Applier,
    *,
    confirmed: bool = False,
    detail: Mapping[str, Any] | None = None,
) -> Outcome:
    """Write the set in one commit and one entry of the journal, or nothing at all.

    `confirmed`: a person said that the agent is stopped, where the store asks for that. Raises ConflictError
    when a row is not what the plan expects, RefusedError when the store may not be written, MemtuiError
    when the write failed: then the table is as before.
    """
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

    applier.access.require(confirmed=confirmed)
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
    outcome: Outcome = retrying(_once, change_set, applier, detail)
    applier.journal.tidy()
    return outcome


def _once(change_set: ChangeSet, applier: Applier, detail: Mapping[str, Any] | None) -> Outcome:
    if is_stream(change_set):
        return _streamed(change_set, applier, detail)
    writer, journal = applier.writer, applier.journal
    with applier.gatekeeper.hold() as hold:
        before = writer.newest()
        # The plan was made on an older version, perhaps: what is written is made anew from the rows as they are now.
        current, trusted = _current(change_set, writer, before)
        material = materialise(change_set, current, writer.dialect, trusted=trusted)
        if material.conflicts:
            raise ConflictError(material.conflicts)
        if not change_set.put_back:
            refuse_bare_rows(bare_rows(material.adds, writer.dialect), writer.dialect)
        rows = writer.count() if material.deletes else 0
        if writer.dialect.can.own_store and _wants_index(writer):
            before = writer.build_id_index()
        hold.check()  # all that takes time is done: the last moment at which a lost lock costs nothing
        # The rows as they are stand in the journal before the table changes, so that a kill between the two can be
        # told from the table (`interrupted`) and every commit can be taken back.
        entry = journal.intend(
            time_ms=applier.now(),
            action=change_set.action,
            title=change_set.title,
            changes=change_set.changes,
            images=material.images,
            version_before=before,
            undoes=change_set.undoes,
            detail=_described(change_set, applier.client, detail),
        )
        after = committed(
            lambda: writer.commit(material.updates, material.adds, material.deletes),
            lambda: whereabouts(material.images, writer),
            writer,
            journal,
            entry,
        )
        outcome = _settled(change_set, material, applier, hold, _Commit(entry, before, after, rows))
        writer.fold_words(single=True)
        return outcome


def _streamed(change_set: ChangeSet, applier: Applier, detail: Mapping[str, Any] | None) -> Outcome:
    """The same of very many edits: no more of them stand in memory than a few thousand at a time."""
    writer, journal = applier.writer, applier.journal
    with applier.gatekeeper.hold() as hold:
        before = writer.newest()
        made = stream_edit(change_set, writer, before, journal.path.parent)
        if made.conflicts:
            raise ConflictError(made.conflicts)
        if writer.dialect.can.own_store and _wants_index(writer):
            before = writer.build_id_index()
        hold.check()
        entry = journal.intend(
            time_ms=applier.now(),
            action=change_set.action,
            title=change_set.title,
            changes=change_set.changes,
            images=RowImages(None, None, None),
            version_before=before,
            undoes=change_set.undoes,
            detail=_described(change_set, applier.client, detail),
            removed=made.before(),
            changed=made.after(),
        )

        def commit() -> int:
            with edited_rows(journal, entry) as rows:
                return writer.merge_stream(rows, bare=made.bare)

        after = committed(
            commit, lambda: streamed_whereabouts(journal, entry, writer), writer, journal, entry
        )
        alone = after == before + 1
        if alone:
            _raise_for(not_there(journal, entry, writer), writer)
            images = RowImages(None, None, None)
        else:  # another program wrote at the last moment: what it changed is looked for in the whole rows
            images = journal.images(entry)
        material = MaterializedRows(images.after, None, (), images, (), made.touched)
        outcome = _settled(change_set, material, applier, hold, _Commit(entry, before, after, 0))
        writer.fold_words(single=True)
        return outcome


def _described(change_set: ChangeSet, client: str, detail: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What the journal keeps of the entry beside its rows: what it was about, and who asked for it."""
    return {
        "subject": subject_of(change_set.changes),
        **({"client": client} if client else {}),
        **({"allowed_by": change_set.allowed_by} if change_set.allowed_by else {}),
        **(detail or {}),
    }


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
        return base, True  # nobody wrote since the plan: its rows need not be read and compared again
    return writer.rows(change_set.ids), False


def committed(
    commit: Callable[[], int], look: Callable[[], AppliedState], writer: Writer, journal: Journal, entry: int
) -> int:
    """Commit, and return the version made. When that fails, look whether the rows are there all the same.

    `look` says that of the table as it is. The entry of a commit that left nothing is
    dropped; one of which nothing sure can be said is marked as interrupted. Raises what the commit raised.
    """
    try:
        return commit()
    except MemtuiError as failure:
        # An error does not say that nothing was written: the version may be there and the answer lost on its way.
        try:
            version = writer.newest()
            found = look()
        except MemtuiError:
            with suppress(JournalError):
                journal.mark(entry, "interrupted")
            raise _unsure(entry, failure) from failure
        if found is AppliedState.WHOLE:
            return version
        if found is AppliedState.NOTHING:
            with suppress(JournalError):  # it stays as intended: who looks next finds that nothing is there
                journal.drop(entry)
            raise
        with suppress(JournalError):
            journal.mark(entry, "interrupted")
        raise _unsure(entry, failure) from failure


def _unsure(entry: int, failure: MemtuiError) -> MemtuiError:
    return MemtuiError(
        f"It is not known whether the change of entry {entry} is in the table: {failure.message}",
        fix="See what is there with: memtui journal.",
        details=failure.details,
    )


def _settled(
    change_set: ChangeSet, material: MaterializedRows, applier: Applier, hold: LockHold, done: _Commit
) -> Outcome:
    """After the commit: put back what was overtaken, verify, and write into the journal that it is there."""
    writer, journal = applier.writer, applier.journal
    version, warnings = done.after, list(change_set.warnings)
    if applier.access.warning:
        warnings.append(applier.access.warning)
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
    warnings += lock_kept(hold)
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


def lock_kept(hold: LockHold) -> tuple[str, ...]:
    """What to say of a lock that was lost while the rows were written: they are there, so nothing is raised."""
    try:
        hold.check()
    except LockLostError as lost:
        return (f"{lost.message} The change is there all the same.",)
    return ()


def bookkeeping(undoes: int | None, journal: Journal) -> dict[str, int]:
    """Which entries change their state with one that `undoes` another: that one, and what a redo brings back."""
    if undoes is None:
        return {}
    undone: JournalEntry = journal.entry(undoes)
    again = {} if undone.undoes is None else {"redone": undone.undoes}
    return {"undoes": undone.entry, **again}


def _verified(material: MaterializedRows, writer: Writer, rows_before: int | None) -> list[str]:
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
        bad = differing_rows(rows, found, columns)
    added = material.adds.num_rows if material.adds is not None else 0
    if material.deletes and (rows_before is None or writer.count() != rows_before + added - material.gone):
        bad += writer.rows(material.deletes, [ID]).column(ID).to_pylist()
    _raise_for(bad, writer)
    return []


def _raise_for(bad: Sequence[str], writer: Writer) -> None:
    if not bad:
        return
    raise MemtuiError(
        f"{len(bad)} of the memories are not in {writer.where} as they were written (first: {bad[0]}).",
        fix="Run memtui journal: it lists the entry, and can finish or undo it.",
    )
