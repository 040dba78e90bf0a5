"""Metadata of a whole table: tier, access, state and validity of every row, in the catalog's order.

Rows whose metadata is as the agent's program writes it are normalised in columns; every other row
goes through `metadata.normalise` one by one, so both ways agree by construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memtui.engine.catalog import metadata_parse
from memtui.engine.catalog.build import ValueCoder
from memtui.engine.catalog.catalog import (
    DYNAMIC,
    INVALID,
    STATIC,
    SUPERSEDED,
    SUPERSEDES,
    Catalog,
    CodedColumn,
    MetadataColumns,
    Times,
)
from memtui.engine.catalog.kept_columns import MOST_UNREAD, shared_rows
from memtui.engine.catalog.select import positions_of
from memtui.engine.core.memory import LAYERS, STATES, TIERS
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.metadata.read import DEFAULT_CONFIDENCE, normalise, parse_object
from memtui.engine.store.snapshot import WINDOW

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.metadata.read import Metadata
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store


_TEXTS_AT_ONCE = 4_096

_COUNT_MAX = 2**32 - 1

_FIRST_SAMPLED, _SAMPLED = 1_024, 64
"""Rows of the first batch, and of every later one, of which the keys are looked at."""

_MOST_KEYS, _LONGEST_KEY = 500, 80

_WINDOW_FAR = 65_536
"""Rows that are asked for at a time from object storage."""

Rows = NDArray[np.int64]


def read_metadata(
    store: Store,
    catalog: Catalog,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
    *,
    known: Catalog | None = None,
) -> Catalog:
    """`catalog` with its `meta`, read at the catalog's own version; itself where there is nothing to read.

    `known` is a catalog of another version whose metadata was read: rows that both have are taken from it.
    Raises `Cancelled` between two batches, `DamagedStoreError` when a file cannot be read.
    """
    if not catalog.metadata_pending:
        return catalog
    pin = store.pin(catalog.version)
    reader = _Reader(pin, catalog)
    files = store.data_files(catalog.version)
    at, old = _shared(catalog, known, files)
    if known is not None and catalog.n - len(at) <= catalog.n * MOST_UNREAD:
        reader.carry_over(known, at, old)
        batches = _by_row_id(pin, np.delete(catalog.row_ids, at), reader.columns)
    else:
        batches = pin.read_through(reader.columns, rows=WINDOW if not store.is_far else _WINDOW_FAR)
    done = 0
    for batch in batches:
        if cancel:
            cancel.check()
        reader.add(batch)
        done += batch.num_rows
        if on_progress:
            on_progress(Progress("Reading tiers and access counts", done, catalog.n))
    found = catalog.with_meta(reader.meta(), reader.source(), files)
    _release_unused()
    return found


def _release_unused() -> None:
    """Give the system back what reading a whole table took: the allocators would keep 80 MB at a million rows."""
    import pyarrow as pa

    for pool in (pa.default_memory_pool(), pa.system_memory_pool()):
        pool.release_unused()


def _shared(
    catalog: Catalog, known: Catalog | None, files: Mapping[int, tuple[bytes, ...]]
) -> tuple[Rows, Rows]:
    """Positions of the rows that `known` has in the `files` that hold them now, and where they stand in `known`."""
    if known is None or known.meta is None or not known.n:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    same = [number for number, named in files.items() if known.files.get(number) == named]
    if catalog.addresses is not None and known.addresses is not None:
        return shared_rows(catalog.addresses, known.addresses, same)
    return shared_rows(catalog.row_ids, known.row_ids, same)


def _by_row_id(pin: Snapshot, row_ids: NDArray[np.uint64], columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Single rows, some thousand at a time."""
    for start in range(0, len(row_ids), _TEXTS_AT_ONCE):
        found = pin.take(row_ids[start : start + _TEXTS_AT_ONCE].tolist(), columns)
        yield from found.combine_chunks().to_batches()


