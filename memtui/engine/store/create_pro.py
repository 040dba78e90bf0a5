"""Making a table that memory-lancedb-pro accepts: its schema, data format 2.0, full text in format 1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import MemtuiError, RefusedError
from memtui.engine.store.place import TABLE
from memtui.engine.store.writer import writing

if TYPE_CHECKING:
    import pyarrow as pa

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
    from memtui.engine.store.lance import import_lancedb

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
    from memtui.engine.store.lance import import_lancedb

    _check_free(folder)
    lancedb = import_lancedb()
    with writing(str(folder)):
        connection = lancedb.connect(str(folder), storage_options=dict(options))
        connection.create_table(TABLE, rows, schema=rows.schema)


def _check_free(folder: Path) -> None:
    if (folder / f"{TABLE}.lance").exists():
        raise RefusedError(
            f"{folder} already holds a table of memories.", fix="Choose an empty folder; nothing was changed."
        )


def _check_index(table: Any, folder: Path) -> None:
    made = next((each for each in table.list_indices() if list(each.columns) == ["text"]), None)
    if made is None or made.index_version != FTS_FORMAT:
        raise MemtuiError(
            f"The full-text index of {folder} came out in a format that the plugin ignores.",
            fix="Install the version of lancedb that memtui names, and make the store again.",
        )
