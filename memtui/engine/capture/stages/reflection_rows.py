"""The rows of a reflection: what is stored, how it fades, and which lines of it still count."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memtui.engine.capture.stages.matching import pattern
from memtui.engine.capture.stages.reflection_text import DERIVED, INVARIANTS, MOST_DERIVED, MOST_INVARIANTS
from memtui.engine.core.javascript import number, trim

EVENT_IMPORTANCE, INVARIANT_IMPORTANCE, DERIVED_IMPORTANCE, LEGACY_IMPORTANCE = 0.55, 0.82, 0.78, 0.75

DERIVED_LIFE_DAYS = 14

NEWEST_ROWS = 160

FALLBACK_FACTOR = 0.75

_DAY_MS = 86_400_000

_DECAY: Mapping[str, tuple[float, float, float, float]] = {
    "invariant": (45, 0.22, 1.1, 1),
    "derived": (7, 0.65, 1, 0.95),
    "user-model": (21, 0.3, 1, 0.95),
    "agent-model": (10, 0.35, 0.95, 0.93),
    "lesson": (7, 0.45, 0.9, 0.9),
    "decision": (45, 0.25, 1.1, 1),
}
"""Midpoint in days, steepness, base weight and quality by the kind of a line."""

_LEGACY_DECAY = (3, 1.2)

_MAPPED_CATEGORY = {
    "user-model": "preferences",
    "agent-model": "patterns",
    "lesson": "cases",
    "decision": "cases",
}

_SPACE = pattern(r"\s+")


def logistic(age_days: Any, midpoint_days: float, k: float) -> float:
    """The weight of a line by its age: a half at the midpoint; bad numbers count as age 0, midpoint 1, k 0.1."""
    age = _finite(age_days)
    age = max(0.0, age) if age is not None else 0.0
    middle = midpoint_days if midpoint_days > 0 else 1.0
    steep = k if k > 0 else 0.1
    try:
        return 1.0 / (1.0 + math.exp(steep * (age - middle)))
    except OverflowError:
        return 0.0


def line_score(
    age_days: float, midpoint_days: float, k: float, base_weight: float, quality: float, used_fallback: bool
) -> float:
    """How much a line counts now."""
    weight = base_weight if base_weight > 0 else 1.0
    share = min(1.0, max(0.0, quality))
    return logistic(age_days, midpoint_days, k) * weight * share * (FALLBACK_FACTOR if used_fallback else 1.0)


def derived_line_quality(lines: float) -> float:
    """The quality of a report of the old form by how many changes it names."""
    count = int(lines) if lines > 0 else 0
    return 0.2 if count <= 0 else min(1.0, 0.55 + min(6, count) * 0.075)


@dataclass(frozen=True, slots=True)
class ReflectionRun:
    """One run of the reflection and what names it in its rows."""

    run_at_ms: int
    session_key: str
    session_id: str
    agent: str
    command: str
    scope: str
    used_fallback: bool = False
    error_signals: tuple[str, ...] = ()
    source_path: str | None = None

    @property
    def event_id(self) -> str:
        """The id that every row of the run carries."""
        seed = f"{self.run_at_ms}|{self.session_key}|{self.session_id}|{self.agent}|{self.command}"
        digest = hashlib.sha1(seed.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
        return f"refl-{_utc(self.run_at_ms):%Y%m%d%H%M%S}-{digest[:8]}"


def event_id(run_at_ms: float, session_key: str, session_id: str, agent: str, command: str) -> str:
    """The id of a run."""
    return ReflectionRun(int(run_at_ms), session_key, session_id, agent, command, "").event_id


@dataclass(frozen=True, slots=True)
class ReflectionPayload:
    """One row to be: its kind, text and raw metadata."""

    kind: str
    text: str
    metadata: dict[str, Any]

    @property
    def importance(self) -> float:
        """The importance of a row of this kind."""
        return {
            "event": EVENT_IMPORTANCE,
            "item-invariant": INVARIANT_IMPORTANCE,
            "item-derived": DERIVED_IMPORTANCE,
        }.get(self.kind, LEGACY_IMPORTANCE)


def store_payloads(
    run: ReflectionRun, lines: Mapping[str, Sequence[str]], *, legacy: bool
) -> list[ReflectionPayload]:
    """The rows of a run: the event, one for each line, and with `legacy` the combined one of the old form."""
    used = "true" if run.used_fallback else "false"
    text = (
        f"reflection-event · {run.scope}\neventId={run.event_id}\nsession={run.session_id}\nagent={run.agent}"
        f"\ncommand={run.command}\nusedFallback={used}"
    )
    event = {
        "type": "memory-reflection-event",
        "reflectionVersion": 4,
        "stage": "reflect-store",
        "eventId": run.event_id,
        "sessionKey": run.session_key,
        "sessionId": run.session_id,
        "agentId": run.agent,
        "command": run.command,
        "storedAt": run.run_at_ms,
        "usedFallback": run.used_fallback,
        "errorSignals": list(run.error_signals),
        **_path(run),
    }
    found = [ReflectionPayload("event", text, event)]
    for kind, name in (("invariant", INVARIANTS), ("derived", DERIVED)):
        group = lines["invariants" if kind == "invariant" else "derived"]
        found += [
            ReflectionPayload(f"item-{kind}", line, _item(run, kind, name, at, len(group), line))
            for at, line in enumerate(group)
        ]
    if legacy and (lines["invariants"] or lines["derived"]):
        found.append(_legacy(run, lines))
    return found


def _item(run: ReflectionRun, kind: str, name: str, at: int, size: int, line: str) -> dict[str, Any]:
    midpoint, k, weight, quality = _DECAY[kind]
    return {
        "type": "memory-reflection-item",
        "reflectionVersion": 4,
        "stage": "reflect-store",
        "eventId": run.event_id,
        "itemKind": kind,
        "section": name,
        "ordinal": at,
        "groupSize": size,
        "agentId": run.agent,
        "sessionKey": run.session_key,
        "sessionId": run.session_id,
        "l0_abstract": line,
        "l1_overview": f"## {name}\n- {line}",
        "l2_content": line,
        "storedAt": run.run_at_ms,
        "usedFallback": run.used_fallback,
        "errorSignals": list(run.error_signals),
        "decayModel": "logistic",
        "decayMidpointDays": midpoint,
        "decayK": k,
        "baseWeight": weight,
        "quality": quality,
        **_path(run),
    }


def _legacy(run: ReflectionRun, lines: Mapping[str, Sequence[str]]) -> ReflectionPayload:
    rules, deltas = list(lines["invariants"]), list(lines["derived"])
    when = _utc(run.run_at_ms)
    stamp = f"{when:%Y-%m-%dT%H:%M:%S}.{run.run_at_ms % 1000:03d}Z"
    text = "\n".join(
        (
            f"reflection · {run.scope} · {when:%Y-%m-%d}",
            f"Session Reflection ({stamp})",
            f"Session Key: {run.session_key}",
            f"Session ID: {run.session_id}",
            "",
            "Invariants:",
            *([f"- {line}" for line in rules] or ["- (none captured)"]),
            "",
            "Derived:",
            *([f"- {line}" for line in deltas] or ["- (none captured)"]),
        )
    )
    midpoint, k = _LEGACY_DECAY
    metadata = {
        "type": "memory-reflection",
        "stage": "reflect-store",
        "reflectionVersion": 3,
        "sessionKey": run.session_key,
        "sessionId": run.session_id,
        "agentId": run.agent,
        "command": run.command,
        "storedAt": run.run_at_ms,
        "invariants": rules,
        "derived": deltas,
        "usedFallback": run.used_fallback,
        "errorSignals": list(run.error_signals),
        "decayModel": "logistic",
        "decayMidpointDays": midpoint,
        "decayK": k,
        "deriveBaseWeight": 0.35 if run.used_fallback else 1,
        "deriveQuality": derived_line_quality(len(deltas)),
        "deriveSource": "fallback" if run.used_fallback else "normal",
        **_path(run),
    }
    return ReflectionPayload("combined-legacy", text, metadata)


def mapped_metadata(
    run: ReflectionRun, item: Mapping[str, Any], audit: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The raw metadata of a row that a bullet of the report became."""
    kind, line, heading = item["mappedKind"], item["text"], item["heading"]
    midpoint, k, weight, quality = _DECAY[kind]
    found = {
        "type": "memory-reflection-mapped",
        "source": "reflection",
        "reflectionVersion": 4,
        "stage": "reflect-store",
        "eventId": run.event_id,
        "mappedKind": kind,
        "mappedCategory": item["category"],
        "memory_category": mapped_category(kind),
        "l0_abstract": line,
        "l1_overview": f"## {heading}\n- {line}",
        "l2_content": line,
        "section": heading,
        "ordinal": item["ordinal"],
        "groupSize": item["groupSize"],
        "agentId": run.agent,
        "sessionKey": run.session_key,
        "sessionId": run.session_id,
        "storedAt": run.run_at_ms,
        "usedFallback": run.used_fallback,
        "errorSignals": list(run.error_signals),
        "decayModel": "logistic",
        "decayMidpointDays": midpoint,
        "decayK": k,
        "baseWeight": weight,
        "quality": quality,
        **_path(run),
    }
    if audit is not None:
        found["admission_audit"] = json.dumps(audit, ensure_ascii=False, separators=(",", ":"))
    return {**found, "_reflectionHeading": heading}


