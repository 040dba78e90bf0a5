"""The newest turns of an agent, from its database: when they were, and whether memories went before the prompt.

A bounded look for one question. Whole sessions are read by `engine.witness`.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.discovery.host_state import KNOWN_SCHEMA

MOST_TURNS = 20

_WINDOWS, _EVENTS = 12, 240
"""Windows looked into, newest first, and events of each."""

_MACHINE_KEYS = (":subagent:", ":cron:", ":active-memory:", ":heartbeat")

_MACHINE_PROMPTS = ("[OpenClaw heartbeat poll]",)

BLOCK = re.compile(r"<relevant-memories>|<active_memory_plugin>|<standing_intents>")


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """One turn of a person whose prompt was recorded."""

    time_ms: int
    session: str
    run: str
    injected: bool


@dataclass(frozen=True, slots=True)
class AgentActivity:
    """What an agent's database tells of its newest turns; empty where there is none."""

    database: Path
    there: bool = False
    schema: int = 0
    turns: tuple[RecentTurn, ...] = ()
    """Newest first."""
    last_ms: int = 0
    """When anything was last written into a transcript of a person; 0 where nothing was."""
    folders: tuple[str, ...] = ()
    """Working folders of the newest windows as their headers name them, newest first."""
    problem: str = ""

    @property
    def newer(self) -> bool:
        """Whether the database is of a schema that memtui does not know yet."""
        return self.schema > KNOWN_SCHEMA


def read_activity(database: Path) -> AgentActivity:
    """Look at the newest windows of an agent's database; never raises."""
    if not database.is_file():
        return AgentActivity(database)
    try:
        with open_unchanged(database) as db:
            return _activity(database, db)
    except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
        return AgentActivity(database, True, problem=f"{database} cannot be read: {error}.")


def _activity(database: Path, db: sqlite3.Connection) -> AgentActivity:
    schema = int(db.execute("PRAGMA user_version").fetchone()[0])
    windows = _windows(db)
    turns: list[RecentTurn] = []
    folders: list[str] = []
    last = 0
    recorded = {"session_id", "event_json", "created_at", "seq"} <= set(
        column_names(db, "trajectory_runtime_events")
    )
    written = {"session_id", "event_json", "created_at", "seq"} <= set(column_names(db, "transcript_events"))
    for session, _ in windows[:_WINDOWS]:
        if written:
            newest = db.execute(
                "SELECT max(created_at) FROM transcript_events WHERE session_id = ?", (session,)
            ).fetchone()[0]
            last = max(last, newest if isinstance(newest, int) else 0)
            header = db.execute(
                "SELECT event_json FROM transcript_events WHERE session_id = ? ORDER BY seq LIMIT 1",
                (session,),
            ).fetchone()
            folder = _parsed(header[0] if header else None).get("cwd")
            if isinstance(folder, str) and folder:
                folders.append(folder)
        if recorded and len(turns) < MOST_TURNS:
            turns += _turns(db, session)
    turns.sort(key=lambda turn: -turn.time_ms)
    return AgentActivity(
        database, True, schema, tuple(turns[:MOST_TURNS]), last, tuple(dict.fromkeys(folders))
    )


def _windows(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """(session id, key) of the windows in which persons spoke, the newest first."""
    for table in ("session_windows", "sessions"):
        columns = set(column_names(db, table))
        if {"session_id", "session_key"} <= columns:
            order = "updated_at" if "updated_at" in columns else "rowid"
            rows = db.execute(f"SELECT session_id, session_key FROM {table} ORDER BY {order} DESC LIMIT 400")
            return [(str(row[0]), str(row[1] or "")) for row in rows if not is_machine_key(str(row[1] or ""))]
    return []


def is_machine_key(key: str) -> bool:
    """Whether no person speaks under this session key: sub-agents, jobs, hooks, active-memory's own questions."""
    return key.startswith("hook:") or any(part in key for part in _MACHINE_KEYS)


def _turns(db: sqlite3.Connection, session: str) -> list[RecentTurn]:
    rows = db.execute(
        "SELECT event_json, created_at FROM (SELECT seq, event_json, created_at FROM trajectory_runtime_events "
        "WHERE session_id = ? ORDER BY seq DESC LIMIT ?) WHERE substr(event_json, 1, 400) LIKE '%prompt.submitted%'",
        (session, _EVENTS),
    )
    out = []
    for text, stamp in rows:
        event = _parsed(text)
        data = event.get("data")
        prompt = data.get("prompt") if isinstance(data, Mapping) else None
        if event.get("type") != "prompt.submitted" or not isinstance(prompt, str):
            continue
        if any(prompt.rstrip().endswith(said) for said in _MACHINE_PROMPTS):
            continue
        run = event.get("runId")
        out.append(
            RecentTurn(
                stamp if isinstance(stamp, int) else 0,
                session,
                run if isinstance(run, str) else "",
                BLOCK.search(prompt) is not None,
            )
        )
    return out


def _parsed(text: Any) -> Mapping[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}
