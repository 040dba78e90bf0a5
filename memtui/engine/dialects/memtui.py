"""memtui's own tables: memory-lancedb-pro's columns, and the fields that lists sort by as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.dialects.base import Capabilities, Columns
from memtui.engine.dialects.with_metadata import LifecycleDialect

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect


PROTOCOL = 1

MARK = "memtui.schema"
"""Key in the table's schema metadata; its value is the layout's number."""

MODEL_MARK = b"memtui.model"
"""Key in the schema metadata of a re-embedded table; its value is the model that made the vectors."""

LAYOUT = "1"

COLUMNS = Columns(
    scope="scope",
    category="category",
    importance="importance",
    timestamp="timestamp",
    metadata="metadata",
    tier="tier",
    access_count="access_count",
    last_accessed="last_accessed_at",
    state="state",
)


def own() -> LifecycleDialect:
    """A table that memtui made."""
    can = Capabilities(
        writable=True,
        owner_lock="folder",
        own_store=True,
        visibility="scopes",
        row_form="memtui",
        default_recipe="memtui",
    )
    return LifecycleDialect("memtui", "memtui", COLUMNS, can=can)


def own_schema(dims: int) -> pa.Schema:
    """The Arrow schema of a new table with `dims` numbers in each vector; times in milliseconds."""
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("vector", pa.list_(pa.float32(), dims)),
            ("category", pa.string()),
            ("scope", pa.string()),
            ("importance", pa.float64()),
            ("timestamp", pa.float64()),
            ("metadata", pa.string()),
            ("tier", pa.string()),
            ("access_count", pa.int64()),
            ("last_accessed_at", pa.float64()),
            ("state", pa.string()),
        ],
        metadata={MARK: LAYOUT},
    )


def recognise(schema: pa.Schema) -> Dialect | None:
    """memtui's own dialect, of a table with its mark and all its columns."""
    return own() if layout_of(schema) == LAYOUT and set(schema.names) >= set(COLUMNS.known()) else None


def layout_of(schema: pa.Schema) -> str:
    """The number of the layout that memtui writes into its own tables; empty for all others."""
    stored: bytes = (schema.metadata or {}).get(MARK.encode(), b"")
    return stored.decode(errors="replace")
