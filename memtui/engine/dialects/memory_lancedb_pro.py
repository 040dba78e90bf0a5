"""memory-lancedb-pro: seven columns, a vector, and a metadata JSON."""

from __future__ import annotations

from memtui.engine.dialects.base import Capabilities, Columns
from memtui.engine.dialects.with_metadata import LifecycleDialect

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
