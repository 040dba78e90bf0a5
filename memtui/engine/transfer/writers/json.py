"""memory-lancedb-pro's export document, which its own importer reads; vectors beside, which it ignores."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtui.engine.core.memory import Memory
from memtui.engine.metadata.read import coerce_importance, finite
from memtui.engine.transfer.exporting.losses import NO_PLACE, count_importance, count_lifecycle, count_time
from memtui.engine.transfer.exporting.request import ExportFormat, Header, RowWindow, open_text
from memtui.engine.transfer.readers.lancedb import RowReader
from memtui.engine.transfer.record import LossTable, Record
from memtui.engine.transfer.stored_metadata import dumps, extra_of, new_metadata
from memtui.engine.transfer.writers.jsonl import numbers

_WHOLE = 2**53


class ProDocument:
    """`{"version", "exportedAt", "count", "filters", "memories": [...]}` with two spaces of indent."""

    def __init__(self, place: Path, header: Header) -> None:
        self._header = header
        self._reader = RowReader(
            header.store.dialect.columns, header.store.dialect.name, times=header.store.dialect.times
        )
        self._place, self._file = place, open_text(place)
        self._first = True
        moment = datetime.fromtimestamp(header.now_ms / 1000, UTC)
        head: dict[str, Any] = {
            "version": "1.0",
            "exportedAt": f"{moment:%Y-%m-%dT%H:%M:%S}.{header.now_ms % 1000:03d}Z",
            "count": header.rows,
            "filters": header.filters,
        }
        if header.vectors:
            head |= {"dims": header.store.dims, "embedding_model": header.model}
        body = json.dumps(head, ensure_ascii=False, indent=2)
        self._file.write(body.removesuffix("\n}") + ',\n  "memories": [')

    def write(self, window: RowWindow) -> None:
        """Append some rows."""
        vectors = window.vectors or [None] * len(window.rows)
        for row, vector in zip(window.rows, vectors, strict=True):
            text = json.dumps(finite(self._memory(row, vector)), ensure_ascii=False, indent=2, default=str)
            self._file.write(("\n" if self._first else ",\n") + "    " + text.replace("\n", "\n    "))
            self._first = False

    def close(self) -> Sequence[Path]:
        """Finish the document."""
        self._file.write("]\n}\n" if self._first else "\n  ]\n}\n")
        self._file.close()
        return (self._place,)

    def _memory(self, row: dict[str, Any], vector: bytes | None) -> dict[str, Any]:
        dialect = self._header.store.dialect
        columns = dialect.columns
        record = self._reader.record(row, "")
        scope = row.get(columns.scope) if columns.scope else None
        metadata = row.get(columns.metadata) if columns.metadata else None
        if isinstance(record, Record):
            scope = record.scope
            if columns.metadata is None:
                extra = extra_of(record, {"from": dialect.name}, None)
                metadata = (
                    new_metadata(record, "patterns", record.timestamp_ms or 0, extra) if extra else dumps({})
                )
        stamp = dialect.timestamp_ms(row)
        importance = row.get(columns.importance) if columns.importance else None
        found: dict[str, Any] = {
            "id": dialect.row_id(row),
            "text": dialect.raw_text(row),
            "category": (row.get(columns.category) if columns.category else None) or "other",
            "scope": scope or "global",
            "importance": _short(coerce_importance(0.7 if importance is None else importance)),
            "timestamp": stamp,
            "metadata": metadata if isinstance(metadata, str) else "{}",
        }
        if vector is not None and all(map(math.isfinite, stored := numbers(vector))):
            found["vector"] = stored
        return found


def _short(value: float) -> float | int:
    """Whole numbers without a point, as JavaScript writes them."""
    return int(value) if value == int(value) and abs(value) < _WHOLE else value


_PRO = frozenset(("id", "text", "category", "scope", "importance", "timestamp", "metadata"))


def count_row_losses(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    """Count what the document has no place for."""
    columns = header.store.dialect.columns
    if memory.scope is None:
        ledger.count("scope", "none: written as global, as the plugin does", 1, memory.id)
    if columns.importance and row.get(columns.importance) is None:
        ledger.count("importance", "not known: written as 0.7", 1, memory.id)
    count_importance(memory, row, header, ledger, "written as 0.7, as the plugin reads it")
    if columns.metadata and row.get(columns.metadata) is None:
        ledger.count("metadata", "none: written as an empty object", 1, memory.id)
    count_time(memory, row, header, ledger)
    count_lifecycle(memory, row, header, ledger)
    for name, value in row.items():
        if name not in _PRO and name not in columns.known() and value is not None:
            ledger.count(name, NO_PLACE, 1, memory.id)


PROTOCOL = 1

FORMAT = ExportFormat(
    "json",
    "memory-lancedb-pro's own export",
    ProDocument,
    20,
    suffixes=(".json",),
    losses=count_row_losses,
    newest_first=True,
)
