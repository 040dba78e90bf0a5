"""Making the life of one memory: its curve, its numbers, its crossings, its remedies."""

from __future__ import annotations

import numpy as np

from memtui.engine.lifecycle.board import BoardAsk
from memtui.engine.lifecycle.boarding import scenario_named
from memtui.engine.lifecycle.curve import DAY_MS, model_curves, own_curve
from memtui.engine.lifecycle.forecast import forecast, horizon
from memtui.engine.lifecycle.formula import lines_of, verdict_of
from memtui.engine.lifecycle.lives import Life, Measure
from memtui.engine.lifecycle.moves import Crossing, Kind
from memtui.engine.lifecycle.population import Traits, score
from memtui.engine.lifecycle.remedies import remedies_of
from memtui.engine.lifecycle.settings import LifecycleSettings
from memtui.engine.memory import TIERS

SHORTEST_DAYS = 60.0
"""A curve over fewer days shows nothing of the slow tiers."""


def make_life(
    memory: str,
    traits: Traits,
    place: int,
    ask: BoardAsk,
    settings: LifecycleSettings,
    now_ms: int,
    measure: Measure,
    points: int,
) -> Life:
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
    return Life(
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
