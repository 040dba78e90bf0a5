"""The worked examples of the retrieval spec (section 16), on a real table with injected lane scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memtui.engine import RecallRequest, Trace
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.engine.pro_store import DAY_MS, NOW_MS, row, write_store

POOL = {
    "A": row("A", "a" * 120, (0.80, 0.6, 0), age=2),
    "B": row(
        "B",
        "b" * 300,
        (0.78, 0.625780, 0),
        age=90,
        importance=0.9,
        metadata={
            "tier": "core",
            "access_count": 12,
            "last_accessed_at": NOW_MS - 30 * DAY_MS,
            "confidence": 0.9,
        },
    ),
    "C": row("C", "c" * 1500, (0.75, 0, 0.661438), age=10, importance=0.5),
    "D": row("D", "d" * 80, (0.10, 0.994987, 0), age=200, importance=0.3, metadata={"tier": "peripheral"}),
    "E": row("E", "e" * 200, (0.35, -0.936750, 0), age=0, importance=0.6),
    "F": row("F", "f" * 100, (0.55, 0, -0.835165), age=1, metadata={"memory_temporal_type": "dynamic"}),
}
LANES = {
    "vector": [["A", 0.833333333], ["B", 0.819672131], ["C", 0.8], ["F", 0.689655172], ["D", 0.526315789]],
    "bm25": [["E", 0.775564], ["B", 0.598687660], ["D", 0.519989340]],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return open_store(write_store(tmp_path_factory.mktemp("pool"), list(POOL.values()), dims=3))


def ask(store: Store, **more: Any) -> Trace:
    given: dict[str, Any] = {
        "recipe": "pro/tool",
        "limit": 4,
        "lanes": LANES,
        "query_vector": [1, 0, 0],
        "source": None,
    }
    return recall(
        RecallRequest("a question about nothing", **(given | more)), RecallContext(store, NOW_MS, None)
    )


def order(trace: Trace, stage: str) -> dict[str, float]:
    """id -> score in the order of `stage`."""
    steps = [(step, c.id) for c in trace.candidates for step in c.steps if step.stage == stage and step.after]
    steps.sort(key=lambda pair: pair[0].rank_after or 0)
    return {key: round(step.after or 0, 6) for step, key in steps}


def final(trace: Trace) -> dict[str, float]:
    return {result.id: round(result.score or 0, 6) for result in trace.results}


def near(expected: dict[str, float]) -> dict[str, Any]:
    return {key: pytest.approx(value, abs=2e-6) for key, value in expected.items()}


def assert_order(found: dict[str, float], expected: dict[str, float]) -> None:
    assert list(found) == list(expected)
    assert found == near(expected)


def test_example_1_what_an_agent_gets_without_a_rerank_key(store: Store) -> None:
    trace = ask(store)
    assert_order(
        order(trace, "fused"),
        {"E": 0.775564, "B": 0.753377, "A": 0.583333, "C": 0.56, "D": 0.524418, "F": 0.482759},
    )
    assert_order(
        order(trace, "reranked"),
        {"B": 0.761364, "A": 0.648333, "E": 0.647895, "C": 0.617, "F": 0.502931, "D": 0.397092},
    )
    assert_order(
        order(trace, "length_normalization"),
        {"B": 0.761364, "A": 0.648333, "E": 0.647895, "F": 0.502931, "D": 0.397092, "C": 0.344216},
    )
    assert_order(order(trace, "hard_cutoff"), {"B": 0.715, "E": 0.647895, "A": 0.641054, "F": 0.494494})
    assert_order(final(trace), {"B": 0.715, "E": 0.647895, "F": 0.494494, "A": 0.641054})
    assert trace.proof.recomputed


def test_example_2_the_same_pool_without_a_decay_engine_has_another_winner(store: Store) -> None:
    trace = ask(store, recipe="pro/cli")
    assert_order(final(trace), {"E": 0.658147, "A": 0.657905, "F": 0.529168, "B": 0.542019})
    assert trace.proof.recomputed


def test_example_3_without_rerank(store: Store) -> None:
    trace = ask(store, config={"retrieval": {"rerank": "none"}})
    assert_order(final(trace), {"E": 0.775564, "B": 0.707499, "F": 0.47466, "A": 0.576783})


def test_example_4_vector_mode(store: Store) -> None:
    config = {"retrieval": {"mode": "vector"}}
    assert_order(
        final(ask(store, config=config)), {"A": 0.823976, "F": 0.678086, "C": 0.414006, "B": 0.769757}
    )
    without = ask(store, config={**config, "decay": None})
    assert_order(final(without), {"A": 0.823496, "F": 0.694943, "C": 0.371675, "B": 0.58352})


def test_example_5_the_rerank_window_discards_what_is_below_it(store: Store) -> None:
    trace = ask(store, limit=2)
    counts = {stage.name: (stage.n_in, stage.n_out) for stage in trace.stages}
    assert counts["fused"] == (6, 6)
    assert counts["rerank_input"] == (6, 4)
    assert counts["hard_cutoff"] == (4, 3)
    assert_order(final(trace), {"B": 0.715, "E": 0.647895})
    why = {c.id: (c.disposition, c.reason, c.limit) for c in trace.candidates if c.rank is None}
    assert why["D"] == ("rerank_input", "rerank_window", 4.0)
    assert why["C"] == ("hard_cutoff", "hard_cutoff", 0.35)
    assert why["A"] == ("limit", "limit", 2.0)


def test_example_6_mmr_lets_an_unrelated_memory_in_and_noise_eats_a_good_one(tmp_path: Path) -> None:
    def unit(cos: float, side: int = 1) -> tuple[float, float]:
        return cos, side * (1 - cos * cos) ** 0.5

    rows = [
        row("A", "High availability pair for the gateway", unit(0.95)),
        row("B", "Gateway fails over automatically", unit(0.90)),
        row("C", "Gateway failover is automatic", unit(0.89)),
        row("D", "Unrelated cafeteria menu", unit(0.50, -1)),
    ]
    store = open_store(write_store(tmp_path, rows, dims=2))
    lanes = {"vector": [["A", 1 / 1.05], ["B", 1 / 1.1], ["C", 1 / 1.11], ["D", 1 / 1.5]], "bm25": []}
    three = ask(store, lanes=lanes, query_vector=[1, 0], limit=3)
    assert list(final(three)) == ["B", "D", "C"]
    assert {c.id: c.reason for c in three.candidates if c.rank is None} == {"A": "noise_filter"}
    two = ask(store, lanes=lanes, query_vector=[1, 0], limit=2)
    assert_order(final(two), {"B": 0.715455, "D": 0.476667})


def test_example_15_superseded_and_expired_never_come_back_archived_does(tmp_path: Path) -> None:
    rows = [
        row(
            "old",
            "The gateway port is 8080",
            (1, 0),
            metadata={"invalidated_at": NOW_MS - 5, "valid_from": 1},
        ),
        row("new", "The gateway port is 8443", (0.99, 0.141)),
        row("gone", "The gateway port moves tonight", (0.97, 0.243), metadata={"valid_until": NOW_MS}),
        row("kept", "The gateway port was archived once", (0.95, 0.312), metadata={"state": "archived"}),
        row("ops", "The gateway port of ops", (0.97, 0.243), scope="agent:ops"),
    ]
    store = open_store(write_store(tmp_path, rows, dims=2))
    request = {"lanes": None, "query_vector": [1, 0], "limit": 10}
    found = ask(store, scopes=["global"], **request)
    assert set(final(found)) == {"new", "kept"}
    why = {c.id: c.reason for c in found.candidates if c.rank is None}
    assert why == {"old": "inactive", "gone": "expired"}
    alone = ask(store, scopes=["global"], config={"retrieval": {"mode": "vector"}}, **request)
    ranks = {c.id: c.sources["vector"]["rank"] for c in alone.results}
    assert ranks == {"new": 1, "kept": 2}  # vector mode numbers what has not expired; hybrid counts it too
    assert {c.id: c.sources["vector"]["rank"] for c in found.results} == {"new": 1, "kept": 3}
    assert "ops" in final(ask(store, **request))
    denied = ask(store, scopes=[], **request)
    assert (denied.results, denied.candidates) == ((), ())


def test_example_14_tag_tokens_must_all_be_in_the_text(tmp_path: Path) -> None:
    rows = [
        row("in", "proj:aif gateway runs in fra", (1, 0)),
        row("out", "The gateway of another project", (0, 1)),
    ]
    store = open_store(write_store(tmp_path, rows, dims=2))
    bench = RecallContext(store, NOW_MS, None)
    one = recall(RecallRequest("proj:AIF gateway", recipe="pro/tool", source=None), bench)
    assert (one.mode, [result.id for result in one.results]) == ("tag", ["in"])
    both = recall(RecallRequest("proj:AIF team:core gateway", recipe="pro/tool", source=None), bench)
    assert both.results == ()
    accident = recall(RecallRequest("curl http://myproj:8080/health gateway", recipe="pro/tool"), bench)
    assert (accident.mode, accident.results) == ("tag", ())


def test_example_17_a_failed_cosine_keeps_the_fused_order(tmp_path: Path) -> None:
    rows = [row("A", "alpha memory text", (1, 0)), row("B", "beta memory text", None)]
    store = open_store(write_store(tmp_path, rows, dims=2))
    lanes = {"vector": [["A", 0.6]], "bm25": [["B", 0.7]]}
    trace = ask(store, lanes=lanes, query_vector=[1, 0])
    assert list(order(trace, "reranked")) == ["B", "A"]
    assert any("cosine_error" in warning for warning in trace.warnings)
