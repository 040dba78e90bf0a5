"""memory-core's Markdown as a search finds it: files cut into chunks, in a small database of words and vectors."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.content_rules import instruction_like
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.private_file import make_private_file, make_private_folder
from memtui.engine.documents.sessions import session_entry
from memtui.engine.notes.keywords import keywords
from memtui.engine.notes.ranking import (
    FoundChunk,
    aged,
    fts_query,
    merged,
    rank_score,
    varied,
)

if TYPE_CHECKING:
    from memtui.engine.providers.embedder import Embedder


LONGEST_SNIPPET = 700

LARGEST = 20_000_000
"""Bytes of a file that is read."""

SKIPPED = frozenset({".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"})

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, hash TEXT, mtime_ms INTEGER);
CREATE TABLE IF NOT EXISTS chunks (
  id TEXT PRIMARY KEY, path TEXT, start_line INTEGER, end_line INTEGER, text TEXT, vector BLOB);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, id UNINDEXED);
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file; lines count from 1, both ends included."""

    start_line: int
    end_line: int
    text: str

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def chunk_markdown(content: str, *, tokens: int = 400, overlap: int = 80) -> list[Chunk]:
    """Cut a text at line ends into chunks of about `tokens` (four characters each) that share `overlap`.

    Longer lines are cut hard. Characters are code points; the original counts UTF-16 units. Source: spec B2.
    """
    most, carried = max(32, tokens * 4), max(0, overlap) * 4
    chunks: list[Chunk] = []
    buffer: list[tuple[int, str]] = []
    size = 0

    def emit() -> None:
        chunks.append(Chunk(buffer[0][0], buffer[-1][0], "\n".join(text for _, text in buffer)))

    for number, line in enumerate(content.split("\n"), 1):
        for start in range(0, max(1, len(line)), most):
            segment = line[start : start + most]
            if buffer and size + len(segment) + 1 > most:
                emit()
                kept: list[tuple[int, str]] = []
                size = 0
                while carried and buffer and size < carried:
                    kept.insert(0, buffer.pop())
                    size += len(kept[0][1]) + 1
                buffer = kept
            buffer.append((number, segment))
            size += len(segment) + 1
    if buffer:
        emit()
    return chunks


def remapped(chunks: Sequence[Chunk], lines: Sequence[int]) -> list[Chunk]:
    """Chunks of a session's text with the lines of its file."""
    return [
        replace(chunk, start_line=lines[chunk.start_line - 1], end_line=lines[chunk.end_line - 1])
        for chunk in chunks
        if chunk.end_line <= len(lines)
    ]


@dataclass(frozen=True, slots=True)
class Sync:
    """What a look at the files changed."""

    files: int
    chunks: int
    read: int
    unchanged: int
    removed: int
    skipped: tuple[str, ...] = ()
    """Files that were not taken, with the reason."""


@dataclass(frozen=True, slots=True)
class SearchRules:
    """memory-core's settings of a search."""

    limit: int = 6
    multiplier: int = 4
    min_score: float = 0.35
    vector_weight: float = 0.7
    text_weight: float = 0.3
    half_life_days: float | None = None
    """None: no fading."""
    lam: float | None = None
    """None: no variety."""
    slugs: bool = False
    """Whether `2026-02-10-api.md` has a date; the original thought not."""


@dataclass(frozen=True, slots=True)
class DocumentHits:
    """What a search found, and what it hid."""

    hits: tuple[FoundChunk, ...]
    hidden: int
    """Chunks below the least score."""
    by_vector: int
    by_words: int
    query: str | None
    orders: tuple[str, ...] = ()
    """Paths of hits that read like orders to a model."""


def open_database(database: Path, tables: str) -> sqlite3.Connection:
    """The database in a file that can always be made again, with its tables. MemtuiError for one that is none."""
    make_private_folder(database.parent)
    try:
        make_private_file(database)
    except OSError as error:
        raise MemtuiError(
            f"{database} cannot be used: {error.strerror or error}.",
            fix="Make its folder writable, or remove a link.",
        ) from None
    try:
        found = sqlite3.connect(database)
        found.executescript(tables)
    except sqlite3.DatabaseError as error:
        raise MemtuiError(
            f"{database} cannot be used: {error}.", fix="Remove it; it is made again."
        ) from None
    return found


