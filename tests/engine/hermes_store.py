"""The store that LanceDB's plugin for Hermes made, and what it answered: unpacked anew for each test that writes."""

from __future__ import annotations

import gzip
import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

NOW_MS = 1_789_281_600_000
"""After the youngest row; the clock has no influence on a recall."""


@cache
def recorded(shared: Path) -> dict[str, Any]:
    """The recordings beside the store."""
    with gzip.open(shared / "fixtures/hermes/recalls.json.gz") as file:
        found: dict[str, Any] = json.load(file)
    return found


def unpack(shared: Path, home: Path) -> Path:
    """The folder `lancedb` in the Hermes home `home`."""
    home.mkdir(parents=True, exist_ok=True)
    with tarfile.open(shared / "fixtures/hermes/store.tar.gz") as tar:
        tar.extractall(home, filter="data")
    return home / "lancedb"
