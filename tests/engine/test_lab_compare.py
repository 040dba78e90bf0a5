"""Two recalls side by side, and one result in words."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import RecallRequest, Trace, explain, open_engine
from memtui.engine.demo import build_demo
from memtui.engine.engine import Engine
from memtui.engine.explain.comparison import compare, differences, effects
from memtui.engine.explain.sentences import explain as explain_candidate
from memtui.engine.store.open import open_store
from tests.engine.mutation_battery import QUESTION, VECTOR, rows
from tests.engine.pro_store import DAY_MS, NOW_MS, row, write_store


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = write_store(tmp_path_factory.mktemp("compare") / "store", rows(), dims=3)
    return Engine(open_store(folder), now=lambda: NOW_MS)


def ask(engine: Engine, **more: object) -> Trace:
    given = {"query": QUESTION, "recipe": "pro/tool", "query_vector": VECTOR, "limit": 8, **more}
    return engine.recall(RecallRequest(**given))  # type: ignore[arg-type]


def test_a_recall_equals_itself(engine: Engine) -> None:
    found = compare(ask(engine), ask(engine))
    assert (found.overlap, found.kendall_tau, found.left, found.entered) == (found.k, 1.0, (), ())
    assert found.differences == ()
    assert not any(pair.differs for pair in found.stages)
    assert all(flow.moved == 0 and flow.lost_in_a is None for flow in found.flows)


def test_who_left_and_entered_is_told_with_the_stage_and_its_number(engine: Engine) -> None:
    a = ask(engine)
    b = ask(engine, config={"retrieval": {"hardMinScore": 0.55, "rerank": "none"}})
    found = compare(a, b)
    in_a, in_b = set(a.returned), set(b.returned)
    assert {flow.id for flow in found.left} == in_a - in_b != set()
    assert {flow.id for flow in found.entered} == in_b - in_a
    for flow in found.left:
        assert flow.lost_in_b is not None
        there = next(c for c in b.candidates if c.id == flow.id)
        assert (flow.lost_in_b.stage, flow.lost_in_b.gate) == (there.disposition, there.reason)
        assert flow.lost_in_b.limit == there.limit
    assert [flow.rank_a for flow in found.flows[: len(a.returned)]] == list(range(1, len(a.returned) + 1))
    assert found.overlap == len(in_a & in_b)
    told = {each.parameter: (each.a, each.b, each.stage) for each in found.differences}
    assert told == {
        "retrieval.hardMinScore": (0.35, 0.55, "hard_cutoff"),
        "retrieval.rerank": ("cross-encoder", "none", "reranked"),
    }
    reranked = next(pair for pair in found.stages if pair.name == "reranked")
    assert (reranked.b, reranked.differs) == (None, True)


def test_the_effects_of_the_stages_add_up_to_the_scores(engine: Engine) -> None:
    a, b = ask(engine), ask(engine, recipe="pro/cli")
    for memory in set(a.returned) & set(b.returned):
        parts = [e for e in effects(a, b, memory) if e.stage not in ("vector_ranked", "bm25_ranked")]
        scores = {t.recipe: next(c.score for c in t.results if c.id == memory) for t in (a, b)}
        assert sum(e.a or 0 for e in parts) == pytest.approx(scores["pro/tool"])
        assert sum(e.b or 0 for e in parts) == pytest.approx(scores["pro/cli"])
        assert {e.stage for e in parts if e.a is None} >= {"time_decay"}
    assert any(each.parameter == "decay.betaCore" and each.b is None for each in differences(a, b))


def test_rank_agreement_is_kendalls() -> None:
    from memtui.engine.explain.comparison import _tau

    rng = random.Random(1)
    assert _tau([]) is None
    assert _tau([4]) is None
    assert _tau([0, 1, 2]) == 1.0
    assert _tau([2, 1, 0]) == -1.0
    for _ in range(20):
        order = rng.sample(range(9), 9)
        agree = sum((order[i] < order[j]) for i in range(9) for j in range(i + 1, 9))
        assert _tau(order) == pytest.approx((2 * agree - 36) / 36)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    made = [
        row("words", "Failover goes to db-prod-east-2", (-0.2, 0.98)),
        row("both", "The database db-prod-east-2 fails over by itself", (0.9, 0.436), age=1),
        row("twin", "The database fails over by itself", (0.89, 0.456), age=1),
        row("long", "The database " + "and more of it " * 100, (0.7, -0.714)),
        row("old", "An old database note", (0.6, -0.8), age=400, metadata={"tier": "peripheral"}),
    ]
    folder = write_store(tmp_path_factory.mktemp("told") / "store", made, dims=2)
    return Engine(open_store(folder), now=lambda: NOW_MS + DAY_MS)


def test_a_result_is_explained_in_words(told: Engine) -> None:
    request = RecallRequest(
        "db-prod-east-2 database", recipe="pro/tool", source=None, query_vector=[1, 0], limit=4,
        config={"retrieval": {"hardMinScore": 0.3}},
    )  # fmt: skip
    trace = told.recall(request)
    text = {c.id: explain_candidate(trace, c.id).text for c in trace.candidates}
    assert text["both"].startswith("found by meaning (#1) and by keyword (#")
    assert "'db-prod-east-2'" in text["both"]
    assert "for its length" in text["long"]
    assert "lost" in text["old"]
    assert "for its age and use" in text["old"]
    assert "as a near-duplicate" in text["twin"]
    assert explain_candidate(trace, "nobody").parts == ()


def test_found_by_keyword_only_names_the_word(told: Engine) -> None:
    lanes = {"vector": [["both", 0.9], ["old", 0.8]], "bm25": [["words", 0.62]]}
    trace = told.recall(
        RecallRequest("db-prod-east-2", recipe="pro/tool", source=None, query_vector=[1, 0], lanes=lanes)
    )
    assert explain_candidate(trace, "words").parts[0] == "found by keyword only: 'db-prod-east-2'"
    assert explain_candidate(trace, "both").parts[0] == "found by meaning only (#1)"


def test_a_pair_shares_one_question_vector_and_one_moment(engine: Engine) -> None:
    ticks = iter(range(NOW_MS, NOW_MS + 10_000))
    moving = Engine(engine.store, now=lambda: next(ticks))
    a = RecallRequest(QUESTION, recipe="pro/tool", query_vector=VECTOR, limit=8)
    b = RecallRequest(QUESTION, recipe="pro/agent", limit=3)
    one, other = explain.pair(moving, a, b)
    assert (one.recipe, other.recipe) == ("pro/tool", "pro/agent")
    assert one.now_ms == other.now_ms
    assert other.query_vector is not None
    assert one.query_vector is not None
    assert other.query_vector.tolist() == one.query_vector.tolist()
    assert other.returned == ask(engine, recipe="pro/agent", limit=3).returned


@pytest.fixture(scope="module")
def demo_engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder: Path = build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def test_a_recipe_that_cleans_the_question_embeds_its_own_words(demo_engine: Engine) -> None:
    question = "Which port do I use for SSH to the bastion?"
    a = RecallRequest(question, recipe="pro/agent")
    b = RecallRequest(question, recipe="memtui")
    one, other = explain.pair(demo_engine, a, b)
    alone = demo_engine.recall(RecallRequest(question, recipe="memtui", now_ms=other.now_ms))
    assert one.embedded == question
    assert other.embedded != question
    assert other.returned == alone.returned
    assert np.array_equal(other.query_vector, alone.query_vector)
    assert not explain.compare(one, other).one_scale
    assert other.as_json(explain=False)["embedded"] == other.embedded
    again, _ = explain.pair(demo_engine, b, a)
    assert again.returned == alone.returned


def test_printed_effects_are_the_ones_of_the_account(demo_engine: Engine) -> None:
    request = RecallRequest("Which port do I use for SSH to the bastion?", recipe="pro/agent")
    one, other = explain.pair(
        demo_engine, request, replace(request, config={"retrieval": {"bm25Weight": 0.1}})
    )
    for memory in one.returned:
        for effect in effects(one, other, memory):
            for run, printed in zip((effect.run_a, effect.run_b), effect.printed(), strict=True):
                if run is not None:
                    assert printed == round(run[1], 3) - round(run[0], 3)
