"""The catalog: one immutable set of columns for a whole table at one version.

Everything that lists, filters, sorts or counts works on these arrays; text and vectors stay on disk
and are taken by row id. All arrays have `n` entries and stand in the default order, newest first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.catalog.ids import PackedIds


Codes = NDArray[np.uint16] | NDArray[np.uint32]

Positions = NDArray[np.int64]
"""Places in the catalog, 0 to n - 1."""

Mask = NDArray[np.bool_]

Times = NDArray[np.float64]
"""Milliseconds since the epoch; NaN where a time is absent."""

SECONDS = 1
"""Row flag: the time is stored in seconds (shown in milliseconds)."""

NO_TIME = 2
"""Row flag: the time is NULL, 0 or negative."""

CREATED = 4
"""Row flag: timestamp says nothing, the time shown is the second time column's."""

INVALID = 1
"""Metadata flag: what is stored is not a JSON object."""

SUPERSEDED = 2
"""Metadata flag: another memory has replaced this one."""

SUPERSEDES = 4
"""Metadata flag: this memory has replaced another."""

DYNAMIC = 8
"""Metadata flag: of the temporal type "dynamic", which decays faster."""

STATIC = 16
"""Metadata flag: of the temporal type "static"."""


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column with few different texts: row i holds `values[codes[i]]` (None is NULL)."""

    codes: Codes
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CategoryLists:
    """Several categories a row: row i has those of `values[codes[i]]`."""

    codes: Codes
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class MetadataColumns:
    """What the metadata of each row says, normalised as its own program does.

    `tier`, `state` and `layer` are places in `memory.TIERS`, `STATES` and `LAYERS`; `memory_category`
    is coded over `memory_categories`. `valid_from` and `last_accessed` fall back to the row's time.
    """

    memory_category: Codes
    memory_categories: tuple[str | None, ...]
    tier: NDArray[np.uint8]
    access_count: NDArray[np.uint32]
    state: NDArray[np.uint8]
    layer: NDArray[np.uint8]
    confidence: NDArray[np.float32]
    last_accessed: Times
    valid_from: Times
    valid_until: Times
    invalidated_at: Times
    suppressed_until: Times
    flags: NDArray[np.uint8]
    keys: tuple[str, ...] = ()
    """Keys of the metadata, the most frequent first, as a sample of the rows has them."""

    def __post_init__(self) -> None:
        _freeze(self)

    def active(self, now_ms: int) -> Mask:
        """Rows with valid_from <= now that are not invalidated by then."""
        return ~(self.valid_from > now_ms) & ~(self.invalidated_at <= now_ms)

    def expired(self, now_ms: int) -> Mask:
        """Rows with valid_until <= now."""
        return np.asarray(self.valid_until <= now_ms)

    def suppressed(self, now_ms: int) -> Mask:
        """Rows that auto-recall leaves out until a later time."""
        return np.asarray(self.suppressed_until > now_ms)


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """A table at `version`, sentinel rows left out.

    `importance` is NaN where the dialect knows none. `has_metadata` tells whether `meta` can ever be
    there: None means "not read yet" then, and "never" otherwise.
    """

    version: int
    n: int
    row_ids: NDArray[np.uint64]
    ids: PackedIds
    timestamp: Times
    """0 where unknown, never NaN."""
    importance: NDArray[np.float32]
    scope_codes: Codes
    scopes: tuple[str | None, ...]
    category_codes: Codes
    categories: tuple[str | None, ...]
    flags: NDArray[np.uint8]
    has_metadata: bool
    labels: Mapping[str, CodedColumn] = field(default_factory=dict)
    """The dialect's own columns (agentId, trust_tier, importance_label), and `source` out of the metadata."""
    meta: MetadataColumns | None = None
    files: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict, repr=False)
    """Data files of each fragment when the metadata was read: rows in the same files are the same rows."""
    addresses: NDArray[np.uint64] | None = field(default=None, repr=False)
    """Fragment and place of each row, of a store far away; None where the row ids have to say it."""
    category_lists: CategoryLists | None = field(default=None, repr=False)
    """Where a row may have several categories: all of them. `categories` then holds the first of each."""
    orders: dict[str, Positions] = field(default_factory=dict, repr=False)
    """Sort permutations made so far, by sort key; filled by `select.order`."""

    def __post_init__(self) -> None:
        _freeze(self)

    @property
    def metadata_pending(self) -> bool:
        """Whether tier, access and state are still to be read."""
        return self.has_metadata and self.meta is None

    def find(self, id_or_prefix: str) -> Positions:
        """Where an id stands: the rows with exactly this id, else those whose id begins with it.

        Several positions mean a duplicated id or an ambiguous prefix; none, that nothing matches.
        """
        return self.ids.find(id_or_prefix)

    def with_meta(
        self, meta: MetadataColumns, source: CodedColumn, files: Mapping[int, tuple[bytes, ...]]
    ) -> Catalog:
        """The same catalog with its metadata read out of `files`; `source` becomes the label of that name."""
        labels = {**self.labels, "source": source}
        return replace(self, meta=meta, labels=labels, files=files, orders=dict(self.orders))


@dataclass(frozen=True, slots=True)
class FirstPage:
    """What was written last, of a store far away whose catalog is not there yet."""

    catalog: Catalog
    """Of these rows alone."""
    rows: pa.Table
    """All columns but the vectors, with `_rowid`."""


def _freeze(columns: MetadataColumns | Catalog) -> None:
    """Make the arrays read-only: threads share them without a lock."""
    for each in fields(columns):
        column = getattr(columns, each.name)
        if isinstance(column, np.ndarray):
            column.setflags(write=False)
