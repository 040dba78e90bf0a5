"""The store that the real CrewAI made, and what it answered: unpacked anew for each test that writes."""

from __future__ import annotations

import gzip
import json
import math
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.engine.tables import uuid


@cache
def recorded(shared: Path) -> dict[str, Any]:
    """The recordings beside the store."""
    with gzip.open(shared / "fixtures/crewai/recalls.json.gz") as file:
        found: dict[str, Any] = json.load(file)
    return found


NOW_MS = 1_785_585_600_000
"""One of the three moments at which the clock stood while the recalls were recorded."""


def unpack(shared: Path, folder: Path) -> Path:
    """The folder `memory` below `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(shared / "fixtures/crewai/store.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    return folder / "memory"


def schema(dims: int = 2) -> pa.Schema:
    """The table's columns as CrewAI makes them."""
    texts = ("id", "content", "scope", "categories_str", "metadata_str")
    fields = [(name, pa.string()) for name in texts]
    fields += [("importance", pa.float64()), ("created_at", pa.string()), ("last_accessed", pa.string())]
    fields += [("source", pa.string()), ("private", pa.bool_()), ("vector", pa.list_(pa.float32(), dims))]
    return pa.schema(fields)


def crew_row(number: int, **fields: Any) -> dict[str, Any]:
    """A healthy row."""
    return {
        "id": uuid(number),
        "content": f"The wheel of bicycle {number} was trued.",
        "scope": "/crew/shop",
        "categories_str": '["repair"]',
        "metadata_str": "{}",
        "importance": 0.5,
        "created_at": f"2026-03-0{1 + number % 9}T10:00:00.000{number:03d}",
        "last_accessed": "2026-03-12T10:00:00",
        "source": "session-1",
        "private": False,
        "vector": [math.cos(number), math.sin(number)],
        **fields,
    }
