"""Rows as bytes for the journal: exact, with vectors and columns that we do not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def encode(rows: pa.Table) -> memoryview:
    """The rows as an Arrow stream, uncompressed: vectors do not shrink, and a write must not wait."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return memoryview(sink.getvalue())


def decode(data: bytes) -> pa.Table:
    """The rows that `encode` was given: same schema, same bytes in every value."""
    import pyarrow as pa

    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()
