"""One session out of an agent's database: its live rows, its archive, or what lies in cold storage."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.core.text import counted
from memtui.engine.witness.formats.compressed import expand_event, open_archive
from memtui.engine.witness.formats.database import (
    ARCHIVES,
    COLD,
    EVENTS,
    RECORDED,
    schema_warnings,
)
from memtui.engine.witness.formats.lines import read_values
from memtui.engine.witness.formats.transcript import PACKED, read_trajectory
from memtui.engine.witness.session import Entry, SessionFile, SessionRecord, entry_of, prompts_of

LARGEST_ARCHIVE = 256 << 20
"""Compressed bytes of an archive that are read out of a database."""

_ORDERS = ("seq", "event_seq", "sequence", "created_at")
"""Columns that give the order of events, the surest first; the storage order is not the reading order."""

_ACTIVE, _INDEX = "session_transcript_active_events", "session_transcript_index_state"

_PROMPTS = ("prompt.submitted", "context.compiled", "session.started", "trace.truncated")
"""Events of the recorder that say something of a prompt; the others are not even parsed."""


def read(file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None = None) -> SessionRecord:
    """The entries and submitted prompts of one session, in the order of their sequence."""
    record = SessionRecord(file)
    try:
        with open_unchanged(file.path) as db:
            record.warnings += schema_warnings(db, file.path)
            if file.archive:
                _read_archive(db, record, cancel)
            elif "session_id" not in column_names(db, EVENTS):
                record.warnings.append(f"{file.path.name} has no table {EVENTS}: its sessions cannot be read")
            else:
                _read_live(db, record, cancel)
                _read_prompts(db, record, cancel)
    except (sqlite3.Error, OSError) as error:
        record.warnings.append(f"{file.path.name} cannot be read: {error}")
        return record
    record.tell_shortened()
    if not record.recorded and not file.archive:
        # A host that moved its transcripts here, and not yet what its recorder wrote.
        read_trajectory(record, file.path.parent.parent / "sessions", file.id, environ, cancel)
    return record


def _read_live(db: sqlite3.Connection, record: SessionRecord, cancel: CancelToken | None) -> None:
    session = record.file.id
    columns = column_names(db, EVENTS)
    places: dict[int, int] = {}
    bad: list[str] = []
    for seq, created, raw, packed, size, navigation in _rows(db, columns, session, cancel):
        try:
            entry = entry_of(_loaded(raw, packed, size), created)
        except (ValueError, TypeError, RecursionError) as error:
            bad.append(str(error) if packed is not None else "it is no JSON")
            told = entry_of_navigation(navigation, created)
            entry = None if told is None else replace(told, lost=True)
        if entry is not None:
            record.add(entry)
            if isinstance(seq, int):
                places[seq] = len(record.entries) - 1
    if bad:
        record.warnings.append(
            f"{counted(len(bad), 'row')} of {EVENTS} cannot be read, the first because {bad[0]}"
        )
    if not record.entries and _read_cold(db, record, cancel):
        return
    if not set(_ORDERS[:-1]) & set(columns):
        record.entries.sort(key=lambda entry: entry.time_ms)  # an early layout, keyed by event ids
        return
    order = _active_order(db, session, max(places, default=-1))
    if order:
        record.active = [record.entries[places[seq]] for seq in order if seq in places]


def _rows(
    db: sqlite3.Connection, columns: Sequence[str], session: str, cancel: CancelToken | None
) -> Iterator[tuple[Any, int, Any, Any, Any, Any]]:
    """(sequence, time in ms, text, compressed bytes, their size, navigation) of each row of a session."""
    made = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (EVENTS,)).fetchone()
    last = [] if made and "WITHOUT ROWID" in str(made[0]).upper() else ["rowid"]
    order = ", ".join([*(name for name in _ORDERS if name in columns), *last]) or "session_id"
    sequence = next((name for name in _ORDERS[:-1] if name in columns), "NULL")
    wanted = ("created_at", "event_json", "event_zstd", "event_utf8_bytes", "navigation_json")
    chosen = ", ".join([sequence, *(name if name in columns else "NULL" for name in wanted)])
    rows = db.execute(f"SELECT {chosen} FROM {EVENTS} WHERE session_id = ? ORDER BY {order}", (session,))
    for number, (seq, created, *more) in enumerate(rows):
        if cancel is not None and number % 256 == 0:
            cancel.check()
        yield (seq, created if isinstance(created, int) else 0, *more)


def _loaded(raw: Any, packed: Any, size: Any) -> Any:
    """The event of a row, as text or compressed."""
    if raw is None and packed is not None:
        raw = expand_event(packed, size)
    return json.loads(raw)


def entry_of_navigation(navigation: Any, created: int) -> Entry | None:
    """What a row's own index says of its event without the text: who said it, when, in which run, after what."""
    try:
        value = json.loads(navigation)
    except (ValueError, TypeError, RecursionError):
        return None
    event = value.get("navigation") if isinstance(value, Mapping) else None
    if not isinstance(event, Mapping):
        return None
    model = value.get("model")
    said = model.get("message") if isinstance(model, Mapping) else None
    if isinstance(said, Mapping) and isinstance(event.get("message"), Mapping):
        event = {**event, "message": {"timestamp": said.get("timestamp"), **event["message"]}}
    return entry_of(event, created)


