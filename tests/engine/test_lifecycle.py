"""Decay, tiers, reinforcement, suppression and words of time, on worked examples."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.core.memory import TIERS
from memtui.engine.decay.decay import (
    DecayParams,
    access_metadata,
    decay_scores,
    effective_half_life,
    search_multiplier,
)
from memtui.engine.decay.tiers import TierParams, next_tier
from memtui.engine.decay.validity import (
    InjectionPolicy,
    auto_recall_barrier,
    infer_expiry,
    injection_patch,
    temporal_type,
)
from memtui.engine.metadata.read import Metadata, normalise
from tests.conftest import NOW_MS

DAY_MS = 86_400_000
MINUTE_MS = 60_000
PARAMS = DecayParams()


def decay(
    age: float,
    tier: str = "working",
    importance: float = 0.7,
    confidence: float = 0.7,
    accesses: int = 0,
    last: float | None = None,
    dynamic: bool = False,
) -> tuple[float, float, float, float]:
    """Recency, frequency, composite and multiplier of one memory; `age` and `last` in days."""
    code = np.array([TIERS.index(tier)], np.uint8)
    created = NOW_MS - age * DAY_MS
    accessed = created if last is None else NOW_MS - last * DAY_MS
    scores = decay_scores(
        [importance],
        [confidence],
        code,
        [accesses],
        [created],
        [accessed],
        [dynamic],
        now_ms=NOW_MS,
        params=PARAMS,
    )
    multiplier = search_multiplier(scores, code, PARAMS)
    return tuple(float(x[0]) for x in (scores.recency, scores.frequency, scores.composite, multiplier))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"age": 0}, (1, 0, 0.547, 1)),
        ({"age": 30}, (0.784618, 0, 0.460847, 0.849233)),
        ({"age": 30, "importance": 0}, (0.5, 0, 0.2, 0.79)),
        ({"age": 134, "importance": 1}, (0.501163, 0, 0.410465, 0.79)),
        ({"age": 30, "dynamic": True}, (0.483031, 0, 0.340212, 0.79)),
        ({"age": 365, "tier": "core"}, (0.403799, 0, 0.30852, 0.93)),
        ({"age": 0.5, "tier": "peripheral"}, (0.996722, 0, 0.545689, 0.997705)),
        ({"age": 30, "tier": "peripheral"}, (0.510225, 0, 0.35109, 0.657158)),
        ({"age": 400, "importance": 0.2, "confidence": 0.5}, (0.001063, 0, 0.030425, 0.79)),
        ({"age": 120, "tier": "peripheral", "importance": 0.3}, (0.000591, 0, 0.063236, 0.65)),
        ({"age": 60, "accesses": 5, "last": 1}, (0.991947, 0.509365, 0.696588, 0.994363)),
        ({"age": 60, "accesses": 1, "last": 60}, (0.615625, 0.181269, 0.447631, 0.79)),
        (
            {"age": 200, "accesses": 20, "last": 3, "importance": 0.9, "confidence": 0.95},
            (0.982191, 0.838253, 0.900852, 0.987534),
        ),
    ],
)
def test_decay_on_worked_examples(case: dict[str, Any], expected: tuple[float, ...]):
    assert decay(**case) == pytest.approx(expected, abs=5e-7)


def test_a_memory_from_the_future_is_fresh():
    assert decay(age=-5)[0] == 1


unit = st.floats(0, 1)


@settings(max_examples=60, deadline=None, database=None)
@given(unit, unit, st.sampled_from(TIERS), st.integers(0, 10_000), st.floats(-10, 5000), st.floats(0, 1))
def test_decay_stays_in_range_and_never_raises_a_score(
    importance: float, confidence: float, tier: str, accesses: int, age: float, share: float
):
    recency, frequency, composite, multiplier = decay(
        age, tier, importance, confidence, accesses, last=max(0.0, age) * share
    )
    assert 0 <= recency <= 1
    assert 0 <= frequency <= 1
    assert 0 <= composite <= 1 + 1e-12
    assert PARAMS.search_boost_min <= multiplier <= 1


@settings(max_examples=40, deadline=None, database=None)
@given(st.sampled_from(TIERS), unit, st.floats(0, 2000), st.floats(0, 2000))
def test_an_older_memory_is_never_more_recent(tier: str, importance: float, one: float, other: float):
    younger, older = sorted((one, other))
    assert decay(older, tier, importance)[0] <= decay(younger, tier, importance)[0]


def move(tier: str, accesses: int, composite: float, importance: float = 0.5, age: float = 1) -> str:
    after = next_tier(
        np.array([TIERS.index(tier)], np.uint8),
        access_count=[accesses],
        composite=[composite],
        importance=[importance],
        created_ms=[NOW_MS - age * DAY_MS],
        now_ms=NOW_MS,
        params=TierParams(),
    )
    return TIERS[after[0]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("peripheral", 3, 0.40), "working"),
        (("peripheral", 2, 0.90), "peripheral"),
        (("peripheral", 50, 0.39), "peripheral"),
        (("working", 10, 0.70, 0.80), "core"),
        (("working", 10, 0.70, 0.79), "working"),
        (("working", 12, 0.14, 0.9), "peripheral"),
        (("working", 2, 0.9, 0.5, 60.0), "working"),
        (("working", 2, 0.9, 0.5, 60.01), "peripheral"),
        (("working", 3, 0.15, 0.5, 500), "working"),
        (("core", 2, 0.14), "working"),
        (("core", 3, 0.14), "core"),
        (("core", 0, 0.15, 0.5, 900), "core"),
    ],
)
def test_tiers_on_worked_examples(before: tuple[Any, ...], after: str):
    assert move(*before) == after


@pytest.mark.parametrize(
    ("base", "accesses", "days", "factor", "expected"),
    [
        (60, 0, 0, 0.5, 60),
        (60, 1, 0, 0.5, 80.794415),
        (60, 5, 0, 0.5, 113.752784),
        (60, 5, 30, 0.5, 97.582889),
        (60, 5, 90, 0.5, 74.565234),
        (60, 100, 0, 0.5, 180),
        (20, 5, 0, 0.5, 37.917595),
        (60, 5, 0, 0, 60),
        (60, 3, 0, 2, 180),
    ],
)
def test_use_stretches_the_half_life(base: float, accesses: int, days: float, factor: float, expected: float):
    stretched = effective_half_life(
        [base], [accesses], [NOW_MS - days * DAY_MS], now_ms=NOW_MS, factor=factor, max_multiplier=3
    )
    assert stretched[0] == pytest.approx(expected, abs=1e-6)


def test_reinforcement_prefers_the_camel_case_keys():
    assert access_metadata('{"accessCount": 4, "access_count": 9, "last_accessed_at": 5}') == (4, 5)
    assert access_metadata('{"accessCount": null, "access_count": 1e9}') == (10_000, 0)
    assert access_metadata("{broken") == (0, 0)


def inject(meta: Metadata, minute: float, policy: InjectionPolicy) -> Metadata:
    at = NOW_MS + round(minute * MINUTE_MS)
    patched = {**meta.values, **injection_patch(meta, at_ms=at, policy=policy)}
    return normalise(json.dumps(patched), text="t", category=None, timestamp_ms=NOW_MS, now_ms=at)


def fresh(values: dict[str, Any] | None = None) -> Metadata:
    return normalise(json.dumps(values or {}), text="t", category=None, timestamp_ms=NOW_MS, now_ms=NOW_MS)


def test_suppression_over_a_day_of_injections():
    policy = InjectionPolicy(min_repeated=8)
    meta = fresh()
    seen = []
    for minute in (0, 10, 20, 30, 61, 1561):
        meta = inject(meta, minute, policy)
        until = meta.suppressed_until_ms or 0
        seen.append((meta.bad_recall_count, (until - NOW_MS) // MINUTE_MS if until else 0))
    assert seen == [(0, 0), (1, 0), (2, 0), (3, 60), (4, 91), (1, 91)]
    assert meta.access_count == 6
    used = fresh({**meta.values, "last_confirmed_use_at": NOW_MS + 1561 * MINUTE_MS + 1})
    assert inject(used, 1562, policy).bad_recall_count == 1
    assert inject(inject(used, 1562, policy), 1563, policy).bad_recall_count == 2


def test_a_count_kept_in_turns_is_forgotten():
    legacy = fresh({"bad_recall_count": 9, "suppressed_until_turn": 44, "last_injected_at": NOW_MS - 1})
    assert inject(legacy, 0, InjectionPolicy(min_repeated=8)).bad_recall_count == 1


def test_without_a_repetition_window_nothing_is_suppressed():
    meta = fresh({"bad_recall_count": 5, "suppressed_until_ms": 0, "last_injected_at": NOW_MS - 1})
    after = inject(meta, 0, InjectionPolicy(min_repeated=0))
    assert (after.bad_recall_count, after.suppressed_until_ms) == (6, 0)


def test_auto_recall_names_what_keeps_a_memory_out():
    assert auto_recall_barrier(fresh(), NOW_MS) is None
    assert auto_recall_barrier(fresh({"state": "archived"}), NOW_MS) == "state(archived)"
    assert auto_recall_barrier(fresh({"source": "reflection"}), NOW_MS) == "layer(reflection)"
    assert auto_recall_barrier(fresh({"suppressed_until_ms": NOW_MS + 1}), NOW_MS) == "suppressed"


def test_a_standing_habit_that_says_today_expires():
    assert temporal_type("I always run today") == "dynamic"
    assert infer_expiry("I always run today", NOW_MS) == NOW_MS + 18 * 3_600_000
    assert (temporal_type("下个月出差"), infer_expiry("下个月出差", NOW_MS)) == (
        "static",
        NOW_MS + 30 * DAY_MS,
    )
    assert (temporal_type("collateral damage"), infer_expiry("collateral damage", NOW_MS)) == ("static", None)
