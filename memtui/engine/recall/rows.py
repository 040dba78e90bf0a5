"""A stored row as recall reads it, and reading rows out of an Arrow table only as far as somebody looks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from memtui.engine.core.content_rules import noise_rule
from memtui.engine.core.javascript import utf16_len
from memtui.engine.core.text import counted
from memtui.engine.decay.decay import access_of
from memtui.engine.dialects.time_columns import stored_values
from memtui.engine.metadata.read import (
    DEFAULT_IMPORTANCE,
    Metadata,
    coerce_importance,
    normalise,
    parse_object,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect


Vector = np.ndarray[Any, np.dtype[np.float32]]

Wide = np.ndarray[Any, np.dtype[np.float64]]

ROWS_KEPT = 8192
"""Rows of one version that are remembered, by row id or by id: some megabytes."""

SLICE = 20
"""Rows that are converted at a time: a lane delivers at most 20 hits, and most rows that it meets are active."""

_UNKNOWN: Any = object()


@dataclass(slots=True, eq=False)
class CandidateRow:
    """One stored row. What is derived from it (metadata, length, noise rule) is worked out when first asked for."""

    id: str
    text: str
    scope: str | None
    category: str | None
    importance: float
    timestamp_ms: int
    raw_metadata: str | None
    vector: Vector | None
    stored: CandidateRow | None = field(default=None, repr=False)
    """The row as it is stored, where this one stands for it with a change; the vector is the same."""
    _metadata: Metadata | None = field(default=None, repr=False)
    _length: int = field(default=-1, repr=False)
    _wide: Any = field(default=_UNKNOWN, repr=False)
    _noise: Any = field(default=_UNKNOWN, repr=False)
    _reinforcement: tuple[int, float] | None = field(default=None, repr=False)
    _once: dict[str, Any] | None = field(default=None, repr=False)

    def once(self, name: str, make: Callable[[CandidateRow], Any]) -> Any:
        """What `make` works out of the row, made once for each `name`: rows of a version are kept, and never change."""
        known = self._once
        if known is None:
            known = self._once = {}
        if name not in known:
            known[name] = make(self)
        return known[name]

    @property
    def metadata(self) -> Metadata:
        """The normalised metadata."""
        if self._metadata is None:
            self._metadata = normalise(
                self.raw_metadata,
                text=self.text,
                category=self.category,
                timestamp_ms=self.timestamp_ms,
                now_ms=self.timestamp_ms,
            )
        return self._metadata

    @property
    def length(self) -> int:
        """Length of the text in UTF-16 units, the unit of the peer."""
        if self._length < 0:
            self._length = utf16_len(self.text)
        return self._length

    @property
    def wide(self) -> Wide | None:
        """The vector in double precision, None where there is none."""
        if self._wide is _UNKNOWN:
            self._wide = None if self.vector is None else self.vector.astype(np.float64)
        wide: Wide | None = self._wide
        return wide

    @property
    def noise(self) -> str | None:
        """The rule that makes the text noise, None when it is not."""
        if self._noise is _UNKNOWN:
            self._noise = noise_rule(self.text)
        rule: str | None = self._noise
        return rule

    @property
    def reinforcement(self) -> tuple[int, float]:
        """(accesses, last access in ms) as the time-decay stage reads them, the camelCase keys first."""
        if self._reinforcement is None:
            self._reinforcement = access_of(self.metadata.values)
        return self._reinforcement

    def changed(self, **fields: Any) -> CandidateRow:
        """The row with some of its stored fields changed; what was derived from them is worked out anew."""
        given = {name: getattr(self, name) for name in _STORED} | fields
        return CandidateRow(**given, stored=self.stored or self, _wide=self._wide)

    def active(self, at_ms: int) -> bool:
        """valid_from <= at and not invalidated by then (spec/retrieval 1.2)."""
        return self.metadata.active(at_ms)


_STORED = (
    "id",
    "text",
    "scope",
    "category",
    "importance",
    "timestamp_ms",
    "raw_metadata",
    "vector",
)


class CandidateRows(Sequence[CandidateRow]):
    """The rows of an Arrow table in its order, converted in slices as they are walked."""

    def __init__(self, table: pa.Table, dialect: Dialect) -> None:
        self._table = table
        self._dialect = dialect
        self._made: list[CandidateRow] = []

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[CandidateRow]:
        at, total = 0, len(self)
        while at < total:
            if at >= len(self._made):
                self[at]
            made = self._made[at:total]
            yield from made
            at += len(made)

    @overload
    def __getitem__(self, at: int) -> CandidateRow: ...

    @overload
    def __getitem__(self, at: slice) -> list[CandidateRow]: ...

    def __getitem__(self, at: int | slice) -> CandidateRow | list[CandidateRow]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        while at >= len(self._made):
            start = len(self._made)
            if start >= len(self):
                raise IndexError(at)
            self._made += self._read(start)
        return self._made[at]

    def _read(self, start: int) -> list[CandidateRow]:
        """The rows from `start` on, as many as are converted at once."""
        return rows_of(self._table.slice(start, SLICE), self._dialect)


def rows_of(table: pa.Table, dialect: Dialect) -> list[CandidateRow]:
    """All rows of `table` (columns as stored) in their order. Null vectors become None."""
    n = table.num_rows
    names = set(table.column_names)

    def column(role: str) -> list[Any]:
        name = getattr(dialect.columns, role)
        return table.column(name).to_pylist() if name in names else [None] * n

    def times(name: str | None) -> list[Any]:
        return stored_values(table.column(name), dialect.times) if name in names else [None] * n

    stamps = times(dialect.columns.timestamp)
    fallback = dialect.columns.created
    if fallback in names:
        created = times(fallback)
        stamps = [c if not s and c else s for s, c in zip(stamps, created, strict=True)]
    has_importance = dialect.columns.importance in names
    listed = dialect.lists_categories
    return [
        CandidateRow(
            id=str(row_id),
            text=text if isinstance(text, str) else "",
            scope=scope,
            category=next(iter(dialect.categories_of(category)), None) if listed else category,
            importance=_importance(importance, has_importance),
            timestamp_ms=dialect.read_time(stamp),
            raw_metadata=metadata,
            vector=vector,
        )
        for row_id, text, scope, category, importance, stamp, metadata, vector in zip(
            column("id"),
            column("text"),
            column("scope"),
            column("category"),
            column("importance"),
            stamps,
            column("metadata"),
            _vectors(table, dialect.columns.vector),
            strict=True,
        )
    ]


def _importance(value: Any, has_column: bool) -> float:
    """As the plugin reads the column: its NULL is 0 to JavaScript, a missing column the default."""
    if not has_column:
        return DEFAULT_IMPORTANCE
    return 0.0 if value is None else coerce_importance(value)


def _vectors(table: pa.Table, name: str | None) -> list[Vector | None]:
    if name is None or name not in table.column_names:
        return [None] * table.num_rows
    out: list[Vector | None] = []
    for chunk in table.column(name).chunks:
        if not len(chunk):
            continue
        if chunk.null_count:
            out += [None if v is None else np.asarray(v, np.float32) for v in chunk.to_pylist()]
        else:
            flat = chunk.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
            out += list(flat.reshape(len(chunk), -1))
    return out


# Metadata that was encoded twice: a JSON string that holds a JSON object. The plugin reads nothing of it.


def unwrapped(raw: str | None) -> str | None:
    """The JSON object that a JSON string holds, as text; None for any other metadata."""
    if not raw or not raw.lstrip().startswith('"'):
        return None
    try:
        inner = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(inner, str) or not inner.lstrip().startswith("{"):
        return None
    return inner if parse_object(inner)[1] else None


def decoded(row: CandidateRow) -> CandidateRow:
    """The row with such metadata read as what it holds; itself where it has none."""
    raw = row.raw_metadata
    if not raw or raw[0] == "{":
        return row
    inner = unwrapped(raw)
    return row if inner is None else row.changed(raw_metadata=inner)


def unread_rows(rows: Iterable[CandidateRow]) -> tuple[str, ...]:
    """A finding for a recipe that reads nothing of such metadata; none where no candidate has it."""
    count = sum(1 for row in rows if unwrapped(row.raw_metadata) is not None)
    if not count:
        return ()
    which = counted(count, "candidate")
    return (f"metadata is encoded twice in {which}: the plugin reads nothing of it.",)
