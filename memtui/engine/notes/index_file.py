"""The index that memory-core keeps of an agent's Markdown and sessions, read from SQLite without a byte written."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import DamagedStoreError, MemtuiError, StoreNotFoundError, UnknownDialectError
from memtui.engine.core.sqlite_file import column_names, open_unchanged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = "openclaw-agent.sqlite"
"""The database of an agent of today's host."""

SESSIONS = "sessions"
"""The source of chunks that are conversations."""

CHUNKS, SOURCES, META = "memory_index_chunks", "memory_index_sources", "memory_index_meta"

_WORDS, _PATHS = "memory_index_chunks_fts", "memory_index_paths_fts"

_NEEDED = {"id", "path", "start_line", "end_line", "text"}


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A piece of a file or of a session as the index holds it; lines count from 1, both ends included."""

    id: str
    path: str
    source: str
    start_line: int
    end_line: int
    text: str
    model: str | None = None
    embedding: bytes = field(default=b"", repr=False)
    updated_ms: int = 0
    importance: int | None = None
    triggers: str | None = None
    project: str | None = None
    origin_class: str | None = None
    session_kind: str | None = None
    observed_ms: int = 0

    @property
    def vector(self) -> NDArray[np.float64] | None:
        """The embedding, 64-bit floats in the file; None for an empty, damaged or zero one."""
        import numpy as np

        if not self.embedding or len(self.embedding) % 8:
            return None
        numbers = np.frombuffer(self.embedding, dtype="<f8")
        return numbers if np.isfinite(numbers).all() and np.any(numbers) else None


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file that was indexed, as it was then."""

    path: str
    source: str
    hash: str
    mtime_ms: float
    size: int


