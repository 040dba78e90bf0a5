"""Is an agent's memory alive: one check over the host's configuration, its own record, its log, stores and turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.alive.check import check_alive
    from memtui.engine.alive.configured import add_dead_parts
    from memtui.engine.alive.model import (
        AgentMemory,
        Aliveness,
        Cause,
        CauseEvidence,
        ConfigEdit,
        MemoryPart,
        Note,
    )
    from memtui.engine.alive.revive import Revival, plan_revival
    from memtui.engine.alive.silence import explain_silence
    from memtui.engine.alive.trial import try_services

__all__ = [
    "AgentMemory",
    "Aliveness",
    "Cause",
    "CauseEvidence",
    "ConfigEdit",
    "MemoryPart",
    "Note",
    "Revival",
    "add_dead_parts",
    "check_alive",
    "explain_silence",
    "plan_revival",
    "try_services",
]

__getattr__ = lazy_names(
    __name__,
    {
        "AgentMemory": "memtui.engine.alive.model",
        "Aliveness": "memtui.engine.alive.model",
        "Cause": "memtui.engine.alive.model",
        "CauseEvidence": "memtui.engine.alive.model",
        "ConfigEdit": "memtui.engine.alive.model",
        "MemoryPart": "memtui.engine.alive.model",
        "Note": "memtui.engine.alive.model",
        "Revival": "memtui.engine.alive.revive",
        "add_dead_parts": "memtui.engine.alive.configured",
        "check_alive": "memtui.engine.alive.check",
        "explain_silence": "memtui.engine.alive.silence",
        "plan_revival": "memtui.engine.alive.revive",
        "try_services": "memtui.engine.alive.trial",
    },
)
