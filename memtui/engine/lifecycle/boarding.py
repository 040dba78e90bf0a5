"""Making the board: one pass over the traits for the population, the plan and the forecast."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.errors import UsageError
from memtui.engine.lifecycle.board import BINS, Board, BoardAsk, TierFacts
from memtui.engine.lifecycle.cloud import cloud_of
from memtui.engine.lifecycle.forecast import Forecast, forecast, horizon
from memtui.engine.lifecycle.moves import KINDS, Crossing, Kind, TierMove
from memtui.engine.lifecycle.plan import Plan, flows_of, make_plan, moves_of
from memtui.engine.lifecycle.population import Floats, Mask, Places, Scored, Traits, recalled_at, score
from memtui.engine.lifecycle.settings import LifecycleSettings
from memtui.engine.lifecycle.usage import SCENARIOS, Scenario, usage_of
from memtui.engine.memory import TIERS
from memtui.engine.progress import CancelToken

if TYPE_CHECKING:
    from memtui.engine.store.catalog import Catalog


def scenario_named(name: str) -> Scenario:
    """The scenario of this name; UsageError for another."""
    for each in SCENARIOS:
        if each == name:
            return each
    raise UsageError(f"There is no scenario {name!r}.", fix=f"Use {' or '.join(SCENARIOS)}.")


def at_later_date(
    catalog: Catalog, traits: Traits, chosen: Places, now_ms: int, days: float, scenario: Scenario
) -> tuple[Traits, int]:
    """The memories as they will be after so many days of a scenario, and that moment."""
    later = horizon(now_ms, days)
    if later == now_ms or catalog.meta is None:
        return traits, now_ms
    usage = usage_of(traits, now_ms, scenario)
    then = usage.during(traits, usage.turn_at(float(later)))
    return replace(then, recalled=recalled_at(catalog.meta, later)[chosen]), later


def make_board(
    catalog: Catalog,
    traits: Traits,
    chosen: Places,
    ask: BoardAsk,
    settings: LifecycleSettings,
    now_ms: int,
    cancel: CancelToken | None = None,
    pinned: Mask | None = None,
) -> Board:
    """The board of the rows at `chosen` (places in the catalog; `traits` and `pinned` are theirs), without texts."""
    decay, tier = settings.decay, settings.tier
    scenario = scenario_named(ask.scenario)
    traits, at_ms = at_later_date(catalog, traits, chosen, now_ms, ask.ahead_days, scenario)
    until_ms = horizon(at_ms, ask.horizon_days)
    scored = score(traits, now_ms=at_ms, decay=decay, tier=tier)
    plan = make_plan(traits, scored, at_ms, pinned)
    coming = forecast(
        traits,
        now_ms=at_ms,
        until_ms=until_ms,
        scenario=scenario,
        decay=decay,
        tier=tier,
        scored=scored,
        cancel=cancel,
    )
    counts, crossings = crossings_of(coming, catalog, traits, scored, chosen, limit=ask.listed)
    return Board(
        ask=ask,
        now_ms=at_ms,
        until_ms=until_ms,
        settings=settings,
        rows=traits.n,
        recalled=int(np.count_nonzero(traits.recalled)),
        stale=int(np.count_nonzero(scored.stale)),
        tiers=tier_facts(traits, scored, plan),
        flows=flows_of(plan, scored, tier),
        promotions=plan.promotions,
        demotions=plan.demotions,
        held=int(np.count_nonzero(plan.held)),
        moves=tuple(_clearest(plan, catalog, traits, scored, settings, chosen, ask.listed)),
        counts=counts,
        crossings=crossings,
        cloud=cloud_of(traits, scored, at_ms),
    )


def tier_facts(traits: Traits, scored: Scored, plan: Plan) -> tuple[TierFacts, ...]:
    """Each tier's size, stale rows, arrivals and departures, and its histogram of composites."""
    n = len(TIERS)
    size = np.bincount(traits.tier, minlength=n)
    stale = np.bincount(traits.tier[scored.stale], minlength=n)
    leaving = np.bincount(plan.before, minlength=n)
    arriving = np.bincount(plan.after, minlength=n)
    place = np.clip(np.floor(scored.composite * BINS + 1e-9), 0, BINS - 1).astype(np.int64)
    bins = np.bincount(traits.tier * BINS + place, minlength=n * BINS).reshape(n, BINS)
    return tuple(
        TierFacts(
            name,
            int(size[code]),
            int(stale[code]),
            int(arriving[code]),
            int(leaving[code]),
            tuple(bins[code].tolist()),
        )
        for code, name in enumerate(TIERS)
    )


def _clearest(
    plan: Plan,
    catalog: Catalog,
    traits: Traits,
    scored: Scored,
    settings: LifecycleSettings,
    chosen: Places,
    limit: int,
) -> list[TierMove]:
    """Promotions before demotions, the highest and the lowest composites first; held ones last."""
    rises = plan.after < plan.before
    composite = scored.composite[plan.at]
    order = np.lexsort((np.where(rises, -composite, composite), ~rises, plan.held))[:limit]
    some = Plan(plan.now_ms, plan.at[order], plan.before[order], plan.after[order], plan.held[order])
    return moves_of(some, catalog, traits, scored, settings.tier, chosen=chosen)


def crossings_of(
    coming: Forecast,
    catalog: Catalog,
    traits: Traits,
    scored: Scored,
    chosen: Places,
    *,
    limit: int | None = None,
    everyone: bool = False,
) -> tuple[dict[Kind, int], tuple[Crossing, ...]]:
    """How many crossings of each kind, and the earliest of them; of all memories, or of the recalled ones."""
    counts: dict[Kind, int] = {}
    times: list[Floats] = []
    rows: list[Places] = []
    kinds: list[Places] = []
    whole: dict[Kind, Floats] = {
        "stale": coming.stale_at,
        "rises": coming.rises_at,
        "sinks": coming.sinks_at,
        "expires": coming.expires_at,
    }
    for number, kind in enumerate(KINDS):
        there = ~np.isnan(whole[kind])
        at = np.flatnonzero(there if everyone else there & traits.recalled)
        counts[kind] = int(at.size)
        times.append(whole[kind][at])
        rows.append(at)
        kinds.append(np.full(at.size, number))
    time, row, kind_of = np.concatenate(times), np.concatenate(rows), np.concatenate(kinds)
    order = np.lexsort((row, time))[:limit]
    ids = catalog.ids.texts(chosen[row[order]])
    found = [
        _crossing(ids[n] or "", KINDS[kind_of[i]], float(time[i]), int(row[i]), coming, traits, scored)
        for n, i in enumerate(order.tolist())
    ]
    return counts, tuple(found)


def _crossing(
    memory: str, kind: Kind, at_ms: float, row: int, coming: Forecast, traits: Traits, scored: Scored
) -> Crossing:
    own = int(traits.tier[row])
    to = {"rises": int(coming.rises_to[row]), "sinks": int(coming.sinks_to[row])}.get(kind, own)
    return Crossing(
        memory,
        kind,
        int(at_ms),
        TIERS[own],
        TIERS[to],
        float(scored.composite[row]),
        float(traits.importance[row]),
        int(traits.uses[row]),
        bool(traits.recalled[row]),
    )