def mapped_category(kind: str) -> str:
    """The category of a row that a bullet of this kind becomes."""
    return _MAPPED_CATEGORY[kind]


def _path(run: ReflectionRun) -> dict[str, str]:
    return {"sourceReflectionPath": run.source_path} if run.source_path else {}


# ---------------------------------------------------------------- reading back


@dataclass(frozen=True, slots=True)
class ReflectionRow:
    """A stored row as the loader reads it."""

    text: str
    timestamp: int
    metadata: Mapping[str, Any]


def load_slices(
    rows: Sequence[ReflectionRow], agent: str, now_ms: int, *, derived_life_days: float = DERIVED_LIFE_DAYS
) -> dict[str, list[str]]:
    """The rules and changes that count now for exactly this agent, the strongest first.

    Equal lines add up. Lines of the old form count only where no unresolved row of that kind is left, and never
    when they say what was resolved; its changes never count for the agent main.
    """
    own = [row for row in rows if row.metadata.get("agentId") == agent and agent]
    own = sorted(own, key=lambda row: -row.timestamp)[:NEWEST_ROWS]
    items = [row for row in own if row.metadata.get("type") == "memory-reflection-item"]
    old = [row for row in own if row.metadata.get("type") == "memory-reflection"]
    found: dict[str, list[str]] = {}
    for kind, key, most in (
        ("invariant", "invariants", MOST_INVARIANTS),
        ("derived", "derived", MOST_DERIVED),
    ):
        of_kind = [row for row in items if row.metadata.get("itemKind") == kind]
        live = [row for row in of_kind if row.metadata.get("resolvedAt") is None]
        resolved = {_same(row.text) for row in of_kind if row.metadata.get("resolvedAt") is not None}
        lines = [_weighed(row, row.text, row.metadata, now_ms) for row in live]
        if not lines and not (kind == "derived" and agent == "main"):
            lines = [
                _old_weight(row, line, kind, now_ms)
                for row in old
                for line in _strings(row.metadata.get(key))
                if _same(line) not in resolved
            ]
        if kind == "derived":
            lines = [line for line in lines if now_ms - line.stored_at <= derived_life_days * _DAY_MS]
        found[key] = _strongest(lines, most)
    return found


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    score: float
    stored_at: int


