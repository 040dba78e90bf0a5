"""Terms over numbers and ages: comparisons and ranges. What is unknown (NaN) matches none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.query.ast import UNIT_MS, Age, Number, Op, Range, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memtui.engine.store.catalog import Mask


def number_mask(column: NDArray[np.floating] | NDArray[np.integer], op: Op, value: Value) -> Mask:
    """Rows of `column` [n] that compare with a Number, or lie in a Range of them.

    The value is rounded to the column's own precision, so that `imp:.7` finds a stored 0.7.
    """
    if isinstance(value, Range):
        low, high = (_limit(column, end) for end in (value.low, value.high))
        return _between(column, low, high)
    return _compare(column, op, _limit(column, value))


def age_mask(times: NDArray[np.float64], now_ms: int, op: Op, value: Value) -> Mask:
    """Rows whose time [n, milliseconds, NaN unknown] lies as long before `now_ms` as asked.

    A single age behind `:` or `=` means "shown as": 2d is from two days up to, not including, three.
    """
    age = now_ms - times
    if isinstance(value, Range):
        return _between(age, *(None if end is None else _ms(end) for end in (value.low, value.high)))
    ms = _ms(value)
    if op in (":", "=", "!="):
        assert isinstance(value, Age)
        return np.asarray((age >= ms) & (age < ms + UNIT_MS[value.unit]))
    return _compare(age, op, ms)


def _ms(value: Value) -> float:
    assert isinstance(value, Age)
    return value.ms


def _limit(column: NDArray[np.floating] | NDArray[np.integer], value: Value | None) -> float | None:
    if value is None:
        return None
    assert isinstance(value, Number)
    return float(np.float32(value.value)) if column.dtype == np.float32 else value.value


def _between(
    column: NDArray[np.floating] | NDArray[np.integer], low: float | None, high: float | None
) -> Mask:
    mask = ~np.isnan(column)
    if low is not None:
        mask &= column >= low
    if high is not None:
        mask &= column <= high
    return np.asarray(mask)


def _compare(column: NDArray[np.floating] | NDArray[np.integer], op: Op, value: float | None) -> Mask:
    assert value is not None
    match op:
        case ">":
            return np.asarray(column > value)
        case ">=":
            return np.asarray(column >= value)
        case "<":
            return np.asarray(column < value)
        case "<=":
            return np.asarray(column <= value)
        case _:
            return np.asarray(column == value)
