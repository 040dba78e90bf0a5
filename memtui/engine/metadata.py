"""The metadata of a memory-lancedb-pro row, read exactly as the plugin reads it (spec/retrieval 1.1, 1.2)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtui.engine.categories import normalise as smart_name
from memtui.engine.categories import smart_of
from memtui.engine.js import number, trim, utf16_slice

SECONDS_BELOW = 1e12
"""Timestamps below this are seconds."""
DEFAULT_IMPORTANCE = 0.7
DEFAULT_CONFIDENCE = 0.7
TIERS = ("core", "working", "peripheral")
STATES = ("pending", "confirmed", "archived")
SOURCES = ("manual", "auto-capture", "reflection", "dreaming-engine", "session-summary", "legacy")
LAYERS = ("durable", "working", "reflection", "archive")
DURABLE_CATEGORIES = ("profile", "preferences", "events")
VERSIONED_CATEGORIES = ("preferences", "entities")
FACT_KEY_LENGTH = 120


def coerce_timestamp(value: Any) -> int:
    """Milliseconds as the plugin reads the column: seconds are scaled, invalid or not positive is 0."""
    x = number(value)
    if not math.isfinite(x) or x <= 0:
        return 0
    return math.floor(x * 1000) if x < SECONDS_BELOW else math.floor(x)


def coerce_importance(value: Any) -> float:
    """Importance clamped to 0..1; anything that is no finite number is 0.7."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return DEFAULT_IMPORTANCE
    return float(min(1, max(0, value)))


def parse_object(raw: str | None) -> tuple[dict[str, Any], bool]:
    """The metadata object and whether what is stored is one; {} where it is not. NULL and empty count as valid."""
    if raw is None or not raw:
        return {}, True
    try:
        value = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return {}, False
    if isinstance(value, list):  # an array is an object of its indices to the plugin
        return {str(index): item for index, item in enumerate(value)}, False
    return (value, True) if isinstance(value, dict) else ({}, False)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def fact_key(category: str, abstract: str) -> str | None:
    """What a versioned memory is about: `category:subject`, None where the category is not versioned (8.7)."""
    if category not in VERSIONED_CATEGORIES:
        return None
    text = trim(abstract)
    colon = re.match(r"^(.{1,120}?)[:：]", text)
    arrow = re.match(r"^(.{1,120}?)\s*(?:->|=>)", text)
    subject = colon.group(1) if colon else arrow.group(1) if arrow else text
    subject = re.sub(r"[。.!?]+$", "", re.sub(r"\s+", " ", subject.lower()))
    subject = trim(subject)
    return f"{category}:{subject}" if subject else None


@dataclass(frozen=True, slots=True)
class Metadata:
    """A row's metadata with every key normalised; `values` is the object as stored, unknown keys included.

    Times are milliseconds; None is absent.
    """

    l0_abstract: str
    l1_overview: str
    l2_content: str
    memory_category: str
    tier: str
    access_count: int
    confidence: float
    last_accessed_at: int
    valid_from: int
    invalidated_at: int | None
    valid_until: int | None
    memory_temporal_type: str | None
    state: str
    source: str
    memory_layer: str
    fact_key: str | None
    supersedes: str | None
    superseded_by: str | None
    canonical_id: str | None
    source_session: str | None
    injected_count: int
    bad_recall_count: int
    suppressed_until_turn: int
    last_injected_at: int | None
    last_confirmed_use_at: int | None
    suppressed_until_ms: int | None
    values: Mapping[str, Any]
    valid: bool

    def active(self, t_ms: int) -> bool:
        """valid_from <= t and not invalidated by t."""
        return self.valid_from <= t_ms and (self.invalidated_at is None or self.invalidated_at > t_ms)

    def expired(self, t_ms: int) -> bool:
        """valid_until <= t."""
        return self.valid_until is not None and self.valid_until <= t_ms

    def suppressed(self, t_ms: int) -> bool:
        """Whether auto-recall leaves the memory out at t."""
        return bool(self.suppressed_until_ms) and t_ms < (self.suppressed_until_ms or 0)


_ABSENT: Any = object()


def _count(value: Any, default: int = 0) -> int:
    """An integer of at least 0; absent, not a number or negative is `default`."""
    x = math.nan if value is _ABSENT else number(value)
    return math.floor(x) if math.isfinite(x) and x >= 0 else default


