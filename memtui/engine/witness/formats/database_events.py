"""The events of one session as an agent's database keeps them: live rows, an archive, or cold storage."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.sqlite_file import column_names
from memtui.engine.witness.formats.compressed import expand_event, open_archive
from memtui.engine.witness.formats.database import ARCHIVES, COLD, EVENTS
from memtui.engine.witness.formats.lines import read_values
from memtui.engine.witness.session import Entry, SessionFile, entry_of

LARGEST_ARCHIVE = 256 << 20
"""Compressed bytes of an archive that are read out of a database."""

ORDERS = ("seq", "event_seq", "sequence", "created_at")
"""Columns that give the order of events, the surest first; the storage order is not the reading order."""

_ACTIVE, _INDEX = "session_transcript_active_events", "session_transcript_index_state"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event: its value, or why that cannot be read."""

    seq: int | None
    created_ms: int
    value: Any
    lost: str = ""
    navigation: Any = None
    """What the row's own index says of it, as text."""


@dataclass(slots=True)
class StoredEvents:
    """The events of one session, one by one. After the last one, `order` is known."""

    db: sqlite3.Connection
    file: SessionFile
    warnings: list[str]
    cancel: CancelToken | None = None
    order: list[int] = field(default_factory=list)
    """The sequence numbers of the live branch in their reading order; empty where the parents must be followed."""
    unordered: bool = False
    """Whether nothing but their times gives the order: an early layout, keyed by event ids."""

    def __iter__(self) -> Iterator[StoredEvent]:
        if self.file.archive:
            yield from self._archived()
            return
        columns = column_names(self.db, EVENTS)
        newest, any_row = -1, False
        for event in self._rows(columns):
            any_row, newest = True, max(newest, event.seq if event.seq is not None else -1)
            yield event
        if not any_row:
            yield from self._cold()
            return
        self.unordered = not set(ORDERS[:-1]) & set(columns)
        self.order = _active_order(self.db, self.file.id, newest)

    def _rows(self, columns: Sequence[str]) -> Iterator[StoredEvent]:
        made = self.db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (EVENTS,)).fetchone()
        last = [] if made and "WITHOUT ROWID" in str(made[0]).upper() else ["rowid"]
        order = ", ".join([*(name for name in ORDERS if name in columns), *last]) or "session_id"
        sequence = next((name for name in ORDERS[:-1] if name in columns), "NULL")
        wanted = ("created_at", "event_json", "event_zstd", "event_utf8_bytes", "navigation_json")
        chosen = ", ".join([sequence, *(name if name in columns else "NULL" for name in wanted)])
        rows = self.db.execute(
            f"SELECT {chosen} FROM {EVENTS} WHERE session_id = ? ORDER BY {order}", (self.file.id,)
        )
        for number, (seq, created, raw, packed, size, navigation) in enumerate(rows):
            if self.cancel is not None and number % 256 == 0:
                self.cancel.check()
            place = seq if isinstance(seq, int) else None
            moment = created if isinstance(created, int) else 0
            try:
                value = json.loads(expand_event(packed, size) if raw is None and packed is not None else raw)
            except (ValueError, TypeError, RecursionError) as error:
                why = str(error) if raw is None and packed is not None else "it is no JSON"
                yield StoredEvent(place, moment, None, why, navigation)
            else:
                yield StoredEvent(place, moment, value)

    def _archived(self) -> Iterator[StoredEvent]:
        """The transcript that the host put away when it deleted or reset the conversation."""
        name = self.file.archive
        row = self.db.execute(
            f"SELECT encoding, length(archive_blob), archive_sha256 FROM {ARCHIVES} WHERE archive_name = ?",
            (name,),
        ).fetchone()
        if row is None:
            self.warnings.append(f"the archive {name} is no longer in {ARCHIVES}")
            return
        encoding, size, digest = row
        source = self._blob(ARCHIVES, "archive_name", name, size)
        if source is None:
            return
        if hashlib.sha256(source).hexdigest() != digest:
            self.warnings.append(f"the archive {name} does not match its checksum")
        for value in self._lines(source, encoding == "zstd", name):
            yield StoredEvent(None, 0, value)

    def _cold(self) -> Iterator[StoredEvent]:
        """A session that the host moved into cold storage: events with their text inside, then the reading order."""
        wanted = ("archive_name", "archive_sha256", "event_count", "storage", "archive_blob")
        if not {"session_id", *wanted} <= set(column_names(self.db, COLD)):
            return
        row = self.db.execute(
            f"SELECT archive_name, archive_sha256, event_count, storage, length(archive_blob) FROM {COLD} "
            "WHERE session_id = ?",
            (self.file.id,),
        ).fetchone()
        if row is None:
            return
        name, digest, count, storage, size = row
        source: Path | bytes | None
        if storage == "file":
            source = self.file.path.parent.parent / "sessions" / "cold" / Path(str(name)).name
            whole = _same_bytes(source, digest)
        else:
            source = self._blob(COLD, "session_id", self.file.id, size)
            whole = source is None or hashlib.sha256(source).hexdigest() == digest
        if not whole:
            self.warnings.append(f"the cold archive {name} does not match its checksum")
        if source is None:
            return
        events = 0
        order: list[tuple[int, int]] = []
        for value in self._lines(source, True, str(name)):
            row = value.get("row") if isinstance(value, Mapping) else None
            if not isinstance(row, Mapping):
                continue
            if value.get("kind") == "event":
                events += 1
                yield _cold_event(row)
            elif value.get("kind") == "active":
                at, seq = row.get("active_position"), row.get("event_seq")
                if isinstance(at, int) and isinstance(seq, int):
                    order.append((at, seq))
        self.order = [seq for _, seq in sorted(order)]
        if isinstance(count, int) and events < count:
            self.warnings.append(f"the cold archive {name} holds {events} of its {count} events")

    def _lines(self, source: Path | bytes, packed: bool, name: str) -> Iterator[Any]:
        try:
            with open_archive(source, packed=packed) as stream:
                for _, value in read_values(stream, name, self.warnings, self.cancel):
                    yield value
        except OSError as error:
            self.warnings.append(f"{name} cannot be read: {error.strerror or error}")

    def _blob(self, table: str, column: str, value: str, size: object) -> bytes | None:
        if not isinstance(size, int) or size > LARGEST_ARCHIVE:
            self.warnings.append(
                f"an archive of {size} bytes in {table} is not read: the most is {LARGEST_ARCHIVE}"
            )
            return None
        row = self.db.execute(f"SELECT archive_blob FROM {table} WHERE {column} = ?", (value,)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            self.warnings.append(f"the archive in {table} holds no bytes")
            return None
        return row[0]


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


def _cold_event(row: Mapping[str, Any]) -> StoredEvent:
    seq, created = row.get("seq"), row.get("created_at")
    place, moment = seq if isinstance(seq, int) else None, created if isinstance(created, int) else 0
    try:
        return StoredEvent(place, moment, json.loads(row["event_json"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return StoredEvent(place, moment, None, "it is no JSON")


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


def _same_bytes(path: Path, digest: object) -> bool:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == digest
    except OSError:  # said when its lines are read
        return True
