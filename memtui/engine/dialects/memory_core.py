"""memory-core, the default memory of OpenClaw: chunks of an agent's Markdown and sessions, indexed in SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memtui.engine.core.memory import Memory
from memtui.engine.dialects.base import Capabilities, Columns, Dialect

NAME = "memory-core"

LABELS = ("source", "origin_class", "path", "project", "session_kind", "index_state")

READ_ONLY = "The index belongs to the host: memtui changes the Markdown behind it, by edit and forget --hard."


class CoreDialect(Dialect):
    """Rows of an index; `source` is the host's own word, `importance` its number from 1 to 10."""

    def to_memory(self, row: Mapping[str, Any], extras: Sequence[str], now_ms: int) -> Memory:
        """One chunk as a memory."""
        return replace(super().to_memory(row, extras, now_ms), source=row.get("source"))


def memory_core(*, vectors: bool) -> Dialect:
    """An index of memory-core; `vectors` says whether its chunks have any."""
    columns = Columns(
        vector="vector" if vectors else None, scope="scope", importance="importance", timestamp="timestamp"
    )
    can = Capabilities(
        writable=True,
        visibility="scopes",
        edits_files=True,
        read_only_because=READ_ONLY,
        default_recipe="memory-core",
    )
    return CoreDialect(NAME, "memory-core", columns, LABELS, can=can)
