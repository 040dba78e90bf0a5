"""Which Arrow types can hold which part of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.dialects.rows import is_vector

if TYPE_CHECKING:
    import pyarrow as pa


def fits(part: str, kind: pa.DataType) -> bool:
    """Whether a column of type `kind` can hold `part`, a field of `Columns` or a label."""
    import pyarrow as pa

    text = bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    number = bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
    match part:
        case "vector":
            return is_vector(kind)
        case "id":
            return text or bool(pa.types.is_integer(kind))
        case "importance" | "access_count":
            return number
        case "timestamp" | "created" | "last_accessed":
            return number or bool(pa.types.is_timestamp(kind))
    return text
