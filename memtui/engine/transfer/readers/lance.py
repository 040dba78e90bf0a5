"""A LanceDB table of memories of any known dialect, read at one version; never written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memtui.engine.transfer.options import ReadOptions
from memtui.engine.transfer.readers.stored import RowReader
from memtui.engine.transfer.readers.vectors import vectors_of
from memtui.engine.transfer.record import Read, Record

WINDOW = 4_096


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """Every memory of the table, in storage order; `options.mapping` maps the columns of a foreign one."""
    from memtui.engine.store.open import open_store

    store = open_store(path, columns=options.mapping)
    columns, dialect = store.dialect.columns, store.dialect.name
    options.meter.total = store.count()
    reader = RowReader(columns, dialect, options.whole)
    number = 0
    for batch in store.pin().read_through(list(store.columns), rows=WINDOW):
        plain = [name for name in batch.schema.names if name not in (columns.vector, "_rowid")]
        rows = batch.select(plain).to_pylist()
        for row, vector in zip(rows, vectors_of(batch, columns.vector), strict=True):
            number += 1
            record = reader.record(row, f"row {number}")
            if isinstance(record, Record):
                record.vector = vector
            yield record
        options.meter.add(batch.num_rows)
