"""The one handle that changes a table: rows are read at its newest version and written in one commit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.store import sql
from memtui.engine.store.errors import explained, need_version_number, writing
from memtui.engine.store.index_status import fts_status
from memtui.engine.store.snapshot import Snapshot

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.compact import RemainingTraces
    from memtui.engine.store.locate import TableLocation


ID_INDEX_ROWS = 50_000
"""From this size on an index on the ids makes a write several times faster (measured at a million: 15)."""

BESIDE = 0.05
"""Rows beside the full-text index, as a share of those in it, from which on they are taken into it."""

FEW_BESIDE = 64
"""Fewer rows beside the index are left there by a single write: each fold is a version of its own."""

LARGE_BESIDE, LEAST_BESIDE = 0.25, 8
"""A share of a small table that is not left there all the same, from so many rows on: scores would be others."""

KEEP_ALL = timedelta(days=36_500)
"""An age that no version has."""


@dataclass(frozen=True, slots=True)
class VersionMark:
    """What tells one version of a table from another table's version of the same number."""

    version: int
    file: tuple[int, int, int] | None
    """Inode, time and size of the version's file; None for a remote table."""


class Writer:
    """A table of memories opened for writing. Used by one thread at a time, with the store's lock held."""

    def __init__(self, connection: Any, dialect: Dialect, place: TableLocation) -> None:
        self._connection = connection
        self._place = place
        self.dialect = dialect
        self.where = f"{place.uri} (table {place.table})"
        with explained(self.where, place.newest_version_file()):
            self._table = connection.open_table(place.table)

    @property
    def handle(self) -> Any:
        """The engine's own handle, for maintenance of the whole table."""
        return self._table

    @property
    def place(self) -> TableLocation:
        """Where the table is."""
        return self._place

    @property
    def schema(self) -> pa.Schema:
        """The table's Arrow schema."""
        with explained(self.where):
            schema: pa.Schema = self._table.schema
        return schema

    def newest(self) -> int:
        """Go to the newest version; its number."""
        with explained(self.where, self._place.newest_version_file()):
            self._table.checkout_latest()
            return int(self._table.version)

    def mark(self, version: int) -> VersionMark:
        """Which version that is, beyond its number."""
        return version_mark(self._place, version)

    def rows(self, ids: Sequence[str], columns: Sequence[str] | None = None) -> pa.Table:
        """All rows with one of these ids, at the version the handle stands at; all columns unless told."""
        names = list(columns) if columns is not None else self.schema.names
        with explained(self.where):
            query = self._table.search().where(sql.is_in(self.dialect.columns.id, ids)).select(names)
            return query.limit(None).to_arrow()

    def last_rows(self, count: int, columns: Sequence[str]) -> pa.Table:
        """The last `count` rows in storage order: where a commit has just put the rows that it wrote."""
        with explained(self.where):
            total = self._table.count_rows()
            if count > total:
                count = total
            query = self._table.search().select(list(columns))
            return query.offset(total - count).limit(max(1, count)).to_arrow()

    def at(self, version: int) -> Snapshot:
        """The table at an earlier version, for reading."""
        need_version_number(version)
        with explained(self.where):
            table = self._connection.open_table(self._place.table, version=version)
        return Snapshot(table, self.dialect, self.where)

    def merge_stream(self, updates: pa.RecordBatchReader, *, bare: bool) -> int:
        """Write very many rows, whose ids are there, in one commit, a batch at a time; see `commit`.

        `bare`: some of them have no vector.
        """
        with writing(self.where):
            builder = self._table.merge_insert(self.dialect.columns.id).when_matched_update_all()
            return int(builder.execute(updates, on_bad_vectors="null" if bare else "error").version)

    def commit(self, updates: pa.Table | None, adds: pa.Table | None, deletes: Sequence[str]) -> int:
        """Write everything in one commit and return its version.

        `updates` and `adds` have the table's schema; the ids of `updates` are there, those of `adds` are not.
        Raises CommitConflictError when nothing was written because another program committed meanwhile.
        """
        import pyarrow as pa

        column = self.dialect.columns.id
        with writing(self.where):
            if updates is None and adds is None:
                return int(self._table.delete(sql.is_in(column, deletes)).version)
            if updates is None and not deletes:
                return int(self._table.add(adds).version)
            builder = self._table.merge_insert(column)
            if updates is not None:
                builder = builder.when_matched_update_all()
            if adds is not None:
                builder = builder.when_not_matched_insert_all()
            if deletes:
                builder = builder.when_not_matched_by_source_delete(sql.is_in(column, deletes))
            source = pa.concat_tables([part for part in (updates, adds) if part is not None])
            # Rows without a vector stay so; the library calls them bad. What is no number was refused before.
            missing = source.column(self.dialect.columns.vector).null_count > 0
            return int(builder.execute(source, on_bad_vectors="null" if missing else "error").version)

    def delete_runs(self, runs: Sequence[tuple[int, int]]) -> int:
        """Remove all rows whose row ids lie in `runs` (first and last), in one commit; the version of it.

        A condition of so few words costs nothing, where a list of a million ids takes 2 GB. The row ids are those of
        the version that the handle stands at: a commit of another program in between may have given others.
        """
        with writing(self.where):
            return int(self._table.delete(sql.in_runs("_rowid", runs)).version)

    def has_id_index(self) -> bool:
        """Whether an index on the id column makes writes by id fast."""
        with explained(self.where):
            return any(
                list(index.columns) == [self.dialect.columns.id] for index in self._table.list_indices()
            )

    def build_id_index(self) -> int:
        """Index the ids (half a second for a million rows); the version after it."""
        from lancedb.index import BTree

        with writing(self.where):
            self._table.create_index(self.dialect.columns.id, config=BTree())
            return int(self._table.version)

    def fold_words(self, *, single: bool = False) -> None:
        """Take the rows beside the full-text index into it. Versions are kept, rows stay as they are.

        Nothing happens while few stand beside it (`wants_fold`; more are left after a `single` write than at the end
        of a batch), and on a table that another program owns: its own engine splits words otherwise. A conflict with
        another writer leaves the rows where they are: they are found all the same.
        """
        if not self.dialect.can.own_store:
            return
        status = fts_status(self._table, self.dialect.columns.text, self.where)
        if not status.exists or not wants_fold(status.indexed_rows, status.unindexed_rows, single=single):
            return
        with suppress(MemtuiError), writing(self.where):
            self._table.optimize(cleanup_older_than=KEEP_ALL)

    def shrink(self, *, unverified: bool = False) -> int:
        """Leave only the newest version and no byte of what was deleted; see `compact.shrink`."""
        from memtui.engine.store.compact import shrink

        stable = self.dialect.can.own_store
        return shrink(self._table, self._place, self.where, stable_row_ids=stable, unverified=unverified)

    def tags(self) -> dict[str, int]:
        """The names that versions have in the table itself."""
        with explained(self.where):
            return {name: int(each["version"]) for name, each in dict(self._table.tags.list()).items()}

    def tag(self, name: str, version: int) -> None:
        """Name a version in the table: no clean-up takes it any more. Letters, digits, `.`, `-` and `_`."""
        with writing(self.where):
            self._table.tags.create(name, version)

    def untag(self, name: str) -> None:
        """Take a name out of the table; a clean-up may take its version from now on."""
        with writing(self.where):
            self._table.tags.delete(name)

    def versions(self) -> list[int]:
        """Every version that can still be read, the oldest first."""
        with explained(self.where):
            return sorted(int(version["version"]) for version in self._table.list_versions())

    def traces(self, ids: Sequence[str], texts: Sequence[str]) -> RemainingTraces:
        """Where rows with these ids are still found: in which versions, and as bytes in which files."""
        from memtui.engine.store.compact import RemainingTraces, files_with

        numbers = self.versions()
        condition = sql.is_in(self.dialect.columns.id, ids)
        with explained(self.where):
            held = [number for number in numbers if self.at(number).table.count_rows(condition)]
        if self._place.folder is None:
            return RemainingTraces(tuple(held), len(numbers), (), 0)
        needles = [memory_id.encode("utf-8", "surrogatepass") for memory_id in (*ids, *texts)]
        files, searched = files_with(self._place.folder / f"{self._place.table}.lance", needles)
        return RemainingTraces(tuple(held), len(numbers), tuple(files), searched)

    def still_in(self, version: int, ids: Sequence[str]) -> RemainingTraces:
        """Whether one older version still holds rows with these ids; no other version and no file is looked at."""
        from memtui.engine.store.compact import RemainingTraces

        try:
            with explained(self.where):
                held = self.at(version).table.count_rows(sql.is_in(self.dialect.columns.id, ids))
        except MemtuiError:  # another program cleaned it up meanwhile
            return RemainingTraces((), 0, (), 0)
        return RemainingTraces((version,) if held else (), 1, (), 0)

    def count(self) -> int:
        """Rows at the version the handle stands at, the sentinel counted."""
        with explained(self.where):
            return int(self._table.count_rows())


def wants_fold(indexed: int, beside: int, *, single: bool) -> bool:
    """Whether `beside` rows are enough to be taken into an index of `indexed`.

    The whole table is rewritten by it, and makes a version: so never for a small share, and after single writes not
    for few rows.
    """
    if beside <= indexed * BESIDE:
        return False
    return not single or beside >= FEW_BESIDE or (beside >= LEAST_BESIDE and beside > indexed * LARGE_BESIDE)


def version_mark(place: TableLocation, version: int) -> VersionMark:
    """The mark of a version of the table at `place`; without a file where that is remote or gone."""
    if place.folder is None:
        return VersionMark(version, None)
    versions = place.folder / f"{place.table}.lance" / "_versions"
    for name in (f"{2**64 - 1 - version:020d}.manifest", f"{version}.manifest"):
        try:
            found = (versions / name).stat()
        except OSError:
            continue
        return VersionMark(version, (found.st_ino, found.st_mtime_ns, found.st_size))
    return VersionMark(version, None)
