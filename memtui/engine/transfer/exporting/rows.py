"""The rows of an export, a window at a time: in their order, secrets masked or texts left out as asked."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.column_sieves import suspected_of_secrets
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.secrets import mask
from memtui.engine.transfer.exporting.request import FieldChoice, RowWindow
from memtui.engine.transfer.record import FieldLoss
from memtui.engine.transfer.stored_metadata import mask_json, redact_row

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store
    from memtui.engine.transfer.exporting.request import ExportFormat, ExportRequest, Header


# Rows of a table in an order of one's own, some at a time, however many and wherever in the table they are.

_NEIGHBOURS = 64
"""Rows that the engine reads together: it unpacks about so many to give one."""

_WASTE = 4
"""When so many times the wanted rows would be unpacked, copying them once in the table's own order is cheaper."""


def in_order(
    pin: Snapshot, row_ids: NDArray[np.uint64], names: Sequence[str], many: int
) -> Iterator[pa.Table]:
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
    pin: Snapshot, row_ids: NDArray[np.uint64], names: Sequence[str], many: int, path: Path
) -> Iterator[pa.Table]:
    import numpy as np

    from memtui.engine.transfer.importing.spool import Spool

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
                rows = batch if wanted.all() else batch.filter(_ordered_mask(wanted))
                file.write_batch(rows.select(schema.names))
    _check_whole(done, len(row_ids))
    del order, ascending
    spool = Spool(path)
    try:
        for start in range(0, len(at), many):
            yield spool.table(at[start : start + many])
    finally:
        spool.close()


def _kept(pin: Snapshot, names: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([pin.schema.field(name) for name in names])


def _file(path: Path, schema: pa.Schema) -> Any:
    import pyarrow as pa

    return pa.ipc.new_file(str(path), schema)


def _ordered_mask(wanted: NDArray[np.bool_]) -> pa.Array:
    import pyarrow as pa

    return pa.array(wanted)


def _check_whole(found: int, wanted: int) -> None:
    if found != wanted:
        raise MemtuiError(
            "Rows vanished while they were exported: another program has cleaned up.",
            fix="Reload and export again; nothing was kept.",
        )


WINDOW = 4_096
"""Rows that a writer gets at a time."""

_TAKEN_BYTES = 16 << 20

_ROW_BYTES = 1_024
"""What a row without its vector usually takes."""


def windows(
    store: Store, catalog: Catalog, positions: NDArray[np.int64], request: ExportRequest
) -> Iterator[RowWindow]:
    """The rows at these places of the catalog. See `in_order` for what it raises."""
    vector = store.dialect.columns.vector if request.vectors else None
    names = [*store.row_columns, *([vector] if vector else [])]
    row_bytes = _ROW_BYTES + (4 * (store.dims or 0) if vector else 0)
    many = max(WINDOW, _TAKEN_BYTES // row_bytes // WINDOW * WINDOW)
    for table in in_order(store.pin(catalog.version), catalog.row_ids[positions], names, many):
        for at in range(0, table.num_rows, WINDOW):
            yield _window(table.slice(at, WINDOW), store, request, vector)


def _window(table: pa.Table, store: Store, request: ExportRequest, vector: str | None) -> RowWindow:
    columns = store.dialect.columns
    json_column = columns.json_object
    masked = [False] * table.num_rows
    if request.mask:
        table = _mask(table, columns.text, json_column, masked)
    if request.redact:
        names = [name for name in (columns.text, json_column) if name]
        rows = table.select(names).to_pylist()
        for row in rows:
            redact_row(row, columns.text, json_column)
        for name in names:
            table = _with_values(table, name, dict(enumerate(row[name] for row in rows)))
    return RowWindow(table, vector, masked)


def _mask(table: pa.Table, text: str, metadata: str | None, masked: list[bool]) -> pa.Table:
    """The table without the secrets in its texts; the rows that had one are marked in `masked`."""
    for name, hide in ((text, _hide), (metadata, mask_json)):
        if name is None:
            continue
        found: dict[int, str | None] = {}
        for at in suspected_of_secrets(table.column(name), json=name == metadata):
            hidden, count = hide(table.column(name)[at].as_py())
            if count:
                found[at], masked[at] = hidden, True
        table = _with_values(table, name, found)
    return table


def _hide(text: str | None) -> tuple[str | None, int]:
    return mask(text or "")


def _with_values(table: pa.Table, name: str, found: Mapping[int, Any]) -> pa.Table:
    """The table with other values in some rows of a column."""
    import pyarrow as pa

    if not found:
        return table
    at = table.schema.get_field_index(name)
    values: Sequence[Any] = [found.get(row, value) for row, value in enumerate(table.column(at).to_pylist())]
    return table.set_column(at, table.schema.field(at), pa.array(values, table.schema.field(at).type))


# Which fields of a memory an export has: all of them, or those that were asked for beside id and text.

LEFT_OUT = "left out, as asked"

ROW_FIELDS = FieldChoice(
    lambda store: store.row_columns, lambda store: (store.dialect.columns.id, store.dialect.columns.text)
)
"""The columns of the table, as they are called there."""


def left_out(store: Store, form: ExportFormat, wanted: tuple[str, ...]) -> frozenset[str]:
    """The fields that an export without them lacks; `wanted` empty is all. Id and text are always there.

    UsageError for a field that there is not, and for a format whose fields cannot be chosen.
    """
    if not wanted:
        return frozenset()
    if form.choice is None:
        from memtui.engine.transfer.registry import EXPORT_FORMATS

        can = ", ".join(
            export_format.name for export_format in EXPORT_FORMATS if export_format.choice is not None
        )
        raise UsageError(f"The fields of {form.name} cannot be chosen.", fix=f"Choose {can}.")
    there = form.choice.there(store)
    unknown = [each for each in wanted if each not in there]
    if unknown:
        raise UsageError(f"There is no field {unknown[0]!r} in it.", fix=f"Choose from {', '.join(there)}.")
    return frozenset(there) - {*wanted, *form.choice.always(store)}


def parse_fields(text: str) -> tuple[str, ...]:
    """Return the names in a text that has commas between them."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def count_left_out(window: RowWindow, header: Header, form: ExportFormat, rows: Counter[str]) -> None:
    """Count the rows that lose a value of each field that is left out."""
    cell = form.choice.cell if form.choice is not None else None
    if cell is not None and header.left_out:
        for memory, row in zip(window.memories(header), window.rows, strict=True):
            rows.update(name for name in header.left_out if cell(memory, row, name, header) is not None)
        return
    for name in header.left_out:
        column = window.table.column(name)
        rows[name] += len(column) - column.null_count


def with_left_out(losses: tuple[FieldLoss, ...], rows: Counter[str]) -> tuple[FieldLoss, ...]:
    """A ledger with the fields that were left out; what else would happen to those does not matter any more."""
    kept = [loss for loss in losses if loss.field not in rows]
    gone = [FieldLoss(field, count, LEFT_OUT) for field, count in rows.items() if count]
    return tuple(sorted([*kept, *gone], key=lambda loss: loss.field))
