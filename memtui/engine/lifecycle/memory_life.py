"""Making the life of one memory: its curve, its numbers, its crossings, its remedies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memtui.engine.core.memory import TIERS
from memtui.engine.decay.decay import DecayParams
from memtui.engine.decay.tiers import TierParams
from memtui.engine.lifecycle.board import BoardAsk, scenario_named
from memtui.engine.lifecycle.crossings import Scenario, forecast, horizon
from memtui.engine.lifecycle.curves import DAY_MS, Curves, FormulaLine, Measure, model_curves, own_curve
from memtui.engine.lifecycle.formula_lines import lines_of, verdict_of
from memtui.engine.lifecycle.population import MemoryTraits, score
from memtui.engine.lifecycle.settings import LifecycleSettings
from memtui.engine.lifecycle.tier_plan import Crossing, Kind, Mover

# One memory's life and the model's curves, as plain values to draw and to read.

MEASURES: tuple[Measure, ...] = ("composite", "recency", "boost")


@dataclass(frozen=True, slots=True)
class LifeRemedy:
    """Something that can be done for one memory, and what it would change."""

    name: str
    title: str
    changes: tuple[tuple[str, object], ...]
    """What becomes other: fields and their new values."""
    edit: tuple[tuple[str, object], ...]
    """The same as `changes.plan_edit` takes it."""
    curve: tuple[float, ...]
    """The memory's curve after it, over the same moments as its own."""
    stale_at_ms: int | None
    """When it would cross the stale line; None within the horizon never."""
    sinks_at_ms: int | None = None
    """When the rule would move it a tier down; None within the horizon never, and for a pinned one."""
    ends_at_ms: int | None = None
    """When it expires by its own date, whatever is done here; None within the horizon never."""


@dataclass(frozen=True, slots=True)
class MemoryLife:
    """One memory on its curve. `at_ms` are the moments of `curve`, from its last use to the horizon."""

    id: str
    tier: str
    next_tier: str
    verdict: str
    """Why the tier manager moves it, or what keeps it where it is."""
    lines: tuple[FormulaLine, ...]
    """Every number, in the order in which they build on each other."""
    created_ms: int
    last_used_ms: int
    """Its creation, where it was never used."""
    used: bool
    composite: float
    recency: float
    boost: float
    stale: bool
    model: Curves
    at_ms: tuple[float, ...]
    curve: tuple[float, ...]
    crossings: tuple[Crossing, ...] = ()
    remedies: tuple[LifeRemedy, ...] = ()
    title: str = ""
    """Its text on one line; empty for the model alone."""
    horizon_days: float = 0.0
    """How far ahead `crossings` and `remedies` look."""
    mover: Mover = "unknown"
    """Who would move it between tiers."""


# What can be done for one memory, and what it does to its curve.

RAISE = 0.1

Changes = dict[str, object]

_FIELDS = {
    "importance": "importance",
    "confidence": "confidence",
    "access_count": "uses",
    "last_accessed_at": "last_used",
}


def pin(one: MemoryTraits) -> Changes:
    """Core, and passed by in every sweep."""
    return {"pinned": True, "tier": "core"}


def touch(one: MemoryTraits, now_ms: int) -> Changes:
    """What a confirmed recall writes: one use more, now."""
    return {"access_count": int(one.uses[0]) + 1, "last_accessed_at": now_ms}


def more_important(one: MemoryTraits) -> Changes:
    """A tenth more, to 1 at most; as the plugin's own tool does it, confidence becomes the same."""
    more = min(1.0, round(float(one.importance[0]) + RAISE, 6))
    return {"importance": more, "confidence": more}


def promote(one: MemoryTraits) -> Changes:
    """One tier up; empty for a core memory."""
    code = int(one.tier[0])
    return {"tier": TIERS[code - 1]} if code else {}


