"""The forecast against a clock that is stepped day by day, row for row."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from memtui.engine.core.errors import Cancelled, UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.decay.decay import DecayParams
from memtui.engine.decay.tiers import TierParams
from memtui.engine.lifecycle.crossings import Forecast, Scenario, forecast, horizon, usage_of
from memtui.engine.lifecycle.population import MemoryTraits, score, score_at, verdict_at
from tests.conftest import NOW_MS
from tests.engine.lifecycle_world import DAY_MS, live, one, population

ROWS = 600
DAYS = 120
ODD_DECAY = DecayParams(recency_half_life_days=4, beta_core=0.6, beta_peripheral=2.5, stale_threshold=0.45)
ODD_TIER = TierParams(working_access_threshold=6, peripheral_age_days=20, peripheral_composite_threshold=0.35)
SETTINGS = [(DecayParams(), TierParams()), (ODD_DECAY, ODD_TIER)]


def make(
    traits: MemoryTraits,
    scenario: Scenario = "no access",
    days: float = DAYS,
    decay: DecayParams = SETTINGS[0][0],
    tier: TierParams = SETTINGS[0][1],
) -> Forecast:
    return forecast(
        traits, now_ms=NOW_MS, until_ms=horizon(NOW_MS, days), scenario=scenario, decay=decay, tier=tier
    )


@pytest.mark.parametrize("scenario", ["no access", "access as before"])
@pytest.mark.parametrize(("decay", "tier"), SETTINGS, ids=["defaults", "odd settings"])
def test_every_crossing_is_within_a_day_of_a_clock_stepped_day_by_day(
    scenario: Scenario, decay: DecayParams, tier: TierParams
):
    traits = population(ROWS, NOW_MS, seed=11)
    coming, usage = make(traits, scenario, DAYS, decay, tier), usage_of(traits, NOW_MS, scenario)
    seen = dict.fromkeys(("stale", "rises", "sinks"), 0)
    for at in range(ROWS):
        gap = None if math.isnan(usage.gap[at]) else float(usage.gap[at])
        lived = live(one(traits, at), NOW_MS, DAYS, decay, tier, gap, float(usage.first[at]))
        for kind in seen:
            ours, theirs = float(getattr(coming, f"{kind}_at")[at]), getattr(lived, kind)
            assert math.isnan(ours) == (theirs is None), (at, kind, ours, theirs)
            if theirs is not None:
                seen[kind] += 1
                assert 0 <= theirs - ours <= DAY_MS, (at, kind)
    assert seen["stale"] > 10
    assert seen["sinks"] > 10
    assert scenario == "no access" or seen["rises"] > 20


def test_a_crossing_is_exact_to_the_millisecond():
    traits = population(2_000, NOW_MS, seed=3)
    coming = make(traits)
    at = np.flatnonzero(~np.isnan(coming.stale_at))
    some, when = traits.take(at), coming.stale_at[at]
    assert at.size > 100
    assert (score_at(some, when, DecayParams()).composite < 0.3).all()
    assert (score_at(some, when - 1, DecayParams()).composite >= 0.3).all()
    at = np.flatnonzero(~np.isnan(coming.sinks_at))
    some, when = traits.take(at), coming.sinks_at[at]
    after = verdict_at(some, score_at(some, when, DecayParams()).composite, when, TierParams())
    before = verdict_at(some, score_at(some, when - 1, DecayParams()).composite, when - 1, TierParams())
    assert (after > some.tier).all()
    assert (before <= some.tier).all()
    assert np.array_equal(coming.sinks_to[at], after)


def test_the_date_of_a_closed_form_is_found():
    """composite = .4 R + .3 I falls to .3 where R = (.3 - .147) / .4: t = -ln R * H / ln 2."""
    traits = replace(
        population(1, NOW_MS),
        importance=np.array([0.7]),
        confidence=np.array([0.7]),
        tier=np.array([1], np.uint8),
        uses=np.zeros(1),
        created=np.array([float(NOW_MS)]),
        last_used=np.array([float(NOW_MS)]),
        dynamic=np.zeros(1, np.bool_),
    )
    days = -math.log((0.3 - 0.3 * 0.49) / 0.4) * 30 * math.exp(1.5 * 0.7) / math.log(2)
    assert make(traits, days=400).stale_at[0] == pytest.approx(NOW_MS + days * DAY_MS, abs=1)
    assert make(traits, days=400).sinks_at[0] == NOW_MS + 60 * DAY_MS + 1


def test_what_is_so_already_is_no_crossing():
    traits = population(2_000, NOW_MS, seed=5)
    now = score(traits, now_ms=NOW_MS, decay=DecayParams(), tier=TierParams())
    for scenario in ("no access", "access as before"):
        coming = make(traits, scenario)  # type: ignore[arg-type]
        assert np.isnan(coming.stale_at[now.stale]).all()
        assert np.isnan(coming.sinks_at[now.next_tier > traits.tier]).all()
        assert np.isnan(coming.rises_at[now.next_tier < traits.tier]).all()


def test_an_expiry_within_the_horizon_is_its_own_date():
    traits = population(3, NOW_MS)
    until = np.array([NOW_MS + 5.0, NOW_MS - 5.0, NOW_MS + 400.0 * DAY_MS])
    coming = make(replace(traits, valid_until=until), days=30)
    assert coming.expires_at[0] == NOW_MS + 5
    assert np.isnan(coming.expires_at[1:]).all()


@pytest.mark.parametrize("scenario", ["no access", "access as before"])
def test_a_longer_horizon_only_adds(scenario: Scenario):
    traits = population(1_500, NOW_MS, seed=8)
    short, long = make(traits, scenario, 20), make(traits, scenario, 36_525)
    for kind in ("stale_at", "rises_at", "sinks_at", "expires_at"):
        early, all_of_them = getattr(short, kind), getattr(long, kind)
        known = ~np.isnan(early)
        assert np.array_equal(early[known], all_of_them[known]), kind
        assert np.nanmin(np.where(known, np.nan, all_of_them), initial=np.inf) > short.until_ms


def test_a_hundred_years_of_use_every_few_milliseconds():
    traits = replace(population(4, NOW_MS, seed=1), uses=np.full(4, 1e9), tier=np.full(4, 2, np.uint8))
    coming = make(traits, "access as before", 36_525)
    assert np.isnan(coming.stale_at).all()
    assert ((coming.rises_at > NOW_MS) | (score_at(traits, NOW_MS, DecayParams()).composite >= 0.4)).all()


def test_a_memory_without_a_time_is_never_used_again():
    traits = replace(population(2, NOW_MS), created=np.zeros(2), last_used=np.zeros(2), uses=np.full(2, 5.0))
    assert np.isnan(usage_of(traits, NOW_MS, "access as before").first).all()


def test_nobody_forecasts_nothing():
    empty = population(0, NOW_MS)
    for scenario in ("no access", "access as before"):
        coming = make(empty, scenario)  # type: ignore[arg-type]
        assert coming.stale_at.size == coming.rises_at.size == coming.sinks_at.size == 0


@pytest.mark.parametrize("days", [-1, float("nan"), float("inf"), 1e7])
def test_a_horizon_that_is_none_is_refused(days: float):
    with pytest.raises(UsageError, match="horizon"):
        horizon(NOW_MS, days)


def test_a_forecast_can_be_stopped():
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        forecast(
            population(10, NOW_MS),
            now_ms=NOW_MS,
            until_ms=horizon(NOW_MS, 30),
            scenario="no access",
            decay=DecayParams(),
            tier=TierParams(),
            cancel=token,
        )
