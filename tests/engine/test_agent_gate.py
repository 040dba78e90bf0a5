"""Auto-recall's own settings: from which length it answers, and how much of a message it asks with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, RecallRequest, explain, open_engine
from memtui.engine.recall.recipes.pro.question import max_query_of, min_length_of
from tests.engine.pro_store import NOW_MS, row, write_store


def configured(tmp_path: Path, **settings: Any) -> Engine:
    """A store whose agent has these settings, behind a real configuration."""
    store = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    write_store(store, [row("1", "The gateway listens on port 8001", (1, 0.1))], dims=2)
    plugins = {
        "slots": {"memory": "memory-lancedb-pro"},
        "entries": {"memory-lancedb-pro": {"enabled": True, "config": settings}},
    }
    (tmp_path / ".openclaw" / "openclaw.json").write_text(json.dumps({"plugins": plugins}), "utf-8")
    return open_engine(None, now=lambda: NOW_MS, environ={"HOME": str(tmp_path)}, cwd=tmp_path)


def asked(engine: Engine, query: str, recipe: str = "pro/agent") -> Any:
    return engine.recall(RecallRequest(query, recipe=recipe, query_vector=[1, 0]))


@pytest.mark.parametrize(
    ("settings", "answered"),
    [
        ({}, False),
        ({"autoRecallMinLength": 9}, True),
        ({"autoRecallMinLength": 10}, True),
        ({"autoRecallMinLength": 11}, False),
        ({"autoRecallMinLength": 0}, False),  # as if it were not set: the host fills in 15
        ({"autoRecallMinLength": "9"}, False),
    ],
)
def test_the_configured_length_decides_whether_a_short_question_is_answered(
    tmp_path: Path, settings: dict[str, Any], answered: bool
) -> None:
    engine = configured(tmp_path, **settings)
    trace = asked(engine, "portnumber")  # ten characters
    assert bool(trace.returned) is answered
    assert any("too short" in each for each in trace.warnings) is not answered
    told = next(each for each in trace.records if each.name == "adaptive_gate").outcome.params
    assert told["minLength"] == (settings.get("autoRecallMinLength") if answered else told["minLength"])
    assert asked(engine, "portnumber", "pro/tool").returned  # the tool has no gate


def test_a_long_message_is_cut_as_the_hook_cuts_it_and_judged_whole(tmp_path: Path) -> None:
    engine = configured(tmp_path, autoRecallMaxQueryLength=100)
    message = "x" * 150 + " do you remember the port"
    trace = asked(engine, message)
    assert trace.query == message[:100]
    assert any("autoRecallMaxQueryLength" in each for each in trace.warnings)
    whole = asked(engine, message, "pro/tool")
    assert (whole.query, any("autoRecallMaxQueryLength" in each for each in whole.warnings)) == (
        message,
        False,
    )


def test_odd_values_are_taken_as_the_plugin_takes_them() -> None:
    assert [min_length_of({"autoRecallMinLength": each}) for each in (1, 30.9, -3, True, None, float("inf"))] == [
        1, 30, 15, 15, 15, 15,
    ]  # fmt: skip
    assert [max_query_of({"autoRecallMaxQueryLength": each}) for each in (1, 50_000, None)] == [
        100,
        10_000,
        2000,
    ]


def test_an_agent_that_auto_recall_leaves_out_gets_no_block(tmp_path: Path) -> None:
    engine = configured(tmp_path, autoRecallExcludeAgents=["scribe", "bot-"])
    question = "Which port does the gateway listen on?"
    told = {}
    for agent in ("main", "scribe", "bot-2"):
        request = RecallRequest(
            question, recipe="pro/agent", query_vector=[1, 0], agent=agent, scopes=["global"]
        )
        told[agent] = explain.injected(engine.recall(request))
    assert told["main"].block
    assert not told["scribe"].block
    assert "keeps auto-recall from bot-2" in told["bot-2"].why_nothing
