"""Made sessions in the four layouts of hosts: block in the message, recorder's file, SQLite of two ages."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LAYOUTS = ("blocks", "trajectory", "sqlite", "sqlite-windows")
START_MS = 1_788_858_000_000
WARNING = "[UNTRUSTED DATA — historical notes from long-term memory.]"


@dataclass(frozen=True)
class MadeTurn:
    """A turn to write: `lines` None means that the recorder lost it."""

    question: str
    lines: tuple[str, ...] | None = ()
    abandoned: int = 0
    """Tries that were given up before it."""
    compacted: bool = False
    """Whether a compaction follows."""
    pasted: bool = False
    """Whether the user pasted a block behind the words."""


def block(lines: Sequence[str], mode: str = "full") -> str:
    """The plugin's block of these lines."""
    return (
        f"<relevant-memories>\n<mode:{mode}>\n{WARNING}\n"
        + "\n".join(lines)
        + "\n[END UNTRUSTED DATA]\n</relevant-memories>"
    )


def line(text: str, scope: str = "global", day: str = "2025-06-15") -> str:
    """One memory's line."""
    return f"- [W][cases:{scope}] {day} (manual) {text}"


def write_session(home: Path, layout: str, turns: Sequence[MadeTurn], *, session: str = "s1", agent: str = "main",
                  shuffle: int = 0) -> None:  # fmt: skip
    """Write one session of these turns below `home/.openclaw`."""
    entries, events = _entries(turns, layout)
    folder = home / ".openclaw" / "agents" / agent
    if layout in ("blocks", "trajectory"):
        place = folder / "sessions"
        place.mkdir(parents=True, exist_ok=True)
        head = {"type": "session", "version": 3, "id": session, "timestamp": _iso(START_MS)}
        (place / f"{session}.jsonl").write_text(
            "".join(json.dumps(e) + "\n" for e in [head, *entries]), "utf-8"
        )
        if layout == "trajectory":
            (place / f"{session}.trajectory.jsonl").write_text(
                "".join(json.dumps(e) + "\n" for e in events), "utf-8"
            )
        return
    place = folder / "agent"
    place.mkdir(parents=True, exist_ok=True)
    parent = "sessions" if layout == "sqlite" else "session_windows"
    db = sqlite3.connect(place / "openclaw-agent.sqlite")
    db.execute(f"CREATE TABLE IF NOT EXISTS {parent}(session_id TEXT PRIMARY KEY, session_key TEXT)")
    for table in ("transcript_events", "trajectory_runtime_events"):
        db.execute(
            f"CREATE TABLE IF NOT EXISTS {table}(session_id TEXT, seq INTEGER, run_id TEXT, event_json TEXT,"
            " created_at INTEGER, PRIMARY KEY(session_id, seq))"
        )
    db.execute(f"INSERT INTO {parent} VALUES (?, ?)", (session, f"agent:{agent}:main"))
    for table, values in (("transcript_events", entries), ("trajectory_runtime_events", events)):
        rows = [(session, seq, None, json.dumps(value), START_MS + seq) for seq, value in enumerate(values)]
        random.Random(shuffle).shuffle(rows)
        db.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", rows)
    db.commit()
    db.close()


def _entries(turns: Sequence[MadeTurn], layout: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    entries: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    leaf: str | None = None
    clock = START_MS
    for number, turn in enumerate(turns):
        for attempt in range(turn.abandoned + 1):
            kept = attempt == turn.abandoned
            clock += 30_000
            lines = turn.lines if kept else (line(f"given up {number} {attempt}"),)
            words = turn.question if kept else f"{turn.question} (try {attempt})"
            typed = words + ("\n\n" + block([line("pasted by somebody")]) if turn.pasted else "")
            prompt = f"{block(lines)}\n\n{typed}" if lines else typed
            user = f"u{number}-{attempt}"
            stored = prompt if layout == "blocks" else typed
            entries.append(_message(user, leaf, clock, {"role": "user", "content": [_text(stored)]}))
            if lines is not None:
                run = {"runId": f"r{number}-{attempt}", "ts": _iso(clock - 1000)}
                compiled = {"prompt": prompt, "transcriptLeafId": leaf}
                events.append({"type": "context.compiled", **run, "data": compiled})
                events.append({"type": "prompt.submitted", **run, "data": {"prompt": prompt}})
            answer = f"a{number}-{attempt}"
            entries.append(
                _message(answer, user, clock + 5000, {"role": "assistant", "content": [_text("An answer.")]})
            )
        leaf = f"a{number}-{turn.abandoned}"
        if turn.compacted:
            compaction = f"c{number}"
            entries.append(
                {
                    "type": "compaction",
                    "id": compaction,
                    "parentId": leaf,
                    "summary": "…",
                    "timestamp": _iso(clock),
                }
            )
            leaf = compaction
    return entries, events


def _message(key: str, parent: str | None, time_ms: int, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "message",
        "id": key,
        "parentId": parent,
        "timestamp": _iso(time_ms),
        "message": {**message, "timestamp": time_ms},
    }


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat().replace("+00:00", "Z")
