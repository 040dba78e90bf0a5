"""The metadata of rows that an agent writes about itself: reflections and session summaries."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from memtui.engine.demo.content import Record

REFLECTION_CATEGORIES = {
    "invariant": ("patterns", "reflection"),
    "derived": ("patterns", "reflection"),
    "event": ("patterns", "reflection"),
    "lesson": ("cases", "fact"),
    "decision": ("cases", "decision"),
    "user-model": ("preferences", "preference"),
    "agent-model": ("patterns", "other"),
    "session-summary": ("patterns", "fact"),
}
"""Kind of row: its six-word category, its stored one."""
_DECAY = {
    "invariant": (45, 0.22),
    "derived": (7, 0.65),
    "decision": (45, 0.25),
    "user-model": (21, 0.3),
    "agent-model": (10, 0.35),
    "lesson": (7, 0.45),
}
"""Kind of row: days to half weight, steepness."""


def reflection_metadata(record: Record, created_ms: int) -> dict[str, Any]:
    """What such a row has beside the common keys; `created_ms` dates it."""
    agent = (record.scope or "agent:main").rpartition(":")[2]
    session = f"agent:{agent}:session-{int(400 - record.age)}"
    owner = {"agentId": agent, "sessionKey": session, "sessionId": _digest(session)}
    if record.kind == "session-summary":
        return owner | {
            "type": "session-summary",
            "source": "legacy",
            "confidence": 0.5,
            "date": _day(created_ms),
        }
    if record.kind == "event":
        stamp = datetime.fromtimestamp(created_ms / 1000, UTC)
        event = f"refl-{stamp:%Y%m%d%H%M%S}-{_digest(record.key)}"
        return _own("event") | owner | {"eventId": event, "storedAt": created_ms, "errorSignals": []}
    half, steepness = _DECAY[record.kind or "derived"]
    shape = {"decayModel": "logistic", "decayMidpointDays": half, "decayK": steepness}
    if record.kind in ("invariant", "derived"):
        return _own("item") | owner | shape | {"itemKind": record.kind, "quality": 1, "baseWeight": 1.1}
    return _own("mapped") | owner | shape | {"mappedKind": record.kind}


def _own(part: str) -> dict[str, Any]:
    found = {"type": f"memory-reflection-{part}"}
    return found if part == "mapped" else found | {"source": "reflection", "memory_layer": "reflection"}


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:8]


def _day(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).date().isoformat()
