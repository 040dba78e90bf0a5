"""The store that the real CrewAI made, and what it answered: unpacked anew for each test that writes."""

from __future__ import annotations

import gzip
import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any


@cache
def recorded(shared: Path) -> dict[str, Any]:
    """The recordings beside the store."""
    with gzip.open(shared / "fixtures/crewai/recalls.json.gz") as file:
        found: dict[str, Any] = json.load(file)
    return found


def unpack(shared: Path, folder: Path) -> Path:
    """The folder `memory` below `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(shared / "fixtures/crewai/store.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    return folder / "memory"