def _moment(value: Any) -> int | None:
    """A positive integer, else absent."""
    x = math.nan if value is _ABSENT else number(value)
    return math.floor(x) if math.isfinite(x) and x > 0 else None


def _string(value: Any) -> str | None:
    return trim(value) or None if isinstance(value, str) else None


def _unit(value: Any, default: float) -> float:
    x = math.nan if value is _ABSENT else number(value)
    return min(1.0, max(0.0, x)) if math.isfinite(x) else default


def _source(values: Mapping[str, Any], row_type: str | None) -> str:
    source = values.get("source")
    if isinstance(source, str):
        return source if source in SOURCES else "legacy"
    if row_type == "session-summary":
        return "session-summary"
    reflects = row_type in ("memory-reflection", "memory-reflection-item", "memory-reflection-mapped")
    return "reflection" if reflects else "legacy"


def _layer(values: Mapping[str, Any], state: str, source: str, category: str, row_type: str | None) -> str:
    layer = values.get("memory_layer")
    if isinstance(layer, str):
        return layer if layer in LAYERS else "working"
    if source in ("reflection", "dreaming-engine", "session-summary") and row_type != "memory-reflection-mapped":
        return "reflection"
    if state == "archived":
        return "archive"
    return "durable" if (smart_name(category) or category) in DURABLE_CATEGORIES else "working"


def normalise(
    raw: str | None, *, text: str, category: str | None, timestamp_ms: int, now_ms: int
) -> Metadata:
    """The metadata of one row. `text`, `category` and `timestamp_ms` are its columns, `now_ms` dates rows without one."""
    values, valid = parse_object(raw)
    get = values.get
    row_type = get("type") if isinstance(get("type"), str) else None
    l0 = get("l0_abstract")
    l0 = trim(l0) if isinstance(l0, str) and trim(l0) else text
    l1, l2 = get("l1_overview"), get("l2_content")
    kept = get("memory_category")
    smart = kept if isinstance(kept, str) else smart_of(category, text, row_type)
    source = _source(values, row_type)
    state = get("state")
    default_state = "archived" if source == "session-summary" else "confirmed"
    state = (state if state in STATES else "confirmed") if isinstance(state, str) else default_state
    tier = get("tier")
    valid_from = _moment(get("valid_from", _ABSENT)) or timestamp_ms
    invalidated = _moment(get("invalidated_at", _ABSENT))
    suppressed = get("suppressed_until_ms")
    temporal = get("memory_temporal_type")
    return Metadata(
        l0_abstract=l0,
        l1_overview=trim(l1) if isinstance(l1, str) and trim(l1) else f"- {l0}",
        l2_content=trim(l2) if isinstance(l2, str) and trim(l2) else text,
        memory_category=smart,
        tier=tier if isinstance(tier, str) and tier in TIERS else "working",
        access_count=_count(get("access_count", _ABSENT)),
        confidence=_unit(get("confidence", _ABSENT), DEFAULT_CONFIDENCE),
        last_accessed_at=_count(get("last_accessed_at", _ABSENT), timestamp_ms),
        valid_from=valid_from,
        invalidated_at=invalidated if invalidated is not None and invalidated >= valid_from else None,
        valid_until=_moment(get("valid_until", _ABSENT)),
        memory_temporal_type=temporal if isinstance(temporal, str) and temporal in ("static", "dynamic") else None,
        state=state,
        source=source,
        memory_layer=_layer(values, state, source, smart, row_type),
        fact_key=_string(get("fact_key")) or fact_key(smart, l0),
        supersedes=_string(get("supersedes")),
        superseded_by=_string(get("superseded_by")),
        canonical_id=_string(get("canonical_id")),
        source_session=_string(get("source_session")),
        injected_count=_count(get("injected_count", _ABSENT)),
        bad_recall_count=_count(get("bad_recall_count", _ABSENT)),
        suppressed_until_turn=_count(get("suppressed_until_turn", _ABSENT)),
        last_injected_at=_moment(get("last_injected_at", _ABSENT)),
        last_confirmed_use_at=_moment(get("last_confirmed_use_at", _ABSENT)),
        suppressed_until_ms=None if suppressed is None else _count(suppressed),
        values=values,
        valid=valid,
    )
