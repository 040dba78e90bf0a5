"""From a record to a row of the table that it goes into, with what the table has no place for."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.access import GLOBAL
from memtui.engine.core.errors import RefusedError
from memtui.engine.dialects.base import Dialect
from memtui.engine.metadata.read import DEFAULT_IMPORTANCE, SECONDS_BELOW, normalise, parse_object
from memtui.engine.recall.recipes.mem_engine.scope_rules import ScopeRules
from memtui.engine.transfer.importing import hermes_row
from memtui.engine.transfer.importing.engine_row import EngineRows, mark_not_embedded
from memtui.engine.transfer.importing.no_place import without_place
from memtui.engine.transfer.readers.lancedb import BUILTIN_SCOPE
from memtui.engine.transfer.record import ConversionNote, Record
from memtui.engine.transfer.scope_mapping import Scoping
from memtui.engine.transfer.sources.fields import UUID
from memtui.engine.transfer.sources.values import category_of
from memtui.engine.transfer.stored_metadata import dumps, extra_of, new_metadata, stored_metadata

NO_TIME = "not known: the time of the import is stored"

NO_IMPORTANCE = "not known: 0.7 is stored, which the plugin assumes where nothing is said"

BUILTIN_CATEGORIES = ("preference", "fact", "decision", "entity", "other")

OWN_ONLY = ("tier", "access_count", "last_accessed_at", "state")
"""Columns of memtui's own tables that other programs have in the metadata."""

_LIFECYCLE = ("pro", "memtui", "generic")

_ALIKE = ("pro", "memtui")
"""Dialects with the same seven columns, which mean the same in both."""


@dataclass(frozen=True, slots=True)
class BuiltRow:
    """A row without its vector, and what was changed or lost on the way to it."""

    values: dict[str, Any]
    notes: tuple[ConversionNote, ...] = field(default=())


