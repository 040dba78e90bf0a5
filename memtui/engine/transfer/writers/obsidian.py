"""Notes for an Obsidian vault: one a memory, in the folders that memory-lancedb-pro's own export uses."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memtui.engine.core.memory import Memory
from memtui.engine.core.text import cut_bytes
from memtui.engine.metadata.read import parse_object
from memtui.engine.transfer.exporting.losses import (
    count_columns,
    count_importance,
    count_lifecycle,
    count_time,
    number_of,
)
from memtui.engine.transfer.exporting.request import ExportFormat, Header, RowWindow
from memtui.engine.transfer.record import LossTable
from memtui.engine.transfer.writers.markdown import UNDATED, day_of

ROOT = "00-AI-Memory"

_FOLDERS = {
    "preference": "00-Preferences",
    "fact": "01-Facts",
    "decision": "02-Decisions",
    "entity": "03-People",
    "reflection": "04-Reflections",
}

_OTHER = "05-Other"

_TITLE = 80

_TITLE_BYTES, _ID_BYTES = 160, 40
"""A file system takes 255 bytes of a name, some only 200 or so; a letter has up to four."""

_ODD = re.compile('[\\x00-\\x20\\x7f-\\x9f\ud800-\udfff<>:"/\\\\|?*#^\\[\\]]+')


class Vault:
    """Writes notes; one that is there with the same contents is left alone."""

    def __init__(self, place: Path, header: Header) -> None:
        self._root, self._header = place / ROOT, header
        self._files: dict[Path, None] = {}

    def write(self, window: RowWindow) -> None:
        """Write some notes."""
        for memory, row in zip(window.memories(self._header), window.rows, strict=True):
            path = self._free(name_of(memory))
            data = note(memory, number_of(row, self._header)).encode("utf-8", "replace")
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)
            self._files[path] = None

    def _free(self, name: str) -> Path:
        """The place of a note; ids that begin alike get a number behind the name, in the order of the export."""
        path, number = self._root / name, 1
        while path in self._files:
            number += 1
            path = self._root / f"{name.removesuffix('.md')}-{number}.md"
        return path

    def close(self) -> Sequence[Path]:
        """Return the notes; nothing is left open."""
        return tuple(self._files)


def name_of(memory: Memory) -> str:
    """Folder and file of a memory's note: day, beginning of the text, beginning of the id."""
    slug = cut_bytes(_ODD.sub("-", memory.title.lower())[:_TITLE], _TITLE_BYTES).strip("-.") or "memory"
    short = cut_bytes(_ODD.sub("-", memory.id)[:12], _ID_BYTES)
    return f"{_FOLDERS.get(memory.category or '', _OTHER)}/{day_of(memory)}-{slug}-{short}.md"


def note(memory: Memory, importance: float | None) -> str:
    """The note: front matter that gives everything back, the first line as a title, the whole text."""
    tags = parse_object(memory.metadata)[0].get("tags")
    head = {
        "id": memory.id,
        "category": memory.category or "other",
        "scope": memory.scope or "global",
        "importance": importance,
        "created": None if day_of(memory) == UNDATED else day_of(memory),
        "source": "memtui",
        "tags": [str(tag) for tag in tags] if isinstance(tags, list) else [],
        "timestamp_ms": memory.timestamp_ms or None,
        "metadata": memory.metadata,
    }
    lines = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items() if value is not None
    ]
    first = memory.raw_text.strip().split("\n", 1)[0][:_TITLE].strip()
    return "---\n" + "\n".join(lines) + f"\n---\n# {first}\n\n{memory.raw_text}\n"


def count_row_losses(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    """Count what a note does not say of a memory."""
    if memory.raw_text != memory.raw_text.replace("\r\n", "\n").replace("\r", "\n"):
        ledger.count("text", "carriage returns become line feeds", 1, memory.id)
    if memory.scope is None:
        ledger.count("scope", "none: written as global", 1, memory.id)
    count_importance(memory, row, header, ledger, "left out")
    count_time(memory, row, header, ledger)
    count_lifecycle(memory, row, header, ledger)
    count_columns(memory, header, ledger)


PROTOCOL = 1

FORMAT = ExportFormat(
    "obsidian", "notes for an Obsidian vault", Vault, 60, words=("vault",), losses=count_row_losses
)
