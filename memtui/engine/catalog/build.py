"""Making the catalog: one streamed pass over the light columns of the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog.catalog import (
    CREATED,
    NO_TIME,
    SECONDS,
    Catalog,
    CategoryLists,
    CodedColumn,
    Codes,
    FirstPage,
)
from memtui.engine.catalog.ids import PackedIds, pack
from memtui.engine.catalog.kept_columns import light_batches
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.dialects import time_columns
from memtui.engine.dialects.with_metadata import LifecycleDialect
from memtui.engine.metadata.read import DEFAULT_IMPORTANCE, SECONDS_BELOW
from memtui.engine.store import sql
from memtui.engine.store.vector_matrix import ADDRESS

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.dialects.time_form import TimeForm
    from memtui.engine.store.table import Store


# Texts as small numbers: one dictionary for a column that is read batch by batch.


class ValueCoder:
    """Collects the codes of a column of `n` rows; at the end the texts stand in the order first met."""

    def __init__(self, n: int) -> None:
        self._codes: Codes = np.zeros(n, dtype=np.uint16)
        self._known: dict[str | None, int] = {}

    def fill(self, at: slice | NDArray[np.int64], column: Any) -> None:
        """The rows `at` hold the texts of an Arrow array (NULL is a value of its own)."""
        encoded = column.dictionary_encode()
        numbers = np.array([self._code(text) for text in encoded.dictionary.to_pylist()], dtype=np.uint32)
        indices = encoded.indices
        if indices.null_count:
            numbers = np.append(numbers, np.uint32(self._code(None)))
            indices = indices.fill_null(len(numbers) - 1)
        if len(indices):
            self._codes[at] = numbers[indices.to_numpy(zero_copy_only=False)]

    def put(self, row: int, text: str | None) -> None:
        """One row holds `text`."""
        code = self._code(text)
        self._codes[row] = code

    def coded(self, order: NDArray[np.int64] | None = None) -> CodedColumn:
        """The finished column, in `order`."""
        return CodedColumn(self._codes if order is None else self._codes[order], tuple(self._known))

    def _code(self, text: str | None) -> int:
        code = self._known.setdefault(text, len(self._known))
        if code > np.iinfo(self._codes.dtype).max:
            self._codes = self._codes.astype(np.uint32)
        return code


def build_catalog(
    store: Store,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
    kept: Path | None = None,
) -> Catalog:
    """Read the catalog of `store` at its pinned version; metadata is left for `read_metadata`.

    `kept` is a folder of this machine for the columns of a remote store; see `kept_columns`.
    Raises `Cancelled` between two batches, `DamagedStoreError` when a file cannot be read.
    """
    pin = store.pin()
    far = store.is_far
    total = pin.written if far else pin.count()
    columns = _Arrays(pin.dialect, total)
    seen = read = 0
    for batch in light_batches(store, pin, kept):
        if cancel:
            cancel.check()
        seen, read = seen + batch.num_rows, read + batch.nbytes
        columns.add(memories_of(batch, pin.dialect) if far else batch)
        if on_progress and far:  # the way is what is waited for
            on_progress(Progress("Reading the table", read, read * total // max(1, seen), "bytes"))
        elif on_progress:
            on_progress(Progress("Reading the table", columns.filled, total))
    if far:
        pin.knows_sentinels(seen - columns.filled)
        columns.shorten()
    return columns.catalog(pin.version)


PAGE = 50
"""Rows of a first page."""

FEW = 8
"""Rows of it where each may stand in a file of its own, which is a request of its own."""


def build_first_page(store: Store) -> FirstPage:
    """The rows that were written last: a few requests, however many there are."""
    import pyarrow as pa

    pin = store.pin()
    columns = _Arrays(pin.dialect, PAGE)
    batches = [
        memories_of(batch, pin.dialect)
        for batch in pin.scan_written(pin.row_columns, last=FEW if pin.in_small_files(PAGE) else PAGE)
    ]
    for batch in batches:
        columns.add(batch)
    columns.shorten()
    names = [*pin.row_columns, "_rowid"]
    schema = batches[0].schema if batches else pa.schema([(name, pa.null()) for name in names])
    return FirstPage(columns.catalog(pin.version), pa.Table.from_batches(batches, schema))


def memories_of(batch: pa.RecordBatch, dialect: Dialect) -> pa.RecordBatch:
    """The batch without sentinel rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = batch.column(dialect.columns.id)
    if not (pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)):
        return batch
    return batch.filter(pc.fill_null(pc.not_equal(ids, pa.scalar(sql.SENTINEL, ids.type)), True))


