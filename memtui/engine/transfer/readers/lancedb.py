"""A LanceDB table of memories of any known dialect, read at one version; never written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memtui.engine.core.text import counted
from memtui.engine.dialects.base import Columns
from memtui.engine.dialects.time_form import AS_STORED, TimeForm
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected
from memtui.engine.transfer.sources.fields import record_of, vectors_of
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import storable

# Rows of a table of memories, whatever program made it, as records that still hold the whole row.

_LABELS = frozenset(("agentId", "scope", "importance_label", "trust_tier", "_rowid"))
"""Columns of single programs that are read below."""


BUILTIN_SCOPE = "builtin_scope"
"""Where a record keeps the scope that a row of the built-in store has inside its agent's memories."""


class RowReader:
    """Reads rows of one table; `columns` says what its columns mean."""

    def __init__(
        self,
        columns: Columns,
        dialect: str,
        whole: tuple[str, frozenset[str]] | None = None,
        times: TimeForm = AS_STORED,
    ) -> None:
        self._times = times
        self._columns, self._dialect = columns, dialect
        self._whole = whole[1] if whole and whole[0] == dialect else None
        self._known = frozenset((*columns.known(), *_LABELS))
        self._is_builtin = dialect.startswith("builtin")

    def record(self, row: dict[str, Any], where: str) -> Record | Rejected:
        """The record of one row without its vector.

        Nothing is corrected: a table of the same dialect gets the row back as it was. Times that cannot be
        read as milliseconds are handled where the row goes into another one. Of a row that goes in whole, what
        has no use there is not looked at.
        """
        columns, get = self._columns, row.get
        record = record_of(get(columns.text), where, with_nul=True)
        if isinstance(record, Rejected):
            return record
        record.dialect, record.row = self._dialect, row
        stored_id = get(columns.id)
        if stored_id is not None and str(stored_id).strip():
            record.id = storable(str(stored_id))[0]
        if columns.scope:
            record.scope = get(columns.scope)
        if columns.metadata:
            record.metadata = get(columns.metadata)
        if self._whole is not None and record.id and row.keys() <= self._whole:
            return record
        if columns.category:
            record.category = get(columns.category)
        if columns.importance:
            record.importance = _number(get(columns.importance))
        if columns.timestamp:
            record.timestamp_ms = self._time(get(columns.timestamp))
        if columns.created and record.timestamp_ms is None:
            record.timestamp_ms = self._time(get(columns.created))
        if columns.tier:
            record.tier = get(columns.tier)
        if columns.state:
            record.state = get(columns.state)
        if columns.last_accessed:
            record.last_accessed_ms = self._time(get(columns.last_accessed))
        if self._is_builtin or self._dialect == "engine":
            _put_own(record, row)
        if not row.keys() <= self._known:
            left = {name: row[name] for name in row if name not in self._known and row[name] is not None}
            if left:
                record.rest["columns"] = left
        return record

    def _time(self, value: Any) -> int | None:
        from memtui.engine.metadata.read import read_time

        return read_time(value, self._times.zone, self._times.unit) or None


def _put_own(record: Record, row: Mapping[str, Any]) -> None:
    """What only one dialect has: owners of built-in rows, labels and trust of openclaw-mem-engine."""
    agent = row.get("agentId")
    if record.dialect.startswith("builtin") and isinstance(agent, str) and agent.strip():
        if record.scope:
            record.rest[BUILTIN_SCOPE] = record.scope
        record.scope = f"agent:{agent.strip()}"
        record.rest["agentId"] = agent
    if record.dialect == "engine":
        record.trust = row.get("trust_tier")
        if row.get("importance_label") is not None:
            record.rest["importance_label"] = row["importance_label"]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


WINDOW = 4_096


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """Every memory of the table, in storage order; `options.mapping` maps the columns of a foreign one."""
    from memtui.engine.store.open import open_store

    store = open_store(path, columns=options.mapping)
    columns, dialect = store.dialect.columns, store.dialect.name
    options.meter.total = store.count()
    reader = RowReader(columns, dialect, options.whole, store.dialect.times)
    number = 0
    for batch in store.pin().read_through(list(store.columns), rows=WINDOW):
        plain = [name for name in batch.schema.names if name not in (columns.vector, "_rowid")]
        rows = batch.select(plain).to_pylist()
        for row, vector in zip(rows, vectors_of(batch, columns.vector), strict=True):
            number += 1
            record = reader.record(row, f"row {number}")
            if isinstance(record, Record):
                record.vector = vector
            yield record
        options.meter.add(batch.num_rows)


def detects(head: Head) -> Sighting:
    """The columns of a known dialect. Raises UnknownDialectError or DamagedStoreError for other tables."""
    from memtui.engine.store.open import open_store

    store = open_store(head.path)
    vectors = f"vectors of {store.dims} dimensions" if store.dims else "no vectors"
    return Sighting(
        (
            f"a table with the columns of {store.dialect.title}",
            f"{counted(store.count(), 'row')}, {vectors}",
        )
    )


PROTOCOL = 1

FORMATS = (
    Format("lancedb", "a LanceDB table of memories", {"lance": read}, detects, 20, stored=True, own=True),
)
