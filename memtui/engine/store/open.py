"""Opening a store: look first, connect after; never a file created or changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.store.locate import find_place

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


def open_store(
    target: str | Path,
    *,
    table: str | None = None,
    columns: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Store:
    """Open the table of memories at `target`, pinned at its newest version.

    `target` is the folder that holds `memories.lance`, a `.lance` folder, a `file://` URL, or a URI that
    LanceDB knows (`s3://`, `gs://`, `az://`, `db://`; `storage_options` go with it). `columns` maps our
    fields to the columns of a table that no known program made: {"id": ..., "text": ..., "vector": ...}.

    Raises `StoreNotFoundError`, `UnknownDialectError`, `DamagedStoreError` or `UsageError`, each with
    its remedy.
    """
    place = find_place(target, table)
    from memtui.engine.store.table import open_place

    return open_place(place, columns, storage_options)
