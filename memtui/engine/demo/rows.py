"""From a record of the demo to a row of a table: ids, times and the metadata object."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memtui.engine.demo.content import DemoRecord, worded

# The metadata of rows that an agent writes about itself: reflections and session summaries.

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


def reflection_metadata(record: DemoRecord, created_ms: int) -> dict[str, Any]:
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


DAY_MS = 86_400_000

_NAMESPACE = uuid.UUID("6b1d7c0e-52a4-5b0f-9c55-0f3b7a5e2d41")

_STORAGE = {
    "profile": "fact",
    "preferences": "preference",
    "entities": "entity",
    "events": "decision",
    "cases": "fact",
    "patterns": "other",
}

_DURABLE = ("profile", "preferences", "events")

_UPGRADED_DAYS = 205.0
"""When the store was brought from the old format to the new one."""


def memory_id(key: str) -> str:
    """The id of the demo memory with this key: the same in every demo store."""
    return str(uuid.uuid5(_NAMESPACE, key))


def table_rows(records: Sequence[DemoRecord], now_ms: int) -> list[dict[str, Any]]:
    """Rows of memtui's own table without vectors, in the order of `records`; ages count from `now_ms`."""
    following = {record.supersedes: record for record in records if record.supersedes}
    return [_row(record, following.get(record.key), now_ms) for record in records]


def _row(record: DemoRecord, successor: DemoRecord | None, now_ms: int) -> dict[str, Any]:
    created = _ago(record.age, now_ms)
    times, last_used = record.used
    text = worded(record.text, now_ms)
    metadata = record.raw_metadata
    if metadata is None:
        metadata = json.dumps(_metadata(record, successor, text, now_ms), ensure_ascii=False)
    return {
        "id": memory_id(record.key),
        "text": text,
        "category": categories(record)[1],
        "scope": record.scope,
        "importance": record.importance,
        "timestamp": float(created // 1000 if record.seconds else created),
        "metadata": metadata,
        "tier": record.tier,
        "access_count": times,
        "last_accessed_at": float(_ago(last_used, now_ms) if times else created),
        "state": record.state,
    }


def categories(record: DemoRecord) -> tuple[str, str]:
    """The six-word category and the stored one."""
    if record.kind in REFLECTION_CATEGORIES:
        return REFLECTION_CATEGORIES[record.kind]
    return record.category, _STORAGE[record.category]


def _metadata(record: DemoRecord, successor: DemoRecord | None, text: str, now_ms: int) -> dict[str, Any]:
    """The object as the agent's plugin would have written it, step by step over the memory's life."""
    created = _ago(record.age, now_ms)
    times, last_used = record.used
    found: dict[str, Any] = {
        "l0_abstract": text,
        "l1_overview": record.overview or f"- {text}",
        "l2_content": record.content or text,
        "memory_category": categories(record)[0],
        "tier": record.tier,
        "access_count": times,
        "confidence": record.confidence,
        "last_accessed_at": _ago(last_used, now_ms) if times else created,
        "valid_from": created,
        "state": record.state,
        "memory_layer": _layer(record),
        "injected_count": 0,
        "bad_recall_count": 0,
        "suppressed_until_turn": 0,
    }
    if record.until is not None:
        found["valid_until"] = _ago(record.until, now_ms)
    if record.kind:
        found |= reflection_metadata(record, created)
    elif record.source == "legacy":
        found |= {"upgraded_from": categories(record)[1]}
        found |= {"upgraded_at": _ago(min(record.age, _UPGRADED_DAYS), now_ms)}
    else:
        found |= {"source": record.source, "memory_temporal_type": "static"}
    more: dict[str, Any] = _resolved(record.metadata, now_ms)
    return found | _chain(record, successor, now_ms) | more


def _chain(record: DemoRecord, successor: DemoRecord | None, now_ms: int) -> dict[str, Any]:
    """The links of a fact that changed: both directions, and when the older one stopped being true."""
    found: dict[str, Any] = {}
    relations = []
    if record.supersedes:
        found["supersedes"] = memory_id(record.supersedes)
        relations.append({"type": "supersedes", "targetId": found["supersedes"]})
    if successor:
        found["superseded_by"] = memory_id(successor.key)
        found["invalidated_at"] = _ago(successor.age, now_ms)
        relations.append({"type": "superseded_by", "targetId": found["superseded_by"]})
    return found | ({"relations": relations} if relations else {})


def _layer(record: DemoRecord) -> str:
    if record.state == "archived":
        return "archive"
    return record.layer or ("durable" if record.category in _DURABLE else "working")


def _resolved(value: Any, now_ms: int) -> Any:
    """Ages as times and keys as ids, at any depth."""
    if isinstance(value, list):
        return [_resolved(item, now_ms) for item in value]
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"ago"}:
        return _ago(value["ago"], now_ms)
    if value.keys() == {"key"}:
        return memory_id(value["key"])
    return {name: _resolved(each, now_ms) for name, each in value.items()}


def _ago(days: float, now_ms: int) -> int:
    return now_ms - round(days * DAY_MS)
