"""Writes a memory-lancedb-pro table with many rows, fast and seeded: `python million.py FOLDER ROWS [DIMS]`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BATCH = 50_000
NOW_MS = 1_788_264_000_000
WORDS = np.array(
    [
        "the",
        "agent",
        "prefers",
        "postgres",
        "over",
        "mysql",
        "for",
        "every",
        "new",
        "service",
        "deploys",
        "friday",
    ]
)
SCOPES = np.array(["global", *(f"agent:a{n}" for n in range(19))])
CATEGORIES = np.array(["fact", "preference", "decision", "entity", "other"])
TIERS = np.array(["core", "working", "peripheral"])


def uuids(rng: np.random.Generator, n: int) -> pa.StringArray:
    octets = rng.integers(0, 256, size=(n, 16), dtype=np.uint8)
    digits = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    text = np.full((n, 36), ord("-"), dtype=np.uint8)
    places = [at for at in range(36) if at not in (8, 13, 18, 23)]
    text[:, places] = digits[np.stack([octets >> 4, octets & 15], axis=2).reshape(n, 32)]
    offsets = np.arange(0, 36 * (n + 1), 36, dtype=np.int32)
    return pa.StringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(text))


def batch(rng: np.random.Generator, n: int, dims: int = 2) -> pa.RecordBatch:
    text = pc.binary_join_element_wise(
        *(pa.array(WORDS[rng.integers(0, len(WORDS), n)]) for _ in range(12)), " "
    )
    times = NOW_MS - rng.integers(0, 365 * 86_400_000, n)
    time = pa.array(times).cast(pa.string())
    used = pa.array(rng.integers(0, 50, n)).cast(pa.string())
    tier = pa.array(TIERS[rng.integers(0, 3, n)])
    parts = ['{"l0_abstract":"', text, '","l1_overview":"- ', text, '","l2_content":"', text]
    parts += ['","memory_category":"cases","tier":"', tier, '","access_count":', used, ',"confidence":0.7']
    parts += [',"last_accessed_at":', time, ',"valid_from":', time]
    parts += [',"state":"confirmed","source":"manual","memory_layer":"working","injected_count":0}']
    return pa.record_batch(
        {
            "id": uuids(rng, n),
            "text": text,
            "vector": pa.FixedSizeListArray.from_arrays(
                pa.array(rng.random(dims * n, dtype=np.float32)), dims
            ),
            "category": pa.array(CATEGORIES[rng.integers(0, 5, n)]),
            "scope": pa.array(SCOPES[rng.zipf(1.6, n) % 20]),
            "importance": pa.array(rng.random(n)),
            "timestamp": pa.array(times.astype(np.float64)),
            "metadata": pc.binary_join_element_wise(*parts, ""),
        }
    )


def write(folder: str, rows: int, dims: int = 2) -> None:
    os.environ["LANCEDB_LOG"] = "error"
    import lancedb

    rng = np.random.default_rng(7)
    sizes = [min(BATCH, rows - start) for start in range(0, rows, BATCH)]

    def batches() -> Iterator[pa.RecordBatch]:
        return (batch(rng, n, dims) for n in sizes)

    schema = batch(np.random.default_rng(0), 1, dims).schema
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    lancedb.connect(folder).create_table("memories", data=reader)


if __name__ == "__main__":
    write(sys.argv[1], *map(int, sys.argv[2:]))
