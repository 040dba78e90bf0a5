"""One ledger: whatever Why not says of a candidate stands in the trace of the same recall, number for number."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import Engine, RecallRequest, Trace, explain, open_engine
from memtui.engine.demo import build_demo
from memtui.engine.demo.content import questions
from memtui.engine.explain.inquiry import INDIRECT, PROMPT_GATES
from memtui.engine.recall.trace import Candidate
from tests.conftest import NOW_MS

SCORE_GATES = {"min_score": ("rerank_input", "scored_input"), "hard_cutoff": ("hard_cutoff",)}


def disagreements(engine: Engine, trace: Trace) -> Iterator[str]:
    """Where the verdict on a candidate is not what the trace recorded."""
    pool = {row.id: at for at, row in enumerate(trace.pool.rows)}
    for candidate in trace.candidates:
        verdict = explain.why_not_in(engine, trace, candidate.id, changes=False)
        where = f"{trace.recipe} {trace.query!r} {candidate.id}"
        if verdict.rank != candidate.rank:
            yield f"{where}: came back as {candidate.rank}, said {verdict.rank}"
        if candidate.rank is not None:
            before = [rung for rung in verdict.ladder if rung.gate not in PROMPT_GATES]
            if verdict.gate not in (None, *PROMPT_GATES) or any(rung.passed is False for rung in before):
                yield f"{where}: came back, and {verdict.gate} is said to have stopped it"
            continue
        if verdict.gate != candidate.reason and verdict.gate not in INDIRECT:
            yield f"{where}: stopped at {candidate.reason}, said {verdict.gate}"
        rung = verdict.rung(candidate.reason)
        if rung is None or rung.passed is not False:
            yield f"{where}: the ladder does not say that {candidate.reason} stopped it"
            continue
        gates = [record.outcome.dropped.get(pool[candidate.id]) for record in trace.records]
        gate = next(each for each in gates if each is not None and each.reason == candidate.reason)
        for name, told, recorded in (("value", rung.value, gate.value), ("limit", rung.limit, gate.limit)):
            if recorded is not None and told != recorded:
                yield f"{where}: {name} of {candidate.reason} is {recorded}, said {told}"
        yield from passed_values(trace, candidate, {each.gate: each.value for each in verdict.ladder}, where)


def passed_values(trace: Trace, candidate: Candidate, told: dict[str, object], where: str) -> Iterator[str]:
    """The numbers at the gates that the candidate came to, as its steps have them."""
    for gate, stages in SCORE_GATES.items():
        step = next((each for each in candidate.steps if each.stage in stages), None)
        if step is not None and step.before is not None and told[gate] != step.before:
            yield f"{where}: {gate} saw {step.before}, said {told[gate]}"
    step = next((each for each in candidate.steps if each.stage == "limit"), None)
    if step is not None and told["limit"] != step.rank_before:
        yield f"{where}: limit saw place {step.rank_before}, said {told['limit']}"
    ranks = [candidate.sources[lane]["rank"] for lane in ("vector", "bm25") if lane in candidate.sources]
    if ranks and told["candidate_pool"] != min(int(rank) for rank in ranks if rank is not None):
        yield f"{where}: found at {ranks}, said {told['candidate_pool']}"


@pytest.fixture(scope="module")
def demo_engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = build_demo(tmp_path_factory.mktemp("demo") / "store", now_ms=NOW_MS)
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["pro/agent", "pro/tool", "pro/cli", "pro/article"])
def test_the_demo_tells_one_story(demo_engine: Engine, recipe: str) -> None:
    wrong: list[str] = []
    seen = 0
    for question in questions()[:4]:
        trace = demo_engine.recall(RecallRequest(question.query, recipe=recipe, scopes=question.scopes))
        seen += len(trace.candidates)
        wrong += disagreements(demo_engine, trace)
    assert seen > 60
    assert not wrong, "\n".join(wrong[:10])


def test_the_memory_that_two_screens_told_differently(demo_engine: Engine) -> None:
    """In the question which editor one of the team uses, one lane alone found the note on the bulk editor."""
    trace = demo_engine.recall(
        RecallRequest("Which editor does someone of the team use?", recipe="pro/agent", scopes=None)
    )
    alone = [
        candidate
        for candidate in trace.candidates
        if candidate.rank is None and len({"vector", "bm25"} & candidate.sources.keys()) == 1
    ]
    assert alone, "some memories are found by one lane alone"
    assert not list(disagreements(demo_engine, trace))


def test_what_its_scope_hides_is_told_as_what_would_be(demo_engine: Engine) -> None:
    """Places that no recall has are no finding; the numbers behind the gate are those of the recall without it."""
    question = "which editor does someone of the team use"
    asked = RecallRequest(question, recipe="pro/agent", agent="main")
    within = demo_engine.recall(asked)
    beyond = demo_engine.recall(replace(asked, scopes=None, agent=""))
    hidden = [
        each
        for each in beyond.candidates
        if each.rank is not None and each.id not in {one.id for one in within.candidates}
    ]
    assert hidden
    for each in hidden:
        verdict = explain.why_not_in(demo_engine, within, each.id, changes=False)
        found = verdict.rung("candidate_pool")
        assert verdict.gate == "scope"
        assert found is not None
        assert found.hypothetical
        assert "would be number" in found.sentence
        assert "Found" not in found.sentence
        assert " is number " not in found.sentence
        told = verdict.rung("hard_cutoff")
        final = next(step.before for step in each.steps if step.stage == "hard_cutoff")
        assert told is not None
        assert told.value == pytest.approx(final, abs=0.02)  # the idf of words counts fewer memories


@pytest.mark.slow
@pytest.mark.parametrize("name", ["store-lived", "store-clean"])
def test_the_plugins_own_stores_tell_one_story(shared: Path, tmp_path: Path, name: str) -> None:
    peer = shared / "fixtures" / "peer"
    with tarfile.open(peer / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    folder = next(path.parent for path in tmp_path.rglob("*.lance"))
    with gzip.open(peer / "traces.json.gz", "rt", encoding="utf-8") as file:
        data = json.load(file)
    vectors = np.load(peer / "query_vectors.npy")
    engine = open_engine(str(folder), now=lambda: int(data["now_ms"]), environ={}, cwd=tmp_path)
    wrong: list[str] = []
    asked = [query for query in data["queries"] if query["vector_index"] is not None]
    for query in asked[::13]:
        for recipe in ("pro/agent", "pro/tool", "pro/cli"):
            request = RecallRequest(
                query["text"],
                recipe=recipe,
                scopes=None,
                query_vector=vectors[query["vector_index"]].tolist(),
                limit=5,
            )
            wrong += disagreements(engine, engine.recall(request))
    assert not wrong, "\n".join(wrong[:10])
