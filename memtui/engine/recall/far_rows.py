"""Rows of a version on object storage: read whole, kept, and never asked for twice.

A take there is a request for each row and column that lie apart, and vectors lie furthest apart of all: where they
are in memory they come from there. What a pass over the table brought is held, up to `MOST_BYTES`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.rows import ROWS_KEPT, CandidateRow, CandidateRows, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.snapshot import Snapshot

MOST_BYTES = 64 << 20
"""Of the columns of a pass that are held: 300,000 short memories."""

READ_AT_ONCE = 40
"""Rows that are read at a time where nobody says how many will be walked."""


class FarRows:
    """The rows of one version that were read so far, by row id. Safe from any thread."""

    def __init__(self, pin: Snapshot) -> None:
        self._pin = pin
        self._lock = threading.RLock()
        self._rows: dict[int, CandidateRow] = {}
        self._stored: dict[int, pa.Table] = {}
        """Each row as it is stored, without its vector: a table of one row."""
        self._row_ids: dict[str, int] = {}
        self._held: tuple[Any, pa.Table] | None = None
        """Row ids in ascending order, and these rows as they are stored, without vectors."""

    def scan(self, where: str | None) -> Iterator[pa.RecordBatch]:
        """Every memory that `where` keeps, without vectors, with `_rowid`; when the last has come they are held."""
        import numpy as np
        import pyarrow as pa

        batches: list[pa.RecordBatch] | None = []
        size = 0
        for batch in self._pin.scan(self._pin.row_columns, where=where, with_row_id=True):
            yield batch
            size += batch.nbytes
            if size > MOST_BYTES:
                batches = None
            elif batches is not None:
                batches.append(batch)
        if batches:
            table = pa.Table.from_batches(batches).combine_chunks()
            row_ids = table.column("_rowid").to_numpy()
            order = np.argsort(row_ids, kind="stable")
            with self._lock:
                if self._held is None or self._held[1].num_rows < table.num_rows:
                    self._held = row_ids[order], table.take(pa.array(order))

    def by_row_id(self, row_ids: Sequence[int]) -> list[CandidateRow]:
        """The rows with these row ids, in this order; absent ones are left out."""
        with self._lock:
            self._bounded()
            missing = [row_id for row_id in row_ids if row_id not in self._rows]
            self._keep_held(missing)
            missing = [each for each in missing if each not in self._rows]
            if missing:
                self._keep(self._pin.take(missing, self._columns))
            return [self._rows[row_id] for row_id in row_ids if row_id in self._rows]

    def by_id(self, ids: Sequence[str]) -> list[CandidateRow]:
        """The rows with these ids, each once; a duplicated id gives the last one."""
        with self._lock:
            self._have(ids)
            return [
                self._rows[self._row_ids[memory_id]]
                for memory_id in dict.fromkeys(ids)
                if memory_id in self._row_ids
            ]

    def whole(self, ids: Sequence[str]) -> pa.Table:
        """The same as they are stored, without their vectors, with `_rowid`."""
        import pyarrow as pa

        with self._lock:
            self._have(ids)
            found = [
                self._stored[self._row_ids[memory_id]]
                for memory_id in dict.fromkeys(ids)
                if memory_id in self._row_ids
            ]
            return pa.concat_tables(found) if found else self._pin.rows_by_id([], self._pin.row_columns)

    def row_id(self, memory_id: str) -> int:
        """The row id of a memory, -1 where it is not there."""
        with self._lock:
            self._have([memory_id])
            return self._row_ids.get(memory_id, -1)

    @property
    def _columns(self) -> list[str]:
        vector = self._vector
        return [*self._pin.row_columns, *([vector] if vector and not self._pin.holds_vectors else ())]

    @property
    def _vector(self) -> str | None:
        return self._pin.dialect.columns.vector

    def _have(self, ids: Sequence[str]) -> None:
        self._bounded()
        missing = [memory_id for memory_id in dict.fromkeys(ids) if memory_id not in self._row_ids]
        self._keep_held(self._held_with(missing))
        missing = [each for each in missing if each not in self._row_ids]
        if missing:
            self._keep(self._pin.rows_by_id(missing, self._columns))

    def _held_with(self, ids: Sequence[str]) -> Sequence[int]:
        """The row ids of the held rows with one of these ids."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self._pin.dialect.columns.id
        if self._held is None or not ids or not pa.types.is_string(self._pin.schema.field(column).type):
            return ()
        among = pc.is_in(self._held[1].column(column), pa.array(ids, pa.string()))
        found: list[int] = self._held[1].column("_rowid").filter(among).to_pylist()
        return found

    def _keep_held(self, row_ids: Sequence[int]) -> None:
        """Make rows of what is held of these; only their vectors may have to be read."""
        import numpy as np
        import pyarrow as pa

        if self._held is None or not row_ids:
            return
        ids, table = self._held
        wanted = np.asarray(row_ids, np.uint64)
        at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
        at = at[ids[at] == wanted]
        found = table.take(pa.array(at))
        if len(at) and (column := self._vector) and not self._pin.holds_vectors:
            vectors = self._pin.take(ids[at].tolist(), [column])
            found = found.append_column(column, vectors.column(column))
        self._keep(found)

    def _bounded(self) -> None:
        if len(self._rows) > ROWS_KEPT:
            self._rows.clear()
            self._stored.clear()
            self._row_ids.clear()

    def _keep(self, table: pa.Table) -> None:
        vector = self._vector
        rows, row_ids = rows_of(table, self._pin.dialect), table.column("_rowid").to_pylist()
        if vector is not None and vector not in table.column_names:
            held = self._pin.held_vectors(row_ids)
            for row_id, row in zip(row_ids, rows, strict=True):
                row.vector = held.get(row_id)
        stored = table.drop_columns([vector]) if vector in table.column_names else table
        for at, (row_id, row) in enumerate(zip(row_ids, rows, strict=True)):
            self._rows[row_id], self._stored[row_id] = row, stored.slice(at, 1)
            self._row_ids[row.id] = row_id


def far_rows(pin: Snapshot) -> FarRows:
    """The rows of this version, which is on object storage, that were read so far."""
    return pin.derived(("far rows",), lambda: FarRows(pin))


def row_id_of(pin: Snapshot, memory_id: str) -> int:
    """The row id of a memory, -1 where it is not there; of a version far away from what was read already."""
    if pin.on_object_storage:
        return far_rows(pin).row_id(memory_id)
    found = pin.rows_by_id([memory_id], [pin.dialect.columns.id])
    return int(found.column("_rowid")[0].as_py()) if found.num_rows else -1


def whole_rows(pin: Snapshot, ids: Sequence[str]) -> pa.Table:
    """The rows with these ids as they are stored, without vectors: of a version far away those read already."""
    if pin.on_object_storage:
        return far_rows(pin).whole(ids)
    return pin.rows_by_id(ids, list(pin.row_columns))


class FarRowsById(CandidateRows):
    """The rows with these row ids, in this order, read in slices as they are walked."""

    def __init__(self, pin: Snapshot, row_ids: Sequence[int], *, at_once: int = READ_AT_ONCE) -> None:
        self._pin, self._row_ids, self._at_once = pin, row_ids, at_once
        self._made = []

    def __len__(self) -> int:
        return len(self._row_ids)

    def _read(self, start: int) -> list[CandidateRow]:
        return far_rows(self._pin).by_row_id(self._row_ids[start : start + self._at_once])
