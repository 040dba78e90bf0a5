"""The keys of memtui's own JSON lines: every row names its form, so that a part of a file is a file too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybase64 import b64decode, b64encode_as_string

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCHEMA = "memtui.memory.v1"
"""Value of the key `schema` of each line."""
VECTOR = "vector_f32"
"""The vector: base64 of its float32 numbers, little endian. Exact, and half the size of decimals."""
MODEL = "model"
DIALECT = "dialect"
MAP = "column_map"
"""Role to column name, where the table is one that no program we know made."""
MASKED = "masked"
FRAME = frozenset(("schema", DIALECT, VECTOR, MODEL, MAP, MASKED))
"""Keys that are not columns of the row."""
PARQUET_MARK = b"memtui.export"
"""Key in the schema metadata of a Parquet file of ours; its value is JSON with dialect, model, column_map."""


def pack(vector: bytes) -> str:
    """Float32 bytes as text."""
    return b64encode_as_string(vector)


def unpack(text: str) -> NDArray[np.float32]:
    """The numbers that `pack` was given; ValueError for anything else."""
    import numpy as np

    return np.frombuffer(b64decode(text, validate=True), dtype="<f4")
