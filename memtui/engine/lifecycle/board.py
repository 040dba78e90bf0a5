"""What the Lifecycle screen shows of a whole store: plain values, made anew for every setting that is tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memtui.engine.catalog.catalog import Catalog, Codes
from memtui.engine.core.errors import UsageError
from memtui.engine.core.memory import TIERS
from memtui.engine.core.progress import CancelToken
from memtui.engine.lifecycle.crossings import SCENARIOS, Forecast, Scenario, forecast, horizon, usage_of
from memtui.engine.lifecycle.population import (
    Floats,
    Mask,
    MemoryTraits,
    Places,
    ScoredPopulation,
    recalled_at,
    score,
)
from memtui.engine.lifecycle.settings import LifecycleSettings
from memtui.engine.lifecycle.tier_plan import (
    KINDS,
    Crossing,
    Kind,
    Mover,
    TierFlow,
    TierMove,
    TierPlan,
    flows_of,
    make_plan,
    moves_of,
)

BINS = 20
"""Composite 0 to 1 in steps of .05; what is above 1 is counted in the last."""

LISTED = 300
"""Moves and crossings that come with their texts; the counts are of all."""


@dataclass(frozen=True, slots=True)
class BoardAsk:
    """What a board shall show. `changes` are settings tried out, by `DecayKnob.key`; `scopes` None is every scope."""

    horizon_days: float = 30.0
    scenario: str = "no access"
    ahead_days: float = 0.0
    """The board as it will be after so many days of that scenario."""
    changes: Mapping[str, float] = field(default_factory=dict)
    scopes: tuple[str | None, ...] | None = None
    listed: int = LISTED


@dataclass(frozen=True, slots=True)
class TierFacts:
    """One tier: how many memories, how many of them stale, and what the plan would take in and let out."""

    tier: str
    rows: int
    stale: int
    arriving: int
    leaving: int
    bins: tuple[int, ...]
    """Memories by composite, `BINS` of them."""

    @property
    def after(self) -> int:
        """How many there are after the plan."""
        return self.rows + self.arriving - self.leaving


@dataclass(frozen=True, slots=True)
class PopulationSample:
    """Single memories of the population, one place in each of these a memory; `days` since the last use."""

    tiers: tuple[str, ...] = ()
    days: tuple[float, ...] = ()
    composite: tuple[float, ...] = ()
    recency: tuple[float, ...] = ()
    boost: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """The lifecycle of a store: its population at one moment, the tier plan, and the forecast from there on."""

    ask: BoardAsk
    now_ms: int
    """The moment that it shows: the clock, plus the days ahead that were asked for."""
    until_ms: int
    settings: LifecycleSettings
    rows: int
    recalled: int
    stale: int
    tiers: tuple[TierFacts, ...]
    flows: tuple[TierFlow, ...]
    """The plan by rule, the largest first."""
    promotions: int
    demotions: int
    held: int
    """Moves that a sweep leaves alone."""
    moves: tuple[TierMove, ...]
    """The plan, the clearest cases first; at most `BoardAsk.listed`."""
    counts: Mapping[Kind, int]
    """Crossings within the horizon, of memories that recall can return."""
    crossings: tuple[Crossing, ...]
    """The earliest first; at most `BoardAsk.listed`."""
    cloud: PopulationSample = field(default_factory=PopulationSample, repr=False)
    """Some memories of each tier, to be drawn beside the curves."""
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The text on one line of every memory in `moves` and `crossings`."""
    ms: float = 0.0
    """Time that it took to compute, texts not counted."""
    mover: Mover = "unknown"
    """Who would make the moves of `crossings`."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """Counts by tier in ranges with a name each."""

    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """One row a range, one number a tier."""
    filters: tuple[str, ...]
    """The same ranges in the filter language."""


@dataclass(frozen=True, slots=True)
class Series:
    """A running count by name: the largest groups, then "other"."""

    names: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]
    """One tuple a name, one number a week, oldest first."""


@dataclass(frozen=True, slots=True)
class StoreHistory:
    """What no setting changes: ages, use, growth, and a calendar of the last year."""

    ages: Buckets
    uses: Buckets
    by_scope: Series
    by_category: Series
    written: tuple[int, ...]
    """Memories written on each of the last days, oldest first, today last (UTC)."""
    used: tuple[int, ...]
    """Memories last used on each of these days; earlier uses of the same memory are not recorded."""


# The population as single memories beside the curves: some of each tier, evenly chosen.

OF_EACH_TIER = 200
"""Memories shown of a tier: more would fill the plot."""


def cloud_of(traits: MemoryTraits, scored: ScoredPopulation, at_ms: int) -> PopulationSample:
    """Up to `OF_EACH_TIER` memories of each tier at equal steps through the list, scored at `at_ms`.

    Days count from the last use, of a memory that was never used from its creation, as decay counts them.
    Rows without a time, and of the future, are left out.
    """
    last = np.where(traits.uses > 0, traits.last_used, traits.created)
    known = (last > 0) & (last <= at_ms)
    each = [np.flatnonzero(known & (traits.tier == code)) for code in range(len(TIERS))]
    some = [
        rows[np.unique(np.linspace(0, rows.size - 1, OF_EACH_TIER).astype(np.int64))]
        for rows in each
        if rows.size
    ]
    at = np.concatenate([*some, np.empty(0, np.int64)]).astype(np.int64)
    return PopulationSample(
        tuple(TIERS[code] for code in traits.tier[at].tolist()),
        tuple(((at_ms - last[at]) / DAY_MS).tolist()),
        tuple(scored.composite[at].tolist()),
        tuple(scored.recency[at].tolist()),
        tuple(scored.boost[at].tolist()),
    )


# Making the board: one pass over the traits for the population, the plan and the forecast.


def scenario_named(name: str) -> Scenario:
    """The scenario of this name; UsageError for another."""
    for scenario in SCENARIOS:
        if scenario == name:
            return scenario
    raise UsageError(f"There is no scenario {name!r}.", fix=f"Use {' or '.join(SCENARIOS)}.")


def at_later_date(
    catalog: Catalog, traits: MemoryTraits, chosen: Places, now_ms: int, days: float, scenario: Scenario
) -> tuple[MemoryTraits, int]:
    """The memories as they will be after so many days of a scenario, and that moment."""
    later = horizon(now_ms, days)
    if later == now_ms or catalog.meta is None:
        return traits, now_ms
    usage = usage_of(traits, now_ms, scenario)
    then = usage.during(traits, usage.turn_at(float(later)))
    return replace(then, recalled=recalled_at(catalog.meta, later)[chosen]), later


def build_board(
    catalog: Catalog,
    traits: MemoryTraits,
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


def tier_facts(traits: MemoryTraits, scored: ScoredPopulation, plan: TierPlan) -> tuple[TierFacts, ...]:
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
    plan: TierPlan,
    catalog: Catalog,
    traits: MemoryTraits,
    scored: ScoredPopulation,
    settings: LifecycleSettings,
    chosen: Places,
    limit: int,
) -> list[TierMove]:
    """Promotions before demotions, the highest and the lowest composites first; held ones last."""
    rises = plan.after < plan.before
    composite = scored.composite[plan.at]
    order = np.lexsort((np.where(rises, -composite, composite), ~rises, plan.held))[:limit]
    some = TierPlan(plan.now_ms, plan.at[order], plan.before[order], plan.after[order], plan.held[order])
    return moves_of(some, catalog, traits, scored, settings.tier, chosen=chosen)


def crossings_of(
    coming: Forecast,
    catalog: Catalog,
    traits: MemoryTraits,
    scored: ScoredPopulation,
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
    memory: str,
    kind: Kind,
    at_ms: float,
    row: int,
    coming: Forecast,
    traits: MemoryTraits,
    scored: ScoredPopulation,
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


# Ages, use, growth and the calendar of a store, from the catalog.

DAY_MS = 86_400_000

CALENDAR_DAYS = 53 * 7

WEEKS = 52

GROUPS = 5
"""Lines in a growth chart; the rest is one line together."""

_AGES = (
    (1, "today"),
    (7, "week"),
    (30, "month"),
    (90, "quarter"),
    (180, "half"),
    (365, "year"),
    (np.inf, "older"),
)

_AGE_FILTERS = (
    "age<1d", "age>=1d age<7d", "age>=7d age<30d", "age>=30d age<90d", "age>=90d age<180d", "age>=180d age<365d",
    "age>=365d",
)  # fmt: skip

_USES = ((1, "0"), (2, "1"), (3, "2"), (5, "3-4"), (10, "5-9"), (20, "10-19"), (50, "20-49"), (np.inf, "50+"))

_USE_FILTERS = (
    "used=0", "used=1", "used=2", "used:3..4", "used:5..9", "used:10..19", "used:20..49", "used>=50",
)  # fmt: skip


def history_of(catalog: Catalog, traits: MemoryTraits, now_ms: int, chosen: Places) -> StoreHistory:
    """The history of the chosen rows (places in the catalog; `traits` are theirs)."""
    known = traits.created > 0
    days = (now_ms - traits.created) / DAY_MS
    used = np.where(traits.uses > 0, traits.last_used, 0.0)
    return StoreHistory(
        ages=_buckets(days[known], traits.tier[known], _AGES, _AGE_FILTERS),
        uses=_buckets(traits.uses, traits.tier, _USES, _USE_FILTERS),
        by_scope=_growth(catalog.scope_codes[chosen], catalog.scopes, traits.created, now_ms),
        by_category=_growth(catalog.category_codes[chosen], catalog.categories, traits.created, now_ms),
        written=_daily(traits.created, now_ms),
        used=_daily(used, now_ms),
    )


def _buckets(
    values: Floats,
    tier: np.ndarray[tuple[int], np.dtype[np.uint8]],
    ranges: Sequence[tuple[float, str]],
    filters: tuple[str, ...],
) -> Buckets:
    edges = np.array([top for top, _ in ranges[:-1]])
    place = np.searchsorted(edges, values, side="right")
    counts = np.bincount(place * len(TIERS) + tier, minlength=len(ranges) * len(TIERS))
    return Buckets(
        tuple(name for _, name in ranges),
        tuple(tuple(row) for row in counts.reshape(len(ranges), len(TIERS)).tolist()),
        filters,
    )


def _daily(times: Floats, now_ms: int) -> tuple[int, ...]:
    """How many of the times fall on each of the last days (UTC), today last."""
    ago = now_ms // DAY_MS - times // DAY_MS
    recent = ago[(times > 0) & (ago >= 0) & (ago < CALENDAR_DAYS)].astype(np.int64)
    return tuple(np.bincount(CALENDAR_DAYS - 1 - recent, minlength=CALENDAR_DAYS).tolist())


def _growth(codes: Codes, values: Sequence[str | None], created: Floats, now_ms: int) -> Series:
    """Running counts a week of the largest groups; memories without a time are there from the start."""
    totals = np.bincount(codes, minlength=len(values))
    largest = [int(code) for code in np.argsort(-totals, kind="stable")[:GROUPS] if totals[code]]
    ago = np.clip((now_ms - created) // (7 * DAY_MS), 0, WEEKS).astype(np.int64)
    names, lines = [], []
    rest = np.ones(codes.size, np.bool_)
    for code in largest:
        member = codes == code
        rest &= ~member
        names.append(str(values[code]) if values[code] is not None else "(none)")
        lines.append(_running(ago[member]))
    if rest.any():
        names.append("other")
        lines.append(_running(ago[rest]))
    return Series(tuple(names), tuple(lines))


def _running(weeks_ago: Places) -> tuple[int, ...]:
    added = np.bincount(WEEKS - weeks_ago, minlength=WEEKS + 1)
    return tuple(np.cumsum(added).tolist())
