"""What the Lifecycle screen shows of a whole store: plain values, made anew for every setting that is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memtui.engine.lifecycle.moves import Crossing, Kind, Mover, TierFlow, TierMove
from memtui.engine.lifecycle.settings import LifecycleSettings

BINS = 20
"""Composite 0 to 1 in steps of .05; what is above 1 is counted in the last."""
LISTED = 300
"""Moves and crossings that come with their texts; the counts are of all."""


@dataclass(frozen=True, slots=True)
class BoardAsk:
    """What to compute. `changes` are settings tried out, by `Knob.key`; `scopes` None is every scope."""

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
class Cloud:
    """Single memories of the population, one place in each of these a memory; `days` since the last use."""

    tiers: tuple[str, ...] = ()
    days: tuple[float, ...] = ()
    composite: tuple[float, ...] = ()
    recency: tuple[float, ...] = ()
    boost: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """The population at one moment, the plan, and the forecast from there on."""

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
    cloud: Cloud = field(default_factory=Cloud, repr=False)
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
    """What does not depend on settings: ages, use, growth, and a calendar of the last year."""

    ages: Buckets
    uses: Buckets
    by_scope: Series
    by_category: Series
    written: tuple[int, ...]
    """Memories written on each of the last days, oldest first, today last (UTC)."""
    used: tuple[int, ...]
    """Memories last used on each of these days; earlier uses of the same memory are not recorded."""
