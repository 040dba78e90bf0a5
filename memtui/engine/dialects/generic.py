"""Any table, read through a column map that the user gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtui.engine.core.errors import UsageError
from memtui.engine.dialects.base import Capabilities, Columns, Dialect
from memtui.engine.dialects.with_metadata import LifecycleDialect

if TYPE_CHECKING:
    import pyarrow as pa


MAPPABLE = ("id", "text", "vector", "scope", "category", "importance", "timestamp", "metadata")


def generic(schema: pa.Schema, mapping: Mapping[str, str]) -> Dialect:
    """The dialect that `mapping` (our field to the table's column) describes.

    `id` and `text` are required; without `vector` there is no search by meaning. A mapped `metadata`
    column is read as memory-lancedb-pro's metadata. Raises `UsageError` naming what does not fit.
    """
    unknown = sorted(set(mapping) - set(MAPPABLE))
    if unknown:
        raise UsageError(
            f"The column map has unknown fields: {', '.join(unknown)}.",
            fix=f"The fields are {', '.join(MAPPABLE)}.",
        )
    missing = [key for key in ("id", "text") if key not in mapping]
    if missing:
        raise UsageError(
            f"The column map lacks {' and '.join(missing)}.", fix="Name a column for id and for text."
        )
    for key, column in mapping.items():
        _check(schema, key, column)
    columns = Columns(**{"vector": None, **mapping})  # type: ignore[arg-type]
    kind = LifecycleDialect if "metadata" in mapping else Dialect
    can = Capabilities(column_map=True, default_recipe="memtui")
    return kind("generic", "another program (column map)", columns, can=can)


def _check(schema: pa.Schema, key: str, column: str) -> None:
    from memtui.engine.dialects.base import fits

    if column not in schema.names:
        raise UsageError(
            f"The table has no column {column} (given for {key}).",
            fix=f"Its columns are {', '.join(schema.names)}.",
        )
    kind = schema.field(column).type
    if not fits(key, kind):
        raise UsageError(
            f"Column {column} cannot be the {key}: its type is {kind}.", fix="Map another column."
        )
