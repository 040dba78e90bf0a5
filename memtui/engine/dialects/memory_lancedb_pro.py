"""memory-lancedb-pro: seven columns, a vector, and a metadata JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.dialects.base import Capabilities, Columns
from memtui.engine.dialects.mem_engine import MARKS
from memtui.engine.dialects.with_metadata import LifecycleDialect

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect


PROTOCOL = 1

COLUMNS = Columns(
    scope="scope", category="category", importance="importance", timestamp="timestamp", metadata="metadata"
)

REQUIRED = ("id", "text", "vector", "category", "scope", "importance", "timestamp", "metadata")

CAN = Capabilities(
    writable=True,
    owner_lock="folder",
    versioned_text=True,
    newest_fts=1,
    visibility="scopes",
    row_form="pro",
    bare_rows="memory-lancedb-pro fails on such a row when it reads or updates it, and one stops a whole batch",
)


def pro() -> LifecycleDialect:
    """A table that memory-lancedb-pro made."""
    return LifecycleDialect("pro", "memory-lancedb-pro", COLUMNS, agent_words=True, can=CAN)


def pro_on_builtin(labels: tuple[str, ...]) -> LifecycleDialect:
    """A built-in table that memory-lancedb-pro opened in place: old rows have their time in createdAt."""
    columns = Columns(
        scope="scope",
        category="category",
        importance="importance",
        timestamp="timestamp",
        metadata="metadata",
        created="createdAt",
    )
    note = (
        "memory-lancedb-pro opened a built-in table in place: it reads timestamp 0 for the old rows; "
        "their createdAt is shown here."
    )
    title = "memory-lancedb-pro (on a built-in table)"
    return LifecycleDialect("pro", title, columns, labels, (note,), agent_words=True, can=CAN)


def recognise(schema: pa.Schema) -> Dialect | None:
    """memory-lancedb-pro's dialect, also of a built-in table that it opened in place."""
    names = set(schema.names)
    if not names >= set(REQUIRED) or names.intersection(MARKS):
        return None
    if "createdAt" in names:
        return pro_on_builtin(tuple(name for name in ("agentId",) if name in names))
    return pro() if "agentId" not in names else None
