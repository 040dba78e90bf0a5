"""What goes into a context pack first: kinds that have a place kept for them, events within bounds, and a score.

Source: spec A21. Scores and quotas are equal to the recorded cases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DAY_MS = 86_400_000

HALF_LIVES: Mapping[str, float] = {
    "preference": 365.0,
    "decision": 180.0,
    "learning": 180.0,
    "fact": 120.0,
    "entity": 120.0,
    "plan": 60.0,
    "note": 30.0,
    "tool": 30.0,
    "event": 14.0,
}
"""Days after which an item of a kind counts half; others fade as notes do."""

WEIGHTS: Mapping[str, float] = {
    "must_remember": 1.2,
    "nice_to_have": 1.0,
    "unknown": 1.0,
    "ignore": 0.8,
}

GATES: Mapping[str, float] = {"active": 1.0, "consolidated": 0.9, "stale": 0.5, "soft-archived": 0.0}

MOST_BOOST, BOOST = 1.3, 0.1

RESERVED = ("preference", "decision")
"""Kinds of which one is in a pack where there is one at all."""

EVENT, EVENT_SHARE = "event", 0.4

KINDS: Mapping[str, str] = {
    "preferences": "preference",
    "profile": "preference",
    "events": "event",
    "entities": "entity",
    "facts": "fact",
    "decisions": "decision",
    "patterns": "learning",
    "cases": "learning",
    "reflection": "learning",
}
"""The plugin's words for what the engine has a half-life of."""


@dataclass(frozen=True, slots=True)
class PackScore:
    """How much an item counts, factor by factor."""

    importance_weight: float
    recency_decay: float
    use_boost: float
    state_gate: float
    age_days: float
    half_life_days: float
    final: float


def kind_of(category: str | None) -> str:
    """The engine's word for a category."""
    plain = (category or "").strip().lower()
    return KINDS.get(plain, plain)


def pack_score(
    relevance: float,
    kind: str,
    *,
    age_days: float = 0.0,
    label: str = "unknown",
    uses: int = 0,
    state: str = "",
) -> PackScore:
    """Relevance times importance, age, use and state. `age_days` 0 where no time is known."""
    weight = WEIGHTS.get(label, WEIGHTS["unknown"])
    half_life = HALF_LIVES.get(kind, HALF_LIVES["note"])
    age = max(0.0, age_days)
    decay = 0.5 ** (age / half_life)
    boost = min(MOST_BOOST, 1 + BOOST * math.log(1 + max(0, uses)))
    gate = GATES.get(state or "active", GATES["active"])
    return PackScore(weight, decay, boost, gate, age, half_life, relevance * weight * decay * boost * gate)


@dataclass(frozen=True, slots=True)
class Quotas:
    """An order with its places kept, and what is too much of one kind. Numbers are places in what was given."""

    order: tuple[int, ...]
    reserved: Mapping[str, int]
    """Kind to the one that was moved up for it."""
    capped: tuple[int, ...]
    """Events above their share: they stay in the order, and a pack leaves them out."""


def soft_quotas(kinds: Sequence[str], limit: int) -> Quotas:
    """Move the first preference and decision up where none is among the first `limit`, and count the events."""
    reserved: dict[str, int] = {}
    for kind in RESERVED:
        first = next((at for at, each in enumerate(kinds) if each == kind), None)
        if first is not None and first >= limit - len(RESERVED) + 1:
            reserved[kind] = first
    moved = list(reserved.values())
    order = (*moved, *(at for at in range(len(kinds)) if at not in moved))
    allowed = max(1, math.floor(limit * EVENT_SHARE))
    events = [at for at in order if kinds[at] == EVENT]
    return Quotas(tuple(order), reserved, tuple(events[allowed:]))
