"""The recorded recalls of the real CrewAI, compared in ids, order and every part of the score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, explain, open_engine
from memtui.engine.core.errors import ConfigError
from memtui.engine.recall.request import RecallRequest
from tests.engine.crewai_store import NOW_MS, recorded, unpack
from tests.engine.tables import pro_row, write_table

EXACT = 1e-6


@pytest.fixture(scope="module")
def engine(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return opened(unpack(shared, tmp_path_factory.mktemp("crewai")))


def opened(folder: Path) -> Engine:
    """The store in `folder`, for reading."""
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)


def request_of(recall: dict[str, Any], everything: dict[str, Any]) -> RecallRequest:
    """The request that stands for a recorded recall, by the contract of the commands."""
    query = everything["queries"][recall["query"]]
    memory = {**everything["settings"][recall["setting"]]}
    if recall["root_scope"] is not None:
        memory["root_scope"] = recall["root_scope"]
    asked = {
        name: recall[name]
        for name in ("categories", "source", "include_private", "min_score", "metadata_filter")
    }
    asked["depth"] = "deep" if recall["via"] == "deep" else "shallow"
    if recall["via"] == "search":
        memory |= {"semantic_weight": 1, "recency_weight": 0, "importance_weight": 0}
        asked["include_private"] = True
    scope = recall["scope"]
    return RecallRequest(
        query=query["text"],
        recipe="crewai",
        config={"memory": memory, "recall": asked},
        scopes=None if scope is None else [scope] if isinstance(scope, str) else scope,
        limit=recall["limit"],
        now_ms=recall["now_ms"],
        query_vector=query["vector"],
    )


@pytest.mark.parametrize("via", ["recall", "search", "deep", "slice"])
def test_every_recorded_recall_comes_out_the_same(engine: Engine, shared: Path, via: str) -> None:
    everything = recorded(shared)
    recalls = [each for each in everything["recalls"] if each["via"] == via]
    assert len(recalls) >= 20
    for recall in recalls:
        trace = engine.recall(request_of(recall, everything))
        theirs = recall["results"]
        assert list(trace.returned) == [each["id"] for each in theirs], recall["n"]
        assert trace.proof.recomputed, (recall["n"], trace.proof.failures)
        for ours, row in zip(trace.results, theirs, strict=True):
            assert ours.score == pytest.approx(row["score"], abs=EXACT)
            if via == "search":
                continue
            parts = next(step.inputs for step in ours.steps if step.rule == "weighted")
            for name in ("semantic", "recency", "importance"):
                assert parts[name] == pytest.approx(row[name], abs=EXACT)
            assert parts["reasons"].split(", ") == row["reasons"]


def test_the_account_is_complete(engine: Engine, shared: Path) -> None:
    """Each row that a search met and did not bring back has the gate that it missed."""
    everything = recorded(shared)
    recall = next(each for each in everything["recalls"] if each["via"] == "recall" and each["categories"])
    trace = engine.recall(request_of(recall, everything))
    assert {each.disposition for each in trace.candidates} > {"returned"}
    assert all(each.rank is not None or each.reason for each in trace.candidates)
    asked = [
        each for each in everything["recalls"] if each["via"] == "recall" and not each["include_private"]
    ]
    gates = {
        gate.reason for each in asked[:40] for gate in engine.recall(request_of(each, everything)).candidates
    }
    assert {"private", "category", ""} <= gates


def test_a_slice_may_be_asked_deep_and_an_only_scope_is_deep_unless_said(
    engine: Engine, shared: Path
) -> None:
    query = recorded(shared)["queries"][0]
    asked = {
        "query": query["text"],
        "recipe": "crewai",
        "query_vector": query["vector"],
        "now_ms": NOW_MS,
    }
    one = engine.recall(RecallRequest(**asked, scopes=["/crew"]))
    assert one.extra["crewai"] == {
        "depth": "deep",
        "searched": ["/crew/pedal-shop", "/crew/pedal-shop-two", "/crew/pedal_shop"],
    }
    two = engine.recall(RecallRequest(**asked, scopes=["/crew", "/user"]))
    assert two.extra["crewai"] == {"depth": "shallow", "searched": ["/crew", "/user"]}


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"memory": {"semanticWeight": 1}}, "memory.semanticWeight"),
        ({"memory": {"recency_half_life_days": 0}}, "memory.recency_half_life_days"),
        ({"recall": {"depth": "middle"}}, "recall.depth"),
        ({"mode": {}}, "mode"),
    ],
)
def test_a_setting_that_is_none_is_named(engine: Engine, shared: Path, config: Any, path: str) -> None:
    vector = recorded(shared)["queries"][0]["vector"]
    with pytest.raises(ConfigError, match=path):
        engine.recall(RecallRequest("who", recipe="crewai", config=config, query_vector=vector))


def test_a_table_of_another_program_is_recalled_by_the_same_rules(tmp_path: Path) -> None:
    made = NOW_MS - 30 * 86_400_000
    write_table(tmp_path / "pro", [pro_row(1, timestamp=float(made), importance=0.5, vector=[0.0, 1.0])])
    asked = RecallRequest("who", recipe="crewai", query_vector=[0.0, 1.0], now_ms=NOW_MS)
    (found,) = opened(tmp_path / "pro").recall(asked).results
    assert found.score == pytest.approx(0.5 * 1 + 0.3 * 0.5 + 0.2 * 0.5)


def test_why_not_knows_scopes_by_their_beginning_and_the_rows_that_are_private(
    engine: Engine, shared: Path
) -> None:
    everything = recorded(shared)
    query = everything["queries"][0]
    asked = RecallRequest(
        query["text"], recipe="crewai", scopes=["/crew/pedal-shop"], query_vector=query["vector"], now_ms=NOW_MS,
        limit=500, config={"recall": {"depth": "shallow"}},
    )  # fmt: skip
    for row in everything["rows"]:
        if row["scope"].startswith("/crew/pedal-shop") and (row["private"] or row["scope"].endswith("-two")):
            verdict = explain.why_not(engine, row["id"], asked, changes=False)
            assert verdict.gate == ("private" if row["private"] else None), row
            break
    outside = next(row for row in everything["rows"] if row["scope"] == "/crew/pedal_shop")
    assert explain.why_not(engine, outside["id"], asked, changes=False).gate == "scope"


def test_a_reader_of_some_scopes_gets_none_of_their_siblings(engine: Engine, shared: Path) -> None:
    query = recorded(shared)["queries"][0]
    asked = RecallRequest(
        query["text"], recipe="crewai", scopes=["/crew/pedal-shop"], query_vector=query["vector"], limit=500,
        own_words=True,
    )  # fmt: skip
    assert {each.scope for each in engine.recall(asked).pool.rows} == {"/crew/pedal-shop"}
