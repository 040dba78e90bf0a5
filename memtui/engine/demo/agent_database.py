"""An agent's database as OpenClaw 2026.9 lays it out, with the tables that sessions need: what the demo is made of."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SCHEMA = 23

FILE = "openclaw-agent.sqlite"

_TABLES = """
CREATE TABLE session_nodes (
  session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL,
  updated_at INTEGER NOT NULL, status TEXT, created_at INTEGER, created_via TEXT, spawned_by TEXT
) STRICT;
CREATE TABLE session_windows (
  session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL, previous_session_id TEXT, reason TEXT,
  session_scope TEXT NOT NULL DEFAULT 'conversation', created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  transcript_updated_at INTEGER, spawned_by TEXT
) STRICT;
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB,
  event_utf8_bytes INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq)
) STRICT;
CREATE TABLE session_transcript_active_events (
  session_id TEXT NOT NULL, active_position INTEGER NOT NULL, event_seq INTEGER NOT NULL, message_position INTEGER,
  context_eligible INTEGER, PRIMARY KEY (session_id, active_position)
) STRICT;
CREATE TABLE session_transcript_index_state (
  session_id TEXT NOT NULL PRIMARY KEY, indexed_seq INTEGER NOT NULL, leaf_event_id TEXT,
  needs_rebuild INTEGER NOT NULL DEFAULT 0, active_event_count INTEGER NOT NULL DEFAULT 0,
  active_message_count INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE trajectory_runtime_events (
  session_id TEXT NOT NULL, seq INTEGER NOT NULL, run_id TEXT, event_json TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT;
CREATE INDEX idx_agent_trajectory_runtime_run ON trajectory_runtime_events(session_id, run_id, seq)
  WHERE run_id IS NOT NULL;
"""


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """A question, what was put before it, and the answer."""

    question: str
    answer: str
    block: str
    """What was put before the question, with the empty line behind it; empty for a silent turn."""
    time_ms: int
    usage: Mapping[str, int] | None = None
    """The tokens of its model call, as the host keeps them; None where it kept none."""
    system: str = ""
    """The system prompt, where the recorder kept one."""


MODEL = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5"}
"""What the host names beside a usage."""


def write_agent_database(
    folder: Path, session: str, key: str, turns: Sequence[MadeTurn], working_folder: str = ""
) -> Path:
    """Add a session to the database below an agent's `folder`, made where there is none; the database.

    `working_folder` is what the session's header says of where it ran.
    """
    path = folder / "agent" / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = not path.exists()
    with closing(sqlite3.connect(path)) as db, db:
        if fresh:
            db.executescript(_TABLES)
            db.execute(f"PRAGMA user_version = {SCHEMA}")
        begun = turns[0].time_ms if turns else 0
        ended = turns[-1].time_ms if turns else 0
        entry = json.dumps({"sessionId": session, "updatedAt": ended})
        db.execute(
            "INSERT INTO session_nodes VALUES (?, ?, ?, ?, 'done', ?, 'run', NULL)",
            (key, session, entry, ended, begun),
        )
        db.execute(
            "INSERT INTO session_windows VALUES (?, ?, NULL, NULL, 'conversation', ?, ?, ?, NULL)",
            (session, key, begun, ended, ended),
        )
        events: list[dict[str, Any]] = [
            {"type": "session", "version": 4, "id": session, "timestamp": _iso(begun)}
        ]
        if working_folder:
            events[0]["cwd"] = working_folder
        for at, turn in enumerate(turns):
            events += _messages(session, at, turn)
            _record(db, session, at, turn)
        for seq, event in enumerate(events):
            text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
            db.execute(
                "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?, ?, ?, ?)",
                (session, seq, text, ended),
            )
            if seq:
                db.execute(
                    "INSERT INTO session_transcript_active_events VALUES (?, ?, ?, ?, 1)",
                    (session, seq - 1, seq, seq - 1),
                )
        count = len(events) - 1
        db.execute(
            "INSERT INTO session_transcript_index_state VALUES (?, ?, ?, 0, ?, ?, ?)",
            (session, count, events[-1]["id"], count, count, ended),
        )
    return path


def _messages(session: str, at: int, turn: MadeTurn) -> list[dict[str, Any]]:
    run = _run(session, at)
    asked = {
        "role": "user",
        "content": turn.question,
        "timestamp": turn.time_ms,
        "idempotencyKey": f"{run}:user",
    }
    said = {
        "role": "assistant",
        "content": [{"type": "text", "text": turn.answer}],
        "timestamp": turn.time_ms + 20_000,
        "__openclaw": {"runId": run},
        **({} if turn.usage is None else {**MODEL, "usage": dict(turn.usage)}),
    }
    names = (f"{at:04x}u", f"{at:04x}a")
    above = (f"{at - 1:04x}a" if at else None, names[0])
    times = (turn.time_ms, turn.time_ms + 20_000)
    return [
        {"type": "message", "id": name, "parentId": parent, "timestamp": _iso(time_ms), "message": message}
        for name, parent, time_ms, message in zip(names, above, times, (asked, said), strict=True)
    ]


def _record(db: sqlite3.Connection, session: str, at: int, turn: MadeTurn) -> None:
    """What the recorder keeps of a run: why it began, and the prompt with the block before the question."""
    run = _run(session, at)
    kept = {"systemPrompt": turn.system, "tools": []} if turn.system else {}
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("session.started", {"trigger": "user"}),
        ("prompt.submitted", {"prompt": turn.block + turn.question, **kept}),
    )
    for number, (kind, data) in enumerate(kinds):
        event = {
            "type": kind,
            "ts": _iso(turn.time_ms + 900),
            "runId": run,
            "sessionId": session,
            "data": data,
        }
        db.execute(
            "INSERT INTO trajectory_runtime_events VALUES (?, ?, ?, ?, ?)",
            (session, at * 2 + number, run, json.dumps(event, ensure_ascii=False), turn.time_ms + 900),
        )


def _run(session: str, at: int) -> str:
    return f"{session}-run-{at}"


def _iso(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
