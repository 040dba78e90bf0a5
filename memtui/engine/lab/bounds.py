"""How far the clock, the table's versions and the agents of a store reach: what a recall can be asked as of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine.store.catalog import Catalog
    from memtui.engine.store.table import Store

AGENT = "agent:"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a question can be asked of beside the present store."""

    oldest_ms: int | None
    """The time of the first memory; None where no memory has one."""
    versions: tuple[tuple[int, int], ...]
    """(version, time in ms) of every version that can still be read, oldest first."""
    agents: tuple[str, ...]
    """Agents with a scope of their own, by name."""
    scopes: tuple[str, ...]
    owners: tuple[str, ...] = ()
    """Agents that rows belong to, by name: stores with an agentId column."""


def bounds(store: Store, catalog: Catalog) -> Bounds:
    """The bounds of what is stored now."""
    times = catalog.timestamp[catalog.timestamp > 0]
    scopes = tuple(sorted(scope for scope in catalog.scopes if scope))
    agents = tuple(scope.removeprefix(AGENT) for scope in scopes if scope.startswith(AGENT))
    owned = catalog.labels.get("agentId")
    owners = () if owned is None else tuple(sorted({owner for owner in owned.values if owner}))
    oldest = int(times.min()) if len(times) else None
    return Bounds(oldest, tuple(store.versions()), agents, scopes, owners)
