"""memtui's own JSON lines: every column of every row, exactly as stored.

Where fields were left out they are no whole rows, and do not say so: any program's JSON lines, mapped when imported.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from json.encoder import encode_basestring
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.metadata.read import finite
from memtui.engine.transfer.exporting.request import ExportFormat, Header, RowWindow, open_text
from memtui.engine.transfer.exporting.rows import ROW_FIELDS
from memtui.engine.transfer.readers.memtui import columns_of
from memtui.engine.transfer.record import DIALECT, MAP, MASKED, MODEL, SCHEMA, VECTOR, pack

if TYPE_CHECKING:
    import pyarrow as pa


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False).encode


def _dump(value: Any) -> str:
    try:
        return _encode(value)
    except ValueError:
        return _encode(finite(value))


_HOLE = "\0"
"""Where a value goes: no JSON has it."""


class JsonLines:
    """One row a line; the vector, which is long, comes last."""

    def __init__(self, place: Path, header: Header) -> None:
        self._place, self._file = place, open_text(place)
        self._own = not header.left_out
        known = {"schema": SCHEMA, **frame(header)} if self._own else {}
        self._frame = {name: _dump(value) for name, value in known.items()}
        self._left_out = header.left_out

    def write(self, window: RowWindow) -> None:
        """Append some rows: the JSON of whole columns, put together line by line."""
        if not len(window):
            return
        cells: dict[str, str | list[str]] = dict(self._frame)
        for name, column in zip(window.plain.schema.names, window.plain.columns, strict=True):
            if name not in self._left_out:
                cells[name] = _json(column)
        columns = [cell for cell in cells.values() if isinstance(cell, list)]
        parts = [f"{_dump(name)}:{each if isinstance(each, str) else _HOLE}" for name, each in cells.items()]
        form = "{" + ",".join(parts).replace("%", "%%").replace(_HOLE, "%s") + "%s}\n"
        self._file.write("".join([form % row for row in zip(*columns, self._ends(window), strict=True)]))

    def _ends(self, window: RowWindow) -> list[str]:
        """What stands behind the columns in each line."""
        ends = [f',"{MASKED}":true' if masked else "" for masked in window.masked]
        for row, vector in enumerate(window.vectors or ()):
            if vector is not None and self._own:
                ends[row] += f',"{VECTOR}":"{pack(vector)}"'
            elif vector is not None and all(map(math.isfinite, found := numbers(vector))):
                ends[row] += f',"vector":{_dump(found)}'
        return ends

    def close(self) -> Sequence[Path]:
        """Finish the file."""
        self._file.close()
        return (self._place,)


def _json(column: pa.ChunkedArray) -> list[str]:
    """The values of a column as JSON."""
    import pyarrow as pa

    kind, values = column.type, column.to_pylist()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if column.null_count:
            return ["null" if value is None else encode_basestring(value) for value in values]
        return list(map(encode_basestring, values))
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return _dump(values)[1:-1].split(",")
    return [_dump(value) for value in values]


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


PROTOCOL = 1

FORMAT = ExportFormat(
    "jsonl",
    "JSON lines, with everything",
    JsonLines,
    10,
    suffixes=(".jsonl", ".ndjson"),
    words=("lines",),
    choice=ROW_FIELDS,
)
