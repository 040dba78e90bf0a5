"""One version of a table, for reading: nothing here writes, and nothing moves while it is held."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from memtui.engine.core.errors import DamagedStoreError, MemtuiError, UsageError
from memtui.engine.core.text import counted
from memtui.engine.dialects.base import is_vector
from memtui.engine.store import sql
from memtui.engine.store.errors import explained
from memtui.engine.store.index_status import FtsStatus, fts_status, refining, vector_index_rows
from memtui.engine.store.taken_rows import rows_of_ids

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.agent_words.search import Ranked, WordIndex
    from memtui.engine.store.row_source import RowSource
    from memtui.engine.store.vector_matrix import MatrixCache, NearestRows, VectorMatrix
    from memtui.engine.store.word_matrix import FoundWords, WordCache, WordSplitter


BATCH = 65_536
"""Rows in a batch of a scan: measured three times as fast as the engine's own 1,024."""

WINDOW = 4_096
"""Rows of wide columns that are held at a time."""

PASS = 8_192
"""Vectors at a time in a pass that can be stopped."""

_FEW_FILES = 4
"""So many files are read together without asking how big they are."""

ROW_ID_ALONE = ["_rowid"]
"""What is selected where no column is wanted: an empty list means all of them to the engine, vectors as well."""

DERIVED = 32
"""Derived values that a version keeps: a few filters times a few kinds."""

Metric = Literal["cosine", "l2"]

T = TypeVar("T")


