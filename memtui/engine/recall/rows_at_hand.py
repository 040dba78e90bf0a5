"""Reading rows by their ids: of a small table on this machine all at once, of others as far as somebody looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtui.engine.core.errors import DamagedStoreError
from memtui.engine.recall.rows import ROWS_KEPT, CandidateRow, CandidateRows, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.snapshot import Snapshot


MOST_BYTES = 32 << 20
"""What is read of a table at most; one with more rows than `ROWS_KEPT`, or wider ones, is read row by row."""


READ_AT_ONCE = 40
"""Rows that are read from the table at a time, where they are read by their row ids."""


class RowsAtHand:
    """The columns of every memory, and the rows made of them as they are asked for."""

    def __init__(self, table: pa.Table, dialect: Dialect) -> None:
        self._table, self._dialect = table.combine_chunks(), dialect
        self._made: dict[int, CandidateRow] = {}
        row_ids: list[int] = table.column("_rowid").to_pylist()
        self._by_row_id = {row_id: at for at, row_id in enumerate(row_ids)}
        ids = table.column(dialect.columns.id).to_pylist()
        self._by_id = {str(memory_id): at for at, memory_id in enumerate(ids)}

    def by_row_id(self, row_ids: Sequence[int]) -> dict[int, CandidateRow]:
        """The rows with these row ids, of those that are here."""
        places = {row_id: at for row_id in row_ids if (at := self._by_row_id.get(row_id)) is not None}
        return dict(zip(places, self._rows(places.values()), strict=True))

    def by_id(self, ids: Sequence[str]) -> dict[str, CandidateRow]:
        """The rows with these ids, of those that are here; a duplicated id gives the last one."""
        places = {memory_id: at for memory_id in ids if (at := self._by_id.get(memory_id)) is not None}
        return dict(zip(places, self._rows(places.values()), strict=True))

    def _rows(self, places: Iterable[int]) -> list[CandidateRow]:
        import pyarrow as pa

        wanted = list(places)
        made = self._made
        fresh = [at for at in wanted if at not in made]
        if fresh:
            read = rows_of(self._table.take(pa.array(fresh, pa.int64())), self._dialect)
            made.update(zip(fresh, read, strict=True))
        return [made[at] for at in wanted]


def rows_at_hand(pin: Snapshot, columns: Sequence[str]) -> RowsAtHand | None:
    """The rows of this version with these columns; None where the table is far away, large or damaged."""
    return pin.derived(("rows at hand", tuple(columns)), lambda: _read(pin, columns))


def _read(pin: Snapshot, columns: Sequence[str]) -> RowsAtHand | None:
    import pyarrow as pa

    few = pin.folder is not None and 0 < pin.rows <= ROWS_KEPT
    if not few or 4 * pin.rows * (pin.dims or 0) > MOST_BYTES:
        return None
    batches: list[pa.RecordBatch] = []
    size = 0
    try:
        for batch in pin.scan(columns, with_row_id=True):
            size += batch.nbytes
            if size > MOST_BYTES:
                return None
            batches.append(batch)
    except DamagedStoreError:  # the rows that can be read are read one by one
        return None
    return RowsAtHand(pa.Table.from_batches(batches), pin.dialect) if batches else None


class RowsById(CandidateRows):
    """The rows with these row ids, in this order, read in slices as they are walked."""

    def __init__(
        self, pin: Snapshot, row_ids: Sequence[int], columns: Sequence[str], *, at_once: int = READ_AT_ONCE
    ) -> None:
        self._pin, self._row_ids, self._columns, self._at_once = pin, row_ids, columns, at_once
        self._made = []

    def __len__(self) -> int:
        return len(self._row_ids)

    def _read(self, start: int) -> list[CandidateRow]:
        """The next rows; those of earlier questions are at hand, for a version's rows never change."""
        wanted = self._row_ids[start : start + self._at_once]
        small = rows_at_hand(self._pin, self._columns)
        found = {} if small is None else small.by_row_id(wanted)
        kept: dict[int, CandidateRow] = self._pin.derived(("rows by row id", tuple(self._columns)), dict)
        found |= {each: row for each in wanted if (row := kept.get(each)) is not None}
        missing = [each for each in wanted if each not in found]
        if missing:
            table = self._pin.take(missing, self._columns)
            read = rows_of(table, self._pin.dialect)
            fresh = dict(zip(table.column("_rowid").to_pylist(), read, strict=True))
            if len(kept) > ROWS_KEPT:
                kept.clear()
            kept.update(fresh)
            found |= fresh
        return [found[each] for each in wanted if each in found]
