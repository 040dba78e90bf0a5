"""Transcripts in the SQLite database of newer hosts: opened for reading only, never changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.sqlite_file import open_unchanged
from memtui.engine.witness.formats.transcript import read_trajectory
from memtui.engine.witness.session import SessionFile, SessionRecord, entry_of, prompts_of

FORM = "sqlite"

_FILE = "openclaw-agent.sqlite"

_EVENTS, _RECORDED = "transcript_events", "trajectory_runtime_events"

_PARENTS = ("session_windows", "sessions")

_ORDERS = ("seq", "event_seq", "sequence", "created_at")
"""Columns that give the order of events, the surest first; the storage order is not the reading order."""


def find(folder: Path, agent: str) -> list[SessionFile]:
    """The sessions in an agent's database."""
    path = folder / "agent" / _FILE
    if not path.is_file():
        return []
    modified = int(path.stat().st_mtime * 1000)
    try:
        with open_unchanged(path) as db:
            if "session_id" not in _columns(db, _EVENTS):
                return []
            keys = _keys(db)
            held = _sessions(db, _EVENTS) | _sessions(db, _RECORDED)
    except (sqlite3.Error, OSError):
        return [SessionFile(_FILE, agent, path, "sqlite", "", modified)]
    return [
        SessionFile(each, agent, path, "sqlite", "", modified, keys.get(each, ""), each not in held)
        for each in sorted(held | set(keys))
    ]


def read(file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None = None) -> SessionRecord:
    """The entries and submitted prompts of one session, in the order of their sequence."""
    record = SessionRecord(file)
    try:
        with open_unchanged(file.path) as db:
            for value, created in _values(db, _EVENTS, file.id, record.warnings, cancel):
                entry = entry_of(value, created)
                if entry is not None:
                    record.add(entry)
            if not set(_ORDERS[:-1]) & set(_columns(db, _EVENTS)):
                record.entries.sort(key=lambda each: each.time_ms)  # an early layout, keyed by event ids
            events = (
                value
                for value, _ in _values(db, _RECORDED, file.id, record.warnings, cancel)
                if isinstance(value, Mapping) and isinstance(value.get("type"), str)
            )
            first = next(events, None)
            if first is not None:
                record.prompts, record.full, _ = prompts_of(chain((first,), events))
                record.recorded = "sqlite"
    except (sqlite3.Error, OSError) as error:
        record.warnings.append(f"{file.path.name} cannot be read: {error}")
        return record
    record.tell_shortened()
    if not record.recorded:  # a host that moved its transcripts here, and not yet what its recorder wrote
        read_trajectory(record, file.path.parent.parent / "sessions", file.id, environ, cancel)
    return record


def _columns(db: sqlite3.Connection, table: str) -> tuple[str, ...]:
    return tuple(row[1] for row in db.execute(f"PRAGMA table_info({table})"))


def _sessions(db: sqlite3.Connection, table: str) -> set[str]:
    if "session_id" not in _columns(db, table):
        return set()
    return {str(row[0]) for row in db.execute(f"SELECT DISTINCT session_id FROM {table}")}


def _keys(db: sqlite3.Connection) -> dict[str, str]:
    for table in _PARENTS:
        columns = _columns(db, table)
        if {"session_id", "session_key"} <= set(columns):
            rows = db.execute(f"SELECT session_id, session_key FROM {table}").fetchall()
            return {str(session): str(key or "") for session, key in rows}
        if "session_id" in columns:
            return {str(row[0]): "" for row in db.execute(f"SELECT session_id FROM {table}")}
    return {}


def _values(
    db: sqlite3.Connection, table: str, session: str, warnings: list[str], cancel: CancelToken | None
) -> Iterator[tuple[Any, int]]:
    """(value, time in ms) of each event of a session; events that do not parse are counted."""
    columns = _columns(db, table)
    if not {"session_id", "event_json"} <= set(columns):
        return
    made = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    last = [] if made and "WITHOUT ROWID" in str(made[0]).upper() else ["rowid"]
    order = ", ".join([*(each for each in _ORDERS if each in columns), *last]) or "session_id"
    created = "created_at" if "created_at" in columns else "0"
    bad = 0
    rows = db.execute(
        f"SELECT event_json, {created} FROM {table} WHERE session_id = ? ORDER BY {order}", (session,)
    )
    for number, (text, stamp) in enumerate(rows):
        if cancel is not None and number % 256 == 0:
            cancel.check()
        try:
            yield json.loads(text), stamp if isinstance(stamp, int) else 0
        except (ValueError, TypeError, RecursionError):
            bad += 1
    if bad:
        warnings.append(f"{bad} of the rows in {table} cannot be read")
