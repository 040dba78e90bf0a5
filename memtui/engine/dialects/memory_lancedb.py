"""OpenClaw's built-in memory-lancedb: no metadata; agentId and scope came with later generations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.dialects.base import Capabilities, Columns, Dialect
from memtui.engine.dialects.mem_engine import MARKS

if TYPE_CHECKING:
    import pyarrow as pa


PROTOCOL = 1

REQUIRED = ("id", "text", "vector", "importance", "category", "createdAt")

CAN = Capabilities(
    writable=True,
    visibility="agents",
    compares_l2=True,
    row_form="builtin",
    default_recipe="memory-lancedb",
)


def builtin(*, agent: bool, scope: bool) -> Dialect:
    """Generation 1 (neither), 2 (agentId) or 3 (agentId and scope, where "" means unscoped)."""
    columns = Columns(
        scope="scope" if scope else None, category="category", importance="importance", timestamp="createdAt"
    )
    if not agent:
        return Dialect("builtin-g1", "built-in memory-lancedb", columns, can=CAN)
    if not scope:
        return Dialect("builtin-g2", "built-in memory-lancedb (agentId)", columns, ("agentId",), can=CAN)
    return Dialect("builtin-g3", "built-in memory-lancedb (agentId, scope)", columns, ("agentId",), can=CAN)


def recognise(schema: pa.Schema) -> Dialect | None:
    """The built-in program's dialect of the table's generation; None where a column is another program's."""
    names = set(schema.names)
    if not names >= set(REQUIRED) or names.intersection(("metadata", "timestamp", *MARKS)):
        return None
    agent, scope = "agentId" in names, "scope" in names
    return builtin(agent=agent, scope=scope) if agent or not scope else None
