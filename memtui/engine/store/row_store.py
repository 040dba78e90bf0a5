"""Rows read from another program's own file, held in memory and read as a store: nothing of it can be written."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import RefusedError
from memtui.engine.store.locate import TableLocation
from memtui.engine.store.snapshot import Snapshot
from memtui.engine.store.table import Store

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.object_store import ObjectFolder
    from memtui.engine.store.row_source import RowSource
    from memtui.engine.store.writer import VersionMark, Writer


class RowStore(Store):
    """The rows of a `RowSource`; each change of its file that is looked at makes a new version, in memory alone."""

    def __init__(self, source: RowSource, table: str) -> None:
        from memtui.engine.store.lancedb_import import import_lancedb

        self.source = source
        self._rows_lock = threading.Lock()
        self._stamp: Hashable = None
        connection = import_lancedb().connect("memory://")
        super().__init__(connection, TableLocation(str(source.path), table, None), None)

    @property
    def is_far(self) -> bool:
        """False: the rows are in memory."""
        return False

    @property
    def model(self) -> str | None:
        """The model of the vectors, where the source says it."""
        said: bytes = (self.schema.metadata or {}).get(b"model", b"")
        return said.decode("utf-8", "replace") or None

    def newest_version(self) -> int:
        """The version with the rows as the file has them now."""
        self._look()
        return super().newest_version()

    def newest_rows(self) -> int:
        """How many rows the file has now."""
        self._look()
        return super().newest_rows()

    def versions(self) -> list[tuple[int, int]]:
        """The pinned version alone: the file has no history."""
        return super().versions()[-1:]

    def objects(self) -> ObjectFolder | None:
        """None: nothing stands on object storage."""
        return None

    def size_bytes(self) -> int:
        """Bytes of the file."""
        return self.source.path.stat().st_size

    def dataset_place(self) -> tuple[str, dict[str, str]]:
        """RefusedError: there is no Lance dataset."""
        raise RefusedError(f"{self.uri} is no Lance dataset.", fix="Export it, and work on the copy.")

    def mark(self, version: int) -> VersionMark | None:  # type: ignore[override]
        """None: no version number of the file's own tells that it is the same."""
        return None

    def data_files(self, version: int) -> Mapping[int, tuple[bytes, ...]]:
        """Empty: there are none."""
        return {}

    def tag(self, version: int) -> str:
        """The version's number."""
        return str(version)

    def writer(self) -> Writer:
        """RefusedError: the file belongs to its program."""
        raise RefusedError(
            f"{self.dialect.title}: {self.dialect.can.read_only_because or 'memtui does not write this file'}",
            fix="Nothing was changed.",
        )

    def look_again(self) -> None:
        """Take the rows anew at the next look, whatever the file's stamp says, and look."""
        self._stamp = None
        self.refresh()

    def _look(self) -> None:
        """Take the rows anew where the file was written since."""
        with self._rows_lock:
            stamp = self.source.stamp()
            if stamp == self._stamp:
                return
            rows = self.source.rows()
            if rows is not None:
                self._connection.create_table(self.table_name, rows, mode="overwrite", on_bad_vectors="null")
            self._stamp = stamp

    def _newest(self) -> Snapshot:
        self._look()
        return super()._newest()

    def _snapshot(self, table: Any, schema: pa.Schema) -> Snapshot:
        snapshot = super()._snapshot(table, schema)
        snapshot.in_memory, snapshot.source = True, self.source
        return snapshot

    def _unknown_columns(self) -> tuple[str, ...]:
        return ()  # they are the source's own

    def _index_warnings(self) -> tuple[str, ...]:
        return ()

    def _dialect_of(self, schema: pa.Schema) -> Dialect:
        return self.source.dialect
