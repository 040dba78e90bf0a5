"""What an export to a format changes or leaves out, counted row by row: the other half of the ledger."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from memtui.engine.metadata.read import normalise
from memtui.engine.transfer.importing.to_row import OWN_ONLY
from memtui.engine.transfer.record import LossTable

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.transfer.exporting.request import ExportFormat, ExportRequest, Header, RowWindow


VECTORS = "left out: re-embedded when it is imported"

MASKED = "secrets in it masked: what stood there is not in the file"

REDACTED = "left out, as asked: its length stands there, sentences in the metadata too"

NO_NUMBER = "not a number or infinite, which JSON cannot hold: written as null"

BAD_VECTOR = "a value in it is not a number or infinite, which JSON cannot hold: left out"

NO_PLACE = "the form has no place for it: lost"


def count_losses(
    form: ExportFormat, request: ExportRequest, header: Header, window: RowWindow, ledger: LossTable
) -> None:
    """Count the losses of some rows in a format."""
    ledger.count("text", MASKED, sum(window.masked))
    if request.redact:
        ledger.count("text", REDACTED, len(window))
    if header.store.dims and (not request.vectors or form.folder):
        ledger.count("vector", VECTORS, len(window))
    if form.name == "jsonl":
        for name, column in zip(window.plain.schema.names, window.plain.columns, strict=True):
            ledger.count(name, NO_NUMBER, _not_finite(column))
    if window.vectors and (form.name == "json" or (form.name == "jsonl" and header.left_out)):
        ledger.count("vector", BAD_VECTOR, sum(_spoilt(vector) for vector in window.vectors))
    if form.losses is None:
        return
    for memory, row in zip(window.memories(header), window.rows, strict=True):
        form.losses(memory, row, header, ledger)


def _not_finite(column: Any) -> int:
    """How many values of a column are there and are no finite numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return 0
    return int(pc.sum(pc.invert(pc.is_finite(column))).as_py() or 0)


def _spoilt(vector: bytes | None) -> bool:
    import numpy as np

    return vector is not None and not np.isfinite(np.frombuffer(vector, dtype="<f4")).all()


def number_of(row: dict[str, Any], header: Header) -> float | None:
    """The importance of a row as a text can say it: None for none, and for what is not a number or infinite."""
    column = header.store.dialect.columns.importance
    stored = row.get(column) if column else None
    return stored if isinstance(stored, int | float) and math.isfinite(stored) else None


def count_importance(
    memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable, written: str
) -> None:
    """Count an importance that is not a number or infinite; `written` says what stands for it."""
    column = header.store.dialect.columns.importance
    if column and row.get(column) is not None and number_of(row, header) is None:
        ledger.count("importance", f"not a number or infinite: {written}", 1, memory.id)


def count_time(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    column = header.store.dialect.columns.timestamp
    stored = row.get(column) if column else None
    if stored is None or stored != memory.timestamp_ms:
        ledger.count("timestamp", "written in whole milliseconds, or as not known", 1, memory.id)


def count_lifecycle(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    """Columns of memtui's own tables that stand in the metadata too, where the two differ."""
    if not header.store.dialect.can.own_store:
        return
    meta = normalise(
        memory.metadata,
        text=memory.raw_text,
        category=memory.category,
        timestamp_ms=memory.timestamp_ms,
        now_ms=header.now_ms,
    )
    for name in OWN_ONLY:
        if row.get(name) is not None and row[name] != getattr(meta, name):
            ledger.count(name, "other than in the metadata, which is what is written: lost", 1, memory.id)


def count_columns(memory: Memory, header: Header, ledger: LossTable) -> None:
    """Columns that only the program of the table knows."""
    for name, value in memory.extra.items():
        if value is not None and name != header.store.dialect.columns.vector:
            ledger.count(name, NO_PLACE, 1, memory.id)
