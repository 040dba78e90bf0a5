"""Whose recall it is: an agent's recipe searches what the agent may read, and the trace says so."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memtui.cli.main import run as main
from memtui.engine import Engine, RecallRequest, explain, open_engine
from memtui.engine.cases.case import case_from, new_case
from memtui.engine.recall.recipes.registry import all_recipes, recipe_named
from tests.conftest import thinned
from tests.engine.pro_store import NOW_MS, row, write_store
from tests.engine.tables import write_table

SCOPES = ("global", "agent:main", "agent:ops", "user:eva", "project:atlas", "reflection:agent:main")
ROWS = [
    row(scope, f"The gateway port as {scope} has it", (1, 0.01 * n), scope=scope)
    for n, scope in enumerate(SCOPES)
]
QUESTION = "Which is the gateway port, as they have it?"


def home(tmp_path: Path, scopes: dict[str, Any], agents: list[dict[str, Any]]) -> dict[str, str]:
    """A home whose agents keep their memories in `tmp_path/store`; the environment that leads there."""
    write_store(tmp_path / "store", ROWS, dims=2)
    state = tmp_path / ".openclaw"
    state.mkdir()
    plugin = {"enabled": True, "config": {"dbPath": str(tmp_path / "store"), "scopes": scopes}}
    config = {
        "plugins": {"slots": {"memory": "memory-lancedb-pro"}, "entries": {"memory-lancedb-pro": plugin}},
        "agents": {"list": agents},
    }
    (state / "openclaw.json").write_text(json.dumps(config))
    return {"HOME": str(tmp_path)}


def opened(tmp_path: Path, scopes: dict[str, Any] | None = None, *agents: dict[str, Any]) -> Engine:
    environ = home(tmp_path, scopes or {}, list(agents))
    return open_engine(str(tmp_path / "store"), now=lambda: NOW_MS, environ=environ, cwd=tmp_path)


def asked(recipe: str = "pro/agent", **more: Any) -> RecallRequest:
    return RecallRequest(QUESTION, recipe=recipe, query_vector=[1.0, 0.0], limit=20, **more)


def scopes_of(engine: Engine, request: RecallRequest) -> set[str]:
    trace = engine.recall(request)
    return {row.scope or "" for row in trace.pool.rows}


@pytest.mark.parametrize("recipe", ["pro/agent", "pro/tool"])
def test_an_agents_recipe_asks_as_main_where_nothing_is_configured(tmp_path: Path, recipe: str) -> None:
    engine = opened(tmp_path)
    trace = engine.recall(asked(recipe))
    assert {row.scope for row in trace.pool.rows} == {"global", "agent:main", "reflection:agent:main"}
    assert trace.asker is not None
    assert trace.asker.words == "asked by main: global, agent:main, reflection:agent:main"
    document = trace.as_json()
    assert document["asked_by"]["agent"] == "main"
    assert document["filters"]["scopes"] == ["global", "agent:main", "reflection:agent:main"]
    assert document["asked_by"]["reasons"]["global"] == {"allowed": True, "reason": "default-global"}


def test_the_configured_agent_asks_and_its_access_list_decides(tmp_path: Path) -> None:
    access = {"agentAccess": {"main": ["global"], "helper": ["user:eva"]}}
    engine = opened(tmp_path, access, {"id": "main"}, {"id": "helper", "default": True})
    assert engine.agents == ("helper", "main")
    assert scopes_of(engine, asked()) == {"user:eva"}
    assert scopes_of(engine, asked(agent="main")) == {"global", "reflection:agent:main"}
    assert scopes_of(engine, asked(agent="system")) == set(SCOPES)


def test_all_scopes_are_a_persons_choice_and_are_called_so(tmp_path: Path) -> None:
    engine = opened(tmp_path)
    trace = engine.recall(asked(scopes=None))
    assert {row.scope for row in trace.pool.rows} == set(SCOPES)
    assert trace.asker is not None
    assert trace.asker.sees_all
    assert "no agent sees" in trace.asker.words


def test_scopes_that_are_named_are_searched_and_what_the_agent_may_not_read_is_said(tmp_path: Path) -> None:
    engine = opened(tmp_path)
    trace = engine.recall(asked(scopes=["user:eva", "global"]))
    assert {row.scope for row in trace.pool.rows} == {"user:eva", "global"}
    assert trace.asker is not None
    assert [grant.scope for grant in trace.asker.refused] == ["user:eva"]
    assert "main may not read user:eva" in trace.asker.words


def test_who_gives_the_source_replays_the_retriever_which_filters_nothing(tmp_path: Path) -> None:
    engine = opened(tmp_path)
    assert scopes_of(engine, asked(source="auto-recall")) == set(SCOPES)
    assert scopes_of(engine, asked(source=None)) == set(SCOPES)


@pytest.mark.parametrize("recipe", ["pro/cli", "pro/article", "memtui"])
def test_a_recipe_that_is_no_agents_searches_everything(tmp_path: Path, recipe: str) -> None:
    engine = opened(tmp_path, {"agentAccess": {"main": ["global"]}})
    trace = engine.recall(asked(recipe))
    assert {row.scope for row in trace.pool.rows} == set(SCOPES)
    assert trace.asker is not None
    assert "asked by" in trace.asker.words


EVERYBODYS = [each.name for each in all_recipes() if not each.of_agent]


@pytest.mark.parametrize("recipe", EVERYBODYS)
def test_an_agent_that_is_named_decides_or_the_answer_says_that_it_does_not(
    tmp_path: Path, recipe: str
) -> None:
    engine = opened(tmp_path, {"agentAccess": {"helper": ["user:eva"]}})
    before = scopes_of(engine, asked(recipe))
    trace = engine.recall(asked(recipe, agent="helper"))
    assert trace.asker is not None
    now = {row.scope for row in trace.pool.rows}
    if "helper is named and changes nothing" in trace.asker.words:
        assert now == before
    elif recipe_named(recipe).own_rows:
        assert trace.asker.words.startswith("asked by helper")
    else:
        assert now == {"user:eva"} < before
        assert trace.asker.words == "asked by helper: user:eva, reflection:agent:helper"


BUILT_IN = ("id", "text", "importance", "category", "createdAt")
OTHERS = {
    "built in": (*BUILT_IN, "agentId", "scope"),
    "engine": (*BUILT_IN, "scope", "importance_label", "trust_tier"),
}
"""The columns of stores that other programs own: rows of an agent, and scopes by a policy."""


@pytest.mark.parametrize("kind", OTHERS)
def test_in_the_stores_of_other_programs_an_agent_counts_or_is_said_not_to(tmp_path: Path, kind: str) -> None:
    numbers = ("importance", "createdAt")
    fields = [(name, pa.float64() if name in numbers else pa.string()) for name in OTHERS[kind]]
    schema = pa.schema([*fields, ("vector", pa.list_(pa.float32(), 2))])
    memory = {name: 0.5 if name in numbers else "global" for name in OTHERS[kind]}
    write_table(tmp_path / "store", [{**memory, "text": QUESTION, "vector": [1.0, 0.0]}], schema)
    engine = open_engine(tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    for recipe in all_recipes():
        trace = engine.recall(asked(recipe.name, agent="ops"))
        assert trace.asker is not None
        if recipe.own_rows or (kind == "engine" and not recipe.scope_by_scope):
            assert trace.asker.words.startswith("asked by ops: ")
        else:
            assert "ops is named and changes nothing: " in trace.asker.words, recipe.name


def test_deciding_twice_changes_nothing(tmp_path: Path) -> None:
    engine = opened(tmp_path, {"agentAccess": {"main": ["global"]}})
    first = engine.recall(asked())
    assert first.request is not None
    second = engine.recall(first.request)
    assert second.asker == first.asker
    assert second.returned == first.returned


def test_why_not_names_the_rule_that_keeps_a_memory_from_the_agent(tmp_path: Path) -> None:
    engine = opened(tmp_path, {"agentAccess": {"main": ["global"]}})
    verdict = explain.why_not(engine, "agent:main", asked(), changes=False)
    assert (verdict.gate, verdict.value) == ("scope", "agent:main")
    assert "access list" in verdict.sentence
    assert "main reads global, reflection:agent:main" in verdict.sentence


@pytest.mark.parametrize("recipe", thinned((each.name for each in all_recipes() if not each.own_rows), 3))
def test_why_not_and_the_search_agree_on_every_scope_and_on_none(tmp_path: Path, recipe: str) -> None:
    bare = [
        row(name, f"The gateway port in no scope, {name}", (1, 0.5), scope=scope)
        for name, scope in (("blank", ""), ("null", None))
    ]
    write_store(tmp_path / "store", [*ROWS, *bare], dims=2)
    engine = open_engine(tmp_path / "store", now=lambda: NOW_MS, environ={}, cwd=tmp_path)
    request = asked(recipe, agent="main")
    met = {each.id for each in engine.recall(request).pool.rows}
    for each in (*SCOPES, "blank", "null"):
        verdict = explain.why_not(engine, each, request, changes=False)
        rung = next(rung for rung in verdict.ladder if rung.gate == "scope")
        assert rung.passed is (each in met), each


def test_a_case_asks_as_the_agent_unless_it_was_judged_on_all_scopes(tmp_path: Path) -> None:
    engine = opened(tmp_path)
    case = new_case(QUESTION, now_ms=NOW_MS)
    wide = new_case(QUESTION, now_ms=NOW_MS, everyone=True)
    assert case.id != wide.id
    assert case_from(wide.as_json(), "here") == wide
    assert scopes_of(engine, replace(asked(), scopes=case.searched)) < set(SCOPES)
    assert scopes_of(engine, replace(asked(), scopes=wide.searched)) == set(SCOPES)


def test_the_command_line_asks_as_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = home(tmp_path, {"agentAccess": {"main": ["global"]}}, [])
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    vector = tmp_path / "vector.json"
    vector.write_text("[1.0, 0.0]")
    common = [
        "recall",
        QUESTION,
        "--recipe",
        "pro/agent",
        "--query-vector",
        str(vector),
        "--store",
        str(tmp_path / "store"),
    ]
    assert main([*common, "--agent", "main", "--json", "--explain"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {each["id"] for each in document["candidates"]} == {"global", "reflection:agent:main"}
    assert main([*common, "--all-scopes", "--json", "--explain"]) == 0
    assert len(json.loads(capsys.readouterr().out)["candidates"]) == len(SCOPES)
    assert main([*common, "--agent", "ops"]) == 0
    assert "asked by ops: global, agent:ops, reflection:agent:ops" in capsys.readouterr().out


def test_a_batch_takes_null_for_all_scopes_and_nothing_for_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in home(tmp_path, {}, []).items():
        monkeypatch.setenv(name, value)
    base = {"query": QUESTION, "recipe": "pro/agent", "query_vector": [1, 0], "limit": 20}
    lines = [base, {**base, "scopes": None}, {**base, "scopes": []}, {**base, "source": "auto-recall"}]
    (tmp_path / "batch.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert main(["recall", "--batch", str(tmp_path / "batch.jsonl"), "--store", str(tmp_path / "store")]) == 0
    found = [len(json.loads(line)["candidates"]) for line in capsys.readouterr().out.splitlines()]
    assert found == [3, len(SCOPES), 0, len(SCOPES)]


def test_every_recipe_says_what_others_decide_by() -> None:
    for recipe in all_recipes():
        assert recipe.family, recipe.name
        assert recipe.unfiltered, recipe.name
        assert recipe.limit > 0
        purpose = recipe.on_purpose
        assert not purpose or recipe_named(purpose).family == recipe.family
        if recipe.finding is not None:
            own = {knob.path for knob in recipe.knobs if knob.path.startswith(f"{recipe.block}.")}
            assert recipe.finding < own, recipe.name
