"""Fields that most JSON sources share, read into a record with what has to be said about them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pybase64 import b64encode_as_string

from memtui.engine.transfer.record import Record, Rejected
from memtui.engine.transfer.sources.text import storable, without_nul
from memtui.engine.transfer.sources.values import NO_MOMENT, read_importance, read_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

STABLE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{2,127}")
"""Ids that memory-lancedb-pro takes for a row, beside UUIDs."""

_SHOWN = 80


def text_of(value: Any, where: str, *, with_nul: bool = False) -> tuple[str, str] | Rejected:
    """(text, note) of a record's text field, or why there is no memory in it.

    NULs go, unless `with_nul` says that the row is to come back as it was.
    """
    if not isinstance(value, str):
        return Rejected(
            where, "it has no text" if value is None else f"its text is {kind_of(value)}, not a text"
        )
    text, nul = (value, "") if with_nul else without_nul(value)
    text, odd = storable(text)
    if not text.strip():
        return Rejected(where, "its text is empty")
    return text, "; ".join(filter(None, (nul, odd)))


def record_of(text: Any, where: str, *, with_nul: bool = False) -> Record | Rejected:
    """Begin a record with its text and what that lost, or say why there is no memory in it; see `text_of`."""
    found = text_of(text, where, with_nul=with_nul)
    if isinstance(found, Rejected):
        return found
    record = Record(text=found[0], where=where)
    if found[1]:
        record.lost("text", found[1])
    return record


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    kinds = ((bool, "true or false"), (int | float, "a number"), (str, "a text"), (list, "a list"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "an object")


def put_time(record: Record, field: str, value: Any, now_ms: int, *, name: str = "timestamp") -> None:
    """Read a time into `record.<field>`; `name` is what the ledger calls it."""
    ms, note = read_time(value, now_ms)
    setattr(record, field, ms)
    if note:
        record.lost(name, note)
        if ms is None:
            record.rest[f"{name}_as_given"] = value
    if note == NO_MOMENT and field == "timestamp_ms":
        record.time_unknown = True  # and stays so: the time of the import would make it brand new


def put_importance(record: Record, value: Any) -> None:
    """Read an importance."""
    record.importance, note = read_importance(value)
    if note:
        record.lost("importance", note)
        record.rest["importance_as_given"] = value


def put_id(record: Record, value: Any, *, stable: bool = False) -> None:
    """Keep an id as the row's when it can be one: a lower-case UUID, or with `stable` what the plugin takes."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return
    if _is_no_number(value):  # every row of a table may have it: as an id it would make them one memory
        record.lost("id", f"{NO_NUMBER}: the row gets a new one")
        return
    text = storable(str(value))[0]
    if UUID.fullmatch(text) or (stable and STABLE_ID.fullmatch(text) and not UUID.fullmatch(text.lower())):
        record.id = text
        return
    record.foreign_id = text
    record.lost("id", "not an id that a row can have: kept as a foreign id, the row gets a new one")


def put_vector(record: Record, value: Any) -> None:
    """Take a vector of finite numbers that is not all zero; anything else is left for embedding anew."""
    if value is None or value == []:
        return
    vector = _numbers(value)
    if isinstance(vector, str):
        record.lost("vector", vector)
    else:
        record.vector = vector


