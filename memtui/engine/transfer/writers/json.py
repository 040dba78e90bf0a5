"""memory-lancedb-pro's export document, which its own importer reads; vectors beside, which it ignores."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtui.engine.transfer.exporting.request import Header, RowWindow, open_text
from memtui.engine.transfer.readers.lancedb import RowReader
from memtui.engine.transfer.record import LossTable, Record
from memtui.engine.transfer.stored_metadata import dumps, extra_of, new_metadata
from memtui.engine.transfer.writers.jsonl import numbers

_WHOLE = 2**53


def open_writer(place: Path, header: Header) -> ProDocument:
    """A writer to the file `place`."""
    return ProDocument(place, header)


class ProDocument:
    """`{"version", "exportedAt", "count", "filters", "memories": [...]}` with two spaces of indent."""

    def __init__(self, place: Path, header: Header) -> None:
        self._header = header
        self._reader = RowReader(header.store.dialect.columns, header.store.dialect.name)
        self._file = open_text(place)
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

    def write(self, window: RowWindow, ledger: LossTable) -> None:
        """Append some rows."""
        vectors = window.vectors or [None] * len(window.rows)
        for row, vector in zip(window.rows, vectors, strict=True):
            text = json.dumps(self._memory(row, vector), ensure_ascii=False, indent=2, default=str)
            self._file.write(("\n" if self._first else ",\n") + "    " + text.replace("\n", "\n    "))
            self._first = False

    def close(self) -> None:
        """Finish the document."""
        self._file.write("]\n}\n" if self._first else "\n  ]\n}\n")
        self._file.close()

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
            "importance": 0.7 if importance is None else _short(min(1.0, max(0.0, float(importance)))),
            "timestamp": stamp,
            "metadata": metadata if isinstance(metadata, str) else "{}",
        }
        if vector is not None:
            found["vector"] = numbers(vector)
        return found


def _short(value: float) -> float | int:
    """Whole numbers without a point, as JavaScript writes them."""
    return int(value) if value == int(value) and abs(value) < _WHOLE else value
