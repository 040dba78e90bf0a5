"""Capture: a conversation goes in, memories come out, and every step of the way is in a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.capture.capture_cases import (
        CaptureCase,
        CaptureCaseBook,
        CaseResult,
        CaseTrial,
        case_of,
        run_case,
        trial_words,
        try_settings,
        under,
    )
    from memtui.engine.capture.chat import Chat
    from memtui.engine.capture.commits import chosen, commit, plan, reworded
    from memtui.engine.capture.conversation import Conversation, parse_conversations, read_conversations
    from memtui.engine.capture.funnel import (
        SETTINGS,
        Day,
        Funnel,
        Loss,
        Otherwise,
        Run,
        days,
        funnel_of,
        otherwise,
        under_settings,
    )
    from memtui.engine.capture.hook_events import EVENTS
    from memtui.engine.capture.hooks import play, read_event
    from memtui.engine.capture.inbox import Inbox, Item, shown
    from memtui.engine.capture.jobs import PlannedJob, plan_compaction, plan_dream, plan_reflection
    from memtui.engine.capture.live import Live
    from memtui.engine.capture.lost_text import CaptureVerdict, Remedy, place_of, why_not, with_remedy
    from memtui.engine.capture.pipeline import capture
    from memtui.engine.capture.prompts import OWN, PRO, ModelChat
    from memtui.engine.capture.proof import prove
    from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
    from memtui.engine.capture.recipes.registry import capture_recipe
    from memtui.engine.capture.recording import Recorder, is_own, messages_of, record, recorded
    from memtui.engine.capture.replays import read_prototypes, read_recordings, replay
    from memtui.engine.capture.run_document import Again, document
    from memtui.engine.capture.session_turn import SessionBlock, note_block, session_block
    from memtui.engine.capture.statement import outcome_of, refusal_of, remember
    from memtui.engine.capture.trace import Candidate, CaptureTrace, Text

__all__ = [
    "EVENTS",
    "OWN",
    "PRO",
    "SETTINGS",
    "Again",
    "Candidate",
    "CaptureCase",
    "CaptureCaseBook",
    "CaptureContext",
    "CaptureRequest",
    "CaptureTrace",
    "CaptureVerdict",
    "CaseResult",
    "CaseTrial",
    "Chat",
    "Conversation",
    "Day",
    "Funnel",
    "Inbox",
    "Item",
    "Live",
    "Loss",
    "ModelChat",
    "Otherwise",
    "PlannedJob",
    "Recorder",
    "Remedy",
    "Run",
    "SessionBlock",
    "Text",
    "capture",
    "capture_recipe",
    "case_of",
    "chosen",
    "commit",
    "days",
    "document",
    "funnel_of",
    "is_own",
    "messages_of",
    "note_block",
    "otherwise",
    "outcome_of",
    "parse_conversations",
    "place_of",
    "plan",
    "plan_compaction",
    "plan_dream",
    "plan_reflection",
    "play",
    "prove",
    "read_conversations",
    "read_event",
    "read_prototypes",
    "read_recordings",
    "record",
    "recorded",
    "refusal_of",
    "remember",
    "replay",
    "reworded",
    "run_case",
    "session_block",
    "shown",
    "trial_words",
    "try_settings",
    "under",
    "under_settings",
    "why_not",
    "with_remedy",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Again": "memtui.engine.capture.run_document",
        "Candidate": "memtui.engine.capture.trace",
        "CaptureCase": "memtui.engine.capture.capture_cases",
        "CaptureCaseBook": "memtui.engine.capture.capture_cases",
        "CaptureContext": "memtui.engine.capture.recipes.base",
        "CaptureRequest": "memtui.engine.capture.recipes.base",
        "CaptureTrace": "memtui.engine.capture.trace",
        "CaptureVerdict": "memtui.engine.capture.lost_text",
        "CaseResult": "memtui.engine.capture.capture_cases",
        "CaseTrial": "memtui.engine.capture.capture_cases",
        "Chat": "memtui.engine.capture.chat",
        "Conversation": "memtui.engine.capture.conversation",
        "Day": "memtui.engine.capture.funnel",
        "EVENTS": "memtui.engine.capture.hook_events",
        "Funnel": "memtui.engine.capture.funnel",
        "Inbox": "memtui.engine.capture.inbox",
        "Item": "memtui.engine.capture.inbox",
        "Live": "memtui.engine.capture.live",
        "Loss": "memtui.engine.capture.funnel",
        "ModelChat": "memtui.engine.capture.prompts",
        "OWN": "memtui.engine.capture.prompts",
        "Otherwise": "memtui.engine.capture.funnel",
        "PRO": "memtui.engine.capture.prompts",
        "PlannedJob": "memtui.engine.capture.jobs",
        "Recorder": "memtui.engine.capture.recording",
        "Remedy": "memtui.engine.capture.lost_text",
        "Run": "memtui.engine.capture.funnel",
        "SETTINGS": "memtui.engine.capture.funnel",
        "Text": "memtui.engine.capture.trace",
        "capture": "memtui.engine.capture.pipeline",
        "capture_recipe": "memtui.engine.capture.recipes.registry",
        "case_of": "memtui.engine.capture.capture_cases",
        "chosen": "memtui.engine.capture.commits",
        "commit": "memtui.engine.capture.commits",
        "days": "memtui.engine.capture.funnel",
        "document": "memtui.engine.capture.run_document",
        "funnel_of": "memtui.engine.capture.funnel",
        "is_own": "memtui.engine.capture.recording",
        "messages_of": "memtui.engine.capture.recording",
        "otherwise": "memtui.engine.capture.funnel",
        "outcome_of": "memtui.engine.capture.statement",
        "parse_conversations": "memtui.engine.capture.conversation",
        "place_of": "memtui.engine.capture.lost_text",
        "plan": "memtui.engine.capture.commits",
        "plan_compaction": "memtui.engine.capture.jobs",
        "plan_dream": "memtui.engine.capture.jobs",
        "plan_reflection": "memtui.engine.capture.jobs",
        "play": "memtui.engine.capture.hooks",
        "prove": "memtui.engine.capture.proof",
        "read_conversations": "memtui.engine.capture.conversation",
        "read_event": "memtui.engine.capture.hooks",
        "read_prototypes": "memtui.engine.capture.replays",
        "read_recordings": "memtui.engine.capture.replays",
        "record": "memtui.engine.capture.recording",
        "recorded": "memtui.engine.capture.recording",
        "refusal_of": "memtui.engine.capture.statement",
        "remember": "memtui.engine.capture.statement",
        "SessionBlock": "memtui.engine.capture.session_turn",
        "note_block": "memtui.engine.capture.session_turn",
        "session_block": "memtui.engine.capture.session_turn",
        "replay": "memtui.engine.capture.replays",
        "reworded": "memtui.engine.capture.commits",
        "run_case": "memtui.engine.capture.capture_cases",
        "shown": "memtui.engine.capture.inbox",
        "trial_words": "memtui.engine.capture.capture_cases",
        "try_settings": "memtui.engine.capture.capture_cases",
        "under": "memtui.engine.capture.capture_cases",
        "under_settings": "memtui.engine.capture.funnel",
        "why_not": "memtui.engine.capture.lost_text",
        "with_remedy": "memtui.engine.capture.lost_text",
    },
)