class _Reader:
    """Fills the arrays of `MetadataColumns` batch by batch, each row at its place in the catalog."""

    def __init__(self, pin: Snapshot, catalog: Catalog) -> None:
        n, columns = catalog.n, pin.dialect.columns
        self._pin = pin
        self._catalog = catalog
        own = (columns.tier, columns.state, columns.access_count, columns.last_accessed)
        self.columns = [name for name in (columns.metadata, *own) if name]
        self._category, self._source = ValueCoder(n), ValueCoder(n)
        self._tier, self._state, self._layer, self._flags = (np.zeros(n, dtype=np.uint8) for _ in range(4))
        self._access_count = np.zeros(n, dtype=np.uint32)
        self._confidence = np.zeros(n, dtype=np.float32)
        self._last_accessed = np.zeros(n)
        self._valid_from = np.zeros(n)
        self._keys: Counter[str] = Counter()
        self._valid_until, self._invalidated_at, self._suppressed_until = (_Sparse(n) for _ in range(3))

    def carry_over(self, known: Catalog, at: Rows, old: Rows) -> None:
        """Take the rows `at`, which stand at `old` in a catalog of another version, from there."""
        import pyarrow as pa

        meta = known.meta
        assert meta is not None
        for mine, theirs in (
            (self._tier, meta.tier),
            (self._state, meta.state),
            (self._layer, meta.layer),
            (self._flags, meta.flags),
            (self._access_count, meta.access_count),
            (self._confidence, meta.confidence),
            (self._last_accessed, meta.last_accessed),
            (self._valid_from, meta.valid_from),
        ):
            mine[at] = theirs[old]
        for times, before in (
            (self._valid_until, meta.valid_until),
            (self._invalidated_at, meta.invalidated_at),
            (self._suppressed_until, meta.suppressed_until),
        ):
            times.fill(at, before[old])
        source = known.labels["source"]
        for coder, codes, values in (
            (self._category, meta.memory_category, meta.memory_categories),
            (self._source, source.codes, source.values),
        ):
            indices = pa.array(codes[old].astype(np.int32))
            coder.fill(at, pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string())))
        self._keys.update(dict.fromkeys(meta.keys, _FIRST_SAMPLED))

    def add(self, batch: pa.RecordBatch) -> None:
        row_ids = batch.column("_rowid").to_numpy()
        at = positions_of(self._catalog, row_ids)
        raw = batch.column(self._pin.dialect.columns.metadata)
        self._sample(raw.slice(0, _SAMPLED if self._keys else _FIRST_SAMPLED).to_pylist())
        plain = np.flatnonzero(metadata_parse.plain_rows(raw))
        odd = np.ones(len(raw), dtype=np.bool_)
        for piece, rows in metadata_parse.parse(raw.take(_arrow(plain))):
            if rows is not None:
                odd[plain[piece]] = self._in_columns(rows, at[plain[piece]])
        for start in range(0, int(odd.sum()), _TEXTS_AT_ONCE):
            some = np.flatnonzero(odd)[start : start + _TEXTS_AT_ONCE]
            self._row_by_row(raw.take(_arrow(some)).to_pylist(), row_ids[some], at[some])
        self._own_columns(batch, at)

    def meta(self) -> MetadataColumns:
        category = self._category.coded()
        return MetadataColumns(
            memory_category=category.codes,
            memory_categories=category.values,
            tier=self._tier,
            access_count=self._access_count,
            state=self._state,
            layer=self._layer,
            confidence=self._confidence,
            last_accessed=self._last_accessed,
            valid_from=self._valid_from,
            valid_until=self._valid_until.times,
            invalidated_at=self._invalidated_at.times,
            suppressed_until=self._suppressed_until.times,
            flags=self._flags,
            keys=tuple(key for key, _ in self._keys.most_common(_MOST_KEYS)),
        )

    def source(self) -> CodedColumn:
        """Where each row came from."""
        return self._source.coded()

    def _sample(self, raw: list[str | None]) -> None:
        for each in raw:
            values, valid = parse_object(each)
            self._keys.update(key for key in values if valid and 0 < len(key) <= _LONGEST_KEY)

    def _in_columns(self, rows: pa.StructArray, at: Rows) -> NDArray[np.bool_]:
        """Normalise rows in columns; returns which of them still need to go one by one."""
        number = {name: metadata_parse.numbers(rows.field(name)) for name in metadata_parse.NUMBERS}
        stamp = self._catalog.timestamp[at]
        state, layer, odd = metadata_parse.states_and_layers(rows)
        category = rows.field("memory_category")
        odd |= ~metadata_parse.present(category) | metadata_parse.blank(category)
        for name in ("valid_from", "valid_until", "invalidated_at"):
            odd |= metadata_parse.not_whole(number[name], 1)
        for name in ("access_count", "last_accessed_at", "suppressed_until_ms"):
            odd |= metadata_parse.not_whole(number[name], 0)
        odd |= (number["confidence"] < 0) | (number["confidence"] > 1) | (number["access_count"] > _COUNT_MAX)
        flags = np.zeros(len(at), dtype=np.uint8)
        for name, flag in (("superseded_by", SUPERSEDED), ("supersedes", SUPERSEDES)):
            odd |= metadata_parse.blank(rows.field(name))
            flags |= np.where(metadata_parse.present(rows.field(name)), flag, 0).astype(np.uint8)
        for word, flag in (("dynamic", DYNAMIC), ("static", STATIC)):
            is_word = metadata_parse.equals(rows.field("memory_temporal_type"), word)
            flags |= np.where(is_word, flag, 0).astype(np.uint8)
        source, odd_source = metadata_parse.sources(rows.field("source"))
        odd |= odd_source
        valid_from = metadata_parse.or_else(number["valid_from"], stamp)
        invalidated = number["invalidated_at"]
        self._category.fill(at, category)
        self._source.fill(at, source)
        self._tier[at] = metadata_parse.tiers(rows.field("tier"))
        self._state[at], self._layer[at], self._flags[at] = state, layer, flags
        self._access_count[at] = np.clip(metadata_parse.or_else(number["access_count"], 0.0), 0, _COUNT_MAX)
        self._confidence[at] = metadata_parse.or_else(number["confidence"], DEFAULT_CONFIDENCE)
        self._last_accessed[at] = metadata_parse.or_else(number["last_accessed_at"], stamp)
        self._valid_from[at] = valid_from
        self._valid_until.fill(at, number["valid_until"])
        self._invalidated_at.fill(at, np.where(invalidated >= valid_from, invalidated, np.nan))
        self._suppressed_until.fill(at, number["suppressed_until_ms"])
        return odd

    def _row_by_row(self, raw: list[str | None], row_ids: NDArray[np.uint64], at: Rows) -> None:
        catalog, text_column = self._catalog, self._pin.dialect.columns.text
        texts = self._pin.take(row_ids.tolist(), [text_column]).column(text_column).to_pylist()
        for metadata, text, row in zip(raw, texts, at.tolist(), strict=True):
            normalised = normalise(
                metadata,
                text=text or "",
                category=catalog.categories[int(catalog.category_codes[row])],
                timestamp_ms=int(catalog.timestamp[row]),
                now_ms=0,  # only for rows without a time column
            )
            self._put(row, normalised)

    def _put(self, row: int, meta: Metadata) -> None:
        self._category.put(row, meta.memory_category)
        self._source.put(row, meta.source)
        self._tier[row] = TIERS.index(meta.tier)
        self._state[row] = STATES.index(meta.state)
        self._layer[row] = LAYERS.index(meta.memory_layer)
        self._access_count[row] = min(meta.access_count, _COUNT_MAX)
        self._confidence[row] = meta.confidence
        self._last_accessed[row] = meta.last_accessed_at
        self._valid_from[row] = meta.valid_from
        self._valid_until.put(row, meta.valid_until)
        self._invalidated_at.put(row, meta.invalidated_at)
        self._suppressed_until.put(row, meta.suppressed_until_ms)
        self._flags[row] = (
            (0 if meta.valid else INVALID)
            | (SUPERSEDED if meta.superseded_by else 0)
            | (SUPERSEDES if meta.supersedes else 0)
            | {"dynamic": DYNAMIC, "static": STATIC}.get(meta.memory_temporal_type or "", 0)
        )

    def _own_columns(self, batch: pa.RecordBatch, at: Rows) -> None:
        """Where the table has columns for them, tier, state and access count are taken from there."""
        columns = self._pin.dialect.columns
        for name, words, target in (
            (columns.tier, TIERS, self._tier),
            (columns.state, STATES, self._state),
        ):
            if name:
                codes, absent, other = metadata_parse.codes(batch.column(name), words, 0)
                good = ~(absent | other)
                target[at[good]] = codes[good]
        for name, array, most in (
            (columns.access_count, self._access_count, _COUNT_MAX),
            (columns.last_accessed, self._last_accessed, metadata_parse.WHOLE_MAX),
        ):
            if name:
                values = metadata_parse.numbers(batch.column(name))
                good = ~np.isnan(values)
                array[at[good]] = np.clip(values[good], 0, most)


def _arrow(indices: Rows) -> Any:
    import pyarrow as pa

    return pa.array(indices)


class _Sparse:
    """Times that most tables do not have: no memory is taken before the first one appears."""

    def __init__(self, n: int) -> None:
        self.times: Times = np.broadcast_to(np.float64(np.nan), (n,))

    def fill(self, at: Rows, times: Times) -> None:
        if self.times.flags.writeable or not np.isnan(times).all():
            self._writeable()[at] = times

    def put(self, row: int, time: int | None) -> None:
        if self.times.flags.writeable or time is not None:
            self._writeable()[row] = np.nan if time is None else time

    def _writeable(self) -> Times:
        if not self.times.flags.writeable:
            self.times = self.times.copy()
        return self.times
