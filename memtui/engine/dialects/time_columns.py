"""A whole column of times as numbers, whatever type it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core import iso_time

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_text(column: Any) -> bool:
    """Whether an Arrow column holds text."""
    import pyarrow as pa

    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def numbers(column: Any) -> NDArray[np.float64]:
    """An Arrow column of times as floats [n]: numbers as they are, all others in milliseconds; NaN where none is."""
    import pyarrow as pa

    if is_text(column):
        return _of_texts(column)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        return np.full(len(column), np.nan)
    values: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values


def _of_texts(column: Any) -> NDArray[np.float64]:
    """ISO 8601 text in whole milliseconds: at once where all are alike, one by one where a zone or another text is."""
    import pyarrow as pa

    try:
        moments = column.cast(pa.timestamp("us")).cast(pa.int64())
    except pa.ArrowInvalid:
        texts = column.to_pylist()
        return np.array([(text and iso_time.milliseconds(text)) or np.nan for text in texts], np.float64)
    stored: NDArray[np.float64] = moments.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(np.floor(stored / 1000.0))
