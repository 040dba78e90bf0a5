"""Vectors out of an Arrow column of any list type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def vectors_of(batch: Any, column: str | None) -> list[NDArray[np.float32] | None]:
    """The vector of each row as float32 [dims of that row]; None for a NULL or one that is not finite."""
    import numpy as np
    import pyarrow as pa

    if column is None or column not in batch.schema.names:
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
