"""Where the journal of a store is kept."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def journal_of(state: Path, uri: str, table: str) -> Path:
    """The journal file of one table below memtui's state folder; the same for every way to write its path."""
    where = uri if "://" in uri else str(Path(uri).resolve())
    digest = hashlib.sha256(f"{where}\n{table}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    name = _ODD.sub("-", where.rstrip("/\\").replace("\\", "/").rpartition("/")[2])[:40] or "store"
    return state / "curate" / f"{name}-{digest}" / "journal.sqlite"
