"""A Parquet file with the table's own columns and types: what any program reads, and memtui reads back whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memtui.engine.transfer.exporting.request import ExportFormat, Header, RowWindow
from memtui.engine.transfer.exporting.rows import ROW_FIELDS
from memtui.engine.transfer.record import MASKED, PARQUET_MARK
from memtui.engine.transfer.writers.jsonl import frame


class ParquetWriter:
    """One row group a window."""

    def __init__(self, place: Path, header: Header) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._place, store = place, header.store
        vector = store.dialect.columns.vector
        gone = header.left_out | (set() if header.vectors else {vector})
        kept = [field for field in store.schema if field.name not in gone]
        mark = None if header.left_out else {PARQUET_MARK: json.dumps(frame(header)).encode()}
        self._schema = pa.schema([*kept, pa.field(MASKED, pa.bool_())], metadata=mark)
        self._file: Any = pq.ParquetWriter(str(place), self._schema, compression="zstd")

    def write(self, window: RowWindow) -> None:
        """Append some rows."""
        import pyarrow as pa

        table = window.table.append_column(MASKED, pa.array(window.masked, pa.bool_()))
        self._file.write_table(table.select(self._schema.names).cast(self._schema))

    def close(self) -> Sequence[Path]:
        """Finish the file."""
        self._file.close()
        return (self._place,)


def in_words(file: Path) -> str:
    """The rows of a file, a value a line: a Parquet file is no text."""
    import pyarrow.parquet as pq

    rows = pq.read_table(str(file)).to_pylist()
    return "\n".join("".join(f"{name} = {value!r}\n" for name, value in row.items()) for row in rows)


PROTOCOL = 1

FORMAT = ExportFormat(
    "parquet",
    "a table with everything, for other programs",
    ParquetWriter,
    40,
    suffixes=(".parquet",),
    choice=ROW_FIELDS,
    in_words=in_words,
)