def _active_order(db: sqlite3.Connection, session: str, newest: int) -> list[int]:
    """The sequence numbers of the live branch in their reading order; empty where the host's index is behind."""
    if not {"session_id", "event_seq", "active_position"} <= set(column_names(db, _ACTIVE)):
        return []
    if not {"session_id", "needs_rebuild", "indexed_seq"} <= set(column_names(db, _INDEX)):
        return []
    state = db.execute(
        f"SELECT needs_rebuild, indexed_seq FROM {_INDEX} WHERE session_id = ?", (session,)
    ).fetchone()
    if state is None or state[0] or not isinstance(state[1], int) or state[1] < newest:
        return []
    rows = db.execute(
        f"SELECT event_seq FROM {_ACTIVE} WHERE session_id = ? ORDER BY active_position", (session,)
    )
    return [seq for (seq,) in rows]


def _read_prompts(db: sqlite3.Connection, record: SessionRecord, cancel: CancelToken | None) -> None:
    columns = column_names(db, RECORDED)
    if not {"session_id", "event_json"} <= set(columns):
        return
    order = next((name for name in _ORDERS if name in columns), "rowid")
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


def _read_archive(db: sqlite3.Connection, record: SessionRecord, cancel: CancelToken | None) -> None:
    """The transcript that the host put away when it deleted or reset the conversation."""
    name = record.file.archive
    row = db.execute(
        f"SELECT encoding, length(archive_blob), archive_sha256 FROM {ARCHIVES} WHERE archive_name = ?",
        (name,),
    ).fetchone()
    if row is None:
        record.warnings.append(f"the archive {name} is no longer in {ARCHIVES}")
        return
    encoding, size, digest = row
    blob = _blob(db, ARCHIVES, "archive_name", name, size, record.warnings)
    if blob is None:
        return
    if hashlib.sha256(blob).hexdigest() != digest:
        record.warnings.append(f"the archive {name} does not match its checksum")
    _read_lines(record, blob, encoding == "zstd", name, cancel)


def _read_lines(
    record: SessionRecord, source: Path | bytes, packed: bool, name: str, cancel: CancelToken | None
) -> None:
    try:
        with open_archive(source, packed=packed) as stream:
            for _, value in read_values(stream, name, record.warnings, cancel):
                entry = entry_of(value)
                if entry is not None:
                    record.add(entry)
    except OSError as error:
        record.warnings.append(f"{name} cannot be read: {error.strerror or error}")


def _read_cold(db: sqlite3.Connection, record: SessionRecord, cancel: CancelToken | None) -> bool:
    """Read a session that the host moved into cold storage, with its reading order; False where it is not there."""
    wanted = ("archive_name", "archive_sha256", "event_count", "storage", "archive_blob")
    if not {"session_id", *wanted} <= set(column_names(db, COLD)):
        return False
    row = db.execute(
        f"SELECT archive_name, archive_sha256, event_count, storage, length(archive_blob) FROM {COLD} "
        "WHERE session_id = ?",
        (record.file.id,),
    ).fetchone()
    if row is None:
        return False
    name, digest, count, storage, size = row
    source: Path | bytes | None
    if storage == "file":
        source = record.file.path.parent.parent / "sessions" / "cold" / Path(str(name)).name
        whole = _same_bytes(source, digest)
    else:
        source = _blob(db, COLD, "session_id", record.file.id, size, record.warnings)
        whole = source is None or hashlib.sha256(source).hexdigest() == digest
    if not whole:
        record.warnings.append(f"the cold archive {name} does not match its checksum")
    if source is not None:
        read_cold_lines(record, source, str(name), cancel)
        if len(record.entries) + 1 < (count if isinstance(count, int) else 0):  # the header is no entry
            record.warnings.append(f"the cold archive {name} holds fewer than its {count} events")
    return True


def read_cold_lines(
    record: SessionRecord, source: Path | bytes, name: str, cancel: CancelToken | None
) -> None:
    """Read the lines of a cold archive: events with the text of each inside, then the reading order."""
    places: dict[int, int] = {}
    order: list[tuple[int, int]] = []
    bad = 0
    try:
        with open_archive(source, packed=not isinstance(source, Path) or source.suffix == PACKED) as stream:
            for _, value in read_values(stream, name, record.warnings, cancel):
                row = value.get("row") if isinstance(value, Mapping) else None
                if not isinstance(row, Mapping):
                    continue
                seq = row.get("seq")
                if value.get("kind") == "event":
                    try:
                        created = row.get("created_at")
                        entry = entry_of(
                            json.loads(row["event_json"]), created if isinstance(created, int) else 0
                        )
                    except (ValueError, TypeError, KeyError, RecursionError):
                        bad += 1
                        continue
                    if entry is not None:
                        record.add(entry)
                        places[seq if isinstance(seq, int) else -1] = len(record.entries) - 1
                elif value.get("kind") == "active":
                    at, seq = row.get("active_position"), row.get("event_seq")
                    if isinstance(at, int) and isinstance(seq, int):
                        order.append((at, seq))
    except OSError as error:
        record.warnings.append(f"{name} cannot be read: {error.strerror or error}")
    if bad:
        record.warnings.append(f"{counted(bad, 'event')} of {name} cannot be read")
    if order:
        record.active = [record.entries[places[seq]] for _, seq in sorted(order) if seq in places]


def _same_bytes(path: Path, digest: object) -> bool:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == digest
    except OSError:  # said when its lines are read
        return True


def _blob(
    db: sqlite3.Connection, table: str, column: str, value: str, size: object, warnings: list[str]
) -> bytes | None:
    if not isinstance(size, int) or size > LARGEST_ARCHIVE:
        warnings.append(f"an archive of {size} bytes in {table} is not read: the most is {LARGEST_ARCHIVE}")
        return None
    row = db.execute(f"SELECT archive_blob FROM {table} WHERE {column} = ?", (value,)).fetchone()
    if row is None or not isinstance(row[0], bytes):
        warnings.append(f"the archive in {table} holds no bytes")
        return None
    return row[0]
