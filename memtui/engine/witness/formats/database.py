"""The database of an agent: which sessions it lists, live ones, archived ones and those in cold storage. Never changed.

Layouts from schema 4 on are read by the tables and columns that are there, a newer one as far as it goes.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.witness.session import SessionFile

FORM: Literal["sqlite"] = "sqlite"

FILE = "openclaw-agent.sqlite"

KNOWN_SCHEMA = 23
"""The newest schema whose meaning is known: that of OpenClaw 2026.9."""

_FIRST_WITH_TRANSCRIPTS = 4

EVENTS, RECORDED = "transcript_events", "trajectory_runtime_events"

ARCHIVES, COLD = "session_transcript_archives", "session_transcript_cold_archives"

_PARENTS = ("session_windows", "sessions")


def find(folder: Path, agent: str) -> list[SessionFile]:
    """The sessions in an agent's database; one that cannot be read is a session of its file's name, to say why."""
    path = folder / "agent" / FILE
    if not path.is_file():
        return []
    modified = int(path.stat().st_mtime * 1000)
    unreadable = [SessionFile(FILE, agent, path, FORM, "", modified)]
    try:
        with open_unchanged(path) as db:
            if "session_id" not in column_names(db, EVENTS):
                return unreadable if schema_of(db) >= _FIRST_WITH_TRANSCRIPTS else []
            listed = _listed(db)
            cold = sessions_in(db, COLD)
            held = sessions_in(db, EVENTS) | sessions_in(db, RECORDED) | cold
            archived = _archived(db, agent, path)
    except (sqlite3.Error, OSError):
        return unreadable
    found = []
    for name in sorted(held | set(listed)):
        window = listed.get(name, _Window())
        found.append(
            SessionFile(
                name,
                agent,
                path,
                FORM,
                "",
                window.time_ms or modified,
                window.key,
                name not in held,
                spawned=window.spawned,
            )
        )
    return found + archived


def schema_of(db: sqlite3.Connection) -> int:
    """The version of the host's schema; 0 where the file names none."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def schema_warnings(db: sqlite3.Connection, path: Path) -> list[str]:
    """The sentence for a database of a newer host than any that is known."""
    schema = schema_of(db)
    if schema <= KNOWN_SCHEMA:
        return []
    return [f"{path.name} is of schema {schema}, newer than {KNOWN_SCHEMA}: it is read as far as it goes"]


def sessions_in(db: sqlite3.Connection, table: str) -> set[str]:
    """The sessions that have rows in a table: one look into its index for each, however many rows they have."""
    if "session_id" not in column_names(db, table):
        return set()
    rows = db.execute(
        f"WITH RECURSIVE s(id) AS (SELECT min(session_id) FROM {table} UNION ALL "
        f"SELECT (SELECT min(session_id) FROM {table} WHERE session_id > s.id) FROM s WHERE s.id IS NOT NULL) "
        "SELECT id FROM s WHERE id IS NOT NULL"
    )
    return {str(row[0]) for row in rows}


@dataclass(frozen=True, slots=True)
class _Window:
    """What the index of sessions says of one."""

    key: str = ""
    time_ms: int = 0
    spawned: bool = False


def _listed(db: sqlite3.Connection) -> dict[str, _Window]:
    for table in _PARENTS:
        columns = column_names(db, table)
        if "session_id" not in columns:
            continue
        wanted = ("session_key", "transcript_updated_at", "updated_at", "spawned_by")
        chosen = ", ".join(name if name in columns else "NULL" for name in wanted)
        opened_by_others = _spawned_keys(db)
        return {
            str(name): _Window(
                str(key or ""),
                next((time for time in (written, updated) if isinstance(time, int)), 0),
                bool(spawned) or key in opened_by_others,
            )
            for name, key, written, updated, spawned in db.execute(
                f"SELECT session_id, {chosen} FROM {table}"
            )
        }
    return {}


def _spawned_keys(db: sqlite3.Connection) -> set[str]:
    """The keys of conversations that another session opened."""
    columns = column_names(db, "session_nodes")
    if not {"session_key", "spawned_by"} <= set(columns):
        return set()
    return {
        str(row[0])
        for row in db.execute("SELECT session_key FROM session_nodes WHERE spawned_by IS NOT NULL")
    }


def _archived(db: sqlite3.Connection, agent: str, path: Path) -> list[SessionFile]:
    """The transcripts that the host put away when a conversation was deleted or reset.

    Names and times are asked for alone, each out of its index: behind a blob a row is read page by page.
    """
    if not {"session_id", "session_key", "reason", "archive_name", "archive_blob"} <= set(
        column_names(db, ARCHIVES)
    ):
        return []
    names = dict(db.execute(f"SELECT rowid, archive_name FROM {ARCHIVES}").fetchall())
    times = dict(db.execute(f"SELECT rowid, created_at FROM {ARCHIVES}").fetchall())
    found = []
    for row, session, key, reason in db.execute(
        f"SELECT rowid, session_id, session_key, reason FROM {ARCHIVES}"
    ):
        why: Literal["reset", "deleted"] = "reset" if reason == "reset" else "deleted"
        time = times.get(row)
        found.append(
            SessionFile(
                str(session),
                agent,
                path,
                FORM,
                why,
                time if isinstance(time, int) else 0,
                str(key or ""),
                archive=str(names[row]),
            )
        )
    return found
