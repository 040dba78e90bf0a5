"""What if: the same as a full recall, a thousand times; flip points; parameters without effect."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import RecallRequest, Trace, UsageError, explain
from memtui.engine.engine import Engine
from memtui.engine.explain.variation import Recompute, changed_request, what_if
from memtui.engine.recall import Candidate, Step
from memtui.engine.recall.knob import Knob
from memtui.engine.recall.recipes.pro.knobs import KNOBS as PRO
from memtui.engine.store.open import open_store
from tests.engine.mutation_battery import QUESTION, VECTOR, rows, unit
from tests.engine.pro_store import DAY_MS, NOW_MS, row, write_store

WHAT_IFS = 1_000


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    rng = random.Random(11)
    scopes = ["global", "agent:main", "agent:ops", "project:atlas"]
    categories = ["fact", "preference", "decision", "entity"]
    made = [dict(each, scope=rng.choice(scopes), category=rng.choice(categories)) for each in rows()]
    made += [
        row(
            f"old{n}",
            f"gateway port {n} of another time",
            unit(0.9 - n / 50, n),
            metadata={"invalidated_at": NOW_MS - n * DAY_MS, "valid_from": 1},
            age=300,
        )
        for n in range(10)
    ]
    made += [
        row("archived", "gateway of the archive", unit(0.86, 1.1), metadata={"state": "archived"}),
        row("later", "gateway port soon over", unit(0.84, 5), metadata={"valid_until": NOW_MS + 3 * DAY_MS}),
    ]
    folder = write_store(tmp_path_factory.mktemp("whatif") / "store", made, dims=3)
    return Engine(open_store(folder), now=lambda: NOW_MS)


def a_request(rng: random.Random) -> RecallRequest:
    retrieval: dict[str, Any] = {}
    if rng.random() < 0.4:
        retrieval = {"minScore": rng.random() * 0.6, "hardMinScore": rng.random() * 0.6}
    if rng.random() < 0.2:
        retrieval["mode"] = "vector"
    return RecallRequest(
        query=rng.choice(
            [QUESTION, "gateway port", "proj:aif gateway", "cluster of the gateway?", "网关配置"]
        ),
        recipe=rng.choice(["pro/agent", "pro/tool", "pro/cli", "pro/article"]),
        config={"retrieval": retrieval} if retrieval else None,
        query_vector=VECTOR,
        limit=rng.choice([None, 1, 3, 6, 12, 20]),
        scopes=rng.choice([None, ["global"], ["global", "agent:ops"], []]),
    )


def a_value(rng: random.Random, knob: Knob) -> Any:
    if knob.kind == "switch":
        return rng.random() < 0.5
    if knob.kind == "choice":
        return rng.choice(knob.choices)
    return knob.clamp(rng.uniform(knob.low, knob.high))


def some_changes(rng: random.Random, trace: Trace) -> Mapping[str, Any]:
    """One to three parameters, or fields of the request, set to random values."""
    others: dict[str, Any] = {
        "now_ms": NOW_MS + rng.randint(-400, 10) * DAY_MS,
        "scopes": rng.choice([None, ["agent:main"], ["global", "project:atlas"]]),
        "category": rng.choice([None, "fact", "preferences", "decision"]),
        "recipe": rng.choice(["pro/agent", "pro/tool", "pro/cli"]),
    }
    out: dict[str, Any] = {}
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.25:
            path = rng.choice(list(others))
            out[path] = others[path]
        else:
            knob = rng.choice(PRO)
            if not (knob.path.startswith("decay.") and trace.config["decay"] is None):
                out[knob.path] = a_value(rng, knob)
    return out


def assert_equal(one: Trace, other: Trace) -> None:
    assert one.returned == other.returned
    assert one.config == other.config
    assert one.warnings == other.warnings
    assert len(one.candidates) == len(other.candidates)
    for a, b in zip(one.candidates, other.candidates, strict=True):
        assert _without(a, "steps") == _without(b, "steps")
        for mine, theirs in zip(a.steps, b.steps, strict=True):
            assert _without(mine, "inputs") == _without(theirs, "inputs")
            assert mine.inputs == theirs.inputs or mine.inputs == {
                key: pytest.approx(value, abs=1e-12) if isinstance(value, float) else value
                for key, value in theirs.inputs.items()
            }


def _without(value: Candidate | Step, left_out: str) -> list[Any]:
    """Every field but one."""
    return [getattr(value, name) for name in value.__dataclass_fields__ if name != left_out]


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
def test_a_thousand_what_ifs_equal_full_recalls(engine: Engine, half: int) -> None:
    """In two halves, which two processes share."""
    rng = random.Random(20260901)
    ask = Recompute(engine.recall_context())
    from_memory = 0
    for n in range(WHAT_IFS):
        if n % 10 == 0:
            trace = engine.recall(a_request(rng))
        changes = some_changes(rng, trace)
        if n % 2 != half:
            continue
        found = what_if(trace, changes, ask)
        full = engine.recall(changed_request(trace, changes))
        assert_equal(found.trace, full)
        assert found.changed == (full.returned != trace.returned)
        assert found.trace.proof.recomputed
        from_memory += not found.asked
    assert from_memory > WHAT_IFS / 2 * 0.6


def test_rows_that_score_the_same_come_in_the_order_of_a_recall_that_is_made_anew(tmp_path: Path) -> None:
    rng = random.Random(0)
    texts = [f"proj:atlas port {rng.randint(0, 6)} {'pad ' * rng.randint(0, 3)}" for _ in range(300)]
    made = [row(f"r{n}", text, (1, 0)) for n, text in enumerate(texts)]
    engine = Engine(open_store(write_store(tmp_path / "store", made, dims=2)), now=lambda: NOW_MS)
    ask = Recompute(engine.recall_context())
    trace = engine.recall(RecallRequest("proj:atlas port", recipe="pro/tool", limit=10))
    for pool in (1, 2, 3, 5, 9):
        changes = {"limit": 1, "retrieval.candidatePoolSize": pool}
        found = what_if(trace, changes, ask)
        assert not found.asked
        assert_equal(found.trace, engine.recall(changed_request(trace, changes)))


def test_what_came_from_memory_can_be_asked_on_like_any_other_answer(engine: Engine) -> None:
    asked = RecallRequest(QUESTION, recipe="pro/tool", query_vector=VECTOR, scopes=["global"])
    ask, trace = Recompute(engine.recall_context()), engine.recall(asked)
    found = what_if(trace, {"limit": 2}, ask)
    assert not found.asked
    wider = {"scopes": None, "retrieval.disableNativeCosine": True}
    further = what_if(found.trace, wider, ask)
    assert further.asked
    assert_equal(further.trace, engine.recall(changed_request(found.trace, wider)))
    lost = next(each for each in trace.returned if each not in found.trace.returned)
    assert (
        explain.why_not_in(engine, found.trace, lost).changes
        == explain.why_not_in(engine, engine.recall(changed_request(trace, {"limit": 2})), lost).changes
    )


def test_a_parameter_that_needs_another_search_says_so(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool", query_vector=VECTOR, scopes=["global"]))
    assert explain.what_if(engine, trace, {"limit": 12}).asked == ""
    assert explain.what_if(engine, trace, {"now_ms": NOW_MS - 30 * DAY_MS}).asked == ""
    assert "searched" in explain.what_if(engine, trace, {"scopes": None}).asked
    assert "read" in explain.what_if(engine, trace, {"retrieval.disableNativeCosine": True}).asked
    needs = {each.knob.path: each.needs for each in explain.parameters(trace)}
    assert needs["retrieval.disableNativeCosine"] == "a search"
    assert needs["retrieval.hardMinScore"] == "nothing"


def test_the_recall_of_an_older_version_is_a_what_if(tmp_path: Path) -> None:
    folder = write_store(tmp_path / "store", [row("old", "The gateway port is 8080", (1, 0))], dims=2)
    first = open_store(folder)
    version = first.version
    import lancedb

    lancedb.connect(folder).open_table("memories").add([row("new", "The gateway port is 8443", (0.9, 0.436))])
    engine = Engine(open_store(folder), now=lambda: NOW_MS)
    request = RecallRequest("which port has the gateway", recipe="pro/tool", query_vector=[1, 0])
    trace = engine.recall(request)
    assert set(trace.returned) == {"old", "new"}
    then = explain.what_if(engine, trace, {"table_version": version})
    assert (then.trace.returned, then.changed) == (("old",), True)
    assert then.trace.table_version == version


@pytest.mark.slow
def test_every_flip_point_holds_on_both_sides(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool", query_vector=VECTOR, limit=6))
    flipped = 0
    for parameter in explain.parameters(trace):
        if parameter.knob.kind not in ("number", "whole") or parameter.inert:
            continue
        strip = explain.flips(engine, trace, parameter.knob.path)
        for flip in strip.flips:
            before = explain.what_if(engine, trace, {strip.path: flip.before}).trace.returned
            after = explain.what_if(engine, trace, {strip.path: flip.after}).trace.returned
            assert before != after
            assert set(before) - set(after) == set(flip.left)
            assert set(after) - set(before) == set(flip.entered)
            assert flip.after - flip.before == pytest.approx(parameter.knob.step)
        low, high = strip.safe
        for value in (low, high, (low + high) / 2):
            same = explain.what_if(engine, trace, {strip.path: parameter.knob.clamp(value)})
            assert same.trace.returned == trace.returned
        flipped += bool(strip.flips)
    assert flipped >= 6


def test_a_parameter_that_is_said_to_do_nothing_does_nothing(engine: Engine) -> None:
    rng = random.Random(3)
    seen = set()
    for recipe in ("pro/agent", "pro/tool", "pro/cli"):
        for mode in ("hybrid", "vector"):
            config = {"retrieval": {"mode": mode, "minScore": 0.2}}
            trace = engine.recall(
                RecallRequest(QUESTION, recipe=recipe, query_vector=VECTOR, config=config, limit=10)
            )
            for parameter in explain.parameters(trace):
                if not parameter.inert or parameter.knob.path == "retrieval.minScore":
                    continue
                seen.add(parameter.knob.path)
                for _ in range(4):
                    after = explain.what_if(
                        engine, trace, {parameter.knob.path: a_value(rng, parameter.knob)}
                    )
                    assert not after.changed, parameter
    assert {"retrieval.recencyWeight", "decay.staleThreshold", "retrieval.bm25Weight"} <= seen


def test_findings_stand_beside_their_parameter(engine: Engine) -> None:
    config = {"retrieval": {"candidatePoolSize": 50, "recencyWeight": 0.4}}
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/tool", query_vector=VECTOR, config=config))
    beside = {each.knob.path: each.findings for each in explain.parameters(trace)}
    assert any("above 20" in finding for finding in beside["retrieval.candidatePoolSize"])
    assert any("no effect for agents" in finding for finding in beside["retrieval.recencyWeight"])
    assert any("silently" in finding for finding in beside["retrieval.rerank"])


def test_a_memory_can_be_the_question(engine: Engine) -> None:
    base = RecallRequest("anything", recipe="pro/tool", scopes=None, limit=3)
    found = engine.recall(explain.more_like(engine, "core", base))
    assert found.returned[0] == "core"
    assert "twin" in found.returned or any(c.id == "twin" for c in found.candidates)
    with pytest.raises(UsageError, match="no vector"):
        explain.more_like(engine, "zero", base)
    with pytest.raises(UsageError, match="no memory"):
        explain.more_like(engine, "nobody", base)


def test_what_cannot_be_turned_is_refused(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/cli", query_vector=VECTOR))
    with pytest.raises(UsageError, match="decay engine"):
        explain.what_if(engine, trace, {"decay.betaCore": 1.0})
    with pytest.raises(UsageError, match="no parameter"):
        explain.what_if(engine, trace, {"colour": "blue"})
    with pytest.raises(UsageError, match="no number"):
        explain.flips(engine, trace, "retrieval.mode")