def after(one: MemoryTraits, changes: Changes) -> MemoryTraits:
    """The memory with these changes, as decay sees it."""
    fields: dict[str, object] = {}
    if "tier" in changes:
        fields["tier"] = np.array([TIERS.index(str(changes["tier"]))], np.uint8)
    for name, field in _FIELDS.items():
        if name in changes:
            fields[field] = np.array([float(str(changes[name]))])
    return replace(one, **fields)  # type: ignore[arg-type]


def remedies_of(
    one: MemoryTraits,
    *,
    now_ms: int,
    until_ms: int,
    at_ms: Sequence[float],
    measure: Measure,
    scenario: Scenario,
    decay: DecayParams,
    tier: TierParams,
) -> tuple[LifeRemedy, ...]:
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
            LifeRemedy(
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


def _same(one: MemoryTraits, other: MemoryTraits) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("tier", "importance", "confidence", "uses", "last_used")
    )


SHORTEST_DAYS = 60.0
"""A curve over fewer days shows nothing of the slow tiers."""


def make_life(
    memory: str,
    traits: MemoryTraits,
    place: int,
    ask: BoardAsk,
    settings: LifecycleSettings,
    now_ms: int,
    measure: Measure,
    points: int,
) -> MemoryLife:
    """The life of the memory at `place`, drawn over at most `points` moments."""
    one = traits.take(slice(place, place + 1))
    decay, tier = settings.decay, settings.tier
    scenario, until_ms = scenario_named(ask.scenario), horizon(now_ms, ask.horizon_days)
    scored = score(one, now_ms=now_ms, decay=decay, tier=tier)
    last = float((one.last_used if one.uses[0] > 0 else one.created)[0])
    begin = last if 0 < last < now_ms else float(now_ms)
    days = max(SHORTEST_DAYS, (until_ms - begin) / DAY_MS)
    at_ms = tuple(np.linspace(begin, begin + days * DAY_MS, max(2, points)).tolist())
    coming = forecast(
        one, now_ms=now_ms, until_ms=until_ms, scenario=scenario, decay=decay, tier=tier, scored=scored
    )

    def crossing(kind: Kind, at: float, to: int) -> Crossing:
        own = TIERS[int(one.tier[0])]
        return Crossing(
            memory,
            kind,
            int(at),
            own,
            TIERS[to] if kind in ("rises", "sinks") else own,
            float(scored.composite[0]),
            float(one.importance[0]),
            int(one.uses[0]),
            bool(one.recalled[0]),
        )

    whole: tuple[tuple[Kind, float, int], ...] = (
        ("stale", float(coming.stale_at[0]), 0),
        ("rises", float(coming.rises_at[0]), int(coming.rises_to[0])),
        ("sinks", float(coming.sinks_at[0]), int(coming.sinks_to[0])),
        ("expires", float(coming.expires_at[0]), 0),
    )
    crossings = [crossing(kind, at, to) for kind, at, to in whole if not np.isnan(at)]
    return MemoryLife(
        id=memory,
        tier=TIERS[int(one.tier[0])],
        next_tier=TIERS[int(scored.next_tier[0])],
        verdict=verdict_of(one, scored, tier, now_ms),
        lines=lines_of(one, scored, decay, now_ms),
        created_ms=int(one.created[0]),
        last_used_ms=int(last),
        used=bool(one.uses[0] > 0),
        composite=float(scored.composite[0]),
        recency=float(scored.recency[0]),
        boost=float(scored.boost[0]),
        stale=bool(scored.stale[0]),
        model=model_curves(one, decay, measure=measure, begin_ms=begin, days=days, points=points),
        at_ms=at_ms,
        curve=own_curve(one, decay, measure=measure, scenario=scenario, now_ms=now_ms, at_ms=at_ms),
        horizon_days=ask.horizon_days,
        crossings=tuple(sorted(crossings, key=lambda each: each.at_ms)),
        remedies=remedies_of(
            one,
            now_ms=now_ms,
            until_ms=until_ms,
            at_ms=at_ms,
            measure=measure,
            scenario=scenario,
            decay=decay,
            tier=tier,
        ),
    )
