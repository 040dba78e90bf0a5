"""What agents really got: the store's own history and the agents' session files as witnesses. Reads only.

Names are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.witness.ask_again import request_of_turn, with_today
    from memtui.engine.witness.audit import (
        SessionSummary,
        injection_events,
        injection_history,
        list_sessions,
        replay_session,
    )
    from memtui.engine.witness.economy import InjectionEconomy, OftenInjected, read_economy
    from memtui.engine.witness.elsewhere import Likely, likely_about, stays_elsewhere
    from memtui.engine.witness.find import find_sessions
    from memtui.engine.witness.formats.events import read_transcripts
    from memtui.engine.witness.got import Got, GotIndex, read_got
    from memtui.engine.witness.injections import InjectionEvent, InjectionHistory
    from memtui.engine.witness.leaks import CHANNELS, UNSEEN, Leak, LeakReport, LeakTurn, hunt_leaks
    from memtui.engine.witness.live import LiveEvent, read_live
    from memtui.engine.witness.matching import Injected
    from memtui.engine.witness.mending import (
        VERBS,
        Mend,
        plan_mends,
        read_mend,
        rows_meant,
        usual_mends,
    )
    from memtui.engine.witness.proof_pack import collect_proof, find_subject, write_pack
    from memtui.engine.witness.reach import Reach, ReachedTurn, reach_of
    from memtui.engine.witness.replay import ReplayedSession, ReplayedTurn
    from memtui.engine.witness.rights import Rights, read_rights, rights_under
    from memtui.engine.witness.session import SessionFile
    from memtui.engine.witness.session_cases import case_of_turn, make_cases

__all__ = [
    "CHANNELS",
    "UNSEEN",
    "VERBS",
    "Got",
    "GotIndex",
    "Injected",
    "InjectionEconomy",
    "InjectionEvent",
    "InjectionHistory",
    "Leak",
    "LeakReport",
    "LeakTurn",
    "Likely",
    "LiveEvent",
    "Mend",
    "OftenInjected",
    "Reach",
    "ReachedTurn",
    "ReplayedSession",
    "ReplayedTurn",
    "Rights",
    "SessionFile",
    "SessionSummary",
    "case_of_turn",
    "collect_proof",
    "find_sessions",
    "find_subject",
    "hunt_leaks",
    "injection_events",
    "injection_history",
    "likely_about",
    "list_sessions",
    "make_cases",
    "plan_mends",
    "reach_of",
    "read_economy",
    "read_got",
    "read_live",
    "read_mend",
    "read_rights",
    "read_transcripts",
    "replay_session",
    "request_of_turn",
    "rights_under",
    "rows_meant",
    "stays_elsewhere",
    "usual_mends",
    "with_today",
    "write_pack",
]

__getattr__ = lazy_names(
    __name__,
    {
        "CHANNELS": "memtui.engine.witness.leaks",
        "Got": "memtui.engine.witness.got",
        "GotIndex": "memtui.engine.witness.got",
        "Injected": "memtui.engine.witness.matching",
        "OftenInjected": "memtui.engine.witness.economy",
        "InjectionEconomy": "memtui.engine.witness.economy",
        "InjectionEvent": "memtui.engine.witness.injections",
        "InjectionHistory": "memtui.engine.witness.injections",
        "Leak": "memtui.engine.witness.leaks",
        "LeakReport": "memtui.engine.witness.leaks",
        "LeakTurn": "memtui.engine.witness.leaks",
        "LiveEvent": "memtui.engine.witness.live",
        "Reach": "memtui.engine.witness.reach",
        "ReachedTurn": "memtui.engine.witness.reach",
        "ReplayedSession": "memtui.engine.witness.replay",
        "ReplayedTurn": "memtui.engine.witness.replay",
        "Rights": "memtui.engine.witness.rights",
        "SessionFile": "memtui.engine.witness.session",
        "SessionSummary": "memtui.engine.witness.audit",
        "UNSEEN": "memtui.engine.witness.leaks",
        "case_of_turn": "memtui.engine.witness.session_cases",
        "collect_proof": "memtui.engine.witness.proof_pack",
        "find_sessions": "memtui.engine.witness.find",
        "find_subject": "memtui.engine.witness.proof_pack",
        "hunt_leaks": "memtui.engine.witness.leaks",
        "injection_events": "memtui.engine.witness.audit",
        "injection_history": "memtui.engine.witness.audit",
        "list_sessions": "memtui.engine.witness.audit",
        "make_cases": "memtui.engine.witness.session_cases",
        "Mend": "memtui.engine.witness.mending",
        "VERBS": "memtui.engine.witness.mending",
        "plan_mends": "memtui.engine.witness.mending",
        "read_mend": "memtui.engine.witness.mending",
        "rows_meant": "memtui.engine.witness.mending",
        "usual_mends": "memtui.engine.witness.mending",
        "reach_of": "memtui.engine.witness.reach",
        "read_economy": "memtui.engine.witness.economy",
        "read_got": "memtui.engine.witness.got",
        "read_live": "memtui.engine.witness.live",
        "read_transcripts": "memtui.engine.witness.formats.events",
        "read_rights": "memtui.engine.witness.rights",
        "rights_under": "memtui.engine.witness.rights",
        "replay_session": "memtui.engine.witness.audit",
        "request_of_turn": "memtui.engine.witness.ask_again",
        "Likely": "memtui.engine.witness.elsewhere",
        "likely_about": "memtui.engine.witness.elsewhere",
        "stays_elsewhere": "memtui.engine.witness.elsewhere",
        "with_today": "memtui.engine.witness.ask_again",
        "write_pack": "memtui.engine.witness.proof_pack",
    },
)
