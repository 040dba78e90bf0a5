"""A table for spreadsheets: plain columns first, the metadata whole in the last."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtui.engine.core.memory import Memory
from memtui.engine.transfer.exporting.losses import (
    count_columns,
    count_importance,
    count_lifecycle,
    count_time,
    number_of,
)
from memtui.engine.transfer.exporting.request import ExportFormat, FieldChoice, Header, RowWindow, open_text
from memtui.engine.transfer.record import LossTable, pack

COLUMNS = (
    "id",
    "text",
    "category",
    "memory_category",
    "scope",
    "importance",
    "timestamp",
    "tier",
    "state",
    "access_count",
    "confidence",
    "metadata",
)
"""The fields of a memory, a column each, in their order."""

VECTOR = "vector_f32"

_RUNS = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings that a spreadsheet takes for a formula."""


class Table:
    """One row a memory; line breaks stay inside quotes."""

    def __init__(self, place: Path, header: Header) -> None:
        self._header = header
        self._place, self._file = place, open_text(place)
        self._csv = csv.writer(self._file, lineterminator="\n")
        self._names = [name for name in COLUMNS if name not in header.left_out]
        self._csv.writerow([*self._names, *([VECTOR] if header.vectors else [])])

    def write(self, window: RowWindow) -> None:
        """Append some rows."""
        vectors = window.vectors or [None] * len(window.rows)
        rows = zip(window.memories(self._header), window.rows, vectors, strict=True)
        for memory, row, vector in rows:
            cells = [self._cell(memory, row, name) for name in self._names]
            if self._header.vectors:
                cells.append("" if vector is None else pack(vector))
            self._csv.writerow(["" if cell is None else cell for cell in cells])

    def _cell(self, memory: Memory, row: dict[str, Any], name: str) -> Any:
        value = cell_of(memory, row, name, self._header)
        if name == "text":
            return harmless(value)
        return iso(value or 0) if name == "timestamp" else value

    def close(self) -> Sequence[Path]:
        """Finish the file."""
        self._file.close()
        return (self._place,)


def harmless(text: str) -> str:
    """`text` as a spreadsheet shows it instead of running it: an apostrophe before a formula."""
    return f"'{text}" if text.lstrip("'").startswith(_RUNS) else text


def as_it_was(text: str) -> str:
    """The text that `harmless` was given."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(_RUNS) else text


def iso(ms: int) -> str:
    """A moment as ISO 8601 in UTC to the millisecond, empty for an unknown one."""
    if not ms:
        return ""
    try:
        moment = datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return str(ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def cell_of(memory: Memory, row: dict[str, Any], field: str, header: Header) -> Any:
    """What a table for spreadsheets has in one of its fields, before it is made harmless; None for nothing."""
    if field == "text":
        return memory.raw_text
    if field == "importance":
        return number_of(row, header)
    if field == "timestamp":
        return memory.timestamp_ms or None
    return getattr(memory, field)


def count_row_losses(memory: Memory, row: dict[str, Any], header: Header, ledger: LossTable) -> None:
    """Count what a spreadsheet does to a memory, and what has no column in it."""
    if harmless(memory.raw_text) != memory.raw_text:
        ledger.count("text", "a spreadsheet would run it: an apostrophe is put before it", 1, memory.id)
    if "\r" in memory.raw_text:
        ledger.count("text", "carriage returns may become line feeds", 1, memory.id)
    count_importance(memory, row, header, ledger, "its cell stays empty")
    count_time(memory, row, header, ledger)
    count_lifecycle(memory, row, header, ledger)
    count_columns(memory, header, ledger)


PROTOCOL = 1

FORMAT = ExportFormat(
    "csv",
    "a table for spreadsheets",
    Table,
    30,
    suffixes=(".csv",),
    words=("table", "spreadsheet", "excel"),
    losses=count_row_losses,
    choice=FieldChoice(lambda store: COLUMNS, lambda store: ("id", "text"), cell_of),
)
