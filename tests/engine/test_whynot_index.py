"""Why not over a store whose vector index loses answers: the index is named, and only where it is the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from lancedb import index

from memtui.engine import RecallRequest, explain
from memtui.engine.engine import Engine
from memtui.engine.explain import DROP
from memtui.engine.explain.verdict import GATES
from memtui.engine.recall.answer import recall
from memtui.engine.recall.record import Trace
from memtui.engine.store.open import open_store
from tests.engine import planted_faults as planted
from tests.engine.planted import TARGET, healthy
from tests.engine.pro_store import NOW_MS, row, write_store

DIMS, ROWS = 64, 1_200


def lossy_store(folder: Path, metric: Literal["cosine", "l2"]) -> Engine:
    """1,200 memories in clusters, and an index of two bytes a vector that is asked without refining."""
    rng = np.random.default_rng(16)
    centres = rng.normal(size=(40, DIMS))
    vectors = centres[np.arange(ROWS) % 40] + 1.5 * rng.normal(size=(ROWS, DIMS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [
        row(
            f"m{n:04d}",
            planted.text_of(n),
            vectors[n].tolist(),
            age=n % 50,
            scope=("global", "agent:ops")[n % 9 == 0],
        )
        for n in range(ROWS)
    ]
    write_store(folder, rows, dims=DIMS)
    planted.open_table(folder).create_index(
        "vector", config=index.IvfPq(distance_type=metric, num_partitions=100, num_sub_vectors=2)
    )
    return Engine(open_store(folder), now=lambda: NOW_MS)


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return lossy_store(tmp_path_factory.mktemp("cosine") / "lancedb-pro", "cosine")


@pytest.fixture(scope="module")
def lossy_by_distance(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The built-in program and mem-engine ask by squared distance, which an index by cosine does not serve."""
    return lossy_store(tmp_path_factory.mktemp("distance") / "lancedb-pro", "l2")


def question(engine: Engine, at: int, recipe: str) -> RecallRequest:
    """The words of one memory and a vector near to that of the next of its cluster."""
    ids = [f"m{at:04d}", f"m{(at + 40) % ROWS:04d}"]
    found = engine.store.rows_by_id(ids, ["text", "vector"]).to_pylist()
    vector = np.asarray(found[1]["vector"]) + 0.05 * np.random.default_rng(at).normal(size=DIMS)
    words = "zyxt" if recipe == "memtui" else " ".join(found[0]["text"].split()[:4])  # it lets keywords lead
    return RecallRequest(words, recipe=recipe, query_vector=vector.tolist(), scopes=["global"], limit=5)


def exactly(engine: Engine, trace: Trace) -> Trace:
    """The same recall over a table without the index."""
    assert trace.request is not None
    assert trace.outside is not None
    request = replace(trace.request, now_ms=trace.now_ms, table_version=trace.table_version)
    return recall(request, engine.recall_context(), outside=trace.outside.exactly())


@pytest.mark.parametrize(
    ("recipe", "store"),
    [
        pytest.param("pro/tool", "lossy", marks=pytest.mark.slow),
        pytest.param("pro/agent", "lossy", marks=pytest.mark.slow),
        pytest.param("memtui", "lossy", marks=pytest.mark.slow),
        pytest.param("memory-lancedb", "lossy_by_distance", marks=pytest.mark.slow),
        pytest.param("mem-engine", "lossy_by_distance", marks=pytest.mark.slow),
    ],
)
def test_the_index_is_named_where_and_only_where_an_exact_search_brings_the_memory_back(
    recipe: str, store: str, request: pytest.FixtureRequest
) -> None:
    lossy: Engine = request.getfixturevalue(store)
    lost = kept = 0
    for at in range(0, ROWS, 50):
        trace = lossy.recall(question(lossy, at, recipe))
        exact = exactly(lossy, trace)
        around = [*exact.returned, *[each.id for each in trace.candidates][:6], f"m{(at * 7) % ROWS:04d}"]
        for memory in dict.fromkeys(around):
            verdict = explain.why_not_in(lossy, trace, memory, changes=False)
            rung = verdict.rung("vector_index")
            assert rung is not None, "the table has an index, so the ladder says what it did"
            if memory in trace.returned:
                kept += 1
                assert rung.passed
                continue
            back = memory in exact.returned
            if back:
                lost += 1
                assert (verdict.gate, rung.passed, rung.hypothetical) == ("vector_index", False, False)
                assert f"exact rank {rung.value:,} of" in verdict.sentence
                (drop,) = [each for each in verdict.changes if each.knob == DROP]
                assert drop.confirmed
                assert exact.returned[(drop.rank or 0) - 1] == memory
            elif verdict.gate == "vector_index":  # no search delivered it, an exact one does
                assert all(each.id != memory for each in trace.candidates)
                assert any(each.id == memory for each in exact.candidates)
                assert not verdict.changes
    assert lost >= 3, "an index that loses nothing would prove nothing"
    assert kept >= 10


def test_the_exact_rank_is_that_of_all_memories_considered(lossy: Engine) -> None:
    for at in range(0, ROWS, 100):
        trace = lossy.recall(question(lossy, at, "pro/tool"))
        assert trace.query_vector is not None
        for memory in [each for each in exactly(lossy, trace).returned if each not in trace.returned]:
            table = (
                lossy.store.pin()
                .table.search()
                .where("scope = 'global'")
                .select(["id", "vector"])
                .limit(None)
            )
            rows = table.to_arrow().to_pylist()
            vectors = np.asarray([each["vector"] for each in rows], np.float64)
            cosines = vectors @ trace.query_vector / np.linalg.norm(vectors, axis=1)
            own = next(n for n, each in enumerate(rows) if each["id"] == memory)
            rung = explain.why_not_in(lossy, trace, memory, changes=False).rung("vector_index")
            assert rung is not None
            assert rung.value == 1 + int((cosines > cosines[own]).sum())


def test_changes_of_the_question_are_looked_for_beside_the_index(lossy: Engine) -> None:
    for at in range(0, ROWS, 50):
        trace = lossy.recall(question(lossy, at, "pro/tool"))
        missing = [each for each in exactly(lossy, trace).returned if each not in trace.returned]
        for memory in missing[:1]:
            verdict = explain.why_not_in(lossy, trace, memory)
            assert {DROP, "retrieval.disableNativeCosine"} <= {each.knob for each in verdict.changes}
            assert all(each.confirmed for each in verdict.changes if each.knob != "memory.length")
            return
    raise AssertionError("no question lost an answer to the index")


def test_a_table_without_an_index_on_its_vectors_has_no_such_rung(tmp_path: Path) -> None:
    world = healthy(1)
    engine = Engine(open_store(world.write(tmp_path / "store")), now=lambda: NOW_MS)
    verdict = explain.why_not(engine, TARGET, world.ask(recipe="pro/tool"))
    assert [rung.gate for rung in verdict.ladder] == list(GATES)
