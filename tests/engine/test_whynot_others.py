"""Why not beyond the plugin's recipes: the built-in program, memtui's own; odd questions and clocks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memtui.engine import RecallRequest, RefusedError, UsageError, changes, explain, open_engine
from memtui.engine.changes.suggested import shortened
from memtui.engine.engine import Engine
from memtui.engine.explain import Verdict, read_receipt
from memtui.engine.explain.knobs import with_value
from memtui.engine.store.open import open_store
from tests.engine.planted import TARGET, healthy
from tests.engine.pro_store import DAY_MS, NOW_MS, row, write_store
from tests.engine.tables import write_table

BUILTIN = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("vector", pa.list_(pa.float32(), 2)),
        ("importance", pa.float64()),
        ("category", pa.string()),
        ("createdAt", pa.float64()),
        ("agentId", pa.string()),
    ]
)


def uuid(n: int) -> str:
    return f"{n:08x}-0000-4000-8000-{n:012x}"


@pytest.fixture
def builtin(tmp_path: Path) -> Engine:
    def made(n: int, x: float, agent: str = "main") -> dict[str, Any]:
        return {
            "id": uuid(n), "text": f"memory {n}", "vector": [x, 0.0], "importance": 0.5, "category": "fact",
            "createdAt": float(NOW_MS), "agentId": agent,
        }  # fmt: skip

    rows = [made(n, 1.0 + n / 10) for n in range(20)] + [made(50, 1.0, "ops"), made(60, 9.0)]
    write_table(tmp_path / "store", rows, BUILTIN)
    return Engine(open_store(tmp_path / "store"), now=lambda: NOW_MS)


def ask_builtin(engine: Engine, n: int, **more: Any) -> Verdict:
    request = RecallRequest("memory", recipe="memory-lancedb", query_vector=[1, 0], **more)
    verdict = explain.why_not(engine, uuid(n), request)
    for change in verdict.changes:
        again = with_value(request, change.knob, change.after)
        assert uuid(n) in engine.recall(again).returned
        if change.one_less is not None:
            assert uuid(n) not in engine.recall(with_value(request, change.knob, change.one_less)).returned
    return verdict


def test_the_built_in_program_searches_one_agents_rows(builtin: Engine) -> None:
    verdict = ask_builtin(builtin, 50)
    assert (verdict.gate, verdict.value, verdict.limit) == ("scope", "ops", ["main"])
    assert "agent ops" in verdict.sentence
    assert ask_builtin(builtin, 50, agent="ops").returned
    base = builtin.recall(RecallRequest("memory", recipe="memory-lancedb", query_vector=[1, 0]))
    assert explain.bounds(builtin.store, builtin.catalog).owners == ("main", "ops")
    assert explain.what_if(builtin, base, {"agent": "ops"}).trace.returned == (uuid(50),)


def test_the_built_in_program_takes_the_nearest(builtin: Engine) -> None:
    verdict = ask_builtin(builtin, 7)
    assert (verdict.gate, verdict.value, verdict.limit) == ("limit", 8, 5)
    assert [(c.knob, c.after, c.one_less) for c in verdict.changes] == [("limit", 8, 7)]
    far = ask_builtin(builtin, 60)
    assert (far.gate, far.value) == ("candidate_pool", 21)
    assert [each.gate for each in far.ladder if each.passed is False] == [
        "candidate_pool",
        "min_score",
        "limit",
    ]
    assert any(each.knob == "min_score" for each in far.powerless)


def test_memtuis_own_recipe_has_the_gates_that_its_trace_names(tmp_path: Path) -> None:
    world = healthy(3)
    world.change(scope="agent:ops")
    engine = Engine(open_store(world.write(tmp_path / "scope")), now=lambda: NOW_MS)
    request = world.ask(recipe="memtui")
    verdict = explain.why_not(engine, TARGET, request)
    assert (verdict.gate, verdict.value) == ("scope", "agent:ops")
    assert TARGET in engine.recall(with_value(request, "scopes", verdict.changes[0].after)).returned
    inside = with_value(request, "scopes", ["agent:ops"])
    assert explain.why_not(engine, TARGET, inside).returned


def test_memtuis_own_recipe_cuts_at_the_limit(tmp_path: Path) -> None:
    rows = [row(f"m{n}", f"gateway port note {n}", (1.0, n / 10)) for n in range(12)]
    engine = Engine(open_store(write_store(tmp_path / "store", rows, dims=2)), now=lambda: NOW_MS)
    request = RecallRequest("gateway port", recipe="memtui", query_vector=[1, 0], limit=3)
    last = engine.recall(with_value(request, "limit", 12)).returned[-1]
    verdict = explain.why_not(engine, last, request)
    assert not verdict.returned
    assert verdict.gate is not None
    (change,) = [each for each in verdict.changes if each.knob == "limit"]
    assert last in engine.recall(with_value(request, "limit", change.after)).returned
    assert last not in engine.recall(with_value(request, "limit", change.one_less)).returned


def test_a_duplicated_id_is_looked_up_once(tmp_path: Path) -> None:
    rows = [row("twice", "the gateway port", (1, 0)), row("twice", "the gateway port again", (0.9, 0.436))]
    engine = Engine(open_store(write_store(tmp_path / "store", rows, dims=2)), now=lambda: NOW_MS)
    verdict = explain.why_not(
        engine, "twice", RecallRequest("gateway port", recipe="pro/tool", query_vector=[1, 0])
    )
    assert verdict.returned


def test_questions_that_make_no_sense_are_answered_in_words(tmp_path: Path) -> None:
    engine = Engine(
        open_store(write_store(tmp_path / "s", [row("one", "a gateway port", (1, 0))], dims=2)),
        now=lambda: NOW_MS,
    )
    request = RecallRequest("gateway port", recipe="pro/tool", query_vector=[1, 0])
    with pytest.raises(UsageError, match="empty"):
        explain.why_not(engine, "one", with_value(request, "query", "  "))
    none = engine.recall(with_value(request, "limit", 0))
    assert none.limit == 1
    assert "a limit of 0 is taken as 1" in none.warnings
    early = engine.recall(with_value(request, "now_ms", NOW_MS - 400 * DAY_MS))
    assert early.returned == ()
    assert any("none of these memories was there yet" in warning for warning in early.warnings)
    verdict = explain.why_not(engine, "one", with_value(request, "now_ms", NOW_MS - 400 * DAY_MS))
    assert verdict.gate == "inactive"
    assert "valid from" in verdict.sentence
    (change,) = [each for each in verdict.changes if each.knob == "now_ms"]
    assert (change.after, change.one_less) == (NOW_MS, NOW_MS - 1)
    weightless = {"retrieval": {"vectorWeight": 0, "bm25Weight": 0}}
    nothing = explain.why_not(engine, "one", with_value(request, "config", weightless))
    assert nothing.gate == "min_score"
    assert {each.knob for each in nothing.changes} >= {"retrieval.vectorWeight"}


def test_a_trace_from_a_file_cannot_be_searched(tmp_path: Path) -> None:
    import json

    engine = Engine(
        open_store(write_store(tmp_path / "s", [row("one", "a gateway port", (1, 0))], dims=2)),
        now=lambda: NOW_MS,
    )
    trace = engine.recall(RecallRequest("gateway port", recipe="pro/tool", query_vector=[1, 0]))
    receipt = read_receipt(json.dumps(explain.receipt(engine, trace)))
    comparison = explain.compare(receipt, trace)
    assert comparison.kendall_tau is None
    assert comparison.overlap == comparison.k


def test_a_change_of_the_memory_is_a_change_set_that_brings_it_back(tmp_path: Path) -> None:
    world = healthy(3)
    world.change(metadata={"state": "archived"})
    folder = world.write(tmp_path / "store")
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=tmp_path)
    verdict = explain.why_not(engine, TARGET, world.ask(recipe="pro/agent"))
    assert verdict.gate == "state"
    (change,) = [each for each in verdict.changes if each.knob == "memory.state"]
    changes.apply(engine, changes.plan_change(engine, TARGET, change))
    engine.refresh()
    assert explain.why_not(engine, TARGET, world.ask(recipe="pro/agent")).returned
    with pytest.raises(UsageError, match="no field"):
        changes.plan_change(engine, TARGET, replace(change, knob="limit"))


@pytest.mark.parametrize(
    ("gate", "metadata", "said", "knob"),
    [
        ("inactive", {"invalidated_at": NOW_MS - 5, "superseded_by": "filler00"}, "by filler00", "invalidated_at"),
        ("expired", {"valid_until": NOW_MS - 5}, "expired at", "valid_until"),
        ("state", {"state": "archived"}, "archived", "state"),
    ],
)  # fmt: skip
def test_memtuis_own_recipe_names_what_a_memory_is_and_lets_it_through(
    tmp_path: Path, gate: str, metadata: dict[str, Any], said: str, knob: str
) -> None:
    world = healthy(6)
    world.change(metadata=metadata)
    folder = world.write(tmp_path / "store")
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)
    verdict = explain.why_not(engine, TARGET, world.ask(recipe="memtui"))
    assert verdict.gate == gate
    assert said in verdict.sentence
    assert f"memory.{knob}" in {change.knob for change in verdict.changes if change.confirmed}
    assert ("now_ms" in {change.knob for change in verdict.changes}) == (gate != "state")
    last = engine.recall(world.ask(recipe="memtui", limit=3))
    behind = next(each for each in last.candidates if each.reason == "limit")
    told = explain.why_not(engine, behind.id, world.ask(recipe="memtui", limit=3))
    assert (told.gate, told.limit) == ("limit", 3)
    assert told.sentence.startswith("It stands at ")


def test_a_superseded_memory_is_staged_to_count_again(tmp_path: Path) -> None:
    world = healthy(4)
    world.change(metadata={"invalidated_at": NOW_MS - 1, "superseded_by": "filler00"})
    folder = world.write(tmp_path / "store")
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=tmp_path)
    verdict = explain.why_not(engine, TARGET, world.ask())
    (change,) = [each for each in verdict.changes if each.knob == "memory.invalidated_at"]
    plan = changes.plan_change(engine, TARGET, change)
    assert "filler00" in plan.warnings[0]
    changes.apply(engine, plan)
    engine.refresh()
    assert explain.why_not(engine, TARGET, world.ask()).returned
    shorter = replace(change, knob="memory.length", after=20)
    with pytest.raises(RefusedError, match="vector"):  # no embedder is known for this store
        changes.plan_change(engine, TARGET, shorter)


def test_a_shorter_text_ends_with_a_word() -> None:
    assert shortened("The gateway listens on 8443", 21) == "The gateway listens"
    assert shortened("The gateway", 40) == "The gateway"
    assert shortened("x" * 60, 50) == "x" * 50
    assert shortened("港が開く 🚢🚢", 6) == "港が開く"


def test_the_sentence_has_the_words_of_the_question(tmp_path: Path) -> None:
    world = healthy(5)
    folder = world.write(tmp_path / "store")
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)
    request = world.ask(
        query="Which gateways does staging have, and Häfen?", query_vector=[0.0, 1.0] + [0.0] * 22
    )
    rung = explain.why_not(engine, "filler00", request).rung("candidate_pool")
    assert rung is not None
    assert [w for w in rung.facts["question_words"] if w in ("doe", "gatewai", "gateway", "hafen")] == []
    assert {"gateways", "staging", "Häfen"} <= set(rung.facts["question_words"])
    assert explain.why_not(engine, TARGET, request).rung("candidate_pool").facts["shared_words"] == [  # type: ignore[union-attr]
        "gateways",
        "staging",
    ]


def test_a_knob_that_cannot_be_asked_here_does_not_stop_the_others(tmp_path: Path) -> None:
    rows = [row(f"m{n}", f"gateway port note {n}", (1.0, n / 10)) for n in range(12)]
    engine = Engine(open_store(write_store(tmp_path / "store", rows, dims=2)), now=lambda: NOW_MS)
    request = RecallRequest("gateway port note", recipe="pro/tool", limit=3)
    trace = engine.recall(request)
    assert trace.mode == "keyword"
    last = next(each.id for each in trace.candidates if each.reason == "limit")
    verdict = explain.why_not(engine, last, request)
    assert "limit" in {change.knob for change in verdict.changes}
    unable = {each.knob: each.why for each in verdict.powerless}
    assert unable["retrieval.mode"].startswith(
        "This recall asks by meaning only, and its question has no vector."
    )
    assert ", and No" not in unable["retrieval.mode"]
    for path in ("retrieval.vectorWeight", "retrieval.bm25Weight"):
        assert "one lane" in unable[path]
        assert not explain.what_if(engine, trace, {path: 0.05}).changed


def test_settings_are_resolved_before_anything_is_asked(tmp_path: Path) -> None:
    folder = write_store(tmp_path / "s", [row("one", "a gateway port", (1, 0))], dims=2)
    engine = Engine(open_store(folder), now=lambda: NOW_MS)
    for recipe, block in (("pro/agent", "retrieval"), ("memtui", "memtui"), ("mem-engine", "memEngine")):
        config, _ = explain.settings(engine, RecallRequest("", recipe=recipe))
        assert config[block] == engine.recall(RecallRequest("gateway port", recipe=recipe)).config[block]
    weightless = {"retrieval": {"vectorWeight": 0, "bm25Weight": 0}, "decay": None}
    _, findings = explain.settings(engine, RecallRequest("", recipe="pro/tool", config=weightless))
    assert any("both 0: meaning counts nothing" in finding for finding in findings)
    aimless = {"decay": {"recencyWeight": 0, "frequencyWeight": 0, "intrinsicWeight": 0}}
    _, findings = explain.settings(engine, RecallRequest("", recipe="pro/tool", config=aimless))
    assert any("all 0: neither age nor use nor importance counts" in finding for finding in findings)
