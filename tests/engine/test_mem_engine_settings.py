"""openclaw-mem-engine is asked by its own settings, under the names that it reads; what nothing reads is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import RecallRequest, explain
from memtui.engine.configuration.file import open_config
from memtui.engine.configuration.rules import problems_of
from memtui.engine.documents import todos_of, working_set_of
from memtui.engine.providers.embedding_services import EmbeddingSettings
from tests.engine.test_mem_engine_write import configured

NOWHERE = EmbeddingSettings(model="text-embedding-3-small", base_url="http://127.0.0.1:9/v1", timeout_s=1)

QUESTION = "[SCOPE: kornfeld] what must we never forget about the plan?"


@pytest.fixture(scope="module")
def folder(shared: Path, unpack: Callable[[Path], Path]) -> Path:
    return unpack(shared / "fixtures" / "stores" / "engine.tar.gz")


def hook(folder: Path, block: dict[str, Any], question: str = QUESTION) -> Any:
    """What the hook would do under a configuration of the plugin; no service answers."""
    engine = configured(folder, NOWHERE, block)
    return engine.recall(RecallRequest(question, source="auto-recall", query_vector=[1.0] * 1536))


def settings(folder: Path, block: dict[str, Any]) -> Any:
    return hook(folder, block).config["memEngine"]


def test_the_budget_is_read_under_its_own_name(folder: Path) -> None:
    told = settings(folder, {"budget": {"maxChars": "450", "overflowAction": "truncate_tail"}})["budget"]
    assert (told["max_chars"], told["overflow"]) == (450, "truncate_tail")
    trace = hook(folder, {"budget": {"maxChars": 300, "minRecentSlots": 0}})
    assert len(explain.injected(trace).block or "") <= 300 + len("</relevant-memories>\n")


@pytest.mark.parametrize("key", ["budget", "receipts"])
def test_a_block_may_be_switched_off_as_a_whole(folder: Path, key: str) -> None:
    assert settings(folder, {key: False})[key]["enabled"] is False
    assert settings(folder, {key: True})[key]["enabled"] is True
    assert settings(folder, {key: {"enabled": "off"}})[key]["enabled"] is False


def test_without_a_scope_policy_a_tag_is_taken_as_it_stands(folder: Path) -> None:
    told = settings(folder, {"scopePolicy": False})
    assert told["scopes"]["enabled"] is False


def test_to_dos_are_stale_after_the_configured_days(folder: Path) -> None:
    assert settings(folder, {"autoCapture": {"todoStaleTtlDays": 90}})["todo_days"] == 90
    assert settings(folder, {"autoCapture": False})["todo_days"] == 7
    usual, patient = (
        [each.stale for each in todos_of(loaded(folder, block))]
        for block in ({}, {"autoCapture": {"todoStaleTtlDays": 90}})
    )
    assert sum(patient) < sum(usual)


def test_the_working_set_has_the_configured_lengths(folder: Path) -> None:
    block = {"workingSet": {"maxChars": 2000, "maxItemChars": 400, "maxItemsPerSection": 5}}
    usual = working_set_of(loaded(folder, {}), "kornfeld")
    longer = working_set_of(loaded(folder, block), "kornfeld")
    assert len(usual.text) <= 240 < len(longer.text) <= 2000
    assert any(len(lines) > 2 for _, lines in longer.sections)


def test_a_long_question_is_clipped_at_the_configured_lengths(folder: Path) -> None:
    told = settings(folder, {"embedding": {"maxChars": 300, "headChars": 50, "maxBytes": 900}})["clip"]
    assert told == {"most": 300, "head": 50, "most_bytes": 900}


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"contextBudget": {"maxChars": 400}}, ("contextBudget", "budget is")),
        ({"budget": {"maxchars": 400}}, ("budget.maxchars", "maxChars is")),
        ({"autoRecall": {"quotas": {"must": 1}}}, ("autoRecall.quotas.must", "mustMax is")),
    ],
)
def test_a_key_that_nothing_reads_is_said(folder: Path, block: dict[str, Any], said: tuple[str, str]) -> None:
    (finding,) = hook(folder, block).findings
    assert all(word in finding for word in (*said, "nothing reads it"))


def loaded(folder: Path, block: dict[str, Any]) -> Any:
    engine = configured(folder, NOWHERE, block)
    engine.load_catalog()
    return engine


# ---------------------------------------------------------------------- config check


def checked(home: Path, slot: str, block: str, **environ: str) -> list[tuple[str, str, str]]:
    state = home / ".openclaw"
    state.mkdir()
    entry = (
        f"entries: {{ '{slot}': {{ enabled: true, config: {{ {block} }} }} }}" if block is not None else ""
    )
    text = f"{{ plugins: {{ slots: {{ memory: '{slot}' }}, {entry} }} }}"
    (state / "openclaw.json").write_text(text)
    config = open_config({"HOME": str(home), **environ}, home)
    return [(each.severity, each.path, f"{each.sentence}: {each.remedy}") for each in problems_of(config)]


KEY = {"OPENAI_API_KEY": "a-key-that-is-set"}


@pytest.mark.parametrize(
    ("slot", "block"),
    [
        ("memory-core", ""),
        ("openclaw-mem-engine", ""),
        ("openclaw-mem-engine", "budget: false, autoRecall: { maxItems: 5 }, workingSet: { persist: false }"),
        ("memory-lancedb", "embedding: { apiKey: '${OPENAI_API_KEY}', model: 'text-embedding-3-small' }"),
    ],
)
def test_a_sound_system_is_not_accused_by_anothers_rules(slot: str, block: str, tmp_path: Path) -> None:
    assert checked(tmp_path, slot, block, **KEY) == []


@pytest.mark.parametrize(
    ("slot", "block", "severity", "path", "words"),
    [
        ("openclaw-mem-engine", "contextBudget: {}", "error", "contextBudget", "Did you mean budget"),
        ("openclaw-mem-engine", "budget: { maxChars: 99 }", "warning", "budget.maxChars", "nearer end"),
        ("openclaw-mem-engine", "autoRecall: false", "warning", "autoRecall", "nothing is injected"),
        (
            "openclaw-mem-engine",
            "embedding: { model: 'nomic-embed-text' }",
            "error",
            "embedding.model",
            "text-embedding-3-small",
        ),
        ("memory-lancedb", "autoRecall: true", "error", "embedding", "settings of memory-lancedb"),
        ("memory-lancedb", "embedding: { model: 'x' }, retrieval: {}", "error", "retrieval", "no setting"),
    ],
)
def test_each_system_is_judged_by_its_own_rules(
    slot: str, block: str, severity: str, path: str, words: str, tmp_path: Path
) -> None:
    (found,) = checked(tmp_path, slot, block, **KEY)
    assert found[:2] == (severity, f"plugins.entries.{slot}.config.{path}")
    assert words in found[2]
    assert "config plan" not in found[2]


def test_a_missing_key_of_mem_engine_is_said(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, "openclaw-mem-engine", "")
    assert found[0] == "warning"
    assert "OPENAI_API_KEY" in found[2]
