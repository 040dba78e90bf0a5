"""How a table of one program is read as memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol

from memtui.engine.core.memory import Memory
from memtui.engine.core.text import clean
from memtui.engine.dialects.time_form import AS_STORED, TimeForm

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


OWNER = "agentId"
"""The column that says whose a row is, in tables of the built-in program."""


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
    details: str | None = None
    """A JSON object of the program's own, which says nothing of a tier or a state as `metadata` does."""

    @property
    def json_object(self) -> str | None:
        """The column with a JSON object in it, whoever reads it."""
        return self.metadata or self.details

    def known(self) -> tuple[str, ...]:
        """All columns that mean something to us, in the order above."""
        names = (getattr(self, field.name) for field in fields(self))
        return tuple(name for name in names if name)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What may be done to a table of a dialect, and how its own program uses it. Ask these, never the name."""

    writable: bool = False
    """Whether memtui changes such tables at all."""
    owner_lock: Literal["folder", "named", ""] = ""
    """How its program keeps others out while it writes: a lock in the folder, one named for it elsewhere, none."""
    own_store: bool = False
    """Whether memtui made the table: stable row ids, our indexes, our embedder where nothing else is said."""
    versioned_text: bool = False
    """Whether the plugin keeps an old text as a version of the memory."""
    newest_fts: int | None = None
    """The newest format of a full-text index that the table's program reads; None: whatever LanceDB makes."""
    visibility: Literal["scopes", "agents", "policy", "sources", "users", ""] = ""
    """What decides who reads a row: its scope, the agent that owns it, the program's own policy, the source of a
    private one, the user that it was said to, nothing."""
    compares_l2: bool = False
    """Whether the table's program compares vectors by distance, so that their length matters."""
    column_map: bool = False
    """Whether a person said which column is which."""
    row_form: Literal["pro", "memtui", "builtin", "engine", "hermes", ""] = ""
    """How a new row is laid out; empty where none is made."""
    clips_texts: bool = False
    """Whether its program sends head and tail of a long text to be embedded, by the lengths of its configuration."""
    bare_rows: str = ""
    """What its program does with a memory without a vector, where that is harm: none is written then."""
    native_export: str = ""
    """The format of its program's own export, whose vectors are the table's."""
    edits_files: bool = False
    """Whether its rows are made from Markdown: a change is made in the file, and the index is its program's."""
    read_only_because: str = ""
    """Why what is no change of a file cannot be done, or the table not be written, one sentence."""
    of_extension: bool = False
    """Whether the dialect comes from an extension; set by the registry."""
    default_recipe: str = "pro/agent"
    """The recipe by which the table's program recalls."""


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
    can: Capabilities = Capabilities()
    times: TimeForm = AS_STORED
    more: tuple[str, ...] = ()
    """Its program's other columns, which a memory has in `Memory.extra` alone."""
    doubled_ids: str = ""
    """How the ids begin that its program itself gives to several rows; empty where each row has its own."""

    @property
    def lacking(self) -> frozenset[str]:
        """Which of these no memory of it has: tier, importance, confidence, last_accessed, access_count."""
        if self.reads_metadata:
            return frozenset(() if self.columns.importance else ("importance",))
        told = ("tier", "importance", "last_accessed", "access_count")
        return frozenset({"confidence", *(each for each in told if getattr(self.columns, each) is None)})

    @property
    def known_columns(self) -> tuple[str, ...]:
        """Every column that its program makes."""
        return (*self.columns.known(), *self.labels, *self.more)

    @property
    def light(self) -> tuple[str, ...]:
        """The columns that the catalog is built from: no text, vector or metadata."""
        each = self.columns
        names = (each.id, each.scope, each.category, each.importance, each.timestamp, each.created)
        return tuple(dict.fromkeys(name for name in (*names, *self.labels) if name))

    @property
    def owned(self) -> bool:
        """Whether a row belongs to one agent, as in the built-in program's tables since its second generation."""
        return OWNER in self.labels and self.name.startswith("builtin")

    @property
    def reads_metadata(self) -> bool:
        """Whether rows of this dialect have a tier, an access count and a state."""
        return self.columns.metadata is not None

    def to_memories(self, table: pa.Table, now_ms: int) -> list[Memory]:
        """The rows of `table` in order; a column that was not taken counts as absent.

        `now_ms` decides what is active, expired and suppressed.
        """

        shown = {self.columns.created, self.columns.vector}
        hidden = {*self.columns.known(), *ENGINE_COLUMNS} - shown
        extras = [name for name in table.column_names if name not in hidden]
        rows = plain_rows(table, self.columns.vector, self.times)
        return [self.to_memory(row, extras, now_ms) for row in rows]

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

    def lock_file(self, folder: Path, temporary: Path) -> Path | None:
        """The file that its program locks while it writes to the store in `folder`, where that lies elsewhere."""
        return None

    def written_with(self, row: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
        """What else its program writes where the columns `changed` of `row` change: values by column."""
        return {}

    def fits(self, part: str, kind: pa.DataType) -> bool:
        """Whether a column of this type can hold `part`, a field of `Columns` or a label."""
        return fits("text" if part in TIMES and self.times.unit == "iso" else part, kind)

    @property
    def lists_categories(self) -> bool:
        """Whether a row has a list of categories, of which the first stands for it."""
        return False

    def categories_of(self, stored: str | None) -> tuple[str, ...]:
        """The categories that the category column says: one, or none."""
        return (stored,) if stored is not None else ()

    @property
    def written_times(self) -> bool:
        """Whether its times are ISO 8601 text or of a known unit, so that none can be in seconds or microseconds."""
        return self.times.unit != ""

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
        stamp = self.read_time(self.value(row, self.columns.timestamp))
        return stamp or self.read_time(self.value(row, self.columns.created))

    def read_time(self, stored: Any) -> int:
        """A stored time in milliseconds since the epoch, rounded down; 0 for what is no time, or one before 1970."""
        from memtui.engine.metadata.read import read_time

        return read_time(stored, self.times.zone, self.times.unit)

    @staticmethod
    def extra(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Unknown columns, labels, a second time, and what is wrong with the vector."""
        found = {name: row[name] for name in names if name in row}
        return {key: clean(value) if isinstance(value, str) else value for key, value in found.items()}

    @staticmethod
    def value(row: Mapping[str, Any], column: str | None) -> Any:
        """The stored value, None where there is no such column."""
        return row.get(column) if column else None


class DialectModule(Protocol):
    """What a module has that brings a dialect: ours in this package, and those of extensions (`memtui.dialects`)."""

    PROTOCOL: int
    """The version of this protocol that the module was written for: 1."""

    def recognise(self, schema: pa.Schema) -> Dialect | None:
        """The dialect of a table with this schema; None for another program's table. Reads nothing else."""


# Arrow rows as plain dictionaries.

ENGINE_COLUMNS = ("_rowid", "_distance", "_score", "_relevance_score")
"""Columns that the engine adds to an answer; never part of a row."""


def plain_rows(table: pa.Table, vector: str | None, times: TimeForm = AS_STORED) -> list[dict[str, Any]]:
    """The rows of `table` without vectors; Arrow's moments and days become milliseconds since the epoch.

    Where the `vector` column was taken, a row whose vector is NULL or all zero gets the key
    `vector` with the word "null" or "zero" in its place.
    """

    states = _vector_states(table.column(vector)) if vector in table.column_names else []
    names, columns = [], []
    for field in table.schema:
        if field.name in ENGINE_COLUMNS or is_vector(field.type):
            continue
        names.append(field.name)
        columns.append(_plain_column(table.column(field.name), times))
    rows = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    for row, state in zip(rows, states, strict=False):
        if state and vector:
            row[vector] = state
    return rows


def _plain_column(column: Any, times: TimeForm) -> list[Any]:
    """The values of a column; the numbers are imported for moments alone."""
    import pyarrow as pa

    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        values: list[Any] = column.to_pylist()
        return values
    from memtui.engine.dialects.time_columns import stored_values

    return stored_values(column, times)


def _vector_states(column: Any) -> list[str]:
    """For each vector "" when usable, "null" or "zero" when it can never be found."""
    states: list[str] = []
    for chunk in column.chunks:
        useless = unusable(chunk).tolist()
        states += [
            ("null" if null else "zero") if bad else ""
            for null, bad in zip(chunk.is_null().to_pylist(), useless, strict=True)
        ]
    return states


def unusable(vectors: Any) -> Any:
    """Which rows of an Arrow array of vectors are NULL, all zero, or hold what is no finite number: bool [n].

    The same rows that the doctor's checks of vectors count, with `ZERO_NORM` as their bound.
    """
    import numpy as np

    null = vectors.is_null().to_numpy(zero_copy_only=False)
    if null.any():
        vectors = vectors.fill_null([0.0] * vectors.type.list_size)
    flat = vectors.flatten().to_numpy(zero_copy_only=False)  # a number that is absent becomes NaN
    numbers = flat.reshape(len(vectors), vectors.type.list_size)
    whole = np.isfinite(numbers).all(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        wide = numbers.astype(np.float32, copy=False)
        norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return ~whole | (norms < ZERO_NORM)


ZERO_NORM = 1e-6
"""A vector shorter than this points nowhere."""


def is_vector(kind: pa.DataType) -> bool:
    """Whether a column of this type holds embeddings."""
    import pyarrow as pa

    return bool(pa.types.is_fixed_size_list(kind) and pa.types.is_floating(kind.value_type))


TIMES = ("timestamp", "created", "last_accessed")
"""Fields of `Columns` that hold a time."""


# Which Arrow types can hold which part of a memory.


def fits(part: str, kind: pa.DataType) -> bool:
    """Whether a column of type `kind` can hold `part`, a field of `Columns` or a label."""
    import pyarrow as pa

    text = bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    number = bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
    match part:
        case "vector":
            return is_vector(kind)
        case "id":
            return text or bool(pa.types.is_integer(kind))
        case "importance" | "access_count":
            return number
        case "timestamp" | "created" | "last_accessed":
            return number or bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))
    return text
