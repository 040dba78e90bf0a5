"""A home with memory-core made for a test: Markdown, and its index in the tables that the host makes."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLES = """
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY);
CREATE TABLE memory_index_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE memory_index_sources (id INTEGER PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL DEFAULT 'memory',
  hash TEXT NOT NULL, mtime REAL NOT NULL, size INTEGER NOT NULL, UNIQUE (path, source)) STRICT;
CREATE TABLE memory_index_chunks (chunk_rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL,
  source TEXT NOT NULL DEFAULT 'memory', start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, hash TEXT NOT NULL,
  model TEXT NOT NULL, text TEXT NOT NULL, embedding BLOB NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE memory_index_chunk_recall_metadata (chunk_id TEXT PRIMARY KEY, importance INTEGER, triggers TEXT,
  project_key TEXT) STRICT;
CREATE TABLE memory_index_chunk_provenance (chunk_id TEXT PRIMARY KEY, origin_class TEXT NOT NULL,
  session_kind TEXT NOT NULL, observed_at INTEGER NOT NULL, supersedes_key TEXT) STRICT;
CREATE TABLE memory_index_state (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL) STRICT;
CREATE VIRTUAL TABLE memory_index_chunks_fts USING fts5(text, id UNINDEXED, path UNINDEXED, source UNINDEXED,
  model UNINDEXED, start_line UNINDEXED, end_line UNINDEXED);
CREATE VIRTUAL TABLE memory_index_paths_fts USING fts5(path, source UNINDEXED);
"""

_COMMENT = re.compile(r"\s*<!--\s*(trigger|importance|project)\s*:\s*(.*?)\s*-->")

AT_MS = 1_795_000_000_000


@dataclass(frozen=True)
class CoreHome:
    """The home, the agent's workspace, and its database."""

    path: Path
    workspace: Path
    database: Path

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.path), "MEMTUI_STATE_DIR": str(self.path / "memtui-state")}


def make_core_home(
    folder: Path,
    files: Mapping[str, str],
    *,
    extra: Sequence[Any] = (),
    vectors: Mapping[str, Sequence[float]] | None = None,
    agent: str = "main",
) -> CoreHome:
    """Write the Markdown `files` (paths below the workspace, `../x.md` too) and index them entry by entry.

    `vectors` gives chunks their embeddings, by their texts.
    """
    workspace = folder / "ws"
    database = folder / ".openclaw" / "agents" / agent / "agent" / "openclaw-agent.sqlite"
    database.parent.mkdir(parents=True)
    workspace.mkdir()
    config = {
        "agents": {"entries": {agent: {"workspace": str(workspace)}}},
        "memory": {"search": {"provider": "none", "extraPaths": list(extra)}},
    }
    (folder / ".openclaw" / "openclaw.json").write_text(json.dumps(config), encoding="utf-8")
    with sqlite3.connect(database) as db:
        db.executescript(TABLES)
        db.execute("INSERT INTO memory_index_state VALUES (1, 1)")
        meta = {"model": "test-embed", "provider": "none", "sources": ["memory", "sessions"], "vectorDims": 3}
        db.execute("INSERT INTO memory_index_meta VALUES ('memory_index_meta_v1', ?)", (json.dumps(meta),))
        for path, text in files.items():
            place = workspace / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode("utf-8"))
            index_file(db, path, text, vectors or {})
    db.close()
    return CoreHome(folder, workspace, database)


def index_file(db: sqlite3.Connection, path: str, text: str, vectors: Mapping[str, Sequence[float]]) -> None:
    """The rows that the host makes of one file: an entry a chunk in a curated file, else one chunk."""
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    db.execute(
        "INSERT INTO memory_index_sources (path, source, hash, mtime, size) VALUES (?, 'memory', ?, ?, ?)",
        (path, digest, float(AT_MS), len(text.encode("utf-8"))),
    )
    db.execute("INSERT INTO memory_index_paths_fts (path, source) VALUES (?, 'memory')", (path,))
    lines = [line.rstrip("\r") for line in text.split("\n")]
    starts = [0]
    if path in ("MEMORY.md", "USER.md"):
        starts += [at for at, line in enumerate(lines) if at and re.match(r"[-*] |#", line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        own = lines[start:end]
        fields = dict(found for line in own for found in _COMMENT.findall(line))
        shown = "\n".join(_COMMENT.sub("", line) for line in own)
        if not shown.strip():
            continue
        chunk_id = hashlib.sha256(f"memory:{path}:{start}:{end}:{shown}".encode()).hexdigest()
        vector = vectors.get(shown.strip(), ())
        db.execute(
            "INSERT INTO memory_index_chunks (id, path, source, start_line, end_line, hash, model, text, embedding,"
            " updated_at) VALUES (?, ?, 'memory', ?, ?, ?, 'test-embed', ?, ?, ?)",
            (
                *(chunk_id, path, start + 1, end, hashlib.sha256(shown.encode()).hexdigest(), shown),
                *(struct.pack(f"<{len(vector)}d", *vector), AT_MS),
            ),
        )
        db.execute(
            "INSERT INTO memory_index_chunks_fts (text, id, path) VALUES (?, ?, ?)", (shown, chunk_id, path)
        )
        if fields:
            triggers = "; ".join(
                part.strip() for part in re.split("[;,]", fields.get("trigger", "")) if part.strip()
            )
            number = int(fields["importance"]) if "importance" in fields else None
            db.execute(
                "INSERT INTO memory_index_chunk_recall_metadata VALUES (?, ?, ?, ?)",
                (chunk_id, number, triggers or None, fields.get("project")),
            )
        origin = "untrusted" if path.startswith("..") else "agent"
        db.execute(
            "INSERT INTO memory_index_chunk_provenance VALUES (?, ?, 'unknown', ?, NULL)",
            (chunk_id, origin, AT_MS),
        )
