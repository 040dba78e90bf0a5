"""What memory-core's index in an agent's database tells of itself, and what the state database keeps beside it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.core.sqlite_file import column_names, open_unchanged

DREAM_JOB = "memory-core:memory-dreaming-promotion"


@dataclass(frozen=True, slots=True)
class CoreIndex:
    """The index of one agent; empty values where it is not there."""

    files: Mapping[str, str] = field(default_factory=dict)
    """sha256 of each file of the workspace and of extra paths, by its path as indexed."""
    chunks: int = 0
    with_triggers: int = 0
    bad_projects: int = 0
    untrusted: tuple[str, ...] = ()
    """Files of the workspace whose chunks are untrusted."""
    trusted_notes: tuple[str, ...] = ()
    """Files below memory/ whose chunks are of class agent."""
    meta: Mapping[str, Any] | None = None
    """memory_index_meta_v1; None where the row is not there."""
    keyword_tables: bool = True
    there: bool = False
    problem: str = ""


def read_index(database: Path) -> CoreIndex:
    """The index in an agent's database; never raises."""
    if not database.is_file():
        return CoreIndex()
    try:
        with open_unchanged(database) as db:
            return _index(db)
    except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
        return CoreIndex(problem=f"{database} cannot be read: {error}.")


def _index(db: sqlite3.Connection) -> CoreIndex:
    if not {"path", "source", "hash"} <= set(column_names(db, "memory_index_sources")):
        return CoreIndex()
    files = dict(
        db.execute("SELECT path, hash FROM memory_index_sources WHERE source = 'memory' LIMIT 20000")
    )
    chunks = triggers = projects = 0
    untrusted: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    if "id" in column_names(db, "memory_index_chunks"):
        chunks = int(
            db.execute("SELECT count(*) FROM memory_index_chunks WHERE source = 'memory'").fetchone()[0]
        )
        if {"chunk_id", "triggers", "project_key"} <= set(
            column_names(db, "memory_index_chunk_recall_metadata")
        ):
            row = db.execute(
                "SELECT sum(coalesce(triggers, '') <> ''), sum(instr(coalesce(project_key, ''), "
                "'!invalid-project-annotation') > 0) FROM memory_index_chunk_recall_metadata"
            ).fetchone()
            triggers, projects = int(row[0] or 0), int(row[1] or 0)
        if {"chunk_id", "origin_class"} <= set(column_names(db, "memory_index_chunk_provenance")):
            rows = db.execute(
                "SELECT DISTINCT c.path, p.origin_class FROM memory_index_chunks c "
                "JOIN memory_index_chunk_provenance p "
                "ON p.chunk_id = c.id WHERE c.source = 'memory' AND c.path NOT LIKE '..%' LIMIT 20000"
            ).fetchall()
            untrusted = tuple(sorted(str(path) for path, kind in rows if kind == "untrusted"))
            trusted = tuple(
                sorted(
                    str(path) for path, kind in rows if kind == "agent" and str(path).startswith("memory/")
                )
            )
    return CoreIndex(
        {str(path): str(value) for path, value in files.items()}, chunks, triggers, projects, untrusted, trusted,
        _meta(db), bool(column_names(db, "memory_index_chunks_fts")), True,
    )  # fmt: skip


def _meta(db: sqlite3.Connection) -> Mapping[str, Any] | None:
    if not {"key", "value"} <= set(column_names(db, "memory_index_meta")):
        return None
    row = db.execute("SELECT value FROM memory_index_meta WHERE key = 'memory_index_meta_v1'").fetchone()
    return _object(row[0]) if row else None


@dataclass(frozen=True, slots=True)
class DreamJob:
    """The managed job of dreaming."""

    enabled: bool
    last_run_ms: int
    status: str
    error: str


@dataclass(frozen=True, slots=True)
class CoreState:
    """What the state database keeps of memory-core."""

    job: DreamJob | None = None
    recalls: int = 0
    """Rows of short-term-recall: what dreaming can promote."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Origin class of each workspace file whose write was recorded, by its relative path."""


def read_core_state(database: Path) -> CoreState:
    """memory-core's rows in the state database; empty where they cannot be read."""
    if not database.is_file():
        return CoreState()
    try:
        with open_unchanged(database) as db:
            return _state(db)
    except (sqlite3.Error, OSError, ValueError, OverflowError):
        return CoreState()


def _state(db: sqlite3.Connection) -> CoreState:
    job = None
    if {"declaration_key", "state_json", "enabled"} <= set(column_names(db, "cron_jobs")):
        row = db.execute(
            "SELECT enabled, state_json FROM cron_jobs WHERE declaration_key = ?", (DREAM_JOB,)
        ).fetchone()
        if row is not None:
            state = _object(row[1]) or {}
            last = state.get("lastRunAtMs")
            job = DreamJob(
                bool(row[0]),
                int(last) if isinstance(last, int | float) else 0,
                str(state.get("lastRunStatus") or state.get("lastStatus") or ""),
                str(state.get("lastError") or ""),
            )
    recalls = 0
    written: dict[str, str] = {}
    if {"namespace", "value_json"} <= set(column_names(db, "plugin_state_entries")):
        row = db.execute(
            "SELECT count(*) FROM plugin_state_entries WHERE namespace = 'short-term-recall'"
        ).fetchone()
        recalls = int(row[0])
        for (text,) in db.execute(
            "SELECT value_json FROM plugin_state_entries WHERE namespace = 'workspace-files' LIMIT 20000"
        ):
            value = _object(text) or {}
            if isinstance(value.get("relativePath"), str):
                written[value["relativePath"]] = str(value.get("originClass") or "")
    return CoreState(job, recalls, written)


def _object(text: Any) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None