def _numbers(value: Any) -> NDArray[np.float32] | str:
    import numpy as np

    if not isinstance(value, list) or any(isinstance(item, str | bool) for item in value):
        return "not a list of numbers: re-embedded"
    try:
        with np.errstate(over="ignore"):
            vector = np.asarray(value, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        return "not a list of numbers: re-embedded"
    if vector.ndim != 1:
        return "not a list of numbers: re-embedded"
    if not np.isfinite(vector).all():
        return "a number in it is not finite or too large: re-embedded"
    if not vector.any():
        return "all zeros, which finds nothing: re-embedded"
    return vector


def words(value: Any) -> tuple[str, ...]:
    """A list of tags, a comma text or one word; () for anything else."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list):
        flat = (inner for item in value for inner in (item if isinstance(item, list) else [item]))
        return tuple(
            storable(str(item))[0].strip()
            for item in flat
            if isinstance(item, str | int) and str(item).strip()
        )
    return ()


NO_NUMBER = "not a number, which programs write where nothing is known"


def _is_no_number(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def word(value: Any) -> str | None:
    """A text that is not blank, as storable; numbers as text; None for anything else."""
    if isinstance(value, str):
        return storable(value)[0] if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool) and not _is_no_number(value):
        return str(value)
    return None


def put_word(record: Record, field: str, value: Any) -> None:
    """Set `record.<field>` to a text; of a list its first, the whole is kept beside; anything else is said so."""
    setattr(record, field, word(value))
    if _is_no_number(value):
        record.lost(field, f"{NO_NUMBER}: left unknown")
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return
    each = words(value)
    setattr(record, field, each[0] if each else None)
    record.rest[f"{field}_as_given"] = value
    if isinstance(value, list) and len(each) == 1 == len(value):
        return
    record.lost(
        field,
        f"a list: its first is the {field}, the whole is kept as {field}_as_given"
        if each
        else f"{kind_of(value)}, not a text: kept as {field}_as_given",
    )


def others(row: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The keys that nothing above has a place for, nulls left out."""
    return {key: value for key, value in row.items() if key not in known and value is not None}


def beginning(text: str) -> str:
    """The first characters, for a list of what was left out."""
    return text[:_SHOWN]


# Texts that are too long for one memory, cut where a person would cut them.

SPLIT_FROM = 4_000
"""Characters from which an entry of a note is split: more than any embedding model reads well."""

PIECE = 1_600
"""Longest piece: memory-core's own chunk size."""

_ENDS = tuple(
    re.compile(mark) for mark in (r"\n{2,}", r"\n", r"(?<=[.!?。！？])\s*", r"(?<=[;；、,，])\s*", r"\s+")
)

SPLIT = f"longer than {SPLIT_FROM:,} characters: split into pieces of at most {PIECE:,}"


def pieces(text: str, limit: int = PIECE) -> Iterator[str]:
    """`text` in pieces of at most `limit` characters, cut at the best place in the second half of each."""
    at = 0
    while len(text) - at > limit:
        window = text[at : at + limit]
        end = at + _cut(window)
        if piece := text[at:end].strip():
            yield piece
        at = end
    if piece := text[at:].strip():
        yield piece


def _cut(window: str) -> int:
    half = len(window) // 2
    for mark in _ENDS:
        end = max((match.end() for match in mark.finditer(window, half)), default=0)
        if end > half:
            return end
    return len(window)


# Vectors out of an Arrow column of any list type.


def is_vector(batch: Any, column: str | None) -> bool:
    """Whether a column holds lists of numbers: no texts, and no lists of several vectors a row."""
    import pyarrow as pa

    if column is None or column not in batch.schema.names:
        return False
    kind = batch.schema.field(column).type
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    number = kind.value_type if is_list else None
    return bool(is_list) and bool(
        pa.types.is_floating(number) or pa.types.is_integer(number) or pa.types.is_decimal(number)
    )


def plain_value(value: Any) -> Any:
    """A cell of a table as JSON knows it: decimals are numbers, or their digits where a number would lose some."""
    if isinstance(value, Decimal):
        if value.is_finite() and value == value.to_integral_value() and abs(value) < 1 << 63:
            return int(value)
        near = float(value)
        return near if value.is_finite() and Decimal(repr(near)) == value else str(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return b64encode_as_string(value)
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {key: plain_value(each) for key, each in value.items()}
    return value


def vectors_of(batch: Any, column: str | None) -> list[NDArray[np.float32] | None]:
    """The vector of each row as float32 [dims of that row]; None for a NULL or one that is not finite."""
    import numpy as np
    import pyarrow as pa

    if column is None or not is_vector(batch, column):
        return [None] * int(batch.num_rows)
    array = batch.column(batch.schema.get_field_index(column))
    null = array.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_fixed_size_list(array.type):
        width = array.type.list_size
        starts = np.arange(array.offset, array.offset + len(array)) * width
        ends = starts + width
    else:
        offsets = array.offsets.to_numpy()
        starts, ends = offsets[:-1], offsets[1:]
    flat = array.values.cast(pa.float32(), safe=False).to_numpy(zero_copy_only=False)
    return [
        None if missing else _usable(flat[start:end])
        for start, end, missing in zip(starts.tolist(), ends.tolist(), null.tolist(), strict=True)
    ]


def _usable(vector: NDArray[np.float32]) -> NDArray[np.float32] | None:
    import numpy as np

    return vector if vector.size and bool(np.isfinite(vector).all()) else None
