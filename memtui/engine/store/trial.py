"""A trial copy of a table: shares the table's files, takes changes of its own, and is gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.errors import RefusedError
from memtui.engine.store.faults import explained
from memtui.engine.store.lance import import_lancedb
from memtui.engine.store.place import find_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.engine.store.table import Store


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
        yield Opened(connection, find_place(Path(name), store.table_name), columns)
