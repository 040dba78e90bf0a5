"""Exact ranks over the whole table, and what keeps a memory out of the pool."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import RecallRequest, explain
from memtui.engine.catalog.similar import VectorColumn
from memtui.engine.engine import Engine
from memtui.engine.explain.ranks import ranking_at
from memtui.engine.store.open import open_store
from tests.engine.pro_store import DAY_MS, NOW_MS, row, write_store

DIMS = 16
N = 400


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return np.random.default_rng(5).standard_normal((N, DIMS)).astype(np.float32)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, vectors: np.ndarray) -> Engine:
    rng = random.Random(5)
    words = ["gate", "port", "depot", "lift", "crane", "ferry", "oven", "desk"]
    made = []
    for n, vector in enumerate(vectors):
        meta = {"invalidated_at": NOW_MS - DAY_MS, "valid_from": 1} if n % 7 == 3 else {}
        text = f"{' '.join(rng.choices(words, k=6))} number{n}"
        made.append(
            row(f"m{n}", text, vector.tolist(), scope=["global", "agent:a"][n % 2], metadata=meta, age=3)
        )
    made += [
        row("zero", "a zero vector about ports", [0.0] * DIMS),
        row("null", "no vector at all", None),
        row("double", "the same vector as m0", vectors[0].tolist()),
    ]
    return Engine(
        open_store(write_store(tmp_path_factory.mktemp("ranks") / "s", made, dims=DIMS)), now=lambda: NOW_MS
    )


def expected(vectors: np.ndarray, query: np.ndarray, n: int, keep: np.ndarray) -> tuple[int, int]:
    """(rank, of) by numpy in double precision, the row itself always counted."""
    wide = vectors.astype(np.float64)
    cosines = wide @ query / np.linalg.norm(wide, axis=1) / np.linalg.norm(query)
    others = keep & (np.arange(N) != n)
    return int((cosines[others] > cosines[n]).sum()) + 1, int(others.sum()) + 1


def test_ranks_by_vector_are_those_of_a_plain_computation(engine: Engine, vectors: np.ndarray) -> None:
    engine.load_metadata()
    ranking = ranking_at(engine.store, engine.store.version, engine.catalog)
    active = np.arange(N) % 7 != 3
    in_scope = {
        None: np.ones(N, bool),
        ("global",): np.arange(N) % 2 == 0,
        ("agent:a",): np.arange(N) % 2 == 1,
    }
    rng = np.random.default_rng(9)
    for scopes, scoped in in_scope.items():
        considered = ranking.considered(scopes, NOW_MS)
        for _ in range(12):
            query, n = rng.standard_normal(DIMS), int(rng.integers(1, N))
            position = engine.catalog.find(f"m{n}")[0]
            found = ranking.by_vector(int(engine.catalog.row_ids[position]), vectors[n], query, considered)
            rank, of = expected(vectors, query, n, scoped & active)
            double = scopes in (None, ("global",))  # the copy of m0 is one more row there
            copy = double and _cosine(vectors[0], query) > _cosine(vectors[n], query)
            assert (found.rank, found.of) == (rank + copy, of + double)
            nearer = scoped & ~active & (_cosines(vectors, query) > _cosine(vectors[n], query))
            assert found.inactive_ahead == int(nearer.sum())
            assert found.distance == pytest.approx(1 - _cosine(vectors[n], query), abs=1e-12)


def _cosine(vector: np.ndarray, query: np.ndarray) -> float:
    return float(_cosines(vector[None, :], query)[0])


def _cosines(vectors: np.ndarray, query: np.ndarray) -> np.ndarray:
    wide = vectors.astype(np.float64)
    return wide @ query / np.linalg.norm(wide, axis=1) / np.linalg.norm(query)


def test_equal_vectors_are_told_as_ties(engine: Engine, vectors: np.ndarray) -> None:
    ranking = ranking_at(engine.store, engine.store.version, engine.catalog)
    position = engine.catalog.find("double")[0]
    considered = ranking.considered(None, NOW_MS)
    found = ranking.by_vector(
        int(engine.catalog.row_ids[position]), vectors[0], vectors[0].astype(np.float64), considered
    )
    assert (found.rank, found.tied) == (1, 1)


def test_vectors_that_are_too_large_to_keep_give_the_same_ranks(
    engine: Engine, vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking = ranking_at(engine.store, engine.store.version, engine.catalog)
    considered = ranking.considered(None, NOW_MS)
    query = np.random.default_rng(1).standard_normal(DIMS)
    row_id = int(engine.catalog.row_ids[engine.catalog.find("m9")[0]])
    kept = ranking.by_vector(row_id, vectors[9], query, considered)
    monkeypatch.setattr("memtui.engine.catalog.similar.MOST_BYTES", 0)
    monkeypatch.setattr("memtui.engine.catalog.similar.BLOCK", 50)
    ranking.vectors = VectorColumn(engine.store.pin())
    assert len(list(ranking.vectors.blocks())) > 1
    assert ranking.by_vector(row_id, vectors[9], query, considered) == kept


@pytest.mark.parametrize(
    ("memory", "why"), [("zero", "its vector is all zero"), ("null", "it has no vector")]
)
def test_a_memory_without_a_usable_vector_says_so(engine: Engine, memory: str, why: str) -> None:
    request = RecallRequest("harbour master", recipe="pro/tool", query_vector=[1.0] * DIMS)
    verdict = explain.why_not(engine, memory, request)
    assert verdict.gate == "candidate_pool"
    assert why in verdict.sentence
    rung = verdict.rung("candidate_pool")
    assert rung is not None
    assert rung.value is None
    assert rung.facts["shared_words"] == []
    assert all(each.passed is None for each in verdict.ladder if each.gate in ("min_score", "limit"))


def test_superseded_rows_that_fill_the_fetch_hide_an_active_memory(tmp_path: Path) -> None:
    """250 superseded rows are nearer: the one active memory is number 1, and yet it is never read."""
    gone = {"invalidated_at": NOW_MS - 1, "valid_from": 1}
    rows = [row(f"old{n}", f"thing {n}", (1, n / 1000), metadata=gone, age=9) for n in range(250)]
    rows.append(row("alive", "something else", (0.5, 0.866)))
    engine = Engine(open_store(write_store(tmp_path / "s", rows, dims=2)), now=lambda: NOW_MS)
    verdict = explain.why_not(
        engine, "alive", RecallRequest("a question", recipe="pro/tool", query_vector=[1, 0])
    )
    rung = verdict.rung("candidate_pool")
    assert verdict.gate == "candidate_pool"
    assert rung is not None
    assert rung.facts["lanes"]["vector"] == {
        "rank": 1, "of": 1, "why": "", "met": False, "inactive_ahead": 250,
    }  # fmt: skip
    assert "behind 250 replaced rows" in verdict.sentence


def test_rank_by_words_and_rows_outside_the_index(tmp_path: Path) -> None:
    rows = [row(f"r{n}", f"gateway {'port ' * (n % 5)} note {n}", (1, 0)) for n in range(60)]
    folder = write_store(tmp_path / "s", rows, dims=2)
    import lancedb

    table = lancedb.connect(folder).open_table("memories")
    table.add([row("late", "the gateway came late", (0, 1))])
    engine = Engine(open_store(folder), now=lambda: NOW_MS)
    verdict = explain.why_not(
        engine, "late", RecallRequest("gateway port", recipe="pro/tool", query_vector=[1, 0])
    )
    rung = verdict.rung("candidate_pool")
    assert rung is not None
    assert rung.facts["in_index"] is False
    assert rung.facts["shared_words"] == ["gateway"]
    pin = engine.store.pin()
    ranked = pin.agent_search("gateway port", k=100)
    assert ranked is not None
    found = pin.take(ranked.row_ids.tolist(), ["id"]).column("id").to_pylist()
    assert rung.facts["lanes"]["bm25"]["rank"] == found.index("late") + 1


def test_a_question_that_no_word_answers_is_looked_for_as_a_whole(tmp_path: Path) -> None:
    rows = [row("one", "网关配置在服务器的目录里", (1, 0)), row("other", "频道发文规则", (0, 1))]
    engine = Engine(open_store(write_store(tmp_path / "s", rows, dims=2)), now=lambda: NOW_MS)
    request = RecallRequest("网关配置", recipe="pro/tool", source=None, query_vector=[1, 0], limit=1)
    verdict = explain.why_not(engine, "other", request)
    rung = verdict.rung("candidate_pool")
    assert rung is not None
    assert "the whole question" in rung.facts["lanes"]["bm25"]["why"]
