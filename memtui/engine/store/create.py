"""Making a table of memtui's own: the fast profile, for tables that no other program opens."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.store.errors import explained, writing
from memtui.engine.store.lancedb_import import import_lancedb
from memtui.engine.store.locate import TABLE, find_place
from memtui.engine.store.storage_options import with_limits

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.store.table import Store


NO_OPTIONS: Mapping[str, str] = MappingProxyType({})

STABLE_ROW_IDS = {"new_table_enable_stable_row_ids": "true"}

FTS = {
    "base_tokenizer": "icu/split",  # splits Chinese and Japanese into words, and identifiers at their joints
    "max_token_length": 128,  # the default of 40 drops commit hashes
    "with_position": True,  # phrases
}


def create_own(
    place: Path | str, rows: pa.Table | pa.RecordBatchReader, options: Mapping[str, str] = NO_OPTIONS
) -> None:
    """Create the table `memories` in `place` with `rows`, in one commit, and index its text.

    `place` is a folder, or a URI that `options` reach. `rows` has the schema of `dialects.own.own_schema`; a reader
    is streamed. Raises RefusedError when the table is there.
    """
    if isinstance(place, str):
        from memtui.engine.store.object_store import ObjectFolder

        there = TABLE in ObjectFolder(place, options).tables()
        storage = {**with_limits(options), **STABLE_ROW_IDS}
    else:
        there, storage = (place / f"{TABLE}.lance").exists(), STABLE_ROW_IDS
    if there:
        raise RefusedError(
            f"{place} already holds a table of memories.", fix="Choose an empty folder; nothing was changed."
        )
    lancedb = import_lancedb()
    from lancedb import index

    with explained(str(place)):
        table = lancedb.connect(str(place), storage_options=storage).create_table(TABLE, rows)
        table.create_index("text", config=index.FTS(**FTS))


def create_empty(place: Path | str, dims: int, options: Mapping[str, str] = NO_OPTIONS) -> None:
    """Create an empty store of memtui's own in `place` for vectors of `dims` numbers; see `create_own`.

    Raises RefusedError when there is a table of memories already, or the folder cannot be made.
    """
    from memtui.engine.dialects.memtui import own_schema

    rows = own_schema(dims).empty_table()
    if isinstance(place, str):
        create_own(place, rows, options)
        return
    folder = place
    try:
        if not folder.is_dir():  # what a person made stays as open as they made it
            make_private_folder(folder)
    except OSError as error:
        raise RefusedError(
            f"{folder} cannot be made: {error.strerror or error}.", fix="Choose another folder."
        ) from error
    create_own(folder, rows)


# Making a table that memory-lancedb-pro accepts: its schema, data format 2.0, full text in format 1.

DATA_FORMAT = {"new_table_data_storage_version": "2.0"}
"""What the plugin's older engine reads; of any newer format it dies."""

FTS_FORMAT = 1


def pro_schema(dims: int) -> pa.Schema:
    """The Arrow schema of the plugin's table with `dims` numbers in each vector; every column may be NULL."""
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), dims)),
            ("category", pa.string()),
            ("scope", pa.string()),
            ("importance", pa.float64()),
            ("timestamp", pa.float64()),
            ("metadata", pa.string()),
        ]
    )


def create_pro(folder: Path, rows: pa.Table | pa.RecordBatchReader) -> None:
    """Create the plugin's table `memories` in `folder` with `rows`, and its full-text index.

    `rows` has the schema of `pro_schema`; a reader is streamed. Raises RefusedError when the folder has the
    table, MemtuiError when the index would be one that the plugin ignores.
    """
    from memtui.engine.store.lancedb_import import import_lancedb

    _check_free(folder)
    lancedb = import_lancedb()  # asks for full text in format 1
    from lancedb import index

    with writing(str(folder)):
        connection = lancedb.connect(str(folder), storage_options=DATA_FORMAT)
        table = connection.create_table(TABLE, rows, schema=rows.schema)
        table.create_index("text", config=index.FTS(with_position=True))
        _check_index(table, folder)


def create_like(
    folder: Path, rows: pa.Table | pa.RecordBatchReader, options: Mapping[str, str] = DATA_FORMAT
) -> None:
    """Create the table `memories` in `folder` with `rows` and no index, as the built-in plugin has its table.

    `options` empty gives the engine's own data format, which holds columns that the plugins' cannot.
    Raises RefusedError when the folder has the table.
    """
    from memtui.engine.store.lancedb_import import import_lancedb

    _check_free(folder)
    lancedb = import_lancedb()
    with writing(str(folder)):
        connection = lancedb.connect(str(folder), storage_options=dict(options))
        connection.create_table(TABLE, rows, schema=rows.schema)


def create_texts(
    place: str, name: str, texts: Iterator[list[str]], rows: int, part_rows: int
) -> tuple[str, int]:
    """Write a bare table of `rows` texts (column `text`) for other programs to read; its address and version.

    A fragment holds `part_rows` of them at most. One of this name that is there and whole is taken as it is.
    """
    import pyarrow as pa

    lancedb = import_lancedb()
    schema = pa.schema([("text", pa.string())])
    with writing(place):
        connection = lancedb.connect(place)
        table = connection.open_table(name) if name in connection.list_tables().tables else None
        if table is None or table.count_rows() != rows:
            table = connection.create_table(name, schema=schema, mode="overwrite")
            held: list[str] = []
            for window in texts:
                held += window
                while len(held) >= part_rows:
                    table.add(pa.table({"text": held[:part_rows]}, schema=schema))
                    held = held[part_rows:]
            if held:
                table.add(pa.table({"text": held}, schema=schema))
        return f"{place}/{name}.lance", int(table.version)


def _check_free(folder: Path) -> None:
    if (folder / f"{TABLE}.lance").exists():
        raise RefusedError(
            f"{folder} already holds a table of memories.", fix="Choose an empty folder; nothing was changed."
        )


def _check_index(table: Any, folder: Path) -> None:
    made = next((index for index in table.list_indices() if list(index.columns) == ["text"]), None)
    if made is None or made.index_version != FTS_FORMAT:
        raise MemtuiError(
            f"The full-text index of {folder} came out in a format that the plugin ignores.",
            fix="Install the version of lancedb that memtui names, and make the store again.",
        )


# A trial copy of a table: shares the table's files, takes changes of its own, and is gone afterwards.


@contextmanager
def trial_copy(store: Store, version: int, columns: Mapping[str, str] | None = None) -> Iterator[Store]:
    """The table of `store` at `version` as a store that may be changed; nothing of `store` is written.

    A shallow clone in a temporary folder: a few milliseconds and kilobytes at any size. Raises RefusedError for a
    store that is not in a folder of this machine.
    """
    from memtui.engine.store.table import Store as Opened

    if store.folder is None:
        raise RefusedError(
            "A store that is not on this machine cannot be tried out.", fix="Look at the rows instead."
        )
    with tempfile.TemporaryDirectory(prefix="memtui-trial-") as name:
        connection = import_lancedb().connect(name)
        source = store.folder / f"{store.table_name}.lance"
        with explained(store.where):
            connection.clone_table(store.table_name, str(source), source_version=version, is_shallow=True)
        yield Opened(connection, find_place(Path(name), store.table_name), columns, shared=source)
