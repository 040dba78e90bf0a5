"""Rows of a table of memories, whatever program made it, as records that still hold the whole row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from memtui.engine.dialects.base import Columns
from memtui.engine.transfer.readers.fields import text_of
from memtui.engine.transfer.record import Record, Rejected
from memtui.engine.transfer.text import storable

_LABELS = frozenset(("agentId", "scope", "importance_label", "trust_tier", "_rowid"))
"""Columns of single programs that are read below."""


def record_of_row(row: dict[str, Any], columns: Columns, dialect: str, where: str) -> Record | Rejected:
    """The record of one row without its vector; `columns` says what its columns mean.

    Nothing is corrected: a table of the same dialect gets the row back as it was. Times that cannot be
    read as milliseconds are handled where the row goes into another one.
    """
    found = text_of(row.get(columns.text), where)
    if isinstance(found, Rejected):
        return found
    stored_id = row.get(columns.id)
    record = Record(text=found[0], where=where, dialect=dialect, row=row)
    if stored_id is not None and str(stored_id).strip():
        record.id = storable(str(stored_id))[0]
    get = _getter(row)
    record.category = get(columns.category)
    record.scope = get(columns.scope)
    record.metadata = get(columns.metadata)
    record.importance = _number(get(columns.importance))
    record.timestamp_ms = _time(get(columns.timestamp)) or _time(get(columns.created))
    record.tier, record.state = get(columns.tier), get(columns.state)
    record.last_accessed_ms = _time(get(columns.last_accessed))
    _put_own(record, row)
    unknown = row.keys() - columns.known() - _LABELS
    if unknown:
        record.rest["columns"] = {
            name: row[name] for name in row if name in unknown and row[name] is not None
        }
    return record


def _put_own(record: Record, row: Mapping[str, Any]) -> None:
    """What only one dialect has: owners of built-in rows, labels and trust of openclaw-mem-engine."""
    agent = row.get("agentId")
    if record.dialect.startswith("builtin") and isinstance(agent, str) and agent.strip():
        if record.scope:
            record.rest["builtin_scope"] = record.scope
            record.lost(
                "scope", "a scope inside one agent's memories: kept in metadata, the agent sees them all"
            )
        record.scope = f"agent:{agent.strip()}"
        record.rest["agentId"] = agent
    if record.dialect == "engine":
        record.trust = row.get("trust_tier")
        if row.get("importance_label") is not None:
            record.rest["importance_label"] = row["importance_label"]


def _getter(row: Mapping[str, Any]) -> Any:
    return lambda column: row.get(column) if column else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _time(value: Any) -> int | None:
    from memtui.engine.metadata import coerce_timestamp

    return coerce_timestamp(value) or None if isinstance(value, int | float) else None
