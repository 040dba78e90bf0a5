"""A Parquet file with the table's own columns and types: what any program reads, and memtui reads back whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memtui.engine.transfer.exporting.request import Header, RowWindow
from memtui.engine.transfer.record import MASKED, PARQUET_MARK, LossTable
from memtui.engine.transfer.writers.jsonl import frame


def open_writer(place: Path, header: Header) -> ParquetWriter:
    """A writer to the file `place`."""
    return ParquetWriter(place, header)


class ParquetWriter:
    """One row group a window."""

    def __init__(self, place: Path, header: Header) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        store = header.store
        vector = store.dialect.columns.vector
        gone = header.left_out | (set() if header.vectors else {vector})
        kept = [field for field in store.schema if field.name not in gone]
        mark = None if header.left_out else {PARQUET_MARK: json.dumps(frame(header)).encode()}
        self._schema = pa.schema([*kept, pa.field(MASKED, pa.bool_())], metadata=mark)
        self._file: Any = pq.ParquetWriter(str(place), self._schema, compression="zstd")

    def write(self, window: RowWindow, ledger: LossTable) -> None:
        """Append some rows."""
        import pyarrow as pa

        table = window.table.append_column(MASKED, pa.array(window.masked, pa.bool_()))
        self._file.write_table(table.select(self._schema.names).cast(self._schema))

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


def in_words(file: Path) -> str:
    """The rows of a file, a value a line: a Parquet file is no text."""
    import pyarrow.parquet as pq

    rows = pq.read_table(str(file)).to_pylist()
    return "\n".join("".join(f"{name} = {value!r}\n" for name, value in row.items()) for row in rows)
