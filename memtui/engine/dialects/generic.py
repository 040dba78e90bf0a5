"""Any table, read through a column map that the user gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from memtui.engine.core.errors import UsageError
from memtui.engine.core.iso_time import zone_named
from memtui.engine.dialects.base import Capabilities, Columns, Dialect, fits, is_vector
from memtui.engine.dialects.time_form import TimeForm
from memtui.engine.dialects.with_metadata import LifecycleDialect

if TYPE_CHECKING:
    from typing import Literal

    import pyarrow as pa


MAPPABLE = ("id", "text", "vector", "scope", "category", "importance", "timestamp", "metadata")
"""Roles that a column can have."""

ZONE, UNIT = "zone", "unit"
"""What a map may say of the times beside the columns: `zone=local`, `unit=ns`."""

UNITS = ("s", "ms", "us", "ns")


def generic(schema: pa.Schema, mapping: Mapping[str, str]) -> Dialect:
    """The dialect that `mapping` (our field to the table's column) describes.

    `id` and `text` are required; without `vector` there is no vector search. A mapped `metadata` column is read as
    memory-lancedb-pro's metadata. `zone` and `unit` say how times are written. Raises `UsageError` naming what does
    not fit.
    """
    roles = {role: column for role, column in mapping.items() if role not in (ZONE, UNIT)}
    unknown = sorted(set(roles) - set(MAPPABLE))
    if unknown:
        raise UsageError(
            f"The column map has unknown fields: {', '.join(unknown)}.",
            fix=f"The fields are {', '.join((*MAPPABLE, ZONE, UNIT))}.",
        )
    missing = [key for key in ("id", "text") if key not in roles]
    if missing:
        raise UsageError(
            f"The column map lacks {' and '.join(missing)}.", fix="Name a column for id and for text."
        )
    for key, column in roles.items():
        _check(schema, key, column)
    columns = Columns(**{"vector": None, **roles})  # type: ignore[arg-type]
    kind = LifecycleDialect if "metadata" in roles else Dialect
    can = Capabilities(column_map=True, default_recipe="memtui")
    times = _times(schema, mapping)
    return replace(kind("generic", "another program (column map)", columns, can=can), times=times)


def can_hold(role: str, kind: pa.DataType) -> bool:
    """Whether a column of this type can have this role in a column map: times may be text, too."""
    return fits(role, kind) or (role == "timestamp" and fits("text", kind))


def _times(schema: pa.Schema, mapping: Mapping[str, str]) -> TimeForm:
    """How the map says that times are written. Raises UsageError for a zone or a unit that does not exist."""
    zone, unit = mapping.get(ZONE, ""), mapping.get(UNIT, "")
    try:
        zone_named(zone)
    except ValueError as error:
        raise UsageError(str(error), fix="Write UTC, local, or a name such as Europe/Oslo.") from error
    if unit and unit not in UNITS:
        raise UsageError(f"There is no unit of time {unit!r}.", fix=f"Write one of {', '.join(UNITS)}.")
    column = mapping.get("timestamp")
    if column is not None and not (fits("importance", schema.field(column).type)):
        return TimeForm(zone, "ms")  # text and Arrow's own moments say their unit themselves
    return TimeForm(zone, cast("Literal['by size', 's', 'ms', 'us', 'ns']", unit or "by size"))


def _check(schema: pa.Schema, key: str, column: str) -> None:
    if column not in schema.names:
        raise UsageError(
            f"The table has no column {column} (given for {key}).",
            fix=f"Its columns are {', '.join(schema.names)}.",
        )
    kind = schema.field(column).type
    if can_hold(key, kind):
        return
    why = "Map another column."
    if key == "vector" and not is_vector(kind):
        why = (
            "Vector search needs a list of one fixed length (fixed_size_list). Leave vector out: memories are "
            "listed, filtered and found by keywords."
        )
    raise UsageError(f"Column {column} cannot be the {key}: its type is {kind}.", fix=why)
