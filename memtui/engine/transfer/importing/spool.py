"""Rows that are ready to be written, on disk between plan and run: memory does not grow with the source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.transfer.sources.text import storable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


_BATCH = 2_048
"""Single rows are kept until there are so many."""

WHERE = "_where"
"""Column beside those of the table: the row's place in its source."""


class SpoolWriter:
    """Collects rows and writes them in batches to one Arrow file."""

    def __init__(self, path: Path, schema: pa.Schema, vector: str | None) -> None:
        import pyarrow as pa

        self._path, self._vector = path, vector
        self.schema: pa.Schema = schema.remove_metadata().append(pa.field(WHERE, pa.string()))
        self._file: Any = None
        self._rows: list[dict[str, Any]] = []
        self._vectors: list[NDArray[np.float32] | None] = []

    def add(self, row: dict[str, Any], where: str, vector: NDArray[np.float32] | None) -> None:
        """One row; its values are those of the table's columns."""
        row[WHERE] = where
        self._rows.append(row)
        self._vectors.append(vector)
        if len(self._rows) >= _BATCH:
            self._flush()

    def add_table(self, table: pa.Table) -> None:
        """Many rows at once as one batch, with the columns of `schema`; they stand behind those added before."""
        self._flush()
        if table.num_rows:
            self._write(table)

    def close(self) -> None:
        """Write what is left and finish the file."""
        self._flush()
        if self._file is None:
            self._open()
        self._file.close()

    def _open(self) -> None:
        import pyarrow as pa

        self._file = pa.ipc.new_file(str(self._path), self.schema)

    def _flush(self) -> None:
        import pyarrow as pa

        if not self._rows:
            return
        columns = []
        for field in self.schema:
            if field.name == self._vector:
                columns.append(vector_array(self._vectors, field.type))
            else:
                columns.append(_column([row.get(field.name) for row in self._rows], field))
        self._write(pa.Table.from_arrays(columns, schema=self.schema))
        self._rows, self._vectors = [], []

    def _write(self, table: pa.Table) -> None:
        """Some rows as one batch of the file."""
        if self._file is None:
            self._open()
        try:
            self._file.write_batch(table.combine_chunks().to_batches()[0])
        except OSError as error:
            raise MemtuiError(
                f"The rows cannot be kept in {self._path.parent}: {error}.",
                fix="Make room there; nothing was written to the store.",
            ) from error


class Spool:
    """The rows of a closed spool file, read where they lie.

    It may be closed while another thread reads: the file is let go of by the last one that does.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self._map = pa.memory_map(str(path))
        self._file = pa.ipc.open_file(self._map)
        self._lock, self._readers, self._closed = Lock(), 0, False
        self.schema: pa.Schema = self._file.schema
        self._starts = [0]
        for number in range(self._file.num_record_batches):
            self._starts.append(self._starts[-1] + self._file.get_batch(number).num_rows)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold the file open for a reader; raises MemtuiError when it was closed before."""
        with self._lock:
            if self._closed:
                raise MemtuiError("The plan of this import was given up.", fix="Plan it again.")
            self._readers += 1
        try:
            yield
        finally:
            with self._lock:
                self._readers -= 1
                if self._closed and not self._readers:
                    self._map.close()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All rows in order."""
        with self._reading():
            for number in range(self._file.num_record_batches):
                yield self._file.get_batch(number)

    def rows(self, numbers: Sequence[int], columns: Sequence[str]) -> list[dict[str, Any]]:
        """Some rows by number, in the order asked for."""
        within: dict[int, list[int]] = {}
        for number in numbers:
            within.setdefault(bisect_right(self._starts, number) - 1, []).append(number)
        found: dict[int, dict[str, Any]] = {}
        with self._reading():
            for at, wanted in within.items():
                batch = self._file.get_batch(at).select(list(columns))
                rows = batch.take([number - self._starts[at] for number in wanted]).to_pylist()
                found |= zip(wanted, rows, strict=True)
        return [found[number] for number in numbers]

    def table(self, numbers: NDArray[np.int64]) -> pa.Table:
        """Some rows by number, in the order asked for, with all columns."""
        import numpy as np
        import pyarrow as pa

        order = np.argsort(numbers, kind="stable")
        ascending = numbers[order]
        bounds = np.searchsorted(ascending, self._starts)
        with self._reading():
            parts = [
                self._file.get_batch(at).take(pa.array(ascending[start:stop] - self._starts[at]))
                for at, (start, stop) in enumerate(pairwise(bounds.tolist()))
                if stop > start
            ]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return pa.Table.from_batches(parts, schema=self.schema).take(pa.array(back))

    def close(self) -> None:
        """Close and delete the file, after the last reader."""
        with self._lock:
            first, self._closed = not self._closed, True
            if first and not self._readers:
                self._map.close()


def vector_array(vectors: Sequence[NDArray[np.float32] | None], kind: pa.DataType) -> pa.Array:
    """Vectors as an Arrow array of fixed size; None becomes NULL."""
    import numpy as np
    import pyarrow as pa

    dims = kind.list_size
    flat = np.zeros((len(vectors), dims), dtype=np.float32)
    missing = np.ones(len(vectors), dtype=np.bool_)
    for at, vector in enumerate(vectors):
        if vector is not None:
            flat[at], missing[at] = vector, False
    values = pa.array(flat.ravel(), pa.float32()).cast(kind.value_type)
    if not missing.any():
        return pa.FixedSizeListArray.from_arrays(values, type=kind)
    return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=pa.array(missing))


def _column(values: list[Any], field: pa.Field) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array(values, field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, UnicodeEncodeError):
        return pa.array([_fitting(value, field.type) for value in values], field.type)


def _fitting(value: Any, kind: pa.DataType) -> Any:
    """One value as the column can hold it, else NULL: a foreign row may carry anything under a known name."""
    import pyarrow as pa

    if isinstance(value, str):
        value = storable(value)[0]
    try:
        pa.array([value], kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError):
        text = bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
        return str(value) if text else None
    return value
