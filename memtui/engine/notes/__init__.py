"""memory-core's index of an agent, read from SQLite, and the Markdown behind its chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.notes.index_store import NotesIndex, index_of
    from memtui.engine.notes.memory_files import read_file_text

__all__ = ["NotesIndex", "index_of", "read_file_text"]


__getattr__ = lazy_names(
    __name__,
    {
        "NotesIndex": "memtui.engine.notes.index_store",
        "index_of": "memtui.engine.notes.index_store",
        "read_file_text": "memtui.engine.notes.memory_files",
    },
)