class Snapshot:
    """The table `where`, read through `dialect`, at the version that the handle `table` stands at.

    The sentinel row of the agents' programs is hidden from every answer. `folder` holds the table's files, None
    where they are not on this machine; of a shallow clone, `shared` holds those from before it was made.
    """

    def __init__(
        self,
        table: Any,
        dialect: Dialect,
        where: str,
        folder: Path | None = None,
        vectors: MatrixCache | None = None,
        words: WordCache | None = None,
        shared: Path | None = None,
    ) -> None:
        self.table = table
        self._vectors, self._words = vectors, words
        self.dialect = dialect
        self.where = where
        self.folder = folder
        self._shared = shared
        with explained(where):
            self.version: int = int(table.version)
            self.schema: pa.Schema = table.schema
        self.in_memory = False
        """Whether the rows are held in memory, as those of another program's file are: no read is a request."""
        self.source: RowSource | None = None
        """The file of another program that the rows are made of; None for a table."""
        self._exact = False
        self.counted: str | None = None
        """The rows that keyword scores count, as SQL; None for every one."""
        self._whole: Snapshot | None = None
        """The same version with every row counted, where `counted` says which are."""
        self._derived: dict[Hashable, Any] = {}
        self._deriving = threading.RLock()  # one value may be made of another

    @property
    def on_object_storage(self) -> bool:
        """Whether each read is a request to a service of objects; a database service is none."""
        return self.folder is None and not self.in_memory and not self.where.startswith("db://")

    @cached_property
    def vector_index(self) -> str:
        """The kind of the index on the vector column, as the table names it; empty without one."""
        with explained(self.where):
            indices = self.table.list_indices()
        columns = [self.dialect.columns.vector]
        found = (index for index in indices if index.index_type != "FTS" and list(index.columns) == columns)
        return next((str(each.index_type) for each in found), "")

    @property
    def outside_vector_index(self) -> int:
        """Rows whose vectors every search goes through: all of them where there is no index."""
        column = self.dialect.columns.vector
        held = self.derived(("index rows",), lambda: vector_index_rows(self.table, column, self.where))
        return self.rows if held is None or self._exact else int(held[1])

    def exactly(self) -> Snapshot:
        """The same version, whose searches by vector read every row and ask no index."""
        other = copy(self)
        other._exact = True
        return other

    def counting(self, where: str) -> Snapshot:
        """The same version, whose keyword scores are those of a table of the rows alone that `where` keeps.

        Word statistics over all rows would tell whoever may read some of them what stands in the others.
        """
        if self.counted is not None:
            return self

        for name in ("fts", "rows", "dims", "row_columns", "vectors_in_memory"):
            getattr(self, name)  # worked out once for the version, not for each who asks
        other = copy(self)
        other.counted, other._whole = where, self
        for name in ("agent_words", "_splitter"):
            other.__dict__.pop(name, None)  # those that the whole table has
        return other

    @property
    def word_rows(self) -> int:
        """Number of memories that keyword scores count."""
        return (
            self.rows if self.counted is None else self.derived(("counted", self.counted), self._counted_rows)
        )

    def _counted_rows(self) -> int:
        return self.count(self.counted)

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` works out of this version, made once for each `key`; the last few are kept."""
        with self._deriving:
            if key in self._derived:
                self._derived[key] = self._derived.pop(key)
            else:
                self._derived[key] = make()
                while len(self._derived) > DERIVED:
                    self._derived.pop(next(iter(self._derived)))
            return cast(T, self._derived[key])

    @cached_property
    def sentinels(self) -> int:
        """How many sentinel rows the table has; 0 where a damaged file hides them."""
        column = self.dialect.columns.id
        if not _is_text(self.schema.field(column).type):
            return 0
        try:
            with explained(self.where):
                return int(self.table.count_rows(sql.is_in(column, [sql.SENTINEL])))
        except DamagedStoreError:  # the count comes from the manifest; reading rows will tell what is wrong
            return 0

    @cached_property
    def fts(self) -> FtsStatus:
        """The state of the full-text index on the text column."""
        return fts_status(self.table, self.dialect.columns.text, self.where)

    def knows_sentinels(self, count: int) -> None:
        """Keep the number of sentinel rows, which a reader of every id knows: it need not be counted again."""
        self.__dict__["sentinels"] = count

    @cached_property
    def written(self) -> int:
        """Number of rows, sentinel rows counted: known without reading any."""
        with explained(self.where):
            return int(self.table.count_rows())

    @cached_property
    def rows(self) -> int:
        """Number of memories; a version never changes, so it is counted once."""
        return self.written - self.sentinels

    def count(self, where: str | None = None) -> int:
        """Number of memories that `where` keeps."""
        if where is None:
            return self.rows
        with explained(self.where):
            return int(self.table.count_rows(self._visible(where)))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the table, in order."""
        return tuple(self.schema.names)

    def scan(
        self,
        columns: Sequence[str] | dict[str, str],
        *,
        where: str | None = None,
        with_row_id: bool = False,
        batch_size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        """Every memory that `where` keeps, in storage order, at most `batch_size` rows at a time.

        `columns` may map new names to expressions of the engine. Raises `DamagedStoreError` in the
        middle when a file cannot be read.
        """
        with explained(self.where):
            query = self.table.search().select(_selection(columns)).with_row_id(with_row_id)
            if condition := self._visible(where):
                query = query.where(condition)
            yield from query.limit(None).to_batches(batch_size=batch_size)

    def in_small_files(self, rows: int) -> bool:
        """Whether many of the table's files hold fewer than so many rows, as single additions leave them."""
        with explained(self.where):
            files = self.table.stats()["fragment_stats"]
        return int(files["num_fragments"]) > _FEW_FILES and int(files["lengths"]["p25"]) < rows

    def scan_written(self, columns: Sequence[str], *, last: int | None = None) -> Iterator[pa.RecordBatch]:
        """Every row in storage order, with `_rowid`, sentinel rows too: no pass is needed to know of them.

        With `last` only so many, those that were written last.
        """
        with explained(self.where):
            query = self.table.search().select(_selection(columns)).with_row_id(True).limit(last)
            if last is not None:
                query = query.offset(max(0, self.written - last))
            yield from query.to_batches(batch_size=BATCH)

    def read_through(self, columns: Sequence[str], *, rows: int = WINDOW) -> Iterator[pa.RecordBatch]:
        """Every memory with wide columns (texts, metadata, vectors), in storage order, with `_rowid`.

        Each window of `rows` is a query of its own: one query over everything would read ahead and hold
        hundreds of megabytes. Far away each query costs several requests: give more rows there.
        """
        total = self.count()
        for offset in range(0, total, rows):
            with explained(self.where):
                query = self.table.search().select(list(columns)).with_row_id(True)
                if condition := self._visible(None):
                    query = query.where(condition)
                yield from query.limit(rows).offset(offset).to_batches(batch_size=rows)

    def take(self, row_ids: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """The rows with these row ids, in the order asked for, with `_rowid`; absent ones are left out.

        Raises `MemtuiError` when the files of this version were cleaned away by another program.
        """
        import numpy as np

        wanted = np.asarray(row_ids, dtype=np.uint64)
        with explained(self.where):
            found = rows_of_ids(self.table, np.unique(wanted), columns)
        if not found.num_rows and wanted.size:
            raise MemtuiError(
                f"The rows of version {self.version} of {self.where} can no longer be read.",
                fix="Reload: another program has rewritten the table and cleaned up.",
            )
        ids = found.column("_rowid").to_numpy()
        order = np.argsort(ids)
        at = np.searchsorted(ids[order], wanted)
        at[at == ids.size] = 0
        rows = order[at] if ids.size else at
        return found.take(rows[ids[rows] == wanted] if ids.size else rows)

    def row_ids(self, ids: Iterable[str]) -> dict[str, list[int]]:
        """The row ids of all rows with one of these ids; absent ids are left out.

        One pass over the ids: of very many, a condition that names them takes more memory than their rows.
        """
        wanted = dict(zip(self._id_values(names := list(ids)), names, strict=True))
        found: dict[str, list[int]] = {}
        for batch in self.scan_written([self.dialect.columns.id]):
            values = batch.column(self.dialect.columns.id).to_pylist()
            for value, row in zip(values, batch.column("_rowid").to_pylist(), strict=True):
                if value in wanted:
                    found.setdefault(wanted[value], []).append(row)
        return found

    def rows_by_id(self, ids: Sequence[str], columns: Sequence[str]) -> pa.Table:
        """All rows with one of these ids, in the order asked for (a duplicated id gives several rows).

        Has `_rowid` and the id column beside `columns`.
        """
        import numpy as np
        import pyarrow as pa

        column = self.dialect.columns.id
        names = list(dict.fromkeys((column, *columns)))
        values = self._id_values(ids)
        with explained(self.where):
            query = self.table.search().select(names).with_row_id(True).where(sql.is_in(column, values))
            found = query.limit(None).to_arrow()
        place = {value: at for at, value in reversed(list(enumerate(values)))}
        order = np.argsort([place[value] for value in found.column(column).to_pylist()], kind="stable")
        return found.take(pa.array(order, pa.int64()))

    def vector_search(
        self,
        vector: Sequence[float],
        *,
        k: int,
        metric: Metric = "cosine",
        where: str | None = None,
        columns: Sequence[str] = (),
        with_row_id: bool = False,
        refined: bool = False,
    ) -> pa.Table:
        """The `k` memories nearest to `vector` among those that `where` keeps, nearest first; see `refining`.

        `vector` has as many finite numbers as the table's vectors, else `UsageError`. `_distance` is 1 - cos for
        "cosine" (0 to 2), the squared Euclidean distance for "l2". A row without a usable vector or a zero `vector`
        finds nothing by cosine.
        """
        import numpy as np

        query_vector = np.asarray(vector, dtype=np.float32)
        self._check_query(query_vector, k)
        if self.on_object_storage and metric == "cosine" and self.vectors_in_memory:
            return self._nearest_rows(query_vector, k, where, columns, with_row_id)
        with explained(self.where):
            query = self.table.search(
                query_vector, query_type="vector", vector_column_name=self.dialect.columns.vector
            ).distance_type(metric)
            if condition := self._visible(where):
                query = query.where(condition, prefilter=True)
            if self._exact:
                query = query.bypass_vector_index()
            elif refined and self.dialect.can.own_store and self.vector_index:
                query = refining(query, k)
            query = query.select([*columns, "_distance"]).with_row_id(with_row_id)
            return query.limit(k).to_arrow()

    @cached_property
    def vectors_fit(self) -> bool:
        """Whether all vectors may be held in memory: of a small table here or on object storage."""
        from memtui.engine.store.vector_matrix import MOST_BYTES

        near = self.folder is not None or self.on_object_storage
        if self._vectors is None or not near or self.dims is None:
            return False
        return 4 * self.rows * self.dims <= MOST_BYTES

    @cached_property
    def vectors_in_memory(self) -> bool:
        """Whether `nearest` can answer: vectors that fit, and that no index leads to."""
        column = self.dialect.columns.vector
        return self.vectors_fit and vector_index_rows(self.table, column, self.where) is None

    def nearest(self, vector: Sequence[float], *, k: int, where: str | None = None) -> NearestRows:
        """As `vector_search` by cosine, from the vectors in memory: row ids and distances, nearest first.

        Raises `UsageError` for a vector that does not fit.
        """
        import numpy as np

        question = np.asarray(vector, dtype=np.float32)
        self._check_query(question, k)
        assert self._vectors is not None  # asked only where `vectors_in_memory`
        matrix = self._vectors.matrix(self)
        return matrix.nearest(question, k, self._among(where, matrix.addresses))

    def _nearest_rows(
        self, vector: Any, k: int, where: str | None, columns: Sequence[str], with_row_id: bool
    ) -> pa.Table:
        """`vector_search` of a version far away: the library would fetch every vector for each search."""
        import pyarrow as pa

        found, column = self.nearest(vector, k=k, where=where), self.dialect.columns.vector
        row_ids = found.row_ids.tolist()
        stored = [name for name in columns if name != column]
        rows = self.take(row_ids, stored) if stored and row_ids else pa.table({"_rowid": found.row_ids})
        if column in columns and row_ids:
            held, kind = self.held_vectors(row_ids), self.schema.field(column).type
            rows = rows.append_column(column, pa.array([held[row_id] for row_id in row_ids], kind))
        rows = rows.append_column("_distance", pa.array(found.distances))
        for name in columns if not row_ids else ():
            rows = rows.append_column(name, pa.array([], self.schema.field(name).type))
        return rows.select([*columns, "_distance", *(["_rowid"] if with_row_id else [])])

    def nearest_by_pass(
        self, vector: Sequence[float], *, k: int, where: str | None, check: Callable[[], None]
    ) -> NearestRows:
        """As `nearest`, of vectors that no memory holds: one pass over all of them, `check` asked before each batch."""
        import numpy as np

        from memtui.engine.store.vector_matrix import nearest_in_batches

        question = np.asarray(vector, dtype=np.float32)
        self._check_query(question, k)
        column = str(self.dialect.columns.vector)
        batches = self.scan([column], where=where, with_row_id=True, batch_size=PASS)
        return nearest_in_batches(
            ((b.column("_rowid"), b.column(column)) for b in batches), question, k, check
        )

    @property
    def holds_vectors(self) -> bool:
        """Whether the vectors of this version are on this machine already."""
        return self._vectors is not None and self.vectors_fit and self._vectors.holds(self.version)

    @property
    def unread_vectors(self) -> int:
        """How many vectors the next search has to read from the table first; where `vectors_fit`."""
        assert self._vectors is not None
        return self._vectors.unread(self)

    @property
    def vectors_stay(self) -> str:
        """How long vectors stay that were fetched from object storage, in words."""
        kept = self._vectors is not None and self._vectors.file is not None
        return "kept on this machine" if kept else "held while memtui runs"

    @property
    def vectors_read(self) -> int:
        """How many vectors were read into memory so far, of all versions of the table."""
        return 0 if self._vectors is None else self._vectors.read

    def every_vector(self, check: Callable[[], None]) -> VectorMatrix:
        """All vectors in memory, where `vectors_fit`; `check` may raise between two batches that are read."""
        assert self._vectors is not None
        return self._vectors.matrix(self, check)

    def held_vectors(self, row_ids: Sequence[int]) -> Mapping[int, Any]:
        """The usable vectors of these rows by row id, read where they are not held; where `vectors_fit`."""
        assert self._vectors is not None
        return self._vectors.matrix(self).stored(row_ids)

    def words_in_memory(self, text: str, *, k: int, where: str | None = None) -> FoundWords | None:
        """As `fts_search`, every memory counted alike, folded into the index or not; None where the library is asked.

        That is so for a table that is large or far away, has no index, or one whose words need files.
        """
        by = self._splitter
        if by is None or k < 1:
            return None
        assert self._words is not None  # else there is no splitter
        few = self._whole is None or self._whole._few_words
        words = self._words if self.counted is None or few else self._words.among(self.counted)
        try:
            matrix = words.matrix(self, by)
        except DamagedStoreError:  # the index may answer where a text cannot be read
            return None
        if not few:
            where = sql.both(where, self.counted)
        among = self._among(where, matrix.addresses)
        counted = self._among(self.counted, matrix.addresses) if few and self.counted is not None else None
        return matrix.search(text, k, among, counted)

    @property
    def words_count_alike(self) -> bool:
        """Whether `words_in_memory` answers, and a row's score does not hang on what the index holds."""
        return self._splitter is not None

    @cached_property
    def _splitter(self) -> WordSplitter | None:
        from memtui.engine.store.word_matrix import PLAIN, splitter

        if not self._few_words or not self.fts.exists or not self.fts.readable:
            return None
        return splitter({"base_tokenizer": PLAIN} if self.unsplit else self.fts.details or {})

    @property
    def _few_words(self) -> bool:
        """Whether the rows that count are few enough for their words to be held in memory."""
        from memtui.engine.store.word_matrix import MOST_ROWS, MOST_UNSPLIT

        if self._words is None or self.folder is None:
            return False
        most = MOST_ROWS if self.word_rows <= MOST_ROWS or not self.unsplit else MOST_UNSPLIT
        return self.word_rows <= most

    def _among(self, where: str | None, addresses: Any) -> Any:
        """Of each of the `addresses` of all memories whether `where` keeps it; None where it keeps all."""
        import numpy as np

        from memtui.engine.store.vector_matrix import addressed

        if where is None:
            return None
        return self.derived(
            ("kept", where, len(addresses)),
            lambda: np.isin(addresses, addressed(self, where)[0], assume_unique=True),
        )

    def fts_search(
        self,
        text: str,
        *,
        k: int,
        where: str | None = None,
        columns: Sequence[str] = (),
        with_row_id: bool = False,
        flat: bool = False,
    ) -> pa.Table:
        """The `k` best rows for the words of `text` by the full-text index, best first, with `_score` (BM25).

        `text` goes to the engine as it is: words are alternatives, a text in double quotes is a phrase.
        Raises `MemtuiError` when the table has no index, or a phrase meets an index without positions. With
        `flat` a table without an index is read row by row instead, by the engine's own plain rules.
        """
        if k < 1:
            raise UsageError(f"A search for {counted(k, 'row')} makes no sense.", fix="Ask for 1 or more.")
        if not self.fts.exists and not flat:  # the plugin's rules need the index that it builds
            raise MemtuiError(
                f"{self.where} has no full-text index.",
                fix="Search by meaning, or let the agent's program build its index.",
            )
        with explained(self.where):
            query = self.table.search(text, query_type="fts", fts_columns=self.dialect.columns.text)
            if condition := self._visible(where):
                query = query.where(condition, prefilter=True)
            query = query.select([*columns, "_score"]).with_row_id(with_row_id)
            return query.limit(k).to_arrow()

    def split(self, text: str) -> tuple[str, ...]:
        """The words that the full-text index makes of `text`, in order; MemtuiError where it cannot split any."""
        with explained(self.where):
            return tuple(token.text for token in self.table.tokenize(text, column=self.dialect.columns.text))

    @cached_property
    def unsplit(self) -> str:
        """Why the full-text index cannot split a text here; empty where it can, and where there is no index."""
        if not self.fts.exists:
            return ""
        try:
            self.split("a")
        except MemtuiError as error:
            return error.message
        return ""

    @cached_property
    def agent_words(self) -> WordIndex | str:
        """The full-text index as the engine of the table's own program reads it, or why it is read by ours.

        Empty where that makes no difference: for a table of another program, or without an index.
        """
        from memtui.engine.store.agent_words.lance_file import NotReadable
        from memtui.engine.store.agent_words.search import word_index

        if self._whole is not None:
            whole = self._whole.agent_words
            if isinstance(whole, str):
                return whole
            rows = self._row_ids(self.counted)
            return self.derived(("agent words", self.counted), lambda: whole.among(rows))
        if not self.dialect.agent_words or not self.fts.exists:
            return ""
        if self.folder is None:
            return "its files are not on this machine"
        text = self.dialect.columns.text
        try:
            return word_index(
                [i for i in self.table.list_indices() if list(i.columns) == [text]],
                self.folder,
                self._row_ids(),
                lambda ids: self.take(ids.tolist(), [text]).column(text).to_pylist(),
                self._shared,
            )
        except (NotReadable, OSError, ValueError, IndexError, KeyError) as error:
            return str(error)

    def agent_search(self, text: str, *, k: int, where: str | None = None) -> Ranked | None:
        """The `k` best rows for the words of `text` as the engine of the table's own program answers.

        None where ours has to be asked (`fts_search`): see `agent_words`.
        """
        index = self.agent_words
        if isinstance(index, str) or k < 1:
            return None
        return index.search(text, self._row_ids(where), k=k, filtered=where is not None)

    def _row_ids(self, where: str | None = None) -> Any:
        """The row ids of the memories that `where` keeps, uint64, sorted; remembered with the version."""
        import numpy as np

        def read() -> Any:
            batches = self.scan([], where=where, with_row_id=True)
            parts = [batch.column("_rowid").to_numpy() for batch in batches]
            return np.sort(np.concatenate(parts)) if parts else np.array([], np.uint64)

        return self.derived(("row ids", where), read)

    @cached_property
    def dims(self) -> int | None:
        """Numbers in each vector; None without a vector column."""
        column = self.dialect.columns.vector
        return None if column is None else int(self.schema.field(column).type.list_size)

    @cached_property
    def row_columns(self) -> tuple[str, ...]:
        """All columns but the vectors: what a memory is made of."""
        return tuple(field.name for field in self.schema if not is_vector(field.type))

    def _check_query(self, vector: Any, k: int) -> None:
        import numpy as np

        if self.dims is None:
            raise UsageError(f"{self.where} has no vector column.", fix="Use keyword search instead.")
        if vector.shape != (self.dims,):
            raise UsageError(
                f"The question's vector has {vector.size} numbers, the vectors of {self.where} have {self.dims}.",
                fix="Use the embedding model that made the store's vectors.",
            )
        if not np.isfinite(vector).all():
            raise UsageError(
                "The question's vector has a number that is not finite.",
                fix="Check what the embedder returned.",
            )
        if k < 1:
            raise UsageError(f"A search for {counted(k, 'row')} makes no sense.", fix="Ask for 1 or more.")

    def _visible(self, where: str | None) -> str | None:
        return sql.both(where, sql.not_sentinel(self.dialect.columns.id) if self.sentinels else None)

    def _id_values(self, ids: Sequence[str]) -> list[Any]:
        if _is_text(self.schema.field(self.dialect.columns.id).type):
            return list(ids)
        return [int(value) for value in ids if value.lstrip("-").isdigit()]


def _selection(columns: Sequence[str] | dict[str, str]) -> list[str] | dict[str, str]:
    return columns if isinstance(columns, dict) else list(columns) or ROW_ID_ALONE


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
