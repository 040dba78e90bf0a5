"""What can be done for one memory, and what it does to its curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memtui.engine.lifecycle.curve import own_curve
from memtui.engine.lifecycle.decay import DecayParams
from memtui.engine.lifecycle.forecast import forecast
from memtui.engine.lifecycle.lives import Measure, Remedy
from memtui.engine.lifecycle.population import Traits
from memtui.engine.lifecycle.tiers import TierParams
from memtui.engine.lifecycle.usage import Scenario
from memtui.engine.memory import TIERS

RAISE = 0.1
Changes = dict[str, object]
_FIELDS = {
    "importance": "importance",
    "confidence": "confidence",
    "access_count": "uses",
    "last_accessed_at": "last_used",
}


def pin(one: Traits) -> Changes:
    """Core, and passed by in every sweep."""
    return {"pinned": True, "tier": "core"}


def touch(one: Traits, now_ms: int) -> Changes:
    """What a confirmed recall writes: one use more, now."""
    return {"access_count": int(one.uses[0]) + 1, "last_accessed_at": now_ms}


def more_important(one: Traits) -> Changes:
    """A tenth more, to 1 at most; as the plugin's own tool does it, confidence becomes the same."""
    more = min(1.0, round(float(one.importance[0]) + RAISE, 6))
    return {"importance": more, "confidence": more}


def promote(one: Traits) -> Changes:
    """One tier up; empty for a core memory."""
    code = int(one.tier[0])
    return {"tier": TIERS[code - 1]} if code else {}


def after(one: Traits, changes: Changes) -> Traits:
    """The memory with these changes, as decay sees it."""
    fields: dict[str, object] = {}
    if "tier" in changes:
        fields["tier"] = np.array([TIERS.index(str(changes["tier"]))], np.uint8)
    for name, field in _FIELDS.items():
        if name in changes:
            fields[field] = np.array([float(str(changes[name]))])
    return replace(one, **fields)  # type: ignore[arg-type]


def remedies_of(
    one: Traits,
    *,
    now_ms: int,
    until_ms: int,
    at_ms: Sequence[float],
    measure: Measure,
    scenario: Scenario,
    decay: DecayParams,
    tier: TierParams,
) -> tuple[Remedy, ...]:
    """Pin, touch, raise, promote: those that change anything, each with the curve it gives."""
    ways: tuple[tuple[str, str, Changes, Changes], ...] = (
        ("pin", "pin", pin(one), {"pinned": "yes"}),
        ("touch", "touch", touch(one, now_ms), {"touched": "yes"}),
        ("raise", "raise importance", more_important(one), {"importance": more_important(one)["importance"]}),
        ("promote", "promote", promote(one), promote(one)),
    )
    found = []
    for name, title, changes, edit in ways:
        changed = after(one, changes)
        if not changes or _same(one, changed):
            continue
        curve = own_curve(changed, decay, measure=measure, scenario=scenario, now_ms=now_ms, at_ms=at_ms)
        coming = forecast(
            changed, now_ms=now_ms, until_ms=until_ms, scenario=scenario, decay=decay, tier=tier
        )
        stale_at, sinks_at, ends_at = (
            None if np.isnan(each[0]) else int(each[0])
            for each in (coming.stale_at, coming.sinks_at, coming.expires_at)
        )
        found.append(
            Remedy(
                name,
                title,
                tuple(changes.items()),
                tuple(edit.items()),
                curve,
                stale_at,
                None if name == "pin" else sinks_at,
                ends_at,
            )
        )
    return tuple(found)


def _same(one: Traits, other: Traits) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("tier", "importance", "confidence", "uses", "last_used")
    )
