"""Opening a store: look first, connect after; never a file created or changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.store.locate import find_place

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.table import Store


def open_store(
    target: str | Path,
    *,
    table: str | None = None,
    columns: Mapping[str, str] | str | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Store:
    """Open the table of memories at `target`, pinned at its newest version.

    `target` is the folder that holds `memories.lance`, a `.lance` folder, a `file://` URL, or a URI that
    LanceDB knows (`s3://`, `gs://`, `az://`, `db://`; `storage_options` go with it). `columns` maps our
    fields to the columns of a table that no known program made: {"id": ..., "text": ..., "vector": ...}; a text is
    the name of an extension's dialect.

    Raises `StoreNotFoundError`, `UnknownDialectError`, `DamagedStoreError` or `UsageError`, each with
    its remedy.
    """
    place = find_place(target, table)
    from memtui.engine.store.table import open_place

    return open_place(place, columns, storage_options)


def scan_address(
    address: str, version: int, options: Mapping[str, str], columns: Sequence[str], *, batch_size: int
) -> Iterator[pa.RecordBatch]:
    """Every row of a Lance dataset at a version, with `_rowid`: for workers that know nothing else of a store.

    `address` and `options` are those of `Store.dataset_place`; keys come from the variables of the service.
    """
    from memtui.engine.store.errors import explained
    from memtui.engine.store.lancedb_import import import_lancedb
    from memtui.engine.store.storage_options import with_limits

    root, _, name = address.removesuffix(".lance").rpartition("/")
    with explained(address):
        far = {"storage_options": with_limits(options)} if "://" in address else {}
        table = import_lancedb().connect(root, **far).open_table(name)
        table.checkout(version)
        query = table.search().select(list(columns)).with_row_id(True)
        yield from query.limit(None).to_batches(batch_size=batch_size)
