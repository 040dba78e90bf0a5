"""Making a table of memtui's own: the fast profile, for tables that no other program opens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.errors import RefusedError
from memtui.engine.store.faults import explained
from memtui.engine.store.place import TABLE

if TYPE_CHECKING:
    import pyarrow as pa

STABLE_ROW_IDS = {"new_table_enable_stable_row_ids": "true"}
FTS = {
    "base_tokenizer": "icu/split",  # splits Chinese and Japanese into words, and identifiers at their joints
    "max_token_length": 128,  # the default of 40 drops commit hashes
    "with_position": True,  # phrases
}


def create_own(folder: Path, rows: pa.Table | pa.RecordBatchReader) -> None:
    """Create the table `memories` in `folder` with `rows`, in one commit, and index its text.

    `rows` has the schema of `dialects.own.own_schema`; a reader is streamed. Raises RefusedError when the folder
    has the table.
    """
    from memtui.engine.store.lance import import_lancedb

    if (folder / f"{TABLE}.lance").exists():
        raise RefusedError(
            f"{folder} already holds a table of memories.", fix="Choose an empty folder; nothing was changed."
        )
    lancedb = import_lancedb()
    from lancedb import index

    with explained(str(folder)):
        table = lancedb.connect(str(folder), storage_options=STABLE_ROW_IDS).create_table(TABLE, rows)
        table.create_index("text", config=index.FTS(**FTS))


def create_empty(folder: Path, dims: int) -> None:
    """Create an empty store of memtui's own in `folder` for vectors of `dims` numbers.

    Raises RefusedError when the folder already has a table of memories, or cannot be made.
    """
    from memtui.engine.dialects.own import own_schema

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusedError(
            f"{folder} cannot be made: {error.strerror or error}.", fix="Choose another folder."
        ) from error
    create_own(folder, own_schema(dims).empty_table())
