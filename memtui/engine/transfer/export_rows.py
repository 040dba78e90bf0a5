"""The rows of an export, a window at a time: in their order, secrets masked or texts left out as asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memtui.engine.secrets import HINT, mask
from memtui.engine.transfer.masking import mask_json, redact_row
from memtui.engine.transfer.ordered import in_order
from memtui.engine.transfer.screening import suspects

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from memtui.engine.memory import Memory
    from memtui.engine.store.catalog import Catalog
    from memtui.engine.store.table import Store
    from memtui.engine.transfer.export import ExportRequest, Header

WINDOW = 4_096
"""Rows that a writer gets at a time."""
_TAKEN_BYTES = 16 << 20
_ROW_BYTES = 1_024
"""What a row without its vector usually takes."""


@dataclass(slots=True)
class Window:
    """Some rows in the order of the export, as an Arrow table, as plain rows, and as memories."""

    table: pa.Table = field(repr=False)
    vector: str | None
    """The vector's column, where vectors are asked for."""
    masked: list[bool]
    """The rows in which a secret was masked."""
    _rows: list[dict[str, Any]] | None = field(default=None, repr=False)
    _read: list[Memory] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def plain(self) -> pa.Table:
        """The table without vectors."""
        return self.table if self.vector is None else self.table.drop_columns([self.vector])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows without vectors; read once."""
        if self._rows is None:
            self._rows = self.plain.to_pylist()
        return self._rows

    @property
    def vectors(self) -> list[bytes | None] | None:
        """Float32 bytes of each row's vector, None for a NULL; None where none are asked for."""
        return None if self.vector is None else _vector_bytes(self.table, self.vector)

    def memories(self, header: Header) -> list[Memory]:
        """The rows as memories; read once."""
        if self._read is None:
            self._read = header.store.dialect.to_memories(self.table, header.now_ms)
        return self._read


def windows(
    store: Store, catalog: Catalog, positions: NDArray[np.int64], request: ExportRequest
) -> Iterator[Window]:
    """The rows at these places of the catalog. See `ordered.in_order` for what it raises."""
    vector = store.dialect.columns.vector if request.vectors else None
    names = [*store.row_columns, *([vector] if vector else [])]
    row_bytes = _ROW_BYTES + (4 * (store.dims or 0) if vector else 0)
    many = max(WINDOW, _TAKEN_BYTES // row_bytes // WINDOW * WINDOW)
    for table in in_order(store.pin(catalog.version), catalog.row_ids[positions], names, many):
        for at in range(0, table.num_rows, WINDOW):
            yield _window(table.slice(at, WINDOW), store, request, vector)


def _window(table: pa.Table, store: Store, request: ExportRequest, vector: str | None) -> Window:
    columns = store.dialect.columns
    masked = [False] * table.num_rows
    if request.mask:
        table = _mask(table, columns.text, columns.metadata, masked)
    if request.redact:
        names = [name for name in (columns.text, columns.metadata) if name]
        rows = table.select(names).to_pylist()
        for row in rows:
            redact_row(row, columns.text, columns.metadata)
        for name in names:
            table = _with_values(table, name, dict(enumerate(row[name] for row in rows)))
    return Window(table, vector, masked)


def _mask(table: pa.Table, text: str, metadata: str | None, masked: list[bool]) -> pa.Table:
    """The table without the secrets in its texts; the rows that had one are marked in `masked`."""
    for name, hide in ((text, _hide), (metadata, mask_json)):
        if name is None:
            continue
        found: dict[int, str | None] = {}
        for at in suspects(table.column(name), HINT):
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
    values: Sequence[Any] = [found.get(row, each) for row, each in enumerate(table.column(at).to_pylist())]
    return table.set_column(at, table.schema.field(at), pa.array(values, table.schema.field(at).type))


def _vector_bytes(table: pa.Table, vector: str) -> list[bytes | None]:
    """Float32 bytes of each row's vector, None for a NULL."""
    import numpy as np

    array = table.column(vector).combine_chunks()
    dims = array.type.list_size
    there = array.is_valid().to_pylist()
    if array.null_count:
        array = array.fill_null([0.0] * dims)
    flat = np.ascontiguousarray(array.flatten().to_numpy(zero_copy_only=False), dtype="<f4")
    data, width = flat.tobytes(), 4 * dims
    return [data[width * at : width * (at + 1)] if valid else None for at, valid in enumerate(there)]
