"""The events of one session as its host keeps them, whole, in their reading order: what Capture and documents take."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.witness.formats.database import EVENTS, find
from memtui.engine.witness.formats.database_events import StoredEvents
from memtui.engine.witness.formats.transcript import FORM, read_lines
from memtui.engine.witness.session import SessionFile, machine_of, text_of

MOST_EVENTS = 1_000_000
"""The greatest number of an event that a transcript's text has a line for."""


def read_events(
    file: SessionFile, warnings: list[str], cancel: CancelToken | None = None
) -> Iterator[Mapping[str, Any]]:
    """The events of a session one by one; what cannot be read is told in `warnings`.

    A branch that was given up is left out where the host says which one is live; where it does not, each event names
    its parent.
    """
    if file.form == FORM:
        for value in read_lines(file.path, warnings, cancel):
            if isinstance(value, Mapping):
                yield value
        return
    try:
        with open_unchanged(file.path) as db:
            if not file.archive and "session_id" not in column_names(db, EVENTS):
                warnings.append(f"{file.path.name} has no table {EVENTS}: its sessions cannot be read")
                return
            stored = StoredEvents(db, file, warnings, cancel)
            found = [event for event in stored if isinstance(event.value, Mapping)]
    except (sqlite3.Error, OSError) as error:
        warnings.append(f"{file.path.name} cannot be read: {error}")
        return
    by_seq = {event.seq: event for event in found}
    for event in [by_seq[seq] for seq in stored.order if seq in by_seq] if stored.order else found:
        yield event.value


def read_transcripts(folder: Path, agent: str) -> Iterator[tuple[str, str, int]]:
    """(name, JSON lines, time in ms) of each live session in an agent's database, as its host names them in its index.

    A line's number is that of the event, the header being line 1; what is no message of a person or an answer to one,
    and what cannot be read, is an empty line.
    """
    for file in find(folder, agent):
        if file.archived or file.listed_only or file.machine:
            continue
        lines: dict[int, str] = {}
        by_a_machine = False
        try:
            with open_unchanged(file.path) as db:
                if "session_id" in column_names(db, EVENTS):
                    for number, event in enumerate(StoredEvents(db, file, [])):
                        place = event.seq if event.seq is not None else number
                        message = event.value.get("message") if isinstance(event.value, Mapping) else None
                        if isinstance(message, Mapping) and message.get("role") == "user":
                            by_a_machine = bool(machine_of(message, text_of(message.get("content"))))
                        if isinstance(message, Mapping) and not by_a_machine and 0 <= place <= MOST_EVENTS:
                            lines[place] = json.dumps(event.value, ensure_ascii=False)
        except (sqlite3.Error, OSError):
            continue
        text = "\n".join(lines.get(place, "") for place in range(max(lines, default=-1) + 1))
        yield f"{agent}/{file.id}.jsonl", text, file.modified_ms
