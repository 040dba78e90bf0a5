"""When each memory crosses a line: goes stale, rises, sinks, expires; to the millisecond, by bisection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtui.engine.core.errors import UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.decay.decay import DecayParams, Floats, effective_half_life_days, frequency_of, use_of
from memtui.engine.decay.tiers import WORKING, TierParams
from memtui.engine.lifecycle.population import (
    Codes,
    Mask,
    MemoryTraits,
    Places,
    ScoredPopulation,
    score,
    score_at,
    verdict_at,
)

# When a memory that nobody uses falls below a line: the formula of decay, solved for the time.


def moment_below(
    line: float,
    importance: ArrayLike,
    confidence: ArrayLike,
    tier: NDArray[Any],
    access_count: ArrayLike,
    created_ms: ArrayLike,
    last_accessed_ms: ArrayLike,
    dynamic: ArrayLike,
    *,
    params: DecayParams,
) -> Floats:
    """About when (ms) the composite of each memory falls below `line` if nobody uses it; NaN where it never does.

    The formula of `decay_scores` solved for t: R = (line - wF*F - wI*I) / wR, t = (-ln R * H_eff / ln 2)^(1/beta).
    """
    count, created, last_active = use_of(access_count, created_ms, last_accessed_ms)
    rest = params.frequency_weight * frequency_of(count, created, last_active)
    rest += params.intrinsic_weight * np.asarray(importance, np.float64) * np.asarray(confidence, np.float64)
    with np.errstate(all="ignore"):
        loss = -np.log((line - rest) / params.recency_weight)
        half_life = effective_half_life_days(importance, dynamic, params)
        days = (loss * half_life / np.log(2)) ** (1 / params.betas[tier])
        return np.asarray(last_active + days * DAY_MS)


# What will happen to memories from now on: nobody uses them, or they are used as often as before.

Scenario = Literal["no access", "access as before"]

SCENARIOS: tuple[Scenario, ...] = ("no access", "access as before")


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """When each of n memories is used again: at `first` (ms) and every `gap` ms after that; NaN: never.

    The gap is the memory's age divided by its uses. The first use comes one gap after the last one, or one
    gap from now where that time has passed. A memory that was never used, or whose age is not known, is
    never used.
    """

    first: Floats
    gap: Floats

    def take(self, at: Places) -> Usage:
        """The same of some of them."""
        return Usage(self.first[at], self.gap[at])

    def start(self, turn: Floats, now_ms: float) -> Floats:
        """The first whole millisecond of turn number `turn`: turn 0 begins now, turn 1 with the first use."""
        with np.errstate(invalid="ignore"):
            return np.where(turn > 0, np.ceil(self.first + (turn - 1) * self.gap), float(now_ms))

    def end(self, turn: Floats, now_ms: float, until_ms: float) -> Floats:
        """The last whole millisecond of that turn; `until_ms` where the next use comes later or never."""
        with np.errstate(invalid="ignore"):
            following = np.where(turn > 0, self.first + turn * self.gap, self.first)
            last = np.maximum(self.start(turn, now_ms), np.ceil(following) - 1)
        return np.where(following <= until_ms, last, float(until_ms))

    def turns(self, until_ms: float) -> Floats:
        """How many uses come until then."""
        with np.errstate(invalid="ignore", divide="ignore"):
            count = np.floor((until_ms - self.first) / self.gap) + 1
        return np.where(self.first <= until_ms, np.maximum(count, 1.0), 0.0)

    def during(self, traits: MemoryTraits, turn: Floats) -> MemoryTraits:
        """The memories as they are in that time: so many uses more, the last of them at its start."""
        if not np.any(turn):
            return traits
        with np.errstate(invalid="ignore"):
            used = np.where(turn > 0, self.first + (turn - 1) * self.gap, traits.last_used)
        return replace(traits, uses=traits.uses + turn, last_used=used)

    def turn_at(self, at_ms: Floats | float) -> Floats:
        """How many uses there were by then."""
        with np.errstate(invalid="ignore", divide="ignore"):
            count = np.floor((at_ms - self.first) / self.gap) + 1
        return np.where(self.first <= at_ms, np.maximum(count, 1.0), 0.0)


def usage_of(traits: MemoryTraits, now_ms: int, scenario: Scenario) -> Usage:
    """When the memories are used from `now_ms` on."""
    never = np.full(traits.n, np.nan)
    if scenario == "no access":
        return Usage(never, never)
    used = (traits.uses > 0) & (traits.created > 0) & (traits.created < now_ms)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(used, (now_ms - traits.created) / traits.uses, np.nan)
    due = traits.last_used + gap
    return Usage(np.where(due > now_ms, due, now_ms + gap), gap)


DAY_MS = 86_400_000

LONGEST_DAYS = 366_000.0
"""A thousand years: beyond that a date cannot be written."""

SETTLED_TURNS = 40
"""After so many uses the frequency changes in one direction only: the first crossing is then found by halving."""

MOST_TURNS = 400

ROUNDING = 1e-9

SEARCHED = 262_144
"""Memories that are searched at once."""

NEAR_MS = 4.0
"""A moment worked out in one step is right to this, almost always; it is looked at, and searched for if not."""

Holds = Callable[[MemoryTraits, Floats], Mask]
"""Whether something is so of memories, each at its own moment."""

Guess = Callable[[MemoryTraits], Floats]
"""The moment (ms) at which it should begin, by the formula solved for the time; NaN where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Per memory the moment (ms) of each crossing within (now, until]; NaN where there is none.

    What is so already now is no crossing. A memory that is not swept keeps its tier until it is looked at,
    so `rises_at` and `sinks_at` are when the tier manager's verdict on it changes, to `rises_to`, `sinks_to`.
    """

    now_ms: int
    until_ms: int
    scenario: Scenario
    stale_at: Floats
    rises_at: Floats
    rises_to: Codes
    sinks_at: Floats
    sinks_to: Codes
    expires_at: Floats


def horizon(now_ms: int, days: float) -> int:
    """The end of a forecast over so many days; UsageError for a span that is none."""
    if not (np.isfinite(days) and 0 <= days <= LONGEST_DAYS):
        raise UsageError(
            f"A horizon of {days:g} days cannot be forecast.", fix=f"Give 0 to {LONGEST_DAYS:,.0f} days."
        )
    return now_ms + round(days * DAY_MS)


def forecast(
    traits: MemoryTraits,
    *,
    now_ms: int,
    until_ms: int,
    scenario: Scenario,
    decay: DecayParams,
    tier: TierParams,
    scored: ScoredPopulation | None = None,
    cancel: CancelToken | None = None,
) -> Forecast:
    """Every crossing of every memory until `until_ms`; raises Cancelled between two steps.

    `scored` are the memories at `now_ms`, where that is known already. Many memories are worked through block by
    block: the search holds a dozen columns of those that it looks at.
    """
    now = scored or score(traits, now_ms=now_ms, decay=decay, tier=tier)
    found: list[Forecast] = []
    for start in range(0, max(1, traits.n), SEARCHED):
        part = slice(start, start + SEARCHED)
        found.append(
            _forecast(traits.take(part), now.take(part), now_ms, until_ms, scenario, decay, tier, cancel)
        )
    if len(found) == 1:
        return found[0]
    names = ("stale_at", "rises_at", "rises_to", "sinks_at", "sinks_to", "expires_at")
    columns = {name: np.concatenate([getattr(each, name) for each in found]) for name in names}
    return Forecast(now_ms=now_ms, until_ms=until_ms, scenario=scenario, **columns)


def _forecast(
    traits: MemoryTraits,
    now: ScoredPopulation,
    now_ms: int,
    until_ms: int,
    scenario: Scenario,
    decay: DecayParams,
    tier: TierParams,
    cancel: CancelToken | None,
) -> Forecast:
    """The forecast of as many memories as are searched at once."""

    def verdict(some: MemoryTraits, at_ms: Floats) -> Codes:
        return verdict_at(some, score_at(some, at_ms, decay).composite, at_ms, tier)

    def is_stale(some: MemoryTraits, at_ms: Floats) -> Mask:
        return score_at(some, at_ms, decay).stale(decay)

    def rises(some: MemoryTraits, at_ms: Floats) -> Mask:
        return np.asarray(verdict(some, at_ms) < some.tier)

    def sinks(some: MemoryTraits, at_ms: Floats) -> Mask:
        return np.asarray(verdict(some, at_ms) > some.tier)

    usage = usage_of(traits, now_ms, scenario)

    def fades_below(line: float) -> Guess:
        return lambda some: moment_below(
            line,
            some.importance,
            some.confidence,
            some.tier,
            some.uses,
            some.created,
            some.last_used,
            some.dynamic,
            params=decay,
        )

    def sinks_about(some: MemoryTraits) -> Floats:
        """A score below the line or, of a working memory, an age beyond its own: whichever comes first."""
        fading = fades_below(tier.peripheral_composite_threshold)(some)
        ageing = some.created + tier.peripheral_age_days * DAY_MS
        return np.where(some.tier == WORKING, np.fmin(fading, ageing), fading)

    search = _Search(traits, usage, now_ms, until_ms, _explicit_turns(tier), cancel or CancelToken())
    never = _stays_above(now, scenario, decay)
    ages = (traits.tier == WORKING) & (traits.uses < tier.working_access_threshold)
    settled = now.stale | never(decay.stale_threshold)
    stale_at = search.first(is_stale, settled, fades_below(decay.stale_threshold))
    settled = (now.next_tier > traits.tier) | (never(tier.peripheral_composite_threshold) & ~ages)
    sinks_at = search.first(sinks, settled, sinks_about)
    rises_at = search.first_use(rises, now.next_tier < traits.tier)
    expires = traits.valid_until
    with np.errstate(invalid="ignore"):
        expires_at = np.where((expires > now_ms) & (expires <= until_ms), expires, np.nan)

    def verdict_when(at_ms: Floats) -> Codes:
        after = traits.tier.copy()
        at = np.flatnonzero(~np.isnan(at_ms))
        some = usage.take(at).during(traits.take(at), usage.take(at).turn_at(at_ms[at]))
        after[at] = verdict(some, at_ms[at])
        return after

    return Forecast(
        now_ms,
        until_ms,
        scenario,
        stale_at,
        rises_at,
        verdict_when(rises_at),
        sinks_at,
        verdict_when(sinks_at),
        expires_at,
    )


def _stays_above(now: ScoredPopulation, scenario: Scenario, decay: DecayParams) -> Callable[[float], Mask]:
    """Which memories stay above a line for ever: without a use nothing but the recency goes, down to 0."""
    if scenario != "no access" or not decay.recency_weight >= 0:
        return lambda line: np.zeros(now.composite.size, np.bool_)
    with np.errstate(invalid="ignore"):
        least = now.composite - decay.recency_weight * now.recency
    return lambda line: np.asarray(least >= line + ROUNDING)


def _explicit_turns(tier: TierParams) -> int:
    """Uses to step through one by one: until every threshold of use is passed and the frequency has settled."""
    most = max(tier.core_access_threshold, tier.working_access_threshold)
    return int(min(MOST_TURNS, max(SETTLED_TURNS, most + 1)))


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Finds the first moment in (now, until] at which something becomes so.

    Between two uses a memory only fades, so there what is asked for goes from false to true at most once
    (`first`), or is true at once, at the use (`first_use`).
    """

    traits: MemoryTraits
    usage: Usage
    now_ms: int
    until_ms: int
    explicit: int
    cancel: CancelToken

    def first(self, holds: Holds, already: Mask, guess: Guess) -> Floats:
        """The first moment at which fading makes it so; NaN where it never does, or is so already."""
        found = np.full(self.traits.n, np.nan)
        waiting = np.flatnonzero(~already)
        at, turn = self._turn_that(waiting, lambda at, turn: self._at_end(holds, at, turn))
        found[at] = self._bisect(holds, at, turn, guess)
        return found

    def first_use(self, holds: Holds, already: Mask) -> Floats:
        """The first use that makes it so; NaN where none does, or it is so already."""
        found = np.full(self.traits.n, np.nan)
        waiting = np.flatnonzero(~already & (self.usage.turns(self.until_ms) > 0))
        at, turn = self._turn_that(waiting, lambda at, turn: (turn > 0) & self._at_start(holds, at, turn))
        found[at] = self.usage.take(at).start(turn, self.now_ms)
        return found

    def _turn_that(self, waiting: Places, holds: Callable[[Places, Floats], Mask]) -> tuple[Places, Floats]:
        """Of the memories `waiting` those of which it holds in some turn, and the first such turn of each."""
        last = self.usage.take(waiting).turns(self.until_ms)
        found_at: list[Places] = []
        found_turn: list[Floats] = []
        for step in range(self.explicit + 1):
            self.cancel.check()
            turn = np.full(waiting.size, float(step))
            hit = holds(waiting, turn) if waiting.size else np.zeros(0, np.bool_)
            found_at.append(waiting[hit])
            found_turn.append(turn[hit])
            left = ~hit & (last > step)
            waiting, last = waiting[left], last[left]
            if not waiting.size:
                break
        hit = holds(waiting, last) if waiting.size else np.zeros(0, np.bool_)
        waiting, high = waiting[hit], last[hit]
        low = np.full(waiting.size, float(self.explicit))
        while waiting.size and (high - low > 1).any():
            self.cancel.check()
            middle = np.floor((low + high) / 2)
            hit = holds(waiting, middle)
            low, high = np.where(hit, low, middle), np.where(hit, middle, high)
        return np.concatenate([*found_at, waiting]), np.concatenate([*found_turn, high])

    def _at_end(self, holds: Holds, at: Places, turn: Floats) -> Mask:
        some, usage = self.traits.take(at), self.usage.take(at)
        return holds(usage.during(some, turn), usage.end(turn, self.now_ms, self.until_ms))

    def _at_start(self, holds: Holds, at: Places, turn: Floats) -> Mask:
        some, usage = self.traits.take(at), self.usage.take(at)
        return holds(usage.during(some, turn), usage.start(turn, self.now_ms))

    def _bisect(self, holds: Holds, at: Places, turn: Floats, guess: Guess) -> Floats:
        """The first whole millisecond of the turn at which it holds; it does at the turn's end.

        The search begins close around the guess where that is right, else with the whole turn.
        """
        usage = self.usage.take(at)
        some = usage.during(self.traits.take(at), turn)
        low = usage.start(turn, self.now_ms) - 1
        high = usage.end(turn, self.now_ms, self.until_ms)
        about = np.floor(guess(some))
        for moment in (about - NEAR_MS, about + NEAR_MS):
            inside = (moment > low) & (moment < high)
            hit = holds(some, np.where(inside, moment, high))
            low, high = np.where(inside & ~hit, moment, low), np.where(inside & hit, moment, high)
        while at.size and (high - low > 1).any():
            self.cancel.check()
            middle = np.floor((low + high) / 2)
            hit = holds(some, middle)
            low, high = np.where(hit, low, middle), np.where(hit, middle, high)
        return high
