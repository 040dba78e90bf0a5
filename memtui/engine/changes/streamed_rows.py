"""The rows of a large edit on their way to the table and back, some thousands at a time.

What a plan of very many edits writes never stands in memory as a whole: the rows as they are come out of the table by
their row ids into the journal, the changed columns beside them, and both together are what the engine's merge reads.
Taking it back goes the same way with the two images of the entry.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.applied_state import AppliedState, said_by, votes_of
from memtui.engine.changes.change_set import ChangeSet, Conflict
from memtui.engine.changes.journal import RowImages
from memtui.engine.changes.materialize import materialise
from memtui.engine.changes.stored_changes import BLOCK, StoredChanges
from memtui.engine.store.row_values import ID, differing

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.changes.change_set import Change
    from memtui.engine.changes.journal import Journal
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.writer import Writer


class RowsOfVersion:
    """The rows of one version by id: the ids are looked up once, rows are read when they are asked for."""

    def __init__(self, pin: Snapshot, ids: Iterable[str]) -> None:
        self._pin = pin
        self._row_ids = pin.row_ids(ids)

    def read(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """All rows with one of these ids, in the order asked for; a duplicated id gives several."""
        wanted = [at for memory_id in ids for at in self._row_ids.get(memory_id, ())]
        if not wanted:
            return self._pin.rows_by_id([], columns).select(list(columns))
        return self._pin.take(wanted, columns).select(list(columns))


def is_stream(change_set: ChangeSet) -> bool:
    """Whether the set is written a piece at a time: very many edits, and nothing but edits."""
    return isinstance(change_set.changes, StoredChanges) and change_set.changes.ops == {"edit"}


@dataclass(frozen=True, slots=True, eq=False)
class StreamedEdit:
    """What very many edits make of the rows of one version; only the changed columns of them lie in a file."""

    rows: RowsOfVersion
    ids: Sequence[str]
    schema: pa.Schema
    touched: tuple[str, ...]
    file: Any
    """The changed columns beside the ids, as an Arrow stream."""
    conflicts: tuple[Conflict, ...]
    bare: bool
    """Whether some row has no vector afterwards."""

    def before(self) -> pa.RecordBatchReader:
        """The whole rows as they are."""
        import pyarrow as pa

        def batches() -> Iterator[pa.RecordBatch]:
            for start in range(0, len(self.ids), BLOCK):
                found = self.rows.read(self.ids[start : start + BLOCK], self.schema.names)
                yield from found.cast(self.schema).combine_chunks().to_batches()

        return pa.RecordBatchReader.from_batches(self.schema, batches())

    def after(self) -> pa.RecordBatchReader:
        """Ids and changed columns."""
        import pyarrow as pa

        self.file.seek(0)
        return pa.ipc.open_stream(self.file)


def stream_edit(change_set: ChangeSet, writer: Writer, version: int, folder: Path) -> StreamedEdit:
    """Make the rows anew from the table as it is at `version`, and compare them with what the plan expects."""
    import pyarrow as pa

    changes = change_set.changes
    assert isinstance(changes, StoredChanges)
    pin, dialect, schema = writer.at(version), writer.dialect, writer.schema
    metadata, vector = dialect.columns.metadata, dialect.columns.vector
    touched = [*changes.columns]
    if changes.patches_metadata and metadata and metadata not in touched:
        touched.append(metadata)
    if changes.sets_vectors and vector:
        touched.append(vector)
    rows = RowsOfVersion(pin, changes.ids)
    conflicts: list[Conflict] = []
    bare = False
    names = list(dict.fromkeys((ID, *touched)))
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (read again while the rows are written)
    with pa.ipc.new_stream(file, pa.schema([schema.field(name) for name in names])) as stream:
        for block in changes.blocks():
            current = rows.read([each.id for each in block], schema.names)
            part = replace(change_set, changes=tuple(block), base=None)
            made = materialise(part, current, dialect, trusted=False)
            conflicts += made.conflicts
            if made.updates is not None and not conflicts:
                bare |= vector is not None and made.updates.column(vector).null_count > 0
                stream.write_table(made.updates.select(names).combine_chunks())
    file.flush()
    return StreamedEdit(rows, changes.ids, schema, tuple(touched), file, tuple(conflicts), bare)


@contextmanager
def edited_rows(journal: Journal, entry: int) -> Iterator[pa.RecordBatchReader]:
    """The whole rows of an entry as they are to be written: those before it, with its changed columns."""
    import pyarrow as pa

    with journal.image(entry, "before") as before, journal.image(entry, "after") as after:
        assert before is not None
        assert after is not None
        schema = before.schema

        def batches() -> Iterator[pa.RecordBatch]:
            for old, new in in_step(before, after):
                for name in new.schema.names:
                    at = schema.get_field_index(name)
                    old = old.set_column(at, schema.field(at), new.column(name))
                yield from old.combine_chunks().to_batches()

        yield pa.RecordBatchReader.from_batches(schema, batches())


class OutOfStepError(Exception):
    """The two images of an entry do not name the same memories in the same order."""


def in_step(before: pa.RecordBatchReader, after: pa.RecordBatchReader) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The same memories of both images, piece by piece. Raises OutOfStepError where they are not the same."""
    left, right = _pieces(before), _pieces(after)
    for old in left:
        new = next(right, None)
        if new is None or not old.column(ID).combine_chunks().equals(new.column(ID).combine_chunks()):
            raise OutOfStepError
        yield old, new
    if next(right, None) is not None:
        raise OutOfStepError


