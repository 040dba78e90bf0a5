"""What an export to a format changes or leaves out, counted row by row: the other half of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memtui.engine.metadata.read import normalise
from memtui.engine.transfer.importing.to_row import OWN_ONLY
from memtui.engine.transfer.record import LossTable

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.transfer.exporting.request import ExportFormat, ExportRequest, Header, RowWindow


VECTORS = "left out: embedded anew when it is imported"

MASKED = "secrets in it masked: what stood there is not in the file"

REDACTED = "left out, as asked: its length stands there, sentences in the metadata too"

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
    if form.losses is None:
        return
    for memory, row in zip(window.memories(header), window.rows, strict=True):
        form.losses(memory, row, header, ledger)


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
