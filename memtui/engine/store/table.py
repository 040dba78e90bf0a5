"""An open store: one table of memories, read at a pinned version."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError, RefusedError, StoreNotFoundError
from memtui.engine.dialects.base import Dialect
from memtui.engine.dialects.generic import generic
from memtui.engine.dialects.registry import detect, dialect_named
from memtui.engine.store.errors import explained, need_version_number
from memtui.engine.store.index_status import FtsStatus
from memtui.engine.store.locate import TableLocation
from memtui.engine.store.service_errors import note_endpoint, refuse_web_page
from memtui.engine.store.snapshot import BATCH, Metric, Snapshot
from memtui.engine.store.storage_options import JOURNAL, KEEP, OURS, with_limits

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from memtui.engine.store.object_store import ObjectFolder
    from memtui.engine.store.vector_matrix import MatrixCache
    from memtui.engine.store.word_matrix import WordCache
    from memtui.engine.store.writer import VersionMark, Writer


_SECRET = re.compile(r"key|secret|token|password|signature|credential", re.IGNORECASE)
"""Names of storage options whose values stay here."""


class Store:
    """A table of memories. Reading never changes it; every read sees the pinned version.

    Safe to use from several threads. Row ids are good for the version they were read at: hand that
    version to `take`.
    """

    def __init__(
        self,
        connection: Any,
        place: TableLocation,
        columns: Mapping[str, str] | str | None,
        options: Mapping[str, str] | None = None,
        shared: Path | None = None,
    ) -> None:
        self._connection = connection
        self._shared = shared
        self._options = {key: value for key, value in (options or {}).items() if key not in OURS}
        self._keeps = (options or {}).get(KEEP) != "false"
        self.shares_journal = (options or {}).get(JOURNAL) == "store"
        """Whether the journal stands beside a store on object storage, where other consoles see it."""
        self._place = place
        self._columns = columns
        self._lock = threading.Lock()
        self._vectors: MatrixCache | None = None
        self._words: WordCache | None = None
        self._watch_lock = threading.Lock()  # polling a slow disk must not hold up a page
        self._old: Snapshot | None = None
        self._pin = self._newest()
        self._watch: Any = None

    @property
    def uri(self) -> str:
        """The folder or URI that holds the table."""
        return self._place.uri

    @property
    def name(self) -> str:
        """The last part of the URI."""
        return self._place.name

    @property
    def table_name(self) -> str:
        """The table's name, `memories` in every program's store."""
        return self._place.table

    @property
    def where(self) -> str:
        """The table's place in words for messages."""
        return f"{self.uri} (table {self.table_name})"

    @property
    def folder(self) -> Path | None:
        """The folder that holds the table, None for a remote store."""
        return self._place.folder

    @property
    def is_far(self) -> bool:
        """Whether the table is not on this machine: each look at it is a request."""
        return self.folder is None

    def objects(self) -> ObjectFolder | None:
        """The place of a store on object storage, for what stands beside its table; None for a local one.

        Raises RefusedError without the extra `memtui[cloud]`.
        """
        if self.folder is not None or self.uri.startswith("db://"):
            return None
        from memtui.engine.store.object_store import ObjectFolder

        return ObjectFolder(self.uri, self._options)

    @property
    def reached_with(self) -> Mapping[str, str]:
        """The options that reach the store; they may hold secrets."""
        return self._options

    def dataset_place(self) -> tuple[str, dict[str, str]]:
        """The address of the table's Lance dataset for other programs, and the options to reach it, without keys.

        Raises RefusedError for a database service, which has no such address.
        """
        if self.uri.startswith("db://"):
            raise RefusedError(f"{self.name} is behind a service.", fix="Export it, and work on the copy.")
        root = str(self.folder.absolute()) if self.folder is not None else self.uri.rstrip("/")
        open_ones = {key: value for key, value in self._options.items() if not _SECRET.search(key)}
        return f"{root}/{self.table_name}.lance", open_ones

    @property
    def dialect(self) -> Dialect:
        """How rows are read."""
        return self._pin.dialect

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema at the pinned version."""
        return self._pin.schema

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the table, in order."""
        return tuple(self.schema.names)

    @property
    def row_columns(self) -> tuple[str, ...]:
        """All columns but the vectors: what a memory is made of."""
        return self._pin.row_columns

    @property
    def dims(self) -> int | None:
        """Numbers in each vector; None without a vector column."""
        return self._pin.dims

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know about this table before relying on it."""
        return (*self.dialect.notes, *self._unknown_columns(), *self._index_warnings())

    @property
    def model(self) -> str | None:
        """The model that made the vectors, where the table itself says so."""
        from memtui.engine.dialects.memtui import MODEL_MARK

        stored: bytes = (self.schema.metadata or {}).get(MODEL_MARK, b"")
        return stored.decode("utf-8", "replace") or None

    @property
    def version(self) -> int:
        """The pinned version."""
        return self._pin.version

    def newest_version(self) -> int:
        """The version that other programs see now; cheap enough to ask twice a second."""
        with self._watch_lock, self._a_service(), explained(self.where):
            if self._watch is None:
                self._watch = self._open()
            self._watch.checkout_latest()
            return int(self._watch.version)

    def newest_rows(self) -> int:
        """How many memories the version has that `newest_version` saw last."""
        with self._watch_lock, explained(self.where):
            if self._watch is None:
                self._watch = self._open()
            return int(self._watch.count_rows()) - self._pin.sentinels

    def versions(self) -> list[tuple[int, int]]:
        """(version, time in ms) of every version that can still be read, up to the pinned one, oldest first."""
        with explained(self.where):
            listed = self._pin.table.list_versions()
        found = sorted((int(item["version"]), int(item["timestamp"].timestamp() * 1000)) for item in listed)
        return [each for each in found if each[0] <= self.version]

    def refresh(self) -> bool:
        """Pin the newest version; True when it is another one. The version before stays readable."""
        if self.newest_version() == self.version:
            return False
        newest = self._newest()
        with self._lock:
            self._old, self._pin = self._pin, newest
        return True

    def pin(self, version: int | None = None) -> Snapshot:
        """The table at `version` (None: the pinned one); raises when that version was cleaned away, or never was."""
        with self._lock:
            for pin in (self._pin, self._old):
                if pin and version in (None, pin.version):
                    return pin
        need_version_number(version)
        with explained(self.where):
            table = self._connection.open_table(self.table_name, version=version)
            schema = table.schema
        old = self._snapshot(table, schema)
        with self._lock:
            self._old = old
        return old

    def mark(self, version: int) -> VersionMark:
        """What tells this version from one of the same number of a table put in its place."""
        from memtui.engine.store.writer import version_mark

        return version_mark(self._place, version)

    def data_files(self, version: int) -> Mapping[int, tuple[bytes, ...]]:
        """The data files of each fragment at a version: never the same for other rows. Empty where they are unknown.

        Of a local store with stable row ids, too: there a row id says nothing of the file that holds the row.
        """
        from memtui.engine.store import manifests

        if self._table_folder is not None:
            return manifests.data_files(self._table_folder, version)
        return manifests.files_in(self._far_manifest(version)[0], version, by_address=True)

    def tag(self, version: int) -> str:
        """What tells this version of a store far away from one of the same number of a table put in its place."""
        return self._far_manifest(version)[1] or str(dict(self.versions()).get(version, 0))

    def _far_manifest(self, version: int) -> tuple[bytes, str]:
        """The manifest of a version on object storage, and its tag; nothing where it cannot be asked for."""

        from memtui.engine.store.manifests import manifest_names

        def read() -> tuple[bytes, str]:
            with suppress(MemtuiError):  # without the extra for object storage the list does not depend on it
                objects = self.objects()
                for name in manifest_names(version):
                    if objects is None:
                        break
                    found = objects.get(f"{self.table_name}.lance/_versions/{name}")
                    if found is not None:
                        return found
            return b"", ""

        return self.pin(version).derived(("manifest",), read)

    def keep_vectors(self, state: Path) -> None:
        """Keep the vectors of a store on object storage below memtui's state folder: see `kept_vectors`."""
        from memtui.engine.store.kept_vectors import KeptVectors, kept_file

        if self._vectors is not None and self._pin.on_object_storage and self._keeps:
            file = kept_file(state, self.uri, self.table_name)
            self._vectors.file = KeptVectors(file, self.tag, self.data_files, lambda: self.version)

    def drop_kept(self) -> None:
        """Remove the vectors that are kept on this machine: a memory was forgotten with every trace."""
        if self._vectors is not None and self._vectors.file is not None:
            self._vectors.file.drop()

    def writer(self) -> Writer:
        """A handle that can change the table. Nothing else here writes; see `memtui.engine.changes`."""
        from memtui.engine.store.writer import Writer

        return Writer(self._connection, self.dialect, self._place)

    def count(self, where: str | None = None) -> int:
        """Number of memories, the sentinel not counted."""
        return self._pin.count(where)

    def size_bytes(self) -> int:
        """Bytes of all files of the table, old versions and indices included."""
        if self._place.folder is None:
            with explained(self.where):
                return int(self._pin.table.stats()["total_bytes"])
        total = 0
        for folder, _, files in os.walk(self._place.folder / f"{self.table_name}.lance"):
            for file in files:
                try:
                    total += os.stat(os.path.join(folder, file)).st_size
                except OSError:  # another program cleaned up meanwhile, or a link leads nowhere
                    continue
        return total

    def fts_status(self) -> FtsStatus:
        """The state of the full-text index on the text column, at the pinned version."""
        return self._pin.fts

    def scan(
        self,
        columns: Sequence[str] | dict[str, str],
        *,
        where: str | None = None,
        with_row_id: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        """See `Snapshot.scan`."""
        return self._pin.scan(columns, where=where, with_row_id=with_row_id, batch_size=batch_size)

    def take(self, row_ids: Sequence[int], columns: Sequence[str], version: int | None = None) -> pa.Table:
        """See `Snapshot.take`; `version` is the one that the row ids were read at (None: the pinned one)."""
        return self.pin(version).take(row_ids, columns)

    def rows_by_id(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """See `Snapshot.rows_by_id`."""
        return self._pin.rows_by_id(ids, columns)

    def row_ids(self, ids: Iterable[str]) -> dict[str, list[int]]:
        """See `Snapshot.row_ids`."""
        return self._pin.row_ids(ids)

    def vector_search(
        self,
        vector: Sequence[float],
        *,
        k: int,
        metric: Metric = "cosine",
        where: str | None = None,
        columns: Sequence[str] | None = None,
        with_row_id: bool = False,
    ) -> pa.Table:
        """See `Snapshot.vector_search`; `columns` None means all but the vectors."""
        return self._pin.vector_search(
            vector,
            k=k,
            metric=metric,
            where=where,
            columns=self.row_columns if columns is None else columns,
            with_row_id=with_row_id,
        )

    def fts_search(
        self,
        text: str,
        *,
        k: int,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        with_row_id: bool = False,
    ) -> pa.Table:
        """See `Snapshot.fts_search`; `columns` None means all but the vectors."""
        return self._pin.fts_search(
            text,
            k=k,
            where=where,
            columns=self.row_columns if columns is None else columns,
            with_row_id=with_row_id,
        )

    @property
    def _table_folder(self) -> Path | None:
        folder = self._place.folder
        return None if folder is None else folder / f"{self.table_name}.lance"

    def _open(self) -> Any:
        with self._a_service(), explained(self.where, self._place.newest_version_file()):
            return self._connection.open_table(self.table_name)

    @contextmanager
    def _a_service(self) -> Iterator[None]:
        """Say of a place far away without a table whether a service of objects is there at all."""
        try:
            yield
        except StoreNotFoundError:
            if self.folder is None:
                refuse_web_page(self.uri, self._options)
            raise

    def _newest(self) -> Snapshot:
        table = self._open()
        with explained(self.where, self._place.newest_version_file()):
            schema = table.schema
        return self._snapshot(table, schema)

    def _snapshot(self, table: Any, schema: pa.Schema) -> Snapshot:
        from memtui.engine.store.vector_matrix import MatrixCache
        from memtui.engine.store.word_matrix import WordCache

        if self._vectors is None or self._words is None:
            self._vectors, self._words = MatrixCache(), WordCache()
        dialect = self._dialect_of(schema)
        return Snapshot(
            table, dialect, self.where, self._table_folder, self._vectors, self._words, self._shared
        )

    def _dialect_of(self, schema: pa.Schema) -> Dialect:
        if isinstance(self._columns, str):
            return dialect_named(self._columns, schema, self.where)
        return generic(schema, self._columns) if self._columns else detect(schema, self.where)

    def _unknown_columns(self) -> tuple[str, ...]:
        known = set(self.dialect.known_columns)
        unknown = [column for column in self.columns if column not in known]
        if not unknown or self._columns:
            return ()
        return (f"{self.dialect.title} does not know the column {', '.join(unknown)}; it is shown as it is.",)

    def _index_warnings(self) -> tuple[str, ...]:
        status = self.fts_status()
        if status.exists and not status.readable:
            return ("The files of the full-text index are missing: recall by keywords cannot use it.",)
        if self.dialect.can.newest_fts is not None and (status.version or 0) > self.dialect.can.newest_fts:
            return (
                f"The full-text index has version {status.version}: memory-lancedb-pro cannot read it "
                "and will search without one.",
            )
        return ()


def open_place(
    place: TableLocation, columns: Mapping[str, str] | str | None, options: Mapping[str, str] | None
) -> Store:
    """Connect to a place that is known to exist and open its table."""
    from memtui.engine.store.lancedb_import import import_lancedb

    lancedb = import_lancedb()
    wanted = dict(options) if options else None
    if place.folder is None and not place.uri.startswith("db://"):
        wanted = with_limits(options or {})
        note_endpoint(place.uri, wanted)
    with explained(place.uri):
        connection = lancedb.connect(place.uri, storage_options=wanted)
    return Store(connection, place, columns, options)
