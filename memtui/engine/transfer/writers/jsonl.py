"""memtui's own JSON lines: every column of every row, exactly as stored.

Where fields were left out they are no whole rows, and do not say so: any program's JSON lines, mapped when imported.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memtui.engine.transfer.export import Header, Window, open_text
from memtui.engine.transfer.loss import Ledger
from memtui.engine.transfer.own_form import DIALECT, MAP, MASKED, MODEL, SCHEMA, VECTOR, pack
from memtui.engine.transfer.readers.own import columns_of

_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def open_writer(place: Path, header: Header) -> JsonLines:
    """A writer to the file `place`."""
    return JsonLines(place, header)


class JsonLines:
    """One row a line; the vector, which is long, comes last."""

    def __init__(self, place: Path, header: Header) -> None:
        self._file = open_text(place)
        self._frame = {} if header.left_out else {"schema": SCHEMA, **frame(header)}
        self._left_out = header.left_out

    def write(self, window: Window, ledger: Ledger) -> None:
        """Append some rows."""
        vectors = window.vectors or [None] * len(window.rows)
        lines = []
        for row, vector, masked in zip(window.rows, vectors, window.masked, strict=True):
            for name in self._left_out:
                row.pop(name, None)
            line: dict[str, Any] = {**self._frame, **row}
            if masked:
                line[MASKED] = True
            if vector is not None:
                line |= {VECTOR: pack(vector)} if self._frame else {"vector": numbers(vector)}
            lines.append(_dump(line))
        if lines:
            self._file.write("\n".join(lines) + "\n")

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


def numbers(vector: bytes) -> list[float]:
    """A vector as JSON has it."""
    import numpy as np

    found: list[float] = np.frombuffer(vector, dtype="<f4").tolist()
    return found


def frame(header: Header) -> dict[str, Any]:
    """What a reader must know of the table that the rows are from."""
    dialect = header.store.dialect
    columns = dialect.columns
    found: dict[str, Any] = {DIALECT: dialect.name}
    if columns != columns_of(dialect.name, None):
        found[MAP] = {part: name for part in columns.__slots__ if (name := getattr(columns, part))}
    if header.vectors and header.model:
        found[MODEL] = header.model
    return found