class MarkdownIndex:
    """The index of one workspace, in one database file. Texts without an embedder are found by words alone."""

    def __init__(
        self,
        workspace: Path,
        database: Path,
        embedder: Embedder | None,
        sessions: Path | None = None,
        transcripts: Iterable[tuple[str, str, int]] = (),
    ) -> None:
        if not workspace.is_dir():
            raise UsageError(
                f"{workspace} is no folder.", fix="Name an agent's workspace, or a folder of notes."
            )
        if sessions is not None and not sessions.is_dir():
            raise UsageError(f"{sessions} is no folder.", fix="Name the folder of an agent's sessions.")
        self.workspace, self._embedder, self._sessions = workspace, embedder, sessions
        self._held = transcripts
        self._db = open_database(database, _TABLES)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def sync(self, *, tokens: int = 400, overlap: int = 80) -> Sync:
        """Take in what changed since the last time, all of it or nothing."""
        model = f"{self._embedder.name}" if self._embedder else ""
        shape = f"{model}|{tokens}|{overlap}"
        skipped: list[str] = []
        with self._db:
            known = self._db.execute("SELECT value FROM meta WHERE key = 'shape'").fetchone()
            if known is None or known[0] != shape:
                for table in ("files", "chunks", "words"):
                    self._db.execute(f"DELETE FROM {table}")
                self._db.execute("INSERT OR REPLACE INTO meta VALUES ('shape', ?)", (shape,))
            before = dict(self._db.execute("SELECT path, hash FROM files"))
            read = unchanged = 0
            seen: set[str] = set()
            for path in self._files(skipped):
                name = path.relative_to(self.workspace).as_posix()
                data = path.read_bytes()
                digest = hashlib.sha256(data).hexdigest()
                seen.add(name)
                if before.get(name) == digest:
                    unchanged += 1
                    continue
                self._drop(name)
                self._take(name, data.decode("utf-8", "replace"), model, tokens, overlap)
                mtime = path.stat().st_mtime_ns // 1_000_000
                self._db.execute("INSERT INTO files VALUES (?, ?, ?)", (name, digest, mtime))
                read += 1
            for transcript, text, mtime in self._transcripts(skipped):
                entry = session_entry(transcript, text)
                seen.add(entry.path)
                if before.get(entry.path) == entry.hash:
                    unchanged += 1
                    continue
                self._drop(entry.path)
                self._take(entry.path, entry.content, model, tokens, overlap, entry.lines)
                self._db.execute("INSERT INTO files VALUES (?, ?, ?)", (entry.path, entry.hash, mtime))
                read += 1
            gone = before.keys() - seen
            for name in gone:
                self._drop(name)
            total = self._db.execute("SELECT count(*) FROM chunks").fetchone()[0]
        return Sync(len(seen), total, read, unchanged, len(gone), tuple(skipped))

    def search(self, question: str, rules: SearchRules, *, now_ms: int) -> DocumentHits:
        """Ask both lanes, merge, fade, vary, and keep what is good enough."""
        most = min(200, max(1, rules.limit * rules.multiplier))
        named = keywords(question) if self._embedder is None else []
        queries = [query for each in named or [question] if (query := fts_query(each)) is not None]
        by_words = self._best_by_words(queries, most)
        by_vector = self._by_vector(question, most)
        alone = self._embedder is None  # the words have no vectors beside them: their score is the score
        found = merged(
            by_vector,
            by_words,
            vector_weight=0.0 if alone else rules.vector_weight,
            text_weight=1.0 if alone else rules.text_weight,
        )
        if rules.half_life_days is not None:
            mtimes = {str(path): int(at) for path, at in self._db.execute("SELECT path, mtime_ms FROM files")}
            found = aged(
                found, now_ms=now_ms, half_life_days=rules.half_life_days, mtimes=mtimes, slugs=rules.slugs
            )
        if rules.lam is not None:
            order = varied([(chunk.id, chunk.score, chunk.snippet) for chunk in found], rules.lam)
            by_id = {chunk.id: chunk for chunk in found}
            found = [by_id[each] for each in order]
        good = [chunk for chunk in found if chunk.score >= rules.min_score]
        if not good:  # words that were found are shown rather than nothing
            relaxed = min(rules.min_score, rules.text_weight)
            good = [chunk for chunk in found if chunk.by_words and chunk.score >= relaxed]
        hits = tuple(good[: rules.limit])
        orders = tuple(hit.path for hit in hits if instruction_like(hit.snippet))
        query = " OR ".join(queries) or None
        return DocumentHits(hits, len(found) - len(good), len(by_vector), len(by_words), query, orders)

    # ------------------------------------------------------------------ files

    def _files(self, skipped: list[str]) -> Iterator[Path]:
        """The Markdown files, without links: those of the agent where it is a workspace, else all."""
        roots = [name for name in ("MEMORY.md", "memory.md") if (self.workspace / name).is_file()]
        folder = self.workspace / "memory"
        agents = bool(roots) or folder.is_dir()
        real: set[tuple[int, int]] = set()
        candidates = [self.workspace / name for name in roots] if agents else []
        candidates += sorted(_walk(folder if agents else self.workspace))
        for path in candidates:
            name = path.relative_to(self.workspace).as_posix()
            if path.is_symlink():
                skipped.append(f"{name}: a link")
                continue
            found = path.stat()
            if (found.st_dev, found.st_ino) in real:
                continue
            real.add((found.st_dev, found.st_ino))
            if found.st_size > LARGEST:
                skipped.append(f"{name}: more than {LARGEST:,} bytes")
                continue
            yield path

    def _transcripts(self, skipped: list[str]) -> Iterator[tuple[str, str, int]]:
        """(name, JSON lines, time in ms) of the sessions of the agent, where they are wanted."""
        for path in sorted(self._sessions.glob("*.jsonl")) if self._sessions is not None else ():
            if path.is_symlink() or path.stat().st_size > LARGEST:
                skipped.append(
                    f"{path.name}: {'a link' if path.is_symlink() else f'more than {LARGEST:,} bytes'}"
                )
            else:
                text = path.read_text(encoding="utf-8", errors="replace")
                yield path.name, text, path.stat().st_mtime_ns // 1_000_000
        yield from self._held

    def _take(
        self,
        name: str,
        text: str,
        model: str,
        tokens: int,
        overlap: int,
        lines: Sequence[int] | None = None,
    ) -> None:
        """Cut a file and keep its chunks; `lines` are those of a session's file, where it is one."""
        cut = chunk_markdown(text, tokens=tokens, overlap=overlap)
        chunks = [chunk for chunk in (cut if lines is None else remapped(cut, lines)) if chunk.text.strip()]
        vectors: Any = (
            self._embedder.embed_passages([chunk.text for chunk in chunks])
            if self._embedder and chunks
            else []
        )
        for at, chunk in enumerate(chunks):
            key = f"memory:{name}:{chunk.start_line}:{chunk.end_line}:{chunk.hash}:{model}:{at}"
            row = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
            blob = vectors[at].astype("float32").tobytes() if len(vectors) else None
            plain = chunk.text.encode("utf-8", "replace").decode()
            self._db.execute(
                "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?)",
                (row, name, chunk.start_line, chunk.end_line, plain, blob),
            )
            self._db.execute("INSERT INTO words VALUES (?, ?)", (plain, row))

    def _drop(self, name: str) -> None:
        self._db.execute("DELETE FROM words WHERE id IN (SELECT id FROM chunks WHERE path = ?)", (name,))
        self._db.execute("DELETE FROM chunks WHERE path = ?", (name,))
        self._db.execute("DELETE FROM files WHERE path = ?", (name,))

    # ------------------------------------------------------------------ lanes

    def _best_by_words(self, queries: Sequence[str], most: int) -> list[FoundChunk]:
        """What the queries find, each asked by itself; of each chunk the best score."""
        best: dict[str, FoundChunk] = {}
        for query in queries:
            for word in self._by_words(query, most):
                if word.id not in best or word.words > best[word.id].words:
                    best[word.id] = word
        return sorted(best.values(), key=lambda each: -each.words)[:most]

    def _by_words(self, query: str, most: int) -> list[FoundChunk]:
        asked = (
            "SELECT c.id, c.path, c.start_line, c.end_line, c.text, bm25(words) AS rank FROM words "
            "JOIN chunks c ON c.id = words.id WHERE words MATCH ? ORDER BY rank LIMIT ?"
        )
        with closing(self._db.execute(asked, (query, most))) as rows:
            return [replace(_found(row), words=rank_score(float(row[5])), by_words=True) for row in rows]

    def _by_vector(self, question: str, most: int) -> list[FoundChunk]:
        if self._embedder is None:
            return []
        import numpy as np

        asked = self._embedder.embed_query(question)
        length = float(np.linalg.norm(asked))
        if not length:
            return []
        rows = self._db.execute(
            "SELECT id, path, start_line, end_line, text, vector FROM chunks WHERE vector IS NOT NULL"
        ).fetchall()
        if not rows:
            return []
        vectors = np.stack([np.frombuffer(row[5], dtype=np.float32) for row in rows])
        norms = np.linalg.norm(vectors, axis=1)
        cosines = np.where(norms > 0, vectors @ asked / (np.maximum(norms, 1e-12) * length), 0.0)
        best = np.argsort(-cosines, kind="stable")[:most]
        return [replace(_found(rows[int(at)]), vector=float(cosines[at])) for at in best]


def open_index(
    workspace: Path,
    database: Path,
    *,
    words_only: bool = False,
    sessions: Path | None = None,
    transcripts: Iterable[tuple[str, str, int]] = (),
) -> MarkdownIndex:
    """The index of a workspace with the bundled model's vectors, or without any.

    `sessions` adds the transcripts of a folder, `transcripts` those that a database holds, as (name, JSON lines, time
    in ms).

    Raises UsageError for what is no folder.
    """
    from memtui.engine.providers.static_embedder import bundled

    return MarkdownIndex(workspace, database, None if words_only else bundled(), sessions, transcripts)


def _found(row: Sequence[Any]) -> FoundChunk:
    return FoundChunk(row[0], row[1], row[2], row[3], str(row[4])[:LONGEST_SNIPPET])


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        yield from (Path(place) / name for name in sorted(names) if name.endswith(".md"))