class RowBuilder:
    """Makes rows for one table. `columns` are its column names, `origin` says where the memories come from.

    `keep_bare` leaves scopes that are one bare word as they are. `typed`: the memories were typed in one by one.
    `policy` is openclaw-mem-engine's for scopes, where the table is one of its.
    """

    def __init__(
        self,
        dialect: Dialect,
        columns: tuple[str, ...],
        scoping: Scoping,
        *,
        now_ms: int,
        origin: Mapping[str, Any],
        agent: str = "main",
        keep_bare: bool = False,
        typed: bool = False,
        policy: ScopeRules | None = None,
    ) -> None:
        makers: dict[str, Callable[[Record, list[ConversionNote]], dict[str, Any]]] = {
            "pro": self._pro,
            "memtui": self._own,
            "builtin": self._builtin,
            "engine": self._engine,
            "hermes": self._hermes,
        }
        if dialect.can.row_form not in makers:
            raise RefusedError(
                f"Tables of {dialect.title} take no new memories.",
                fix="Import into a copy of it that memtui writes: memtui migrate run STORE NEW makes it.",
            )
        self.dialect = dialect
        self.scoping = scoping
        self._make = makers[dialect.can.row_form]
        self._columns = columns
        self._names = frozenset((*columns, "_rowid"))
        self._now_ms = now_ms
        self._origin = dict(origin)
        self._agent = agent
        self._keep_bare = keep_bare
        self._engine_rows = EngineRows(scoping, policy or ScopeRules(), now_ms, typed=typed)

    def row(self, record: Record) -> BuiltRow:
        """The row of a record; the id is the record's own, empty when it has none that this table can hold."""
        notes = list(record.notes)
        values = self._make(record, notes)
        return BuiltRow(values, tuple(notes))

    @property
    def whole(self) -> tuple[str, frozenset[str]] | None:
        """See `ReadOptions.whole`; None where every row has to be looked at."""
        if self.dialect.can.row_form in ("pro", "memtui") and not self.scoping.maps:
            return self.dialect.name, self._names
        return None

    def may_keep(self, row_id: str) -> bool:
        """Whether the table's program can handle a row of this id."""
        return self.dialect.can.row_form not in ("builtin", "engine") or UUID.fullmatch(row_id) is not None

    @property
    def names_are_global(self) -> bool:
        """Whether an id names one memory of the table, whatever its scope."""
        return self.dialect.can.row_form == "engine"

    def named(self, row_id: str) -> str:
        """A made id in the shape that the table's program gives its own."""
        return hermes_row.fact_id(row_id) if self.dialect.can.row_form == "hermes" else row_id

    def mark_bare(self, values: dict[str, Any]) -> None:
        """Note in a row that zeros stand in for its vector, where the table's program notes that."""
        if self.dialect.can.row_form == "engine":
            mark_not_embedded(values)

    # ------------------------------------------------------------------ memory-lancedb-pro and memtui

    def _pro(self, record: Record, notes: list[ConversionNote]) -> dict[str, Any]:
        if self._is_whole(record):
            return self._verbatim(record)
        values = self._seven(record, notes)
        for name in self._columns:
            values.setdefault(name, None)
        return values

    def _own(self, record: Record, notes: list[ConversionNote]) -> dict[str, Any]:
        if self._is_whole(record):
            return self._verbatim(record)
        values = self._seven(record, notes)
        meta = normalise(
            values["metadata"],
            text=record.text,
            category=values["category"],
            timestamp_ms=values["timestamp"] or 0,
            now_ms=self._now_ms,
        )
        values["tier"] = record.tier or meta.tier
        values["access_count"] = meta.access_count if record.access_count is None else record.access_count
        values["last_accessed_at"] = float(record.last_accessed_ms or meta.last_accessed_at)
        values["state"] = record.state or meta.state
        return values

    def _is_whole(self, record: Record) -> bool:
        """Whether the record still has a row of this very form, which goes in as it is."""
        return (
            record.row is not None
            and record.dialect == self.dialect.name
            and record.row.keys() <= self._names
            and not self.scoping.forces(record.scope)
        )

    def _verbatim(self, record: Record) -> dict[str, Any]:
        self.scoping.keep(record.scope)
        return record.row or {}

    def _seven(self, record: Record, notes: list[ConversionNote]) -> dict[str, Any]:
        scope, said = self._scope(record)
        if said:
            notes.append(ConversionNote("scope", said))
        if record.rest.get(BUILTIN_SCOPE):
            what = "a scope inside one agent's memories: kept in metadata, the agent sees them all"
            notes.append(ConversionNote("scope", what))
        category = category_of(record)
        if category.note:
            notes.append(ConversionNote("category", category.note))
        timestamp = self._timestamp(record, notes)
        importance = self._importance(record, notes)
        if record.metadata is not None or record.dialect in _LIFECYCLE:
            metadata = self._own_metadata(record, category.kept, notes)
        else:
            extra = extra_of(record, self._origin, category.kept)
            metadata = new_metadata(record, category.smart, timestamp, extra)
        values = {
            "id": record.id or "",
            "text": record.text,
            "category": category.column,
            "scope": scope,
            "importance": importance,
            "timestamp": float(timestamp),
            "metadata": metadata,
        }
        return values | self._absent(record, values)

    def _absent(self, record: Record, values: Mapping[str, Any]) -> dict[str, None]:
        """Cells without a value in a table with the same columns: nothing stays nothing, unless something was added.

        What the plugin assumes there it assumes of the new row too; a scope of nobody's must not become everybody's.
        """
        row = record.row or {}
        if not self._alike(record):
            return {}
        kept = [name for name in ("category", "importance", "timestamp") if row.get(name, "") is None]
        if row.get("metadata", "") is None and values["metadata"] in ("", "{}"):
            kept.append("metadata")
        return dict.fromkeys(kept)

    def _own_metadata(self, record: Record, kept_category: str | None, notes: list[ConversionNote]) -> str:
        """The metadata that came with the record; columns of another table go into it."""
        extra: dict[str, Any] = dict(record.rest)
        if kept_category is not None:
            extra["category"] = kept_category
        if record.foreign_id and record.id is None:
            extra["id"] = record.foreign_id
        if record.masked:
            extra["masked"] = True
        metadata, note = stored_metadata(record, extra)
        if note:
            notes.append(ConversionNote("metadata", note))
        if extra:
            notes.append(
                ConversionNote("metadata", "what has no place of its own is added to it under `imported`")
            )
        row = record.row or {}
        moved = {name: row[name] for name in OWN_ONLY if row.get(name) is not None}
        if record.dialect != "memtui" or not moved:
            return metadata
        values = parse_object(metadata)[0]
        return (
            metadata
            if all(values.get(name) == value for name, value in moved.items())
            else dumps({**values, **moved})
        )

    # ------------------------------------------------------------------ openclaw-mem-engine

    def _engine(self, record: Record, notes: list[ConversionNote]) -> dict[str, Any]:
        if self._is_whole(record):
            return self._verbatim(record)
        values = self._engine_rows.values(record, notes)
        return {name: values.get(name) for name in (*values, *self._columns)}

    # ------------------------------------------------------------------ Hermes

    def _hermes(self, record: Record, notes: list[ConversionNote]) -> dict[str, Any]:
        if self._is_whole(record):
            return hermes_row.restored(self._verbatim(record))
        values = hermes_row.hermes_values(record, self.scoping, self._now_ms, notes)
        return {name: values.get(name) for name in (*values, *self._columns)}

    # ------------------------------------------------------------------ built-in memory-lancedb

    def _builtin(self, record: Record, notes: list[ConversionNote]) -> dict[str, Any]:
        if self._is_whole(record):
            return self._verbatim(record)
        category = category_of(record)
        column = category.column
        if column not in BUILTIN_CATEGORIES:
            notes.append(
                ConversionNote("category", f"{column} is unknown to the built-in plugin: stored as other")
            )
            column = "other"
        elif category.note:
            notes.append(
                ConversionNote(
                    "category", "another word: the nearest of the built-in plugin is stored, theirs is lost"
                )
            )
        scope, _ = self._scope(record)
        values: dict[str, Any] = {
            "id": record.id if record.id and self.may_keep(record.id) else "",
            "text": record.text,
            "importance": self._importance(record, notes),
            "category": column,
            "createdAt": float(self._timestamp(record, notes)),
        }
        if "agentId" in self._columns:
            kind, _, name = (scope or "").partition(":")
            values["agentId"] = name if kind == "agent" and name else self._agent
            if kind != "agent" and record.scope:
                notes.append(
                    ConversionNote(
                        "scope", f"the built-in plugin keeps memories by agent: given to {self._agent}"
                    )
                )
        elif scope != GLOBAL:
            notes.append(ConversionNote("scope", "this table has none: lost"))
        inner = record.rest.get(BUILTIN_SCOPE)
        if "scope" in self._columns:
            values["scope"] = str(inner or "")
        elif inner:
            notes.append(
                ConversionNote("scope", "a scope inside one agent's memories: this table has none, lost")
            )
        notes.extend(without_place(record, "the built-in", (BUILTIN_SCOPE, "agentId")))
        return values

    # ------------------------------------------------------------------ fields

    def _alike(self, record: Record) -> bool:
        """Whether the record is a row of a table whose columns mean what ours do, and stand there as stored."""
        return record.row is not None and record.dialect in _ALIKE and self.dialect.can.row_form in _ALIKE

    def _scope(self, record: Record) -> tuple[str | None, str]:
        if self._alike(record) and not self.scoping.forces(record.scope):
            self.scoping.keep(record.scope)
            return record.scope, ""
        keep_bare = record.dialect in _LIFECYCLE if record.dialect else self._keep_bare
        return self.scoping.place(record.scope, keep_bare=keep_bare)

    def _timestamp(self, record: Record, notes: list[ConversionNote]) -> int:
        if record.timestamp_ms is None and (record.dialect or record.time_unknown):
            return 0  # unknown stays unknown
        if record.timestamp_ms is None:
            notes.append(ConversionNote("timestamp", NO_TIME))
            return self._now_ms
        stored = (record.row or {}).get("timestamp")
        if isinstance(stored, int | float) and 0 < stored < SECONDS_BELOW:
            notes.append(ConversionNote("timestamp", "in seconds: stored in milliseconds"))
        return record.timestamp_ms

    def _importance(self, record: Record, notes: list[ConversionNote]) -> float:
        if record.importance is None and self._alike(record):
            return DEFAULT_IMPORTANCE  # not stored: see _absent
        if record.importance is None:
            notes.append(ConversionNote("importance", NO_IMPORTANCE))
            return DEFAULT_IMPORTANCE
        if not 0 <= record.importance <= 1:
            notes.append(ConversionNote("importance", "outside 0 to 1: moved to the nearer end"))
        return min(1.0, max(0.0, record.importance))


def fresh_id(format_name: str, record: Record) -> str:
    """A row id for a memory without one: the same whenever the same memory is read again.

    It has the shape of a random UUID, which is what the agents' programs expect.
    """
    told = [record.text, record.timestamp_ms, *([record.scope] if record.scope else [])]
    named = record.key or record.foreign_id
    if named and record.scope:
        named = json.dumps([named, record.scope])  # one name in two scopes is two memories
    key = named or json.dumps(told, ensure_ascii=True)
    digest = hashlib.sha256(f"{format_name}\0{key}".encode("utf-8", "surrogatepass")).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))
