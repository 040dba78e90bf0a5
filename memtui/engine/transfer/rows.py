"""The rows that a plan writes, with their vectors, in batches of the table's own schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import MemtuiError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.transfer.plan import Plan


def new_rows(
    plan: Plan,
    numbers: NDArray[np.int64],
    vectors: NDArray[np.float32] | None,
    schema: pa.Schema,
    ids: Mapping[int, str],
) -> Iterator[pa.RecordBatch]:
    """The rows of these records (ascending) with the table's columns.

    A row that brought no vector takes it from `vectors`, float32 [records, dims]. `ids` are new ids for
    records whose own is taken.
    """
    import numpy as np
    import pyarrow as pa

    columns = plan.dialect.columns
    first = 0
    for batch in plan.spool.batches():
        start, stop = np.searchsorted(numbers, (first, first + batch.num_rows)).tolist()
        here = numbers[start:stop] - first
        if len(here):
            part = batch if len(here) == batch.num_rows else batch.take(pa.array(here))
            arrays = [part.column(part.schema.get_field_index(name)) for name in schema.names]
            at_vector = schema.get_field_index(columns.vector) if columns.vector else -1
            if at_vector >= 0:
                arrays[at_vector] = _filled(
                    arrays[at_vector], vectors, here + first, schema.field(at_vector).type
                )
            if ids:
                renamed = {at: ids[n] for at, n in enumerate((here + first).tolist()) if n in ids}
                at_id = schema.get_field_index(columns.id)
                values = arrays[at_id].to_pylist()
                arrays[at_id] = pa.array(
                    [renamed.get(at, each) for at, each in enumerate(values)], arrays[at_id].type
                )
            yield pa.record_batch(arrays, schema=schema)
        first += batch.num_rows
    if len(numbers) and int(np.max(numbers)) >= first:
        raise MemtuiError("The rows of the plan are no longer there.", fix="Plan the import again.")


def _filled(
    array: Any, vectors: NDArray[np.float32] | None, numbers: NDArray[np.int64], kind: pa.DataType
) -> Any:
    """An Arrow array of vectors without a NULL in it."""
    import numpy as np
    import pyarrow as pa

    valid = array.is_valid().to_numpy(zero_copy_only=False)
    if valid.all():
        return array
    dims = kind.list_size
    flat = np.zeros((len(array), dims), dtype=np.float32)
    if valid.any():
        flat[valid] = array.flatten().to_numpy(zero_copy_only=False).reshape(-1, dims)
    if vectors is not None:
        flat[~valid] = vectors[numbers[~valid]]
    return pa.FixedSizeListArray.from_arrays(
        pa.array(flat.ravel(), pa.float32()).cast(kind.value_type), type=kind
    )
