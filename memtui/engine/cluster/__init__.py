"""Work for a cluster: scripts for Ray that read tables in parts, and what they leave, taken in on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.cluster.plan import ClusterPlan, run_plan

__all__ = ["ClusterPlan", "run_plan"]

__getattr__ = lazy_names(
    __name__,
    {
        "ClusterPlan": "memtui.engine.cluster.plan",
        "run_plan": "memtui.engine.cluster.plan",
    },
)
