"""OpenClaw's built-in memory-lancedb: no metadata; agentId and scope came with later generations."""

from __future__ import annotations

from memtui.engine.dialects.base import Columns, Dialect

REQUIRED = ("id", "text", "vector", "importance", "category", "createdAt")


def builtin(*, agent: bool, scope: bool) -> Dialect:
    """Generation 1 (neither), 2 (agentId) or 3 (agentId and scope, where "" means unscoped)."""
    columns = Columns(
        scope="scope" if scope else None, category="category", importance="importance", timestamp="createdAt"
    )
    if not agent:
        return Dialect("builtin-g1", "built-in memory-lancedb", columns)
    if not scope:
        return Dialect("builtin-g2", "built-in memory-lancedb (agentId)", columns, ("agentId",))
    return Dialect("builtin-g3", "built-in memory-lancedb (agentId, scope)", columns, ("agentId",))
