"""One session out of an agent's database: its live rows, its archive, or what lies in cold storage."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.core.text import counted
from memtui.engine.witness.formats.database import (
    EVENTS,
    RECORDED,
    schema_warnings,
)
from memtui.engine.witness.formats.database_events import ORDERS, StoredEvents, entry_of_navigation
from memtui.engine.witness.formats.transcript import read_trajectory
from memtui.engine.witness.session import SessionFile, SessionRecord, entry_of, prompts_of

_PROMPTS = ("prompt.submitted", "context.compiled", "session.started", "trace.truncated")
"""Events of the recorder that say something of a prompt; the others are not even parsed."""


def read(file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None = None) -> SessionRecord:
    """The entries and submitted prompts of one session, in the order of their sequence."""
    record = SessionRecord(file)
    try:
        with open_unchanged(file.path) as db:
            record.warnings += schema_warnings(db, file.path)
            if not file.archive and "session_id" not in column_names(db, EVENTS):
                record.warnings.append(f"{file.path.name} has no table {EVENTS}: its sessions cannot be read")
            else:
                _read_entries(db, record, cancel)
            if not file.archive:
                _read_prompts(db, record, cancel)
    except (sqlite3.Error, OSError) as error:
        record.warnings.append(f"{file.path.name} cannot be read: {error}")
        return record
    record.tell_shortened()
    if not record.recorded and not file.archive:
        # A host that moved its transcripts here, and not yet what its recorder wrote.
        read_trajectory(record, file.path.parent.parent / "sessions", file.id, environ, cancel)
    return record


def _read_entries(db: sqlite3.Connection, record: SessionRecord, cancel: CancelToken | None) -> None:
    stored = StoredEvents(db, record.file, record.warnings, cancel)
    places: dict[int, int] = {}
    lost: list[str] = []
    for event in stored:
        if event.lost:
            lost.append(event.lost)
            told = entry_of_navigation(event.navigation, event.created_ms)
            entry = None if told is None else replace(told, lost=True)
        else:
            entry = entry_of(event.value, event.created_ms)
        if entry is not None:
            record.add(entry)
            if event.seq is not None:
                places[event.seq] = len(record.entries) - 1
    if lost:
        record.warnings.append(f"{counted(len(lost), 'event')} cannot be read, the first because {lost[0]}")
    if stored.unordered:
        record.entries.sort(key=lambda entry: entry.time_ms)
    elif stored.order:
        record.active = [record.entries[places[seq]] for seq in stored.order if seq in places]


def _read_prompts(db: sqlite3.Connection, record: SessionRecord, cancel: CancelToken | None) -> None:
    columns = column_names(db, RECORDED)
    if not {"session_id", "event_json"} <= set(columns):
        return
    order = next((name for name in ORDERS if name in columns), "rowid")
    rows = db.execute(
        f"SELECT event_json FROM {RECORDED} WHERE session_id = ? ORDER BY {order}", (record.file.id,)
    )
    bad = 0
    any_event = False

    def events() -> Iterator[Mapping[str, Any]]:
        nonlocal bad, any_event
        for number, (text,) in enumerate(rows):
            if cancel is not None and number % 256 == 0:
                cancel.check()
            any_event = True
            if isinstance(text, str) and text.startswith("{") and not any(name in text for name in _PROMPTS):
                continue
            try:
                value = json.loads(text)
            except (ValueError, TypeError, RecursionError):
                bad += 1
                continue
            if isinstance(value, Mapping) and isinstance(value.get("type"), str):
                yield value

    found = events()
    first = next(found, None)
    if first is not None:
        record.prompts, record.full, _ = prompts_of(chain((first,), found))
    if any_event:
        record.recorded = "sqlite"
    if bad:
        record.warnings.append(f"{bad} of the rows in {RECORDED} cannot be read")
