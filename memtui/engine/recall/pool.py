"""The candidates of one recall as columns, and the rows they were made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.js import utf16_len
from memtui.engine.lifecycle.access import access_metadata
from memtui.engine.memory import TIERS
from memtui.engine.metadata import (
    DEFAULT_IMPORTANCE,
    Metadata,
    coerce_importance,
    coerce_timestamp,
    normalise,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(slots=True)
class Row:
    """One stored row as recall reads it; metadata is parsed when first asked for."""

    id: str
    text: str
    scope: str | None
    category: str | None
    importance: float
    timestamp_ms: int
    raw_metadata: str | None
    vector: np.ndarray[Any, np.dtype[np.float32]] | None
    now_ms: int
    _metadata: Metadata | None = field(default=None, repr=False)

    @property
    def metadata(self) -> Metadata:
        """The normalised metadata."""
        if self._metadata is None:
            self._metadata = normalise(
                self.raw_metadata,
                text=self.text,
                category=self.category,
                timestamp_ms=self.timestamp_ms,
                now_ms=self.now_ms,
            )
        return self._metadata

    @property
    def active(self) -> bool:
        """valid_from <= now and not invalidated (spec/retrieval 1.2)."""
        return self.metadata.active(self.now_ms)


def rows_of(table: pa.Table, dialect: Dialect, now_ms: int) -> list[Row]:
    """Read the rows of `table` (columns as stored) in their order. Null vectors become None."""
    n = table.num_rows
    names = set(table.column_names)

    def column(role: str) -> list[Any]:
        name = getattr(dialect.columns, role)
        return table.column(name).to_pylist() if name in names else [None] * n

    vectors = _vectors(table, dialect.columns.vector)
    texts = column("text")
    stamps = column("timestamp")
    fallback = dialect.columns.created
    if fallback in names:
        created = table.column(fallback).to_pylist()
        stamps = [c if not s and c else s for s, c in zip(stamps, created, strict=True)]
    has_importance = dialect.columns.importance in names
    importances = [_importance(x, has_importance) for x in column("importance")]
    return [
        Row(
            id=str(row_id),
            text=text if isinstance(text, str) else "",
            scope=scope,
            category=category,
            importance=importance,
            timestamp_ms=coerce_timestamp(stamp),
            raw_metadata=metadata,
            vector=vector,
            now_ms=now_ms,
        )
        for row_id, text, scope, category, importance, stamp, metadata, vector in zip(
            column("id"),
            texts,
            column("scope"),
            column("category"),
            importances,
            stamps,
            column("metadata"),
            vectors,
            strict=True,
        )
    ]


def _importance(value: Any, has_column: bool) -> float:
    """As the plugin reads the column: its NULL is 0 to JavaScript, a missing column the default."""
    if not has_column:
        return DEFAULT_IMPORTANCE
    return 0.0 if value is None else coerce_importance(value)


def _vectors(table: pa.Table, name: str | None) -> list[np.ndarray[Any, np.dtype[np.float32]] | None]:
    if name is None or name not in table.column_names:
        return [None] * table.num_rows
    out: list[np.ndarray[Any, np.dtype[np.float32]] | None] = []
    for chunk in table.column(name).chunks:
        if not len(chunk):
            continue
        if chunk.null_count:
            out += [None if v is None else np.asarray(v, np.float32) for v in chunk.to_pylist()]
        else:
            flat = chunk.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
            out += list(flat.reshape(len(chunk), -1))
    return out


@dataclass(frozen=True)
class Hit:
    """One lane's finding: its 1-based rank there, its score, and what the score was made from."""

    row: Row
    rank: int
    score: float
    raw: float | None
    """Cosine distance (vector lane) or raw BM25 (keyword lane); None for substring and recorded hits."""
    rule: str
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Dropped:
    """A row that a lane found and did not deliver: the gate, the score it had, the limit it missed."""

    row: Row
    reason: str
    score: float | None
    limit: float | None = None


@dataclass(frozen=True)
class Pool:
    """All candidates; index = position in `rows`. Arrays have one entry a candidate; NaN is absent."""

    rows: Sequence[Row]
    vector: Mapping[int, Hit]
    bm25: Mapping[int, Hit]
    now_ms: int

    @cached_property
    def n(self) -> int:
        """Number of candidates."""
        return len(self.rows)

    @cached_property
    def v(self) -> Floats:
        """Vector-lane scores."""
        return self._lane(self.vector)

    @cached_property
    def b(self) -> Floats:
        """Keyword-lane scores."""
        return self._lane(self.bm25)

    def _lane(self, hits: Mapping[int, Hit]) -> Floats:
        out = np.full(self.n, np.nan)
        for index, hit in hits.items():
            out[index] = hit.score
        return out

    @cached_property
    def length(self) -> Ints:
        """Text lengths in UTF-16 units, the unit of the peer."""
        return np.array([utf16_len(row.text) for row in self.rows], np.int64)

    @cached_property
    def timestamp(self) -> Floats:
        """Creation times, ms; 0 where unknown."""
        return np.array([row.timestamp_ms for row in self.rows], np.float64)

    @cached_property
    def importance(self) -> Floats:
        """Importance, 0 to 1."""
        return np.array([row.importance for row in self.rows], np.float64)

    @cached_property
    def confidence(self) -> Floats:
        """Confidence from the metadata, 0 to 1."""
        return np.array([row.metadata.confidence for row in self.rows], np.float64)

    @cached_property
    def tier(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Tier codes in the order of `memory.TIERS`."""
        return np.array([TIERS.index(row.metadata.tier) for row in self.rows], np.uint8)

    @cached_property
    def access_count(self) -> Ints:
        """Access counts as the decay engine reads them (snake_case key only)."""
        return np.array([row.metadata.access_count for row in self.rows], np.int64)

    @cached_property
    def last_accessed(self) -> Floats:
        """Last access, ms; the creation time where it is 0."""
        return np.array([row.metadata.last_accessed_at or row.timestamp_ms for row in self.rows], np.float64)

    @cached_property
    def dynamic(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether the memory's temporal class is dynamic."""
        return np.array([row.metadata.memory_temporal_type == "dynamic" for row in self.rows], np.bool_)

    @cached_property
    def corpus(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Chunks of documents (`corpus:` ids), exempt from length and age."""
        return np.array([row.id.startswith("corpus:") for row in self.rows], np.bool_)

    @cached_property
    def reinforcement(self) -> tuple[Ints, Floats]:
        """Access count and last access as the time-decay stage reads them (camelCase key first)."""
        pairs = [access_metadata(row.raw_metadata) for row in self.rows]
        return (
            np.array([count for count, _ in pairs], np.int64),
            np.array([last for _, last in pairs], np.float64),
        )

    @cached_property
    def expired(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """valid_until <= now."""
        return np.array([row.metadata.expired(self.now_ms) for row in self.rows], np.bool_)
