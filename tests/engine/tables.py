"""Real LanceDB tables for tests, written as another program would write them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

PRO = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("vector", pa.list_(pa.float32(), 2)),
        ("category", pa.string()),
        ("scope", pa.string()),
        ("importance", pa.float64()),
        ("timestamp", pa.float64()),
        ("metadata", pa.string()),
    ]
)
ROW = {
    "text": "The kiln in Uferweg needs a new door seal.",
    "vector": [0.6, 0.8],
    "category": "fact",
    "scope": "global",
    "importance": 0.5,
    "timestamp": 1_780_000_000_000.0,
    "metadata": "{}",
}


def uuid(number: int) -> str:
    """A lower-case UUID that ends in `number`."""
    return f"{number * 0x9E3779B1 % 2**32:08x}-0000-4000-8000-{number:012x}"


def pro_row(number: int, **fields: Any) -> dict[str, Any]:
    """A row of memory-lancedb-pro."""
    return {"id": uuid(number), **ROW, **fields}


def write_table(
    folder: Path,
    rows: list[dict[str, Any]],
    schema: pa.Schema = PRO,
    *,
    name: str = "memories",
    **options: str,
) -> Any:
    """Create the table in `folder` and return the writer's own handle on it."""
    os.environ["LANCEDB_LOG"] = "error"
    import lancedb

    connection = lancedb.connect(folder, storage_options=options or None)
    table = connection.create_table(name, schema=schema)
    if rows:
        table.add(pa.Table.from_pylist(rows, schema=schema))
    return table
