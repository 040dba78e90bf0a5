"""What agents really got: the store's own history and the agents' session files as witnesses. Reads only.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "InjectionEvent": "injections",
    "InjectionHistory": "injections",
    "Injected": "matching",
    "ReplayedSession": "replay",
    "ReplayedTurn": "replay",
    "SessionSummary": "audit",
    "injection_events": "audit",
    "injection_history": "audit",
    "list_sessions": "audit",
    "replay_session": "audit",
}

__all__ = [
    "Injected",
    "InjectionEvent",
    "InjectionHistory",
    "ReplayedSession",
    "ReplayedTurn",
    "SessionSummary",
    "injection_events",
    "injection_history",
    "list_sessions",
    "replay_session",
]

if TYPE_CHECKING:
    from memtui.engine.witness.audit import (
        SessionSummary,
        injection_events,
        injection_history,
        list_sessions,
        replay_session,
    )
    from memtui.engine.witness.injections import InjectionEvent, InjectionHistory
    from memtui.engine.witness.matching import Injected
    from memtui.engine.witness.replay import ReplayedSession, ReplayedTurn


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
