"""What an export to a format changes or leaves out, counted row by row: the other half of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memtui.engine.metadata.read import normalise
from memtui.engine.transfer.exporting.request import FOLDERS
from memtui.engine.transfer.importing.to_row import OWN_ONLY
from memtui.engine.transfer.record import LossTable
from memtui.engine.transfer.writers.csv import harmless
from memtui.engine.transfer.writers.markdown import UNDATED, day_of, lasts

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.transfer.exporting.request import ExportRequest, Header, RowWindow


VECTORS = "left out: embedded anew when it is imported"

MASKED = "secrets in it masked: what stood there is not in the file"

REDACTED = "left out, as asked: its length stands there, sentences in the metadata too"

_NO_PLACE = "the form has no place for it: lost"


def count_losses(request: ExportRequest, header: Header, window: RowWindow, ledger: LossTable) -> None:
    """Count the losses of some rows."""
    ledger.count("text", MASKED, sum(window.masked))
    if request.redact:
        ledger.count("text", REDACTED, len(window))
    if header.store.dims and (not request.vectors or request.format in FOLDERS):
        ledger.count("vector", VECTORS, len(window))
    by_row = _BY_FORMAT.get(request.format)
    if by_row is None:
        return
    for memory, row in zip(window.memories(header), window.rows, strict=True):
        by_row(memory, row, header, ledger)


def _pro(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    columns = header.store.dialect.columns
    if memory.scope is None:
        ledger.count("scope", "none: written as global, as the plugin does", 1, memory.id)
    if columns.importance and row.get(columns.importance) is None:
        ledger.count("importance", "not known: written as 0.7", 1, memory.id)
    if columns.metadata and row.get(columns.metadata) is None:
        ledger.count("metadata", "none: written as an empty object", 1, memory.id)
    _time(memory, row, header, ledger)
    _lifecycle(memory, row, header, ledger)
    for name, value in row.items():
        if name not in _PRO and name not in columns.known() and value is not None:
            ledger.count(name, _NO_PLACE, 1, memory.id)


def _csv(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    if harmless(memory.raw_text) != memory.raw_text:
        ledger.count("text", "a spreadsheet would run it: an apostrophe is put before it", 1, memory.id)
    if "\r" in memory.raw_text:
        ledger.count("text", "carriage returns may become line feeds", 1, memory.id)
    _time(memory, row, header, ledger)
    _lifecycle(memory, row, header, ledger)
    _columns(memory, header, ledger)


def _obsidian(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    if memory.raw_text != memory.raw_text.replace("\r\n", "\n").replace("\r", "\n"):
        ledger.count("text", "carriage returns become line feeds", 1, memory.id)
    if memory.scope is None:
        ledger.count("scope", "none: written as global", 1, memory.id)
    _time(memory, row, header, ledger)
    _lifecycle(memory, row, header, ledger)
    _columns(memory, header, ledger)


def _markdown(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    for name in ("id", "importance", "scope"):
        if getattr(memory, name) not in (None, ""):
            ledger.count(name, _NO_PLACE, 1, memory.id)
    if header.store.dialect.columns.metadata:
        ledger.count(
            "metadata", "tier, counters, summaries, validity, links: made anew from the text", 1, memory.id
        )
    for name in OWN_ONLY:
        if row.get(name) is not None:
            ledger.count(name, _NO_PLACE, 1, memory.id)
    if day_of(memory) != UNDATED:
        ledger.count("timestamp", "the day is kept, the time of day is lost", 1, memory.id)
    kept = "its heading stands for it" if lasts(memory) else "a daily file has no headings: lost"
    if memory.category:
        ledger.count("category", kept, 1, memory.id)
    if len(memory.raw_text.strip().splitlines()) > 1:
        ledger.count("text", "blank lines and indents inside it are lost", 1, memory.id)
    _columns(memory, header, ledger)


def _time(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    column = header.store.dialect.columns.timestamp
    stored = row.get(column) if column else None
    if stored is None or stored != memory.timestamp_ms:
        ledger.count("timestamp", "written in whole milliseconds, or as not known", 1, memory.id)


def _lifecycle(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
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


def _columns(memory: Memory, header: Header, ledger: LossTable) -> None:
    """Columns that only the program of the table knows."""
    for name, value in memory.extra.items():
        if value is not None and name != header.store.dialect.columns.vector:
            ledger.count(name, _NO_PLACE, 1, memory.id)


_PRO = frozenset(("id", "text", "category", "scope", "importance", "timestamp", "metadata"))

_BY_FORMAT: dict[str, Callable[[Memory, dict[str, Any], Header, LossTable], None]] = {
    "json": _pro,
    "csv": _csv,
    "obsidian": _obsidian,
    "markdown": _markdown,
}
