"""Rows by their row ids, of tables in every data format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_FIRST_FORMAT = "v1 files"
"""What Lance says of a table in data format 0.1, whose rows it reads only in their order."""

_BATCH = 4_096


def rows_of_ids(table: Any, row_ids: NDArray[np.uint64], columns: Sequence[str]) -> pa.Table:
    """The rows of a LanceDB table with these distinct row ids, in any order, with `_rowid`; absent ones are not."""
    try:
        return table.take_row_ids(row_ids.tolist()).select(list(columns)).with_row_id().to_arrow()
    except RuntimeError as error:
        if _FIRST_FORMAT not in str(error):
            raise
    return _picked(table, row_ids, columns)


def _picked(table: Any, row_ids: NDArray[np.uint64], columns: Sequence[str]) -> pa.Table:
    """The same, picked out of a reading of the table that ends with the last of them."""
    import numpy as np
    import pyarrow as pa

    query = table.search().select(list(columns)).with_row_id(True)
    found, schema = [], None
    left = len(row_ids)
    for batch in query.to_batches(batch_size=_BATCH):
        schema = batch.schema
        kept = np.isin(batch.column("_rowid").to_numpy(), row_ids)
        if kept.any():
            found.append(batch.filter(pa.array(kept)))
            left -= int(kept.sum())
        if not left:
            break
    if schema is None:
        return query.limit(1).to_arrow()
    return pa.Table.from_batches(found, schema)