def _weighed(row: ReflectionRow, text: str, metadata: Mapping[str, Any], now_ms: int) -> _Line:
    kind = "invariant" if metadata.get("itemKind") == "invariant" else "derived"
    midpoint, k, weight, quality = _DECAY[kind]
    stored = _stored_at(row)
    score = line_score(
        (now_ms - stored) / _DAY_MS,
        _or(metadata.get("decayMidpointDays"), midpoint),
        _or(metadata.get("decayK"), k),
        _or(metadata.get("baseWeight"), weight),
        _or(metadata.get("quality"), quality),
        metadata.get("usedFallback") is True,
    )
    return _Line(text, score, stored)


def _old_weight(row: ReflectionRow, text: str, kind: str, now_ms: int) -> _Line:
    metadata = row.metadata
    midpoint, k, weight, quality = _DECAY[kind]
    if kind == "derived":
        midpoint, k = _LEGACY_DECAY
        weight = _or(metadata.get("deriveBaseWeight"), 1)
        quality = _or(
            metadata.get("deriveQuality"), derived_line_quality(len(_strings(metadata.get("derived"))))
        )
    stored = _stored_at(row)
    score = line_score(
        (now_ms - stored) / _DAY_MS, midpoint, k, weight, quality, metadata.get("usedFallback") is True
    )
    return _Line(text, score, stored)


def _strongest(lines: Sequence[_Line], most: int) -> list[str]:
    grouped: dict[str, _Line] = {}
    for line in lines:
        key = _same(line.text)
        if not key:
            continue
        known = grouped.get(key)
        if known is None:
            grouped[key] = _Line(trim(line.text), line.score, line.stored_at)
            continue
        newer = line if line.stored_at > known.stored_at else known
        grouped[key] = _Line(trim(newer.text), known.score + line.score, newer.stored_at)
    ordered = sorted(grouped.values(), key=lambda each: (-each.score, -each.stored_at, each.text))
    return [line.text for line in ordered[:most]]


def _stored_at(row: ReflectionRow) -> int:
    found = _finite(row.metadata.get("storedAt"))
    return int(found) if found is not None and found > 0 else row.timestamp


def _same(line: str) -> str:
    return _SPACE.sub(" ", trim(line)).lower()


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _or(value: Any, default: float) -> float:
    found = _finite(value)
    return default if found is None else found


def _finite(value: Any) -> float | None:
    if value is None or isinstance(value, bool | list | dict):
        return None
    n = number(value)
    return n if math.isfinite(n) else None


def _utc(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
