"""Real memory-lancedb-pro tables for tests, written as the plugin's format asks (spec/storage 11.4)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

NOW_MS = 1_750_000_000_000
"""The clock of the spec's worked examples."""
DAY_MS = 86_400_000


def schema(dims: int) -> pa.Schema:
    """The seven columns and the metadata JSON."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), dims)),
            ("category", pa.string()),
            ("scope", pa.string()),
            ("importance", pa.float64()),
            ("timestamp", pa.float64()),
            ("metadata", pa.string()),
        ]
    )


def row(key: str, text: str, vector: Sequence[float] | None, **more: Any) -> dict[str, Any]:
    """One row; `age` in days, `metadata` a mapping or the stored string."""
    metadata = more.get("metadata", {})
    return {
        "id": key,
        "text": text,
        "vector": None if vector is None else list(vector),
        "category": more.get("category", "fact"),
        "scope": more.get("scope", "global"),
        "importance": more.get("importance", 0.7),
        "timestamp": more.get("timestamp", NOW_MS - more.get("age", 0) * DAY_MS),
        "metadata": json.dumps(metadata) if isinstance(metadata, Mapping) else metadata,
    }


def write_store(folder: Path, rows: Sequence[Mapping[str, Any]], *, dims: int, fts: bool = True) -> Path:
    """Write the table `memories` into `folder`."""
    os.environ["LANCE_FTS_FORMAT_VERSION"] = "1"
    import lancedb

    connection = lancedb.connect(folder, storage_options={"new_table_data_storage_version": "2.0"})
    table = connection.create_table("memories", schema=schema(dims))
    if rows:
        table.add(pa.Table.from_pylist([dict(each) for each in rows], schema=schema(dims)))
    if fts:
        table.create_fts_index("text", with_position=True)
    return folder
