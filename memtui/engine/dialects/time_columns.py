"""A whole column of times, whatever type it has: as numbers, or value by value."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core import iso_time
from memtui.engine.dialects.time_form import AS_STORED, TimeForm

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_text(column: Any) -> bool:
    """Whether an Arrow column holds text."""
    import pyarrow as pa

    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def numbers(column: Any, times: TimeForm = AS_STORED) -> NDArray[np.float64]:
    """An Arrow column of times as floats [n]; NaN where none is.

    Text and Arrow's own types in milliseconds, numbers in milliseconds where their unit is known, else as stored.
    """
    import pyarrow as pa

    if is_text(column):
        return _of_texts(column, times)
    if is_moment(column.type):
        return _of_moments(column, times)
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        return np.full(len(column), np.nan)
    values: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return _in_milliseconds(values, times)


def stored_values(column: Any, times: TimeForm = AS_STORED) -> list[Any]:
    """The values of a column as `Dialect.read_time` takes them: moments as milliseconds, all others as stored."""
    if not is_moment(column.type):
        values: list[Any] = column.to_pylist()
        return values
    return [None if np.isnan(value) else int(value) for value in _of_moments(column, times)]


def is_moment(kind: Any) -> bool:
    """Whether an Arrow type holds moments or days."""
    import pyarrow as pa

    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def _in_milliseconds(values: NDArray[np.float64], times: TimeForm) -> NDArray[np.float64]:
    """Numbers of a known unit as milliseconds; those of an unknown one as they are."""
    if times.unit == "":
        return values
    if times.unit == "by size":
        sizes = np.abs(values)
        return np.asarray(
            values * np.select([sizes < 1e11, sizes < 1e14, sizes < 1e17], [1e3, 1.0, 1e-3], 1e-6)
        )
    return np.asarray(values * PER_UNIT.get(times.unit, 1.0))


PER_UNIT = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
"""Milliseconds in one of each unit."""


def _of_moments(column: Any, times: TimeForm) -> NDArray[np.float64]:
    """Arrow's timestamps and days in milliseconds; those without a zone are in that of `times`."""
    import pyarrow as pa

    aware = pa.types.is_timestamp(column.type) and column.type.tz is not None
    stamps = column.cast(pa.timestamp("ms", tz=column.type.tz if aware else None), safe=False)
    values: NDArray[np.float64] = (
        stamps.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    )
    if aware or times.is_utc:
        return values
    return np.array(
        [np.nan if np.isnan(value) else _from_wall_clock(value, times) for value in values], np.float64
    )


_EPOCH = datetime.fromisoformat("1970-01-01")
"""Without a zone: the wall clock's."""


def _from_wall_clock(value: float, times: TimeForm) -> float:
    try:
        moment = _EPOCH + timedelta(milliseconds=value)
    except OverflowError:
        return np.nan
    return float(iso_time.moment_microseconds(moment, times.zone) // 1000)


def _of_texts(column: Any, times: TimeForm) -> NDArray[np.float64]:
    """ISO 8601 text in whole milliseconds: at once where all are alike, one by one where a zone or another text is."""
    import pyarrow as pa

    zone = times.zone
    if times.is_utc:
        try:
            moments = column.cast(pa.timestamp("us")).cast(pa.int64())
        except pa.ArrowInvalid:
            pass
        else:
            stored: NDArray[np.float64] = moments.cast(pa.float64(), safe=False).to_numpy(
                zero_copy_only=False
            )
            return np.asarray(np.floor(stored / 1000.0))
    texts = column.to_pylist()
    return np.array([(text and iso_time.milliseconds(text, zone)) or np.nan for text in texts], np.float64)
