"""The events of one session as its host keeps them, whole, in their reading order: what Capture and documents take."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.witness.formats.database import EVENTS
from memtui.engine.witness.formats.database_events import StoredEvents
from memtui.engine.witness.formats.transcript import FORM, read_lines
from memtui.engine.witness.session import SessionFile


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
