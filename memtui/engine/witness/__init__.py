"""What agents really got: the store's own history and the agents' session files as witnesses. Reads only.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine.witness.ask_again import request_of_turn, with_today
    from memtui.engine.witness.audit import (
        SessionSummary,
        injection_events,
        injection_history,
        list_sessions,
        replay_session,
    )
    from memtui.engine.witness.economy import InjectionEconomy, read_economy
    from memtui.engine.witness.find import find_sessions
    from memtui.engine.witness.got import Got, GotIndex, read_got
    from memtui.engine.witness.injections import InjectionEvent, InjectionHistory
    from memtui.engine.witness.leaks import CHANNELS, UNSEEN, Leak, LeakReport, LeakTurn, hunt_leaks
    from memtui.engine.witness.live import LiveEvent, read_live
    from memtui.engine.witness.make_cases import case_of_turn
    from memtui.engine.witness.matching import Injected
    from memtui.engine.witness.proof_pack import collect_proof, find_subject, write_pack
    from memtui.engine.witness.reach import Reach, ReachedTurn, plan_removal, reach_of
    from memtui.engine.witness.replay import ReplayedSession, ReplayedTurn
    from memtui.engine.witness.rights import Rights, read_rights


_HOME = {
    "CHANNELS": "leaks",
    "Got": "got",
    "GotIndex": "got",
    "InjectionEconomy": "economy",
    "Leak": "leaks",
    "LeakReport": "leaks",
    "LeakTurn": "leaks",
    "LiveEvent": "live",
    "Reach": "reach",
    "ReachedTurn": "reach",
    "Rights": "rights",
    "UNSEEN": "leaks",
    "case_of_turn": "make_cases",
    "collect_proof": "proof_pack",
    "find_sessions": "find",
    "find_subject": "proof_pack",
    "hunt_leaks": "leaks",
    "plan_removal": "reach",
    "reach_of": "reach",
    "read_economy": "economy",
    "read_got": "got",
    "read_live": "live",
    "read_rights": "rights",
    "request_of_turn": "ask_again",
    "with_today": "ask_again",
    "write_pack": "proof_pack",
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
    "CHANNELS",
    "UNSEEN",
    "Got",
    "GotIndex",
    "Injected",
    "InjectionEconomy",
    "InjectionEvent",
    "InjectionHistory",
    "Leak",
    "LeakReport",
    "LeakTurn",
    "LiveEvent",
    "Reach",
    "ReachedTurn",
    "ReplayedSession",
    "ReplayedTurn",
    "Rights",
    "SessionSummary",
    "case_of_turn",
    "collect_proof",
    "find_sessions",
    "find_subject",
    "hunt_leaks",
    "injection_events",
    "injection_history",
    "list_sessions",
    "plan_removal",
    "reach_of",
    "read_economy",
    "read_got",
    "read_live",
    "read_rights",
    "replay_session",
    "request_of_turn",
    "with_today",
    "write_pack",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
