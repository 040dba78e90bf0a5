"""A table for spreadsheets: plain columns first, the metadata whole in the last."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtui.engine.core.memory import Memory
from memtui.engine.transfer.exporting.request import Header, RowWindow, open_text
from memtui.engine.transfer.exporting.rows import CSV, cell_of
from memtui.engine.transfer.record import LossTable, pack

VECTOR = "vector_f32"

_RUNS = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings that a spreadsheet takes for a formula."""


def open_writer(place: Path, header: Header) -> Table:
    """A writer to the file `place`."""
    return Table(place, header)


class Table:
    """One row a memory; line breaks stay inside quotes."""

    def __init__(self, place: Path, header: Header) -> None:
        self._header = header
        self._file = open_text(place)
        self._csv = csv.writer(self._file, lineterminator="\n")
        self._names = [name for name in CSV if name not in header.left_out]
        self._csv.writerow([*self._names, *([VECTOR] if header.vectors else [])])

    def write(self, window: RowWindow, ledger: LossTable) -> None:
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

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


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