@dataclass(frozen=True, slots=True)
class IndexContent:
    """Everything that the index holds as of one moment. `revision` grows with every change of it."""

    chunks: tuple[IndexedChunk, ...] = ()
    files: tuple[IndexedFile, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    revision: int = 0
    vector_rebuild: str = ""
    """What the host says of its vectors: "clean", or that they are to be made anew."""

    @property
    def file_of(self) -> Mapping[str, IndexedFile]:
        """The files by their paths."""
        return {file.path: file for file in self.files}


@dataclass(frozen=True, slots=True)
class WordHit:
    """A chunk that the full-text index found: `bm25` as SQLite gives it (the more negative, the better)."""

    id: str
    bm25: float


def read_index_file(path: Path) -> IndexContent:
    """The index in the agent's database at `path`; empty where the agent has not indexed anything.

    Raises StoreNotFoundError, UnknownDialectError (a database of another program) or DamagedStoreError.
    """
    with opened_index(path) as db:
        if not set(column_names(db, CHUNKS)) >= _NEEDED:
            if not column_names(db, "session_nodes") and not column_names(db, SOURCES):
                raise UnknownDialectError(
                    f"{path} is no database of an OpenClaw agent: it has no table {CHUNKS}.",
                    fix="Name the agent's openclaw-agent.sqlite.",
                )
            return IndexContent()
        return IndexContent(tuple(_chunks(db)), tuple(_files(db)), _meta(db), _revision(db), _rebuild(db))


@contextmanager
def opened_index(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write; errors name the file, what failed and what next."""
    if not path.is_file():
        raise StoreNotFoundError(f"{path} does not exist.", fix="Check the path; nothing was created there.")
    try:
        with open_unchanged(path) as db:
            yield db
    except sqlite3.DatabaseError as error:
        busy = "locked" in str(error) or "busy" in str(error)
        if busy:
            raise MemtuiError(
                f"{path} is held by another program: {error}.", fix="Try again in a moment."
            ) from error
        raise DamagedStoreError(
            f"{path} cannot be read as a database: {error}.",
            fix="Let the host build its index anew: openclaw memory index --force. Its Markdown is the source.",
        ) from error
    except OSError as error:
        raise MemtuiError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.", fix="Check its permissions."
        ) from error


def _chunks(db: sqlite3.Connection) -> Iterator[IndexedChunk]:
    there = set(column_names(db, CHUNKS))
    plain = {
        name: f"c.{name}" if name in there else "NULL"
        for name in ("source", "model", "embedding", "updated_at")
    }
    recall = {"chunk_id", "importance", "triggers", "project_key"} <= set(
        column_names(db, "memory_index_chunk_recall_metadata")
    )
    origin = {"chunk_id", "origin_class", "session_kind", "observed_at"} <= set(
        column_names(db, "memory_index_chunk_provenance")
    )
    rows = db.execute(
        "SELECT c.id, c.path, c.start_line, c.end_line, c.text, "
        + ", ".join(plain.values())
        + (", m.importance, m.triggers, m.project_key" if recall else ", NULL, NULL, NULL")
        + (", p.origin_class, p.session_kind, p.observed_at" if origin else ", NULL, NULL, NULL")
        + f" FROM {CHUNKS} c"
        + (" LEFT JOIN memory_index_chunk_recall_metadata m ON m.chunk_id = c.id" if recall else "")
        + (" LEFT JOIN memory_index_chunk_provenance p ON p.chunk_id = c.id" if origin else "")
        + " ORDER BY c.source, c.path, c.start_line, c.end_line, c.id"
    )
    for row in rows:
        (id_, path, start, end, text, source, model, embedding, updated, *more) = row
        importance, triggers, project, origin_class, session_kind, observed = more
        if not isinstance(text, str) or not isinstance(path, str):
            continue  # SQLite keeps anything in any column: what is no text is no chunk
        yield IndexedChunk(
            str(id_),
            path,
            source if isinstance(source, str) else "memory",
            _whole(start),
            _whole(end),
            text,
            model if isinstance(model, str) and model else None,
            embedding if isinstance(embedding, bytes) else b"",
            _whole(updated),
            importance if isinstance(importance, int) else None,
            triggers if isinstance(triggers, str) and triggers else None,
            project if isinstance(project, str) and project else None,
            origin_class if isinstance(origin_class, str) else None,
            session_kind if isinstance(session_kind, str) else None,
            _whole(observed),
        )


def _files(db: sqlite3.Connection) -> Iterator[IndexedFile]:
    if not {"path", "source", "hash", "mtime", "size"} <= set(column_names(db, SOURCES)):
        return
    for path, source, digest, mtime, size in db.execute(
        f"SELECT path, source, hash, mtime, size FROM {SOURCES} ORDER BY source, path"
    ):
        if isinstance(path, str):
            number = float(mtime) if isinstance(mtime, int | float) and math.isfinite(mtime) else 0.0
            yield IndexedFile(path, str(source), str(digest), number, _whole(size))


def _meta(db: sqlite3.Connection) -> Mapping[str, Any]:
    if not {"key", "value"} <= set(column_names(db, META)):
        return {}
    row = db.execute(f"SELECT value FROM {META} WHERE key = 'memory_index_meta_v1'").fetchone()
    try:
        value = json.loads(row[0]) if row else {}
    except (ValueError, TypeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _rebuild(db: sqlite3.Connection) -> str:
    if not {"key", "value"} <= set(column_names(db, META)):
        return ""
    row = db.execute(f"SELECT value FROM {META} WHERE key = 'memory_vector_rebuild_v1'").fetchone()
    return str(row[0]) if row else ""


def _revision(db: sqlite3.Connection) -> int:
    if "revision" not in column_names(db, "memory_index_state"):
        return 0
    row = db.execute("SELECT revision FROM memory_index_state").fetchone()
    return _whole(row[0]) if row else 0


def _whole(value: Any) -> int:
    good = isinstance(value, int | float) and math.isfinite(value)
    return int(value) if good else 0


def search_words(db: sqlite3.Connection, tokens: Sequence[str], limit: int) -> list[WordHit]:
    """The chunks whose texts hold every one of the tokens, best first; empty where the index has no such table."""
    if not tokens or not column_names(db, _WORDS):
        return []
    rows = db.execute(
        f"SELECT id, bm25({_WORDS}) AS rank FROM {_WORDS} WHERE {_WORDS} MATCH ? ORDER BY rank LIMIT ?",
        (_match(tokens), limit),
    )
    return [WordHit(str(id_), float(rank)) for id_, rank in rows]


def search_paths(db: sqlite3.Connection, tokens: Sequence[str], limit: int) -> dict[str, float]:
    """bm25 of the files whose paths hold every one of the tokens, by path."""
    if not tokens or not column_names(db, _PATHS):
        return {}
    rows = db.execute(
        f"SELECT path, bm25({_PATHS}) AS rank FROM {_PATHS} WHERE {_PATHS} MATCH ? ORDER BY rank LIMIT ?",
        (_match(tokens), limit),
    )
    return {str(path): float(rank) for path, rank in rows}


def _match(tokens: Sequence[str]) -> str:
    return " AND ".join('"' + token.replace('"', "") + '"' for token in tokens)
