"""memtui's own exports: JSON lines and Parquet, both with everything that a row had."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from memtui.engine.core.text import counted
from memtui.engine.dialects.base import Columns
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.readers.lancedb import RowReader
from memtui.engine.transfer.record import (
    DIALECT,
    FRAME,
    MAP,
    MASKED,
    MODEL,
    PARQUET_MARK,
    SCHEMA,
    VECTOR,
    Read,
    Record,
    Rejected,
    unpack,
)
from memtui.engine.transfer.sources.fields import put_vector, vectors_of
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import Value, json_lines
from memtui.engine.transfer.sources.options import ReadOptions

BATCH = 4_096


def read_lines(path: Path, options: ReadOptions) -> Iterator[Read]:
    """One row a line."""
    readers: dict[str, RowReader] = {}
    for line in json_lines(path, options.meter):
        yield line if isinstance(line, Rejected) else _of_line(line, readers, options)


def _of_line(line: Value, readers: dict[str, RowReader], options: ReadOptions) -> Record | Rejected:
    value = line.value
    if not isinstance(value, dict):
        return Rejected(line.where, "it is no object with a text")
    dialect = str(value.get(DIALECT) or "")
    columns = value.get(MAP)
    reader = readers.get(dialect) if columns is None else None
    if reader is None:
        reader = readers[dialect] = RowReader(columns_of(dialect, columns), dialect, options.whole)
    packed, given, model = value.get(VECTOR), value.get("vector"), value.get(MODEL)
    masked = bool(value.get(MASKED))
    for key in FRAME:
        value.pop(key, None)
    value.pop("vector", None)
    record = reader.record(value, line.where)
    if isinstance(record, Record):
        record.model = model if isinstance(model, str) else None
        record.masked = masked
        if isinstance(packed, str):
            put_packed(record, packed)
        else:
            put_vector(record, given)
    return record


def put_packed(record: Record, packed: str) -> None:
    """The vector of a record from its base64; one that cannot be used is said so."""
    import numpy as np

    try:
        vector = unpack(packed)
    except ValueError:
        record.lost("vector", "not base64 of float32 numbers: re-embedded")
        return
    if vector.size and bool(np.isfinite(vector).all()):
        record.vector = vector
    else:
        record.lost("vector", "a number in it is not finite or too large: re-embedded")


def read_parquet(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A Parquet file that memtui wrote, a batch at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        frame = parquet_frame(file.schema_arrow.metadata or {})
        dialect = str(frame.get(DIALECT) or "")
        columns = columns_of(dialect, frame.get(MAP))
        reader = RowReader(columns, dialect, options.whole)
        model = frame.get(MODEL)
        number = 0
        options.meter.total = file.metadata.num_rows
        for batch in file.iter_batches(batch_size=BATCH):
            vectors = vectors_of(batch, columns.vector)
            plain = [name for name in batch.schema.names if name != columns.vector]
            for row, vector in zip(batch.select(plain).to_pylist(), vectors, strict=True):
                number += 1
                masked = bool(row.pop(MASKED, False))
                record = reader.record(row, f"row {number}")
                if isinstance(record, Record):
                    record.vector, record.masked = vector, masked
                    record.model = model if isinstance(model, str) else None
                yield record
            options.meter.add(batch.num_rows)


def parquet_frame(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """What our mark in a Parquet file's metadata says; empty for other files."""
    try:
        value = json.loads(metadata.get(PARQUET_MARK, b"{}"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def columns_of(dialect: str, mapping: Any) -> Columns:
    """What the columns of an exported table mean: by its dialect, else by the map that came with it."""
    from memtui.engine.dialects import mem_engine, memory_lancedb, memory_lancedb_pro, memtui

    if isinstance(mapping, Mapping):
        known = {field.name for field in fields(Columns)}
        return Columns(**{str(role): str(name) for role, name in mapping.items() if role in known})
    if dialect == "memtui":
        return memtui.COLUMNS
    if dialect == "engine":
        return mem_engine.mem_engine().columns
    if dialect.startswith("builtin"):
        return memory_lancedb.builtin(agent=dialect != "builtin-g1", scope=dialect == "builtin-g3").columns
    return memory_lancedb_pro.COLUMNS


def detects(head: Head) -> Sighting | None:
    """Our mark: in each line, or in the schema of a Parquet file."""
    if head.kind == "parquet":
        schema, rows = head.parquet
        frame = parquet_frame(schema.metadata or {})
        if not frame:
            return None
        return Sighting(
            ("memtui's mark in the schema", f"{counted(rows, 'row')} of a {frame.get(DIALECT)} table")
        )
    if not head.document.some_value("schema", SCHEMA):
        return None
    dialects = sorted({str(row.get("dialect")) for row in head.document.records})
    return Sighting((f"lines marked {SCHEMA}", f"rows of a {', '.join(dialects)} table"))


PROTOCOL = 1

FORMATS = (
    Format(
        "memtui",
        "memtui's own export",
        {"lines": read_lines, "parquet": read_parquet},
        detects,
        10,
        stored=True,
        own=True,
    ),
)
