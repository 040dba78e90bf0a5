"""When each memory crosses a line: goes stale, rises, sinks, expires; to the millisecond, by bisection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from memtui.engine.errors import UsageError
from memtui.engine.lifecycle.decay import DecayParams
from memtui.engine.lifecycle.moment import moment_below
from memtui.engine.lifecycle.population import (
    Codes,
    Floats,
    Mask,
    Places,
    Scored,
    Traits,
    score,
    score_at,
    verdict_at,
)
from memtui.engine.lifecycle.tiers import WORKING, TierParams
from memtui.engine.lifecycle.usage import Scenario, Usage, usage_of
from memtui.engine.progress import CancelToken

DAY_MS = 86_400_000
LONGEST_DAYS = 366_000.0
"""A thousand years: beyond that a date cannot be written."""
SETTLED_TURNS = 40
"""After so many uses the frequency changes in one direction only: the first crossing is then found by halving."""
MOST_TURNS = 400

ROUNDING = 1e-9
NEAR_MS = 4.0
"""A moment worked out in one step is right to this, almost always; it is looked at, and searched for if not."""

Holds = Callable[[Traits, Floats], Mask]
"""Whether something is so of memories, each at its own moment."""
Guess = Callable[[Traits], Floats]
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
    traits: Traits,
    *,
    now_ms: int,
    until_ms: int,
    scenario: Scenario,
    decay: DecayParams,
    tier: TierParams,
    scored: Scored | None = None,
    cancel: CancelToken | None = None,
) -> Forecast:
    """Every crossing of every memory until `until_ms`; raises Cancelled between two steps.

    `scored` are the memories at `now_ms`, where that is known already.
    """
    now = scored or score(traits, now_ms=now_ms, decay=decay, tier=tier)

    def verdict(some: Traits, at_ms: Floats) -> Codes:
        return verdict_at(some, score_at(some, at_ms, decay).composite, at_ms, tier)

    def is_stale(some: Traits, at_ms: Floats) -> Mask:
        return score_at(some, at_ms, decay).stale(decay)

    def rises(some: Traits, at_ms: Floats) -> Mask:
        return np.asarray(verdict(some, at_ms) < some.tier)

    def sinks(some: Traits, at_ms: Floats) -> Mask:
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

    def sinks_about(some: Traits) -> Floats:
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


def _stays_above(now: Scored, scenario: Scenario, decay: DecayParams) -> Callable[[float], Mask]:
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

    traits: Traits
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
