"""The gate before a prompt: one for every way in, decided by the text alone, in eight languages and Arabic."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, RecallRequest, explain
from memtui.engine.capture import play, read_event
from memtui.engine.documents import take_in
from memtui.engine.recall import recipe_named
from memtui.engine.recall.answer import recall
from memtui.engine.recall.recipes.memtui.prompt_gate import skip_rule
from memtui.mcp.door import Door
from tests.engine.test_store_documents import opened

_LISTS = json.loads(Path(__file__).with_name("gate_words.json").read_text(encoding="utf-8"))

NOTHING_ASKED: dict[str, list[str]] = _LISTS["nothing_asked"]

ASKED: dict[str, list[str]] = _LISTS["asked"]
"""By language, and what hosts send."""

WAYS = [(language, text) for language, texts in NOTHING_ASKED.items() for text in texts]


@pytest.mark.parametrize(("language", "text"), WAYS)
def test_what_asks_for_nothing_is_skipped(language: str, text: str) -> None:
    assert skip_rule(text), (language, text)


@pytest.mark.parametrize(
    ("language", "text"), [(language, text) for language, texts in ASKED.items() for text in texts]
)
def test_a_short_real_question_passes(language: str, text: str) -> None:
    assert not skip_rule(text), (language, text, skip_rule(text))


def test_a_pleasantry_with_any_word_more_passes() -> None:
    """Whatever is said before it, a word that is none of them makes it a question."""
    for texts in NOTHING_ASKED.values():
        for text in texts:
            if skip_rule(text) not in ("slash_command", "heartbeat", "system"):
                assert not skip_rule(f"{text} postgres"), text
                assert not skip_rule(f"postgres {text}"), text


MEMORIES = (
    "The staging port is 4711",
    "The REST API says hi and yes to clients that ask /help for its status",
    "The HEARTBEAT of the relay is sent every thirty seconds, ok or not",
)


@pytest.fixture
def engines(tmp_path: Path) -> tuple[Engine, Engine]:
    """An empty store and one with memories and documents."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "rest.md").write_text("# REST API\n\nHi and help: the REST API status is documented here. yes\n")
    empty = opened(tmp_path / "empty", writable=True)
    full = opened(tmp_path / "full", *MEMORIES)
    for engine in (empty, full):
        take_in(engine, {"enabled": True, "sourceRoots": [str(docs)]})
    return empty, full


SKIPPED = ["hi", "yes", "ok thanks", "HEARTBEAT", "/status", "/help REST API", "好的", "네, 감사합니다"]


def hooked(engine: Engine, text: str, tmp_path: Path) -> dict[str, Any]:
    event = read_event(
        "prompt_build", json.dumps({"event": {"prompt": text}, "ctx": {"agentId": "main"}}), ""
    )
    return play(engine, event, {}, tmp_path)


@pytest.mark.parametrize("text", SKIPPED)
def test_every_way_in_has_the_same_gate(engines: tuple[Engine, Engine], tmp_path: Path, text: str) -> None:
    told = set()
    for engine in engines:
        trace = engine.recall(RecallRequest(text, before_prompt=True))
        assert trace.gate == skip_rule(text) == trace.as_json()["gate"]
        block = explain.injected(trace)
        assert not block.block
        assert trace.gate.replace("_", " ") in block.why_nothing
        on_purpose = explain.injected(engine.recall(RecallRequest(text)))  # as the app asks
        assert (on_purpose.block, on_purpose.why_nothing) == ("", block.why_nothing)
        given = Door(lambda engine=engine: engine, writable=False).block(text)  # type: ignore[misc]
        assert (given.text, given.why) == ("", block.why_nothing)
        answer = hooked(engine, text, tmp_path)
        assert answer["prependContext"] == ""
        assert answer["why_nothing"] == block.why_nothing
        assert "documents" not in answer
        told.add((block.why_nothing, tuple(stage.name for stage in trace.stages)))
    assert len(told) == 1  # the same on an empty and on a full store


def test_a_short_question_reaches_memories_and_documents(
    engines: tuple[Engine, Engine], tmp_path: Path
) -> None:
    _, full = engines
    for text in ("port?", "REST API?"):
        assert explain.injected(full.recall(RecallRequest(text, before_prompt=True))).block
        assert hooked(full, text, tmp_path)["prependContext"]


def test_nothing_is_embedded_or_searched_for_a_skipped_prompt(engines: tuple[Engine, Engine]) -> None:
    asked: list[str] = []

    def embed(text: str) -> Any:
        asked.append(text)
        raise AssertionError(text)

    for recipe in ("memtui", "pro/agent", "memory-lancedb", "mem-engine"):
        known = recipe_named(recipe)
        context = replace(engines[1].recall_context(), embed=embed)
        request = RecallRequest("ok", recipe=known.name, before_prompt=True, own_words=True)
        if known.hook:
            request = replace(request, source=known.hook)
        trace = recall(request, context)
        assert trace.gate
        assert not trace.returned
        assert trace.proof.recomputed
        assert not explain.injected(trace).block
        assert trace.gate.replace("_", " ") in explain.injected(trace).why_nothing
    assert not asked


REAL = {
    "pro/agent": (
        ["hi REST API design", "/help REST API", "我们的端口", "ok", "端口?", "前回の設定", "설정 포트"],
        ["port?", "what does /status return?", "之前的端口", "ポートはどこ？"],
    ),
    "pro/article": (
        ["hi REST API design", "前回の設定", "端口?"],
        ["我们的端口号码", "前回の設定は何", "지난번 포트는"],
    ),
    "memory-lancedb": (["hi", "端口?", "ok", "port"], ["port?", "thanks", "HEARTBEAT"]),
    "mem-engine": (["hi", "/help REST API", "HEARTBEAT", "好的"], ["port?", "端口?", "yes", "good morning"]),
}
"""What the real programs skip and what they look up, as their own code decides it."""


@pytest.mark.parametrize("recipe", REAL)
def test_each_recipe_has_the_gate_of_its_program(engines: tuple[Engine, Engine], recipe: str) -> None:
    context = replace(engines[1].recall_context())
    gate = recipe_named(recipe).prompt_gate
    skipped, asked = REAL[recipe]
    assert all(gate(RecallRequest(text, recipe=recipe), context) for text in skipped)
    assert not any(gate(RecallRequest(text, recipe=recipe), context) for text in asked)
