"""An agent's index as a store: a row a chunk, its text from the file where the file went on since it was indexed."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.dialects.memory_core import memory_core
from memtui.engine.notes.alignment import PlacedChunk, State, chunks_by_file, place_chunks
from memtui.engine.notes.annotations import Annotations
from memtui.engine.notes.index_file import IndexContent, IndexedChunk, read_index_file
from memtui.engine.notes.memory_files import CURATED, FileText, MemoryFiles, read_file_text
from memtui.engine.notes.place_book import PlaceBook
from memtui.engine.store.row_store import RowStore

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.table import Store

TABLE = "memory_index_chunks"

NOT_UPDATED = "index not updated"
"""What a row says whose file went on since it was indexed."""

_SAID: Mapping[State, str] = {
    "indexed": "indexed",
    "changed": NOT_UPDATED,
    "gone": f"{NOT_UPDATED}: the entry is no longer in the file",
    "file gone": f"{NOT_UPDATED}: the file is gone",
    "unclear": f"{NOT_UPDATED}: the file was changed here",
}


@dataclass(frozen=True, slots=True)
class IndexView:
    """The index and its files as of one look: every chunk with its lines, every file with its text."""

    content: IndexContent = field(default_factory=IndexContent)
    placed: Mapping[str, PlacedChunk] = field(default_factory=dict)
    texts: Mapping[str, FileText] = field(default_factory=dict)
    """The files of the index by their paths there."""

    @property
    def changed_files(self) -> tuple[str, ...]:
        """Files that are another than when they were indexed."""
        known = self.content.file_of
        return tuple(
            path
            for path, text in self.texts.items()
            if text.hash and path in known and text.hash != known[path].hash
        )

    @property
    def missing_files(self) -> tuple[str, ...]:
        """Files of the index that are no longer there."""
        return tuple(path for path, text in self.texts.items() if text.text is None and not text.hash)


class NotesIndex:
    """The index of one agent and the Markdown behind it; `agent` may be empty where nothing names it."""

    def __init__(self, path: Path, files: MemoryFiles, agent: str) -> None:
        self._path, self.files, self.agent = path, files, agent
        self._lock = threading.Lock()
        self._view = IndexView()
        self._seen: Hashable = None
        self._vectors = True
        self.book = PlaceBook(None)

    @property
    def path(self) -> Path:
        """The agent's database."""
        return self._path

    @property
    def dialect(self) -> Dialect:
        """A chunk as a memory."""
        return memory_core(vectors=self._vectors)

    @property
    def view(self) -> IndexView:
        """The index and its files as they were last looked at."""
        return self._view

    def look(self) -> IndexView:
        """The index and its files as they are now."""
        content = read_index_file(self._path)
        placed: dict[str, PlacedChunk] = {}
        texts: dict[str, FileText] = {}
        known = content.file_of
        kept = self.book.read()
        for path, chunks in chunks_by_file(content.chunks).items():
            text = self._text(path)
            texts[path] = text
            digest = known[path].hash if path in known else ""
            placed |= place_chunks(chunks, text, digest, kept.get(path))
        return IndexView(content, placed, texts)

    def new_files(self, view: IndexView) -> tuple[str, ...]:
        """Notes of the workspace that the index does not know yet: MEMORY.md, USER.md, and Markdown below memory/."""
        root = self.files.workspace
        if root is None:
            return ()
        there = [root / name for name in CURATED if (root / name).is_file()]
        there += (file for file in sorted((root / "memory").rglob("*.md")) if file.is_file())
        found = [file.relative_to(root).as_posix() for file in there]
        hidden = [path for path in found if any(part.startswith(".") for part in path.split("/"))]
        return tuple(
            path
            for path in dict.fromkeys(found)
            if path not in view.content.file_of
            and path not in hidden
            and path.lower() not in {known.lower() for known in view.content.file_of}
            and (root / path).stat().st_size > 0
        )

    def _text(self, path: str) -> FileText:
        if self.files.leaves(path):
            return FileText(hash="-", problem="a link leads out of the memory")
        return read_file_text(self.files.place(path))

    def stamp(self) -> Hashable:
        """Sizes and times of the database, its log, and the files that the index names."""
        places = [self._path, self._path.with_name(self._path.name + "-wal")]
        places += [place for path in self._view.texts if (place := self.files.place(path)) is not None]
        return tuple(_state(place) for place in places)

    def rows(self) -> pa.Table | None:
        """Every chunk as a row; None while neither the index nor a file of it differs from the last look."""
        view = self.look()
        seen = (
            view.content.chunks,
            view.content.files,
            tuple((path, text.hash) for path, text in view.texts.items()),
            tuple((place.state, place.start, place.end) for place in view.placed.values()),
        )
        with self._lock:
            same = seen == self._seen
            self._view, self._seen = view, seen
        if same:
            return None
        return self._table(view)

    def _table(self, view: IndexView) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        chunks = view.content.chunks
        said = view.content.meta.get("vectorDims")
        lengths = [len(chunk.embedding) // 8 for chunk in chunks if chunk.embedding]
        dims = said if isinstance(said, int) and said > 0 else max(lengths, key=lengths.count, default=0)
        self._vectors = dims > 0
        rows = [self._row(chunk, view.placed.get(chunk.id)) for chunk in chunks]
        columns: dict[str, Any] = {
            name: pa.array([row[name] for row in rows], kind) for name, kind in _types().items()
        }
        if dims:
            vectors = [chunk.vector for chunk in chunks]
            flat = np.zeros((len(chunks), dims), np.float32)
            bad = np.ones(len(chunks), bool)
            for at, vector in enumerate(vectors):
                if vector is not None and len(vector) == dims:
                    flat[at], bad[at] = vector, False
            columns["vector"] = pa.FixedSizeListArray.from_arrays(
                pa.array(flat.reshape(-1)), dims, mask=pa.array(bad)
            )
        table = pa.table(columns)
        model = view.content.meta.get("model")
        return table.replace_schema_metadata({"model": model} if isinstance(model, str) and model else None)

    def _row(self, chunk: IndexedChunk, place: PlacedChunk | None) -> dict[str, Any]:
        fields = place.fields if place else Annotations(chunk.importance, chunk.triggers, chunk.project)
        first, last = place.shown_lines if place else (chunk.start_line, chunk.end_line)
        return {
            "id": chunk.id,
            "text": place.text if place else chunk.text,
            "path": chunk.path,
            "start_line": first,
            "end_line": last,
            "source": chunk.source,
            "importance": None if fields.importance is None else float(fields.importance),
            "triggers": fields.triggers,
            "project": fields.project,
            "origin_class": chunk.origin_class,
            "session_kind": chunk.session_kind,
            "scope": f"agent:{self.agent}" if self.agent else None,
            "timestamp": day_of_note(chunk.path) or chunk.observed_ms or chunk.updated_ms,
            "index_state": _SAID[place.state] if place else "indexed",
            "locked_because": self.files.locked_because(chunk.path, chunk.source) or None,
        }


def _types() -> Mapping[str, Any]:
    import pyarrow as pa

    texts = (
        *("id", "text", "path", "source", "triggers", "project", "origin_class", "session_kind", "scope"),
        *("index_state", "locked_because"),
    )
    return {
        **{name: pa.string() for name in texts},
        **{name: pa.int64() for name in ("start_line", "end_line", "timestamp")},
        "importance": pa.float64(),
    }


def _state(place: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(place)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


_DAY = re.compile(r"(?:^|/)memory/(?:.*/)?(\d{4})-(\d{2})-(\d{2})(?:-[^/]*)?\.md$")


def day_of_note(path: str) -> int | None:
    """Midnight (UTC) of the day in a note's name, in ms; None for a note without one."""
    found = _DAY.search(path)
    try:
        day = datetime(*(int(part) for part in found.groups()), tzinfo=UTC) if found else None  # type: ignore[misc,arg-type]
    except ValueError:
        return None
    return None if day is None else int(day.timestamp()) * 1000


def open_index(path: Path, files: MemoryFiles, agent: str) -> RowStore:
    """The index in the agent's database at `path` as a store, with the Markdown of `files` behind it.

    Opening reads alone. Raises StoreNotFoundError, UnknownDialectError or DamagedStoreError.
    """
    return RowStore(NotesIndex(path.absolute(), files, agent), TABLE)


def remember_places(store: Store, file: Path) -> None:
    """Let the index of a store know where memtui's own changes left its chunks, from now on."""
    index = index_of(store)
    if index is not None and isinstance(store, RowStore):
        index.book = PlaceBook(file)
        store.look_again()


def index_of(store: Store) -> NotesIndex | None:
    """The index that a store is made of; None for a table."""
    source = store.source if isinstance(store, RowStore) else None
    return source if isinstance(source, NotesIndex) else None