def _pieces(rows: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows in pieces of one length, however they were written."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in rows:
        while batch.num_rows:
            part = batch.slice(0, BLOCK - count)
            waiting.append(part)
            count += part.num_rows
            batch = batch.slice(part.num_rows)
            if count == BLOCK:
                yield pa.Table.from_batches(waiting)
                waiting, count = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def large_edit(journal: Journal, entry: int, rows: int) -> bool:
    """Whether an entry is a large edit and nothing else, of which both images can be read in step."""
    from memtui.engine.changes import stored_changes

    if rows <= stored_changes.MANY or journal.holds(entry, "added"):
        return False
    with journal.image(entry, "before") as before, journal.image(entry, "after") as after:
        if before is None or after is None:
            return False
        try:
            return any([bool(old.num_rows) for old, _ in in_step(before, after)])  # noqa: C419 (all are looked at)
        except OutOfStepError:
            return False


def not_there(journal: Journal, entry: int, writer: Writer) -> list[str]:
    """Memories of a large edit that the table does not hold as they were written, at the version of the handle."""
    bad: list[str] = []

    def compare(_: pa.Table, after: pa.Table, now: pa.Table) -> None:
        bad.extend(differing(after, now, after.schema.names))

    _each_piece(journal, entry, writer, compare)
    return bad


def streamed_whereabouts(journal: Journal, entry: int, writer: Writer) -> AppliedState:
    """Whether a large edit is in the table; see `applied_state.whereabouts`."""
    votes = {True: 0, False: 0}

    def count(before: pa.Table, after: pa.Table, now: pa.Table) -> None:
        for vote in votes_of(before.select(after.schema.names), after, now, writer.dialect.columns.metadata):
            votes[vote] += 1

    _each_piece(journal, entry, writer, count)
    return said_by(votes)


def _each_piece(
    journal: Journal, entry: int, writer: Writer, look: Callable[[pa.Table, pa.Table, pa.Table], None]
) -> None:
    with journal.image(entry, "after") as after:
        ids = [value for part in after or () for value in part.column(ID).to_pylist()]
    rows = RowsOfVersion(writer.at(writer.newest()), ids)
    with journal.image(entry, "before") as before, journal.image(entry, "after") as after:
        assert before is not None
        assert after is not None
        for old, new in in_step(before, after):
            look(old, new, rows.read(new.column(ID).to_pylist(), new.schema.names))


def shift_pieces(
    journal: Journal, entry: int, writer: Writer, version: int
) -> Iterator[tuple[RowImages, pa.Table]]:
    """The images of a large edit with the rows as they are at `version`, piece by piece."""
    with journal.image(entry, "before") as before:
        ids = [value for part in before or () for value in part.column(ID).to_pylist()]
    rows = RowsOfVersion(writer.at(version), ids)
    with journal.image(entry, "before") as before, journal.image(entry, "after") as after:
        assert before is not None
        assert after is not None
        for old, new in in_step(before, after):
            yield RowImages(old, new, None), rows.read(old.column(ID).to_pylist(), writer.schema.names)


def split(found: Iterable[Change | Conflict], conflicts: list[Conflict]) -> Iterator[Change]:
    """The changes among `found`; conflicts go into the list given."""
    for change in found:
        if isinstance(change, Conflict):
            conflicts.append(change)
        else:
            yield change