@dataclass(slots=True)
class _Arrays:
    """The growing columns, in storage order."""

    dialect: Dialect
    n: int
    filled: int = 0
    row_ids: NDArray[np.uint64] = field(init=False)
    high: NDArray[np.uint64] = field(init=False)
    low: NDArray[np.uint64] = field(init=False)
    timestamp: NDArray[np.float64] = field(init=False)
    importance: NDArray[np.float32] = field(init=False)
    flags: NDArray[np.uint8] = field(init=False)
    coders: dict[str, ValueCoder] = field(init=False)
    addresses: NDArray[np.uint64] | None = None
    odd_at: list[NDArray[np.int64]] = field(default_factory=list)
    odd_texts: list[pa.Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        n, columns = self.n, self.dialect.columns
        self.row_ids, self.high, self.low = (np.zeros(n, dtype=np.uint64) for _ in range(3))
        self.timestamp = np.zeros(n, dtype=np.float64)
        self.importance = np.full(n, np.nan, dtype=np.float32)
        self.flags = np.zeros(n, dtype=np.uint8)
        texts = (columns.scope, columns.category, *self.dialect.labels)
        self.coders = {name: ValueCoder(n) for name in texts if name}

    def add(self, batch: pa.RecordBatch) -> None:
        columns, at = self.dialect.columns, self.filled
        rows = slice(at, at + batch.num_rows)
        self.row_ids[rows] = batch.column("_rowid").to_numpy()
        if ADDRESS in batch.schema.names:
            if self.addresses is None:
                self.addresses = np.zeros(self.n, dtype=np.uint64)
            self.addresses[rows] = batch.column(ADDRESS).to_numpy()
        self.high[rows], self.low[rows], odd = pack(batch.column(columns.id))
        if odd.any():
            self.odd_at.append(np.flatnonzero(odd) + at)
            self.odd_texts.append(_as_text(batch.column(columns.id)).take(_indices(odd)))
        self.timestamp[rows], self.flags[rows] = _times(batch, self.dialect)
        if columns.importance:
            with np.errstate(over="ignore"):  # what is too large for the column is infinite in it
                self.importance[rows] = _importance(batch.column(columns.importance), self.dialect)
        for name, coder in self.coders.items():
            coder.fill(rows, batch.column(name))
        self.filled = rows.stop

    def shorten(self) -> None:
        """As many rows as were filled are all there are."""
        self.n = self.filled
        for name in ("timestamp", "row_ids", "high", "low", "importance", "flags"):
            setattr(self, name, getattr(self, name)[: self.n])
        if self.addresses is not None:
            self.addresses = self.addresses[: self.n]

    def catalog(self, version: int) -> Catalog:
        """All columns in the order of time, newest first; equal times stay in storage order.

        The columns in storage order are given up one by one: a million rows twice would be too much.
        """
        columns = self.dialect.columns
        order = np.argsort(np.negative(self.timestamp), kind="stable")
        for name in ("timestamp", "row_ids", "high", "low", "importance", "flags"):
            setattr(self, name, getattr(self, name)[order])
        coded = {name: self.coders.pop(name).coded(order) for name in list(self.coders)}
        nothing = CodedColumn(np.zeros(self.n, dtype=np.uint16), (None,))
        scope = coded[columns.scope] if columns.scope else nothing
        category = coded[columns.category] if columns.category else nothing
        lists = _lists(category, self.dialect) if self.dialect.lists_categories else None
        category = category if lists is None else _first_of(lists)
        return Catalog(
            version=version,
            n=self.n,
            row_ids=self.row_ids,
            ids=self._ids(order),
            timestamp=self.timestamp,
            importance=self.importance,
            scope_codes=scope.codes,
            scopes=scope.values,
            category_codes=category.codes,
            categories=category.values,
            category_lists=lists,
            flags=self.flags,
            has_metadata=self.dialect.reads_metadata,
            labels={name: coded[name] for name in self.dialect.labels},
            addresses=None if self.addresses is None else self.addresses[order],
        )

    def _ids(self, order: NDArray[np.int64]) -> PackedIds:
        import pyarrow as pa

        if not self.odd_at:
            return PackedIds(self.high, self.low, np.empty(0, dtype=np.int64), pa.array([], pa.string()))
        place = np.empty(self.n, dtype=np.int64)
        place[order] = np.arange(self.n)
        odd_at = place[np.concatenate(self.odd_at)]
        ascending = np.argsort(odd_at)
        texts = pa.chunked_array(self.odd_texts).combine_chunks().take(pa.array(ascending))
        return PackedIds(self.high, self.low, odd_at[ascending], texts)


def _lists(column: CodedColumn, dialect: Dialect) -> CategoryLists:
    """The categories of each row, read once for each text that is stored."""
    return CategoryLists(column.codes, tuple(map(dialect.categories_of, column.values)))


def _first_of(lists: CategoryLists) -> CodedColumn:
    """The first category of each row as a column of its own."""
    firsts = [next(iter(listed), None) for listed in lists.values]
    known = {text: at for at, text in enumerate(dict.fromkeys(firsts))}
    codes = np.array([known[text] for text in firsts], dtype=np.uint32)
    return CodedColumn(codes[lists.codes] if codes.size else lists.codes, tuple(known) or (None,))


def _as_text(column: Any) -> Any:
    import pyarrow as pa

    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _indices(mask: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(np.flatnonzero(mask))


def _times(batch: pa.RecordBatch, dialect: Dialect) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Milliseconds (0 where unknown) and the row flags, by the rules of `Dialect.read_time`."""
    column, created = dialect.columns.timestamp, dialect.columns.created
    flags = np.zeros(batch.num_rows, dtype=np.uint8)
    if not column:
        return np.zeros(batch.num_rows), flags
    times, seconds = _coerce(batch.column(column), dialect.times)
    flags[seconds] |= SECONDS
    if created:
        second_times, second_seconds = _coerce(batch.column(created), dialect.times)
        instead = (times == 0) & (second_times > 0)
        times = np.where(instead, second_times, times)
        flags[instead] |= CREATED
        flags[instead & second_seconds] |= SECONDS
    flags[times == 0] |= NO_TIME
    return times, flags


def _coerce(column: Any, form: TimeForm) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    stored = time_columns.numbers(column, form)
    whole = np.floor(np.where(np.isfinite(stored) & (stored > 0), stored, 0.0))
    seconds = (whole > 0) & (whole < SECONDS_BELOW) & (not form.unit and not time_columns.is_text(column))
    return np.where(seconds, whole * 1000.0, whole), seconds


def _importance(column: Any, dialect: Dialect) -> NDArray[np.float64]:
    """What `Dialect.importance` gives, for a whole column; NaN where it is None."""
    stored = time_columns.numbers(column)
    if not isinstance(dialect, LifecycleDialect):
        return stored
    known = np.where(np.isfinite(stored), np.clip(stored, 0.0, 1.0), DEFAULT_IMPORTANCE)
    return np.where(column.is_null().to_numpy(zero_copy_only=False), 0.0, known)
