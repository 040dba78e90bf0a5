"""How a table of one program is read as memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from memtui.engine.clean import clean
from memtui.engine.memory import Memory

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column of the table holds what; None where the table has no such column."""

    id: str = "id"
    text: str = "text"
    vector: str | None = "vector"
    scope: str | None = None
    category: str | None = None
    importance: str | None = None
    timestamp: str | None = None
    metadata: str | None = None
    created: str | None = None
    """A second time column, which counts where `timestamp` says nothing."""
    tier: str | None = None
    access_count: str | None = None
    last_accessed: str | None = None
    state: str | None = None

    def known(self) -> tuple[str, ...]:
        """All columns that mean something to us, in the order above."""
        names = (getattr(self, each.name) for each in fields(self))
        return tuple(name for name in names if name)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One program's way of keeping memories in a table.

    `labels` are the program's own columns with few values (agentId, trust_tier, ...): they appear in
    `Memory.extra`, and as coded columns in the catalog. `notes` say what a person should know about
    this very table.
    """

    name: str
    title: str
    columns: Columns
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    agent_words: bool = False
    """Whether its program searches words with LanceDB 0.26, which splits and scores them otherwise than ours."""

    @property
    def light(self) -> tuple[str, ...]:
        """The columns that the catalog is built from: no text, vector or metadata."""
        each = self.columns
        names = (each.id, each.scope, each.category, each.importance, each.timestamp, each.created)
        return tuple(dict.fromkeys(name for name in (*names, *self.labels) if name))

    @property
    def reads_metadata(self) -> bool:
        """Whether rows of this dialect have a tier, an access count and a state."""
        return self.columns.metadata is not None

    def to_memories(self, table: pa.Table, now_ms: int) -> list[Memory]:
        """The rows of `table` in order; a column that was not taken counts as absent.

        `now_ms` decides what is active, expired and suppressed.
        """
        from memtui.engine.dialects.rows import ENGINE_COLUMNS, plain_rows

        shown = {self.columns.created, self.columns.vector}
        hidden = {*self.columns.known(), *ENGINE_COLUMNS} - shown
        extras = [name for name in table.column_names if name not in hidden]
        return [self.to_memory(row, extras, now_ms) for row in plain_rows(table, self.columns.vector)]

    def to_memory(self, row: Mapping[str, Any], extras: Sequence[str], now_ms: int) -> Memory:
        """One row as a memory; `extras` are the columns without a field of their own."""
        raw_text = self.raw_text(row)
        return Memory(
            id=self.row_id(row),
            text=clean(raw_text),
            raw_text=raw_text,
            dialect=self.name,
            scope=self.value(row, self.columns.scope),
            category=self.value(row, self.columns.category),
            importance=self.importance(self.value(row, self.columns.importance)),
            timestamp_ms=self.timestamp_ms(row),
            extra=self.extra(row, extras),
        )

    def importance(self, stored: Any) -> float | None:
        """The importance as the dialect's own program reads the column."""
        return None if stored is None else float(stored)

    def row_id(self, row: Mapping[str, Any]) -> str:
        """The id as text; empty for a NULL."""
        stored = row.get(self.columns.id)
        return "" if stored is None else str(stored)

    def raw_text(self, row: Mapping[str, Any]) -> str:
        """The text as stored; empty for a NULL."""
        stored = row.get(self.columns.text)
        return "" if stored is None else str(stored)

    def timestamp_ms(self, row: Mapping[str, Any]) -> int:
        """Creation time in milliseconds, 0 when unknown; values too small for milliseconds are seconds."""
        from memtui.engine.metadata import coerce_timestamp

        stamp = coerce_timestamp(self.value(row, self.columns.timestamp))
        return stamp or coerce_timestamp(self.value(row, self.columns.created))

    @staticmethod
    def extra(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Unknown columns, labels, a second time, and what is wrong with the vector."""
        found = {name: row[name] for name in names if name in row}
        return {key: clean(value) if isinstance(value, str) else value for key, value in found.items()}

    @staticmethod
    def value(row: Mapping[str, Any], column: str | None) -> Any:
        """The stored value, None where there is no such column."""
        return row.get(column) if column else None
