"""Key checks: each provider is asked in its own form, with the word "test" alone, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.configuration.draft import draft_plan
from memtui.engine.configuration.file import REMOVED, open_config
from memtui.engine.configuration.key_checks import WORD, checks_for, run_checks
from memtui.engine.configuration.plans import PLANS, ConfigPlan, plan_changes
from tests.engine.loopback import Answer, chat_answer, loopback

NO_TEXT = {"model", "task", "input_type", "encoding_format", "role", "rank_fields"}
"""Names of what goes out beside a text."""

KEYS = {"JINA_API_KEY": "sk-jina", "OPENAI_API_KEY": "sk-openai", "SILICONFLOW_API_KEY": "sk-silicon"}


def texts(body: Any, name: str = "") -> Iterator[str]:
    """Every text in what was sent."""
    if isinstance(body, dict):
        for key, each in body.items():
            if key not in NO_TEXT:
                yield from texts(each, key)
    elif isinstance(body, list):
        for each in body:
            yield from texts(each, name)
    elif isinstance(body, str):
        yield body


def on_loopback(plan: ConfigPlan, url: str) -> ConfigPlan:
    """The plan with every address on a server of this machine."""

    def moved(value: Any) -> Any:
        if not isinstance(value, str) or not value.startswith("http"):
            return value
        return f"{url}/ollama/v1" if ":11434" in value else url + value[value.index("/", 8) :]

    return ConfigPlan(
        plan.name, plan.title, {key: moved(value) for key, value in plan.settings.items()}, {}, plan.keys
    )


ASKED = {
    "A": ["/v1/embeddings", "/v1/rerank", "/v1/chat/completions"],
    "B": ["/v1/embeddings", "/v1/rerank", "/v1/chat/completions"],
    "C": ["/v1/embeddings", "/v1/chat/completions"],
    "D": ["/ollama/api/tags", "/ollama/v1/embeddings", "/ollama/v1/chat/completions"],
}


@pytest.mark.parametrize("name", PLANS)
def test_each_plan_asks_its_services_with_the_word_test_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / ".openclaw").mkdir()
    file = tmp_path / ".openclaw" / "openclaw.json"
    file.write_text("{ agents: { list: [{ id: 'main' }] } }")
    environ = {"HOME": str(tmp_path), **KEYS}
    config = open_config(environ, tmp_path)
    with loopback() as server:
        plan = on_loopback(PLANS[name], server.url)
        server.dims = plan.settings["embedding.dimensions"]
        server.chat = lambda asked: chat_answer("test")
        server.script = [Answer(200, {"models": []})] if name == "D" else []
        draft = draft_plan(config, plan, plan_changes(config, plan), environ=environ)
        assert not server.requests, "nothing is asked by looking at a plan"
        results = run_checks(draft.checks)
    assert [each.sentence for each in results if not each.ok] == []
    assert [each.path for each in server.requests] == ASKED[name]
    assert {text for each in server.requests for text in texts(each.body)} == {WORD}
    assert file.read_text() == "{ agents: { list: [{ id: 'main' }] } }"
    assert not any(key in str(results) + str(draft.checks) for key in KEYS.values()), "a key is shown by name"
    carried = {each.path: each.key for each in server.requests}
    if name == "B":
        assert carried == {
            "/v1/embeddings": "sk-jina", "/v1/rerank": "sk-silicon", "/v1/chat/completions": "sk-openai",
        }  # fmt: skip


@pytest.mark.parametrize("provider", ["jina", "siliconflow", "voyage", "pinecone", "dashscope", "tei"])
def test_each_reranker_is_asked_in_its_own_form(provider: str) -> None:
    with loopback() as server:
        settings = {
            "embedding.model": "m", "embedding.baseURL": f"{server.url}/v1", "embedding.apiKey": "${KEY}",
            "retrieval.rerankApiKey": "${OTHER}", "retrieval.rerankProvider": provider,
            "retrieval.rerankModel": "r", "retrieval.rerankEndpoint": f"{server.url}/rerank",
        }  # fmt: skip
        results = run_checks(checks_for(settings, {"KEY": "one", "OTHER": "two"}))
    assert [each.ok for each in results] == [True, True]
    asked = server.requests[1]
    assert asked.key == "two"
    assert ("Api-Key" in asked.headers) == (provider == "pinecone")
    assert ("input" in asked.body) == (provider == "dashscope")
    assert ("texts" in asked.body) == (provider == "tei")
    assert set(texts(asked.body)) == {WORD}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"embedding.provider": "azure-openai", "embedding.apiVersion": "2024-02-01"}, {"model", "input"}),
        ({"embedding.model": "voyage-3", "embedding.taskPassage": "retrieval.passage"}, {"input_type"}),
        (
            {"embedding.model": "jina-v5", "embedding.normalized": True, "embedding.taskPassage": "p"},
            {"task", "normalized"},
        ),
        ({"embedding.model": "text-embedding-3-small", "embedding.requestDimensions": 8}, {"dimensions"}),
    ],
)  # fmt: skip
def test_each_embedder_is_asked_in_its_own_form(more: dict[str, Any], said: set[str]) -> None:
    with loopback() as server:
        settings = {
            "embedding.model": "m", "embedding.baseURL": f"{server.url}/v1", "embedding.apiKey": "${KEY}",
            "embedding.dimensions": 8, **more,
        }  # fmt: skip
        results = run_checks(checks_for(settings, {"KEY": "one"}))
    assert [each.sentence for each in results] == ["200, 8 dimensions"]
    (asked,) = server.requests
    assert said <= set(asked.body)
    assert set(texts(asked.body)) == {WORD}
    azure = more.get("embedding.provider") == "azure-openai"
    assert {name.lower() for name in asked.headers} >= {"api-key" if azure else "authorization"}
    assert ("api-version=2024-02-01" in asked.path) == azure


def test_every_key_of_a_list_is_asked_and_the_first_that_fails_is_named() -> None:
    with loopback() as server:
        server.script = [Answer(200, {"data": [{"embedding": [1.0], "index": 0}]}), Answer(401, {})]
        settings = {
            "embedding.model": "m",
            "embedding.baseURL": f"{server.url}/v1",
            "embedding.apiKey": ["${ONE}", "${TWO}", "${THREE}"],
        }
        results = run_checks(checks_for(settings, {"ONE": "1", "TWO": "2", "THREE": "3"}))
    assert [(each.key_name, each.ok) for each in results] == [("ONE", True), ("TWO", False)]
    assert "key 2 of 3" in results[1].purpose


def test_the_language_model_takes_the_embedders_key_and_address_where_it_has_none() -> None:
    settings = {"embedding.baseURL": "http://127.0.0.1:1/v1", "embedding.apiKey": "${KEY}", "llm.model": "m"}
    last = checks_for(settings, {"KEY": "one"})[-1]
    assert (last.url, last.key_name) == ("http://127.0.0.1:1/v1/chat/completions", "KEY")
    signed_in = checks_for({**settings, "llm.auth": "oauth"}, {"KEY": "one"})
    assert [each.purpose for each in signed_in] == ["embedding with text-embedding-3-small"]


def test_no_reranker_is_asked_where_the_plan_has_none() -> None:
    for name in ("C", "D"):
        settings = {key: value for key, value in PLANS[name].settings.items() if value is not REMOVED}
        assert not [each for each in checks_for(settings, KEYS) if "rerank" in each.purpose]
