"""Rows of a table in an order of one's own, some at a time, however many and wherever in the table they are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import MemtuiError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.store.pin import Pin

_NEIGHBOURS = 64
"""Rows that the engine reads together: it unpacks about so many to give one."""
_WASTE = 4
"""When so many times the wanted rows would be unpacked, copying them once in the table's own order is cheaper."""


def in_order(pin: Pin, row_ids: NDArray[np.uint64], names: Sequence[str], many: int) -> Iterator[pa.Table]:
    """The rows with these ids in their order, at most `many` at a time, with the columns `names`.

    Rows that lie all over the table are copied to a temporary file first and picked from there: reading them
    where they lie would read everything many times. Raises MemtuiError when some are no longer there, and when
    there is no room for the copy.
    """
    if len(row_ids) <= many or not _scattered(row_ids, many):
        for start in range(0, len(row_ids), many):
            part = row_ids[start : start + many]
            table = pin.take(part.tolist(), names).select(list(names))
            _check_whole(table.num_rows, len(part))
            yield table
        return
    with _room():
        folder = tempfile.TemporaryDirectory(prefix="memtui-export-")
    with folder as name:
        yield from _copied(pin, row_ids, names, many, Path(name) / "rows.arrow")


@contextmanager
def _room() -> Iterator[None]:
    """A temporary folder that takes nothing more, in words."""
    try:
        yield
    except OSError as error:
        place = tempfile.tempdir or "the temporary folder"
        raise MemtuiError(
            f"There is no room in {place} to bring the rows into order: {error.strerror or error}.",
            fix="Make room there, or name another folder in TMPDIR; nothing was kept.",
            details=str(error),
        ) from error


def _scattered(row_ids: NDArray[np.uint64], many: int) -> bool:
    """Whether taking `many` at a time would unpack the table several times over."""
    import numpy as np

    rank = np.empty(len(row_ids), dtype=np.int64)
    rank[np.argsort(row_ids)] = np.arange(len(row_ids)) // _NEIGHBOURS
    parts = (rank[start : start + many] for start in range(0, len(rank), many))
    read = sum(len(np.unique(part)) for part in parts)
    return read * _NEIGHBOURS > _WASTE * len(row_ids)


def _copied(
    pin: Pin, row_ids: NDArray[np.uint64], names: Sequence[str], many: int, path: Path
) -> Iterator[pa.Table]:
    import numpy as np

    from memtui.engine.transfer.spool import Spool

    order = np.argsort(row_ids)
    ascending = row_ids[order]
    at = np.full(len(row_ids), -1, dtype=np.int64)
    """Of each row its number in the file."""
    done = 0
    schema = _kept(pin, names)
    with _room(), _file(path, schema) as file:
        for batch in pin.read_through(list(names), rows=many):
            ids = batch.column("_rowid").to_numpy()
            place = np.minimum(np.searchsorted(ascending, ids), len(ascending) - 1)
            wanted = ascending[place] == ids
            if wanted.any():
                at[order[place[wanted]]] = done + np.arange(int(wanted.sum()))
                done += int(wanted.sum())
                rows = batch if wanted.all() else batch.filter(_mask(wanted))
                file.write_batch(rows.select(schema.names))
    _check_whole(done, len(row_ids))
    del order, ascending
    spool = Spool(path)
    try:
        for start in range(0, len(at), many):
            yield spool.table(at[start : start + many])
    finally:
        spool.close()


def _kept(pin: Pin, names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([pin.schema.field(name) for name in names])


def _file(path: Path, schema: pa.Schema) -> Any:
    import pyarrow as pa

    return pa.ipc.new_file(str(path), schema)


def _mask(wanted: NDArray[np.bool_]) -> pa.Array:
    import pyarrow as pa

    return pa.array(wanted)


def _check_whole(found: int, wanted: int) -> None:
    if found != wanted:
        raise MemtuiError(
            "Rows vanished while they were exported: another program has cleaned up.",
            fix="Reload and export again; nothing was kept.",
        )
