"""A lane, an embedder or a reranker that fails: the other parts work, and the trace says what happened."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import MemtuiError, RecallRequest, Trace, UsageError
from memtui.engine.catalog.build import build_catalog
from memtui.engine.explain.inquiry import inquire
from memtui.engine.explain.prompt_block import injected
from memtui.engine.explain.ranks import ranking_at
from memtui.engine.explain.variation import Recompute
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.providers.openai_embedder import OpenAIEmbedder
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.engine.loopback import Answer, Loopback, loopback
from tests.engine.pro_store import NOW_MS, row, write_store

ROWS = [
    row("a", "The gateway listens on port 8443", (1, 0)),
    row("b", "The gateway listened on port 8080", (0.9, 0.436)),
    row("z", "A memory with a zero vector about the gateway", (0, 0)),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(write_store(tmp_path / "store", ROWS, dims=2))


def question(text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.array([1, 0], np.float32)


def ask(store: Store, *, embed: Any = question, **more: Any) -> Trace:
    request = RecallRequest(**({"query": "gateway port", "recipe": "pro/tool", "limit": 5} | more))
    return recall(request, RecallContext(store, NOW_MS, embed, no_embedder="no provider is configured."))


def test_without_an_embedder_the_keyword_lane_works_and_says_so(store: Store) -> None:
    trace = ask(store, embed=None)
    assert trace.mode == "keyword"
    assert {result.id for result in trace.results} == {"a", "b", "z"}
    assert any("no provider is configured" in warning for warning in trace.warnings)


def provider(server: Loopback) -> Any:
    settings = EmbeddingSettings(model="any", base_url=f"{server.url}/v1", timeout_s=60)
    return OpenAIEmbedder(settings).embed_query


def refusing() -> Any:
    settings = EmbeddingSettings(model="any", base_url="http://127.0.0.1:9/v1", timeout_s=1)
    return OpenAIEmbedder(settings).embed_query


@pytest.mark.parametrize("recipe", ["pro/agent", "pro/tool", "pro/cli"])
@pytest.mark.parametrize("mode", ["hybrid", "vector"])
@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([Answer(500, {"error": "the model crashed on purpose"})] * 9, "the model crashed on purpose"),
        ([Answer(429, {"error": "slow down, please"})] * 9, "slow down, please"),
        ([Answer(200, {"data": [{"embedding": [1, 0, 0], "index": 0}]})] * 9, "3"),
        (None, "127.0.0.1:9"),
    ],
)
def test_an_embedding_that_fails_fails_the_whole_recall(
    store: Store, server: Loopback, recipe: str, mode: str, answers: list[Answer] | None, said: str
) -> None:
    server.script[:] = answers or []
    embed = refusing() if answers is None else provider(server)
    config = {"retrieval": {"mode": mode}}
    trace = ask(store, embed=embed, recipe=recipe, query="Which is the gateway port?", config=config)
    server.script.clear()
    assert (trace.results, trace.returned, trace.candidates) == ((), (), ())
    assert trace.failure is not None
    assert trace.failure.stage == f"{mode}.embedQuery"
    assert said in trace.failure.reason
    document = trace.as_json()
    assert document["failure"] == {"stage": f"{mode}.embedQuery", "reason": trace.failure.reason}
    assert document["results"] == []
    found = {each["id"] for each in document["words_alone"]}
    assert found == ({"a", "b", "z"} if mode == "hybrid" else set())
    assert any("failed" in each["note"] for each in document["operations"])
    block = injected(trace)
    assert block.block == ""
    assert said in block.why_nothing


def test_why_not_says_that_the_recall_failed(store: Store) -> None:
    bench = RecallContext(store, NOW_MS, refusing())
    trace = recall(RecallRequest("gateway port", recipe="pro/tool"), bench)
    ranking = partial(ranking_at, store, catalog=build_catalog(store))
    verdict = inquire(trace, "a", ranking, Recompute(bench)).verdict
    assert (verdict.returned, verdict.gate) == (False, "embedding")
    assert verdict.as_json()["failure"]["stage"] == "hybrid.embedQuery"
    alone = verdict.as_json()["words_alone"]
    assert alone
    assert alone == trace.as_json(explain=False)["words_alone"]
    assert {"id", "rank", "score", "text"} <= alone[0].keys()


def test_the_built_in_program_fails_and_has_no_words_to_fall_back_on(store: Store) -> None:
    trace = ask(store, embed=refusing(), recipe="memory-lancedb")
    assert trace.failure is not None
    assert trace.as_json()["words_alone"] == []


@pytest.mark.parametrize("recipe", ["memtui", "mem-engine", "memory-core"])
def test_recipes_that_go_on_by_words_say_so(store: Store, recipe: str) -> None:
    trace = ask(store, embed=refusing(), recipe=recipe)
    assert trace.failure is None
    assert trace.mode == "keyword"
    assert any("keyword only" in warning and "127.0.0.1:9" in warning for warning in trace.warnings)


def test_a_zero_question_vector_and_zero_rows_find_nothing_by_meaning(store: Store) -> None:
    trace = ask(store, query_vector=[0, 0])
    assert all("vector" not in result.sources for result in trace.results)
    assert {result.id for result in trace.results} == {"a", "b", "z"}


def test_an_embedder_of_another_dimension_fails_the_recall_with_a_remedy(store: Store) -> None:
    trace = ask(store, embed=lambda text: np.ones(3, np.float32))
    assert trace.failure is not None
    assert "3 dimensions" in trace.failure.reason
    assert "embedding model" in trace.failure.reason


def test_without_a_full_text_index_the_plugin_goes_by_vectors_and_so_do_we(tmp_path: Path) -> None:
    store = open_store(write_store(tmp_path, ROWS, dims=2, fts=False))
    trace = ask(store)
    assert (trace.mode, trace.results[0].id) == ("vector", "a")
    assert any("no full-text index" in warning for warning in trace.warnings)
    words = ask(store, embed=None, query="listens on port")
    assert [result.id for result in words.results] == ["a"]
    assert words.results[0].steps[0].rule == "substring"


def test_a_missing_data_file_is_an_error_and_never_an_empty_answer(store: Store) -> None:
    shutil.rmtree(Path(store.uri) / "memories.lance" / "data")
    with pytest.raises(MemtuiError) as caught:
        ask(store)
    assert caught.value.fix


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("fail", "http_error"),
        ("garbage", "invalid_response"),
        ("invalid", "invalid_response"),
        ("empty", "invalid_response"),
    ],
)
def test_a_reranker_that_fails_falls_back_to_the_cosine_blend(
    store: Store, server: Loopback, path: str, reason: str
) -> None:
    retrieval = {"rerankEndpoint": f"{server.url}/{path}/v1/rerank", "rerankApiKey": "k-secret"}
    trace = ask(store, config={"retrieval": retrieval}, limit=1)
    warning = next(w for w in trace.warnings if w.startswith("rerank"))
    assert reason in warning
    assert "k-secret" not in str(trace.as_json())
    assert {s.rule for result in trace.results for s in result.steps if s.stage == "reranked"} == {
        "cosine_blend"
    }
    assert trace.proof.recomputed


def test_a_slow_reranker_costs_its_budget_and_no_more(store: Store, server: Loopback) -> None:
    retrieval = {
        "rerankEndpoint": f"{server.url}/slow/v1/rerank",
        "rerankApiKey": "k",
        "rerankTimeoutMs": 200,
    }
    trace = ask(store, config={"retrieval": retrieval})
    assert any("timeout" in warning for warning in trace.warnings)
    assert trace.results


def test_a_working_reranker_is_blended_in_and_the_trace_proves_it(store: Store, server: Loopback) -> None:
    retrieval = {"rerankEndpoint": f"{server.url}/v1/rerank", "rerankApiKey": "k"}
    trace = ask(store, config={"retrieval": retrieval})
    rules = {step.rule for result in trace.results for step in result.steps if step.stage == "reranked"}
    assert rules <= {"rerank_blend", "rerank_unreturned"}
    assert trace.proof.recomputed
    assert any(operation.name == "rerank_request" for operation in trace.operations)


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"retrieval": {"minScoer": 0.1}}, "retrieval.minScoer"),
        ({"retrieval": {"minScore": "high"}}, "retrieval.minScore"),
        ({"retrieval": {"neighborEnrichment": {"enabled": 1}}}, "retrieval.neighborEnrichment.enabled"),
        ({"decay": {"betaCore": -1}}, "decay.betaCore"),
        ({"retrieval": []}, "retrieval"),
        ({"decy": {}}, "decy"),
    ],
)
def test_a_setting_that_is_unknown_or_ill_typed_is_named_by_its_path(
    store: Store, config: dict[str, Any], path: str
) -> None:
    with pytest.raises(UsageError, match=path.replace(".", r"\.")):
        ask(store, config=config)


def test_knobs_without_effect_are_named() -> None:
    from memtui.engine.recall.recipes.pro.settings import findings, resolve

    retrieval, decay = resolve({"retrieval": {"candidatePoolSize": 60, "recencyWeight": 0.2}})
    told = " ".join(findings(retrieval, decay))
    assert "candidatePoolSize above 20 has no effect" in told
    assert "recencyWeight has no effect for agents" in told
    assert "cross-encoder has no API key" in told


def test_a_provider_that_does_not_answer_in_time_fails_the_recall(store: Store, server: Loopback) -> None:
    settings = EmbeddingSettings(model="any", base_url=f"{server.url}/v1", timeout_s=0.4)
    server.hang = True
    try:
        embed = OpenAIEmbedder(settings).embed_query
        trace = ask(store, embed=embed, recipe="pro/agent", query="Which is the gateway port?")
    finally:
        server.hang = False
    assert trace.results == ()
    assert trace.failure is not None
    assert trace.failure.stage == "hybrid.embedQuery"
    assert server.url.removeprefix("http://") in trace.failure.reason
    assert {each["id"] for each in trace.as_json()["words_alone"]} == {"a", "b", "z"}
    assert injected(trace).block == ""


@pytest.mark.slow
def test_what_the_provider_said_stays_in_the_reason_when_the_last_try_is_not_answered(
    store: Store, server: Loopback
) -> None:
    settings = EmbeddingSettings(model="any", base_url=f"{server.url}/v1", timeout_s=5)
    server.script[:] = [Answer(500, {"error": "the model crashed on purpose"})]
    server.hang = True
    try:
        embed = OpenAIEmbedder(settings).embed_query
        trace = ask(store, embed=embed, recipe="pro/agent", query="Which is the gateway port?")
    finally:
        server.hang = False
        server.script.clear()
    assert trace.failure is not None
    assert "did not answer within" in trace.failure.reason
    assert "the model crashed on purpose" in trace.failure.reason
