"""The turns of thousands of sessions without their texts: who asked, when, and whether the run was recorded.

One pass over a database's messages; nothing is unpacked, and of the recorder's rows only their index is read.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.witness.formats.database import EVENTS, FORM, RECORDED, schema_warnings, sessions_in
from memtui.engine.witness.formats.database_events import entry_of_navigation
from memtui.engine.witness.prompt_block import TAG
from memtui.engine.witness.session import (
    Entry,
    SessionFile,
    SessionRecord,
    SubmittedPrompt,
    machine_of,
    moment_of,
    run_of,
    sender_of,
    text_of,
)

_NEEDED: Mapping[str, frozenset[str]] = {
    EVENTS: frozenset({"session_id", "seq", "event_json", "event_zstd", "navigation_json", "created_at"}),
    RECORDED: frozenset({"session_id", "run_id"}),
    "session_transcript_active_events": frozenset(
        {"session_id", "event_seq", "active_position", "message_position"}
    ),
    "session_transcript_index_state": frozenset({"session_id", "needs_rebuild", "indexed_seq"}),
}

_MESSAGES = (
    f"SELECT a.session_id, e.event_json, e.navigation_json, e.created_at "
    f"FROM session_transcript_active_events a CROSS JOIN {EVENTS} e "
    "ON e.session_id = a.session_id AND e.seq = a.event_seq "
    "WHERE a.message_position IS NOT NULL ORDER BY a.session_id, a.active_position"
)

_UP_TO_DATE = (
    "SELECT i.session_id FROM session_transcript_index_state i WHERE i.needs_rebuild = 0 "
    f"AND i.indexed_seq >= (SELECT max(seq) FROM {EVENTS} e WHERE e.session_id = i.session_id)"
)

_BY_A_USER = '"role":"user"'
"""So only in a message's own fields: inside a text its quotes stand behind backslashes."""

_RUN = re.compile(r'"runId":"([^"\\]+)"')


def outline_records(
    files: Sequence[SessionFile], environ: Mapping[str, str], cancel: CancelToken | None = None
) -> dict[tuple[Path, str], SessionRecord]:
    """By path and id, the records of those sessions that an outline suffices for; the others must be read.

    A session is left out when its host's index is behind, when its messages hold blocks, when a row is damaged, or when
    its recorder wrote into files.
    """
    found: dict[tuple[Path, str], SessionRecord] = {}
    by_path: dict[Path, dict[str, SessionFile]] = {}
    for file in files:
        if file.form == FORM and not file.archive and not file.listed_only:
            by_path.setdefault(file.path, {})[file.id] = file
    for path, sessions in by_path.items():
        try:
            with open_unchanged(path) as db:
                for record in _records(db, path, sessions, environ, cancel):
                    found[path, record.file.id] = record
        except (sqlite3.Error, OSError):  # said when the session is read
            continue
    return found


def _records(
    db: sqlite3.Connection,
    path: Path,
    sessions: Mapping[str, SessionFile],
    environ: Mapping[str, str],
    cancel: CancelToken | None,
) -> Iterator[SessionRecord]:
    if any(not columns <= set(column_names(db, table)) for table, columns in _NEEDED.items()):
        return
    warnings = schema_warnings(db, path)
    ready = {str(name) for (name,) in db.execute(_UP_TO_DATE)} & set(sessions)
    runs: dict[str, list[str]] = {}
    for session, run in db.execute(
        f"SELECT DISTINCT session_id, run_id FROM {RECORDED} WHERE run_id IS NOT NULL"
    ):
        runs.setdefault(session, []).append(run)
    ready -= sessions_in(db, RECORDED) - set(runs)  # recorded without a run: its own events must tell
    beside = _recorded_beside(path, environ)
    for session, rows in groupby(db.execute(_MESSAGES), itemgetter(0)):
        if cancel is not None:
            cancel.check()
        if session not in ready or (session not in runs and (beside is None or session in beside)):
            continue
        record = SessionRecord(sessions[session], recorded="sqlite" if session in runs else "")
        record.warnings += warnings
        record.prompts = [SubmittedPrompt(run, 0, "", None, False) for run in runs.get(session, ())]
        if _add_messages(record, rows):
            yield record


def _add_messages(record: SessionRecord, rows: Iterator[tuple[Any, Any, Any, Any]]) -> bool:
    """Add the messages of persons and machines, and of the answers those that name the run; False: read it whole."""
    recorded = {prompt.run for prompt in record.prompts}
    run_known = True
    for _, raw, navigation, created in rows:
        moment = created if isinstance(created, int) else 0
        if raw is None:
            told = entry_of_navigation(navigation, moment)
            if told is None:
                return False
            entry = told
        elif not isinstance(raw, str) or not raw.endswith("}"):
            return False
        elif _BY_A_USER not in raw:
            if run_known:
                continue
            run = _RUN.search(raw)
            entry = Entry("", None, False, "other", moment, run=run[1] if run else "")
        else:
            asked = None if TAG in raw else _message(raw, moment)
            if asked is None:
                return False
            entry = asked
        run_known = entry.run in recorded if entry.kind == "user" else run_known or bool(entry.run)
        record.entries.append(entry)
    return True


def _message(raw: str, created: int) -> Entry | None:
    """A user's message without its text; None for a row that is none."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    message = value.get("message") if isinstance(value, Mapping) else None
    if not isinstance(message, Mapping):
        return None
    if message.get("role") != "user":  # a user's message is quoted inside it
        return Entry("", None, False, "other", created, run=run_of(message))
    content = message.get("content")
    machine = machine_of(message, content if isinstance(content, str) else text_of(content))
    moment = moment_of(message.get("timestamp")) or moment_of(value.get("timestamp")) or created
    return Entry(
        "", None, False, "user", moment, run=run_of(message), machine=machine, sender=sender_of(message)
    )


def _recorded_beside(path: Path, environ: Mapping[str, str]) -> set[str] | None:
    """The sessions whose recorder wrote a file; None where the files lie in a place of their own."""
    if environ.get("OPENCLAW_TRAJECTORY_DIR", "").strip():
        return None
    try:
        names = os.listdir(path.parent.parent / "sessions")
    except OSError:
        return set()
    return {name.partition(".trajectory")[0] for name in names if ".trajectory" in name}
