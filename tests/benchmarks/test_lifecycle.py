"""Lifecycle figures: scoring a million against bare numpy, and a slider over a hundred thousand."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from memtui.engine.catalog.catalog import Catalog
from memtui.engine.catalog.ids import PackedIds
from memtui.engine.decay.decay import DecayParams
from memtui.engine.decay.tiers import TierParams
from memtui.engine.lifecycle.board import BoardAsk, build_board
from memtui.engine.lifecycle.population import MemoryTraits, score
from memtui.engine.lifecycle.settings import resolve_settings, with_changes
from tests.benchmarks.limits import within
from tests.conftest import NOW_MS
from tests.engine.lifecycle_world import DAY_MS, population

SCORE_RATIO = 3.0
SLIDER_RATIO = 16.0
"""A board is a scoring, the two ends of the forecast, and thirty halvings for a tenth of the rows, twice."""


def bare(t: MemoryTraits, p: DecayParams, q: TierParams) -> tuple[np.ndarray, ...]:
    """The formulas of spec/retrieval 8.1 and 8.2 in numpy, as one would write them down."""
    active = np.where(t.uses > 0, t.last_used, t.created)
    days = np.maximum(0, (NOW_MS - active) / DAY_MS)
    half = (
        p.recency_half_life_days
        / np.where(t.dynamic, 3.0, 1.0)
        * np.exp(p.importance_modulation * t.importance)
    )
    recency = np.exp(-(np.log(2) / half) * days ** p.betas[t.tier])
    frequency = 1 - np.exp(-t.uses / 5)
    gap = np.maximum(1, (active - t.created) / DAY_MS) / np.maximum(t.uses - 1, 1)
    frequency = np.where(t.uses > 1, frequency * (0.5 + 0.5 * np.exp(-gap / 30)), frequency)
    intrinsic = t.importance * t.confidence
    composite = 0.4 * recency + 0.3 * frequency + 0.3 * intrinsic
    boost = np.clip(0.3 + 0.7 * np.maximum(p.floors[t.tier], np.maximum(composite, recency)), 0.3, 1)
    low, rare = composite < q.peripheral_composite_threshold, t.uses < q.working_access_threshold
    old = (NOW_MS - t.created) / DAY_MS > q.peripheral_age_days
    core = (t.uses >= 10) & (composite >= 0.7) & (t.importance >= 0.8)
    after = np.select(
        [t.tier == 0, t.tier == 1],
        [np.where(low & rare, 1, 0), np.where(core, 0, np.where(low | (old & rare), 2, 1))],
        np.where(~rare & (composite >= 0.4), 1, 2),
    )
    return recency, frequency, intrinsic, composite, boost, composite < p.stale_threshold, after


def cpu(work: Callable[[], object], runs: int = 5) -> float:
    times = []
    for _ in range(runs):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return median(times)


def test_scoring_a_million_is_at_most_three_times_bare_numpy():
    traits, decay, tier = population(1_000_000, NOW_MS), DecayParams(), TierParams()
    ours = score(traits, now_ms=NOW_MS, decay=decay, tier=tier)
    theirs = bare(traits, decay, tier)
    names = ("recency", "frequency", "intrinsic", "composite", "boost", "stale", "next_tier")
    for name, column in zip(names, theirs, strict=True):
        assert np.allclose(getattr(ours, name), column, rtol=0, atol=1e-12), name
    numpy = cpu(lambda: bare(traits, decay, tier))
    mine = cpu(lambda: score(traits, now_ms=NOW_MS, decay=decay, tier=tier))
    print(f"scoring 1,000,000: {mine / numpy:.2f} x bare numpy ({mine * 1000:.0f} ms)")
    within(mine / numpy, SCORE_RATIO)


def catalog_of(traits: MemoryTraits) -> Catalog:
    """A catalog with as much as a board reads of it: ids."""
    import pyarrow as pa

    n = traits.n
    rng = np.random.default_rng(1)
    high, low = (rng.integers(0, 2**63, n).astype(np.uint64) for _ in range(2))
    ids = PackedIds(high, low, np.zeros(0, np.int64), pa.array([], pa.string()))
    codes = np.zeros(n, np.uint16)
    return Catalog(
        version=1,
        n=n,
        row_ids=np.arange(n, dtype=np.uint64),
        ids=ids,
        timestamp=traits.created,
        importance=traits.importance.astype(np.float32),
        scope_codes=codes,
        scopes=("global",),
        category_codes=codes,
        categories=("fact",),
        flags=np.zeros(n, np.uint8),
        has_metadata=True,
    )


def test_a_slider_over_a_hundred_thousand_is_fluent():
    traits = population(100_000, NOW_MS)
    catalog, everyone = catalog_of(traits), np.arange(traits.n)
    settings = resolve_settings(None)
    steps = iter(range(1000))

    def slide() -> None:
        half_life = 20.0 + next(steps)
        changed = with_changes(settings, {"decay.recencyHalfLifeDays": half_life})
        build_board(catalog, traits, everyone, BoardAsk(), changed, NOW_MS)

    slide()
    one = cpu(lambda: bare(traits, DecayParams(), TierParams()))
    board = cpu(slide)
    print(f"a step of a slider over 100,000: {board * 1000:.0f} ms, {board / one:.1f} x bare scoring")
    within(board / one, SLIDER_RATIO)
