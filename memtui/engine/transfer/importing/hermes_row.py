"""Rows of Hermes' table, as its plugin's remember tool writes a fact."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memtui.engine.access import GLOBAL
from memtui.engine.dialects.hermes import (
    ABSTRACT,
    FACT,
    HASH,
    KIND,
    ROLE,
    SESSION,
    TAGS,
    TURN,
    TURNS_OF,
    USER,
    text_hash,
)
from memtui.engine.transfer.importing.no_place import without_place
from memtui.engine.transfer.record import ConversionNote, Record
from memtui.engine.transfer.scope_mapping import Scoping

WORKSPACE = "hermes"
"""What its host says of every conversation."""

SOURCE = "remember"

NO_TIME = "not known: the time of the import is stored"


def hermes_values(
    record: Record, scoping: Scoping, now_ms: int, notes: list[ConversionNote]
) -> dict[str, Any]:
    """The columns of one fact without its vector; what is changed or lost on the way goes into `notes`."""
    if record.timestamp_ms is None:
        notes.append(ConversionNote("timestamp", NO_TIME))
    made = now_ms if record.timestamp_ms is None else record.timestamp_ms
    workspace = WORKSPACE
    if scoping.forces(record.scope) or not record.scope:
        placed = scoping.place(record.scope, keep_bare=True)[0]
        workspace = WORKSPACE if placed in (None, "", GLOBAL) else str(placed)
    else:
        notes.append(ConversionNote("scope", f"given to the workspace {WORKSPACE}, where Hermes looks"))
    text = record.text.strip()
    notes.extend(without_place(record, "Hermes'", ()))
    return {
        "id": fact_id(record.id or ""),
        KIND: FACT,
        "content": text,
        ABSTRACT: "",
        "category": (record.category or "").strip() or "general",
        TAGS: [],
        TURNS_OF: [],
        SESSION: "",
        TURN: 0,
        ROLE: "",
        USER: "",
        "agent_identity": "default",
        "agent_workspace": workspace,
        "platform": "cli",
        "source": SOURCE,
        "created_at": moment(made),
        "schema_version": 1,
        HASH: text_hash(FACT, workspace, text),
    }


def restored(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the same program out of an export, its time as the table holds it."""
    stored = row.get("created_at")
    if not isinstance(stored, str):
        return dict(row)
    return {**row, "created_at": datetime.fromisoformat(stored)}


def moment(ms: int) -> datetime:
    """Milliseconds as the table's time."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def fact_id(given: str) -> str:
    """`fact_` and 32 hex digits of another program's id that has as many; empty for any other."""
    try:
        return f"{FACT}_{uuid.UUID(given).hex}"
    except ValueError:
        return ""
