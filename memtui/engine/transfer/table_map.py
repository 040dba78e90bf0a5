"""A proposal for a table that no program of ours made: which column is what, told from name, type and content."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memtui.engine.core import iso_time
from memtui.engine.dialects.base import is_vector
from memtui.engine.dialects.generic import MAPPABLE, UNIT, UNITS, ZONE, can_hold, generic
from memtui.engine.dialects.time_columns import is_moment

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

SAMPLE = 500
"""Rows that are looked at."""

_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "uuid", "_id", "memory_id", "doc_id", "key", "uid"),
    "text": ("text", "content", "memory", "body", "document", "message", "fact", "note", "page_content", "data"),
    "vector": ("vector", "embedding", "embeddings", "vec"),
    "timestamp": ("timestamp", "created_at", "createdat", "created", "filed_at", "time", "ts", "date", "updated_at"),
    "scope": ("scope", "namespace", "project", "workspace", "space", "wing", "collection", "user_id", "user", "agent"),
    "category": ("category", "kind", "class", "room", "topic", "type", "label"),
    "importance": ("importance", "weight", "priority", "salience", "score"),
    "metadata": ("metadata",),
}  # fmt: skip

_FEW = 40
"""A column with more different words than this is no scope and no category, whatever its rows."""


@dataclass(frozen=True, slots=True)
class TableMap:
    """A proposal: `columns` role to column, with `zone` and `unit`; why each, and what cannot be done with it."""

    uri: str
    table: str
    rows: int
    columns: Mapping[str, str]
    reasons: Mapping[str, str]
    notes: tuple[str, ...]
    """What a person should decide, or know, about times, vectors and nested values."""
    limits: tuple[tuple[str, str], ...]
    """(action, why it cannot be done)."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Every column of the table with its type."""

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui columns --json`."""
        return {
            "schema": "memtui.columns.v1",
            "store": self.uri,
            "table": self.table,
            "rows": self.rows,
            "columns": dict(self.columns),
            "reasons": dict(self.reasons),
            "notes": list(self.notes),
            "limits": [{"action": action, "why": why} for action, why in self.limits],
            "types": dict(self.kinds),
        }


def tables_of(folder: Path) -> list[str]:
    """The names of the LanceDB tables in a folder, in order."""
    return sorted(path.stem for path in folder.iterdir() if path.suffix == ".lance" and path.is_dir())


def propose_map(target: str, table: str | None, given: Mapping[str, str], now_ms: int) -> TableMap:
    """What the columns of a table seem to be; `given` roles are taken as they are, an empty column takes a role away.

    Reads the schema and at most 500 rows; writes nothing. Raises StoreNotFoundError, UnknownDialectError with the
    names of the tables, DamagedStoreError, UsageError for a given column that does not fit.
    """
    from memtui.engine.store.errors import explained
    from memtui.engine.store.lancedb_import import import_lancedb
    from memtui.engine.store.locate import find_place

    place = find_place(target, table)
    with explained(f"{place.uri} (table {place.table})"):
        stored = import_lancedb().connect(place.uri).open_table(place.table)
        schema, rows = stored.schema, stored.count_rows()
        plain = [column.name for column in schema if not _is_numbers(column.type)]
        sample = stored.search().select(plain).limit(SAMPLE).to_arrow() if plain else None
    columns, reasons = _roles(schema, _values(sample))
    for role, column in given.items():
        columns.pop(role, None)
        reasons.pop(role, None)
        if column:
            columns[role], reasons[role] = column, "given"
    notes = _notes(schema, _values(sample), columns, now_ms)
    if "id" in columns and "text" in columns:
        generic(schema, columns)
    kinds = {column.name: str(column.type) for column in schema}
    limits = _limits(columns)
    return TableMap(place.uri, place.table, rows, columns, reasons, tuple(notes), limits, kinds)


def _values(sample: pa.Table | None) -> dict[str, list[Any]]:
    if sample is None:
        return {}
    from memtui.engine.dialects.time_columns import stored_values

    return {name: stored_values(sample.column(name)) for name in sample.column_names}


def _roles(schema: pa.Schema, values: Mapping[str, list[Any]]) -> tuple[dict[str, str], dict[str, str]]:
    """Role to column, and role to the reason."""
    columns: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for role in ("id", "text", "vector", "timestamp", "importance", "metadata", "scope", "category"):
        best: tuple[float, str, str] | None = None
        for place, column in enumerate(schema):
            if column.name in columns.values() or not can_hold(role, column.type):
                continue
            score, why = _score(role, column, values.get(column.name, []))
            if score > 0 and (best is None or score - place / 1000 > best[0]):
                best = (score - place / 1000, column.name, why)
        if best is not None:
            columns[role], reasons[role] = best[1], best[2]
    return columns, reasons


def _score(role: str, column: pa.Field, values: Sequence[Any]) -> tuple[float, str]:
    """How well a column fits a role, 0 for not at all, and why."""
    names = _NAMES[role]
    name = column.name.lower()
    named = 2.0 - names.index(name) / 10 if name in names else 0.0  # the earlier name counts more
    filled = [value for value in values if value not in (None, "")]
    share = len(filled) / len(values) if values else 0.0
    by_name = "by its name" if named else "by its content"
    distinct = len(set(map(str, filled)))
    match role:
        case "vector":
            return 1 + named, by_name if named else "by its type"
        case "id":
            unique = bool(filled) and distinct == len(values)
            return (named + 0.5 if unique and (named or isinstance(filled[0], str)) else 0), by_name
        case "text":
            length = sum(len(str(value)) for value in filled) / len(filled) if filled else 0
            return (named * 2 + min(length, 400) / 400 if filled and share > 0.5 else 0), by_name
        case "timestamp":
            told = sum(map(_is_time, filled)) / len(filled) if filled else 0.0
            plain = is_moment(column.type) or (bool(filled) and isinstance(filled[0], str))
            return (named + share * 2 if told > 0.95 and (named or plain) else 0), by_name
        case "importance":
            inside = bool(filled) and all(isinstance(v, int | float) and 0 <= v <= 1 for v in filled)
            return (named if inside else 0), by_name
        case "metadata":
            return (
                named if filled and all(map(_is_lifecycle, filled)) else 0
            ), "a JSON object with a tier or a state"
    short = bool(filled) and all(isinstance(value, str) and len(value) <= 64 for value in filled)
    if not short:
        return 0.0, ""
    if named and share > 0.5 and distinct <= _FEW * 5:
        return named + 0.5, by_name
    few = share > 0.9 and 1 < distinct <= _FEW and distinct * 3 <= max(len(filled), 6)
    return (0.4 if few else 0.0), by_name


def _is_time(value: Any) -> bool:
    """Whether a value can be a time after 1990: ISO 8601 text, or a number of one of the units."""
    if isinstance(value, str):
        return len(value) >= 8 and iso_time.microseconds(value) is not None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return any(6.3e8 * scale < value < 4.2e9 * scale for scale in (1, 1e3, 1e6, 1e9))


def _is_lifecycle(value: Any) -> bool:
    parsed = _object(value)
    return parsed is not None and bool(parsed.keys() & {"tier", "state", "memory_category", "l0_abstract"})


def _object(value: Any) -> Mapping[str, Any] | None:
    if not isinstance(value, str) or value.lstrip()[:1] != "{":
        return None
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _notes(
    schema: pa.Schema, values: Mapping[str, list[Any]], columns: dict[str, str], now_ms: int
) -> list[str]:
    """What is said about times, vectors and nested values; settles `unit` where it is not given."""
    notes = []
    time = columns.get("timestamp", "")
    filled = [value for value in values.get(time, []) if value not in (None, "")]
    if filled and isinstance(filled[0], str):
        bare = [value for value in filled if not iso_time.has_zone(value)]
        if bare and ZONE not in columns:
            newest = max(bare)
            late = (iso_time.microseconds(newest) or 0) // 1000 > now_ms
            hint = " As UTC the newest would lie in the future: it is rather local time." if late else ""
            notes.append(
                f"No zone stands in {time} ({newest}): read as UTC. Local time of this machine: zone=local.{hint}"
            )
        elif not bare:
            notes.append(f"Every value of {time} says its zone.")
    elif time and is_moment(schema.field(time).type):
        kind = schema.field(time).type
        zone = getattr(kind, "tz", None)
        how = f"its zone is {zone}" if zone else "no zone, read as UTC; with zone=local as local time"
        notes.append(f"{time} is {kind}: {how}.")
    elif filled and UNIT not in columns:
        columns[UNIT] = _unit(filled)
        at = datetime.fromtimestamp(float(filled[0]) * _SECONDS[columns[UNIT]], UTC)
        notes.append(
            f"{time} counts {columns[UNIT]} since 1970, by its size: {filled[0]} is {at:%Y-%m-%d %H:%M} UTC."
        )
    for column in schema:
        if _is_numbers(column.type) and not is_vector(column.type):
            notes.append(f"{column.name} is {column.type}: vector search needs lists of one fixed length.")
        elif str(column.type).startswith(("struct", "map")):
            notes.append(
                f"{column.name} is nested: shown whole with each memory; its parts cannot have a role."
            )
        elif column.name not in columns.values():
            texts = [v for v in values.get(column.name, []) if v not in (None, "")]
            if texts and all(_object(v) is not None for v in texts):
                notes.append(
                    f"{column.name} holds JSON: shown whole with each memory; its parts cannot have a role."
                )
    return notes


_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def _unit(values: Sequence[Any]) -> str:
    """The unit in which most of the numbers lie between 1990 and 2100."""
    return max(UNITS, key=lambda unit: sum(6.3e8 < float(v) * _SECONDS[unit] < 4.2e9 for v in values))


def _is_numbers(kind: pa.DataType) -> bool:
    """Whether a column holds lists of numbers, of a fixed length or not."""
    import pyarrow as pa

    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(listed and pa.types.is_floating(kind.value_type))


def _limits(columns: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What cannot be done with a table that is read through this map, and why."""
    found = [
        ("open", f"no column is known to be the {role}: give it")
        for role in ("id", "text")
        if role not in columns
    ]
    missing = {
        "vector": ("vector search, near duplicates by vectors", "no column of vectors of one fixed length"),
        "timestamp": ("sort by time, age filters, the time machine of a recall", "no column of times"),
        "scope": ("filter by scope, permissions per agent", "no column of scopes"),
        "category": ("filter by category", "no column of categories"),
        "importance": ("filter and weigh by importance", "no column of numbers from 0 to 1"),
        "metadata": (
            "tiers, decay, archive, superseded memories",
            "no column with memory-lancedb-pro's metadata",
        ),
    }
    found += [missing[role] for role in MAPPABLE if role in missing and role not in columns]
    found.append(
        ("edit, forget, merge, capture, import into it", "memtui does not write tables that it knows only by a map; "
         "memtui migrate run STORE NEW makes a copy that it does")
    )  # fmt: skip
    return tuple(found)
