"""Where the prompt ends: what came back and does not reach the agent, by which gate, everywhere the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, explain, open_engine
from memtui.engine.recall.prompt_lines import PromptBlockSettings, settings_of
from tests.engine.pro_store import NOW_MS, row, write_store

TOPICS = ("north harbour", "south gate", "east mill", "west quarry", "old chapel", "new bridge")
QUESTION = "Which port does the gateway listen on there?"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    rows = [
        row(str(n), f"The gateway at the {topic} listens on port {8000 + n}", (1, 0.7 * n))
        for n, topic in enumerate(TOPICS)
    ]
    write_store(tmp_path / "store", rows, dims=2)
    return open_engine(str(tmp_path / "store"), now=lambda: NOW_MS, environ={}, cwd=tmp_path)


def test_the_fourth_came_back_and_does_not_reach_the_prompt(engine: Engine) -> None:
    request = RecallRequest(QUESTION, recipe="pro/agent", query_vector=[1, 0])
    trace = engine.recall(request)
    prompt = explain.injected(trace)
    assert prompt.items == 3
    reached = [part.id for part in prompt.parts if part.line]
    assert reached == list(trace.returned[:3])
    for place, memory_id in enumerate(trace.returned, 1):
        verdict = explain.why_not_in(engine, trace, memory_id, changes=False)
        assert (verdict.returned, verdict.rank) == (True, place)
        if place <= 3:
            assert verdict.gate is None
            continue
        assert (verdict.gate, verdict.value, verdict.limit) == ("prompt_items", place, 3)
        assert "does not reach the prompt" in verdict.sentence


def test_the_characters_end_the_prompt_too(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/agent", query_vector=[1, 0]))
    found = explain.injected(trace, PromptBlockSettings(max_chars=100))
    assert all(part.limit == 100 for part in found.parts if part.gate == "prompt_chars")
    assert any(part.gate == "prompt_chars" for part in found.parts)


def test_a_repeat_is_a_gate_of_its_own(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="pro/agent", query_vector=[1, 0]))
    first = trace.returned[0]
    found = explain.injected(trace, turns_since={first: 2})
    part = next(each for each in found.parts if each.id == first)
    assert (part.gate, part.value, part.limit) == ("repeat", 2, 8)


@pytest.mark.parametrize("recipe", ["pro/tool", "pro/cli", "memtui"])
def test_a_recipe_that_fills_no_prompt_has_none_of_these_gates(engine: Engine, recipe: str) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe=recipe, query_vector=[1, 0]))
    verdict = explain.why_not_in(engine, trace, trace.returned[0], changes=False)
    assert verdict.rung("prompt_items") is None


def test_the_plugins_own_settings_decide_where_the_prompt_ends() -> None:
    block = {
        "autoRecallMaxItems": 5,
        "autoRecallMaxChars": 10_000,
        "recallMode": "summary",
        "maxRecallPerTurn": 0,
    }
    found = settings_of(block)
    assert (found.max_items, found.max_chars, found.mode, found.max_per_turn) == (5, 8000, "summary", 10)
    assert settings_of({}) == PromptBlockSettings()


def test_the_built_in_hook_takes_three_from_its_floor_on(engine: Engine) -> None:
    trace = engine.recall(RecallRequest(QUESTION, recipe="memory-lancedb", query_vector=[1, 0], limit=6))
    prompt = explain.injected(trace)
    assert (prompt.items, prompt.budget) == (3, None)
    gates = set()
    for place, candidate in enumerate(trace.results, 1):
        verdict = explain.why_not_in(engine, trace, candidate.id, changes=False)
        low = candidate.score is not None and candidate.score < 0.3
        expected = "prompt_score" if low else "prompt_items" if place > 3 else None
        assert verdict.gate == expected
        assert (verdict.limit == (0.3 if low else 3)) or expected is None
        gates.add(expected)
    assert gates == {None, "prompt_score"} or gates == {None, "prompt_score", "prompt_items"}


def test_what_mem_engines_hook_leaves_out_is_told(tmp_path: Path) -> None:
    from memtui.engine.explain.prompt_block import prompt_gates
    from memtui.tui.trace.results import prompt_ends
    from tests.engine.pro_store import DAY_MS
    from tests.engine.test_recipe_mem_engine import ask, bench, item

    rows = [item(f"m{n}", 3 * n, text=f"note m{n} " + "x" * 90) for n in range(5)]
    rows += [item("todo", 1, category="todo", createdAt=float(NOW_MS - 30 * DAY_MS))]
    settings = {"autoRecall": {"maxItems": 5}, "budget": {"maxChars": 400}}
    trace = ask(bench(tmp_path / "e", *rows), "what is note m1", source="auto-recall", settings=settings)
    assert prompt_gates(trace) == ("prompt_chars",)
    cut = [c.reason for c in trace.candidates if c.rank is None]
    assert {"budget", "stale_todo"} <= set(cut)
    said = prompt_ends(trace)
    assert said.startswith(f"prompt ends here: {len(trace.returned)} items of 400 characters; ")
    assert "budget" in said
    assert "stale todo" in said
    tool = ask(bench(tmp_path / "t", *rows), "what is note m1")
    assert prompt_ends(tool) == ""
    assert prompt_gates(tool) == ()
