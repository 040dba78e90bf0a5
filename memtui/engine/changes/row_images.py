"""Rows as bytes for the journal: exact, with vectors and columns that we do not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import pyarrow as pa


def encode(rows: pa.Table) -> memoryview:
    """The rows as an Arrow stream, uncompressed: vectors do not shrink, and a write must not wait."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return memoryview(sink.getvalue())


def encode_into(file: BinaryIO, rows: pa.RecordBatchReader) -> None:
    """The same of rows that come a batch at a time, into a file."""
    import pyarrow as pa

    with pa.ipc.new_stream(file, rows.schema) as stream:
        for batch in rows:
            stream.write_batch(batch)


def decode(data: bytes) -> pa.Table:
    """The rows that `encode` was given: same schema, same bytes in every value."""
    import pyarrow as pa

    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()
