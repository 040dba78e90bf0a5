"""What we send to a reranker, and what we make of its failures, against recordings of memory-lancedb-pro."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.core.errors import RerankError
from memtui.engine.providers.reranker import RerankSettings, rerank
from tests.engine.loopback import Loopback, loopback

pytestmark = pytest.mark.conformance

PROVIDERS = ("jina", "siliconflow", "voyage", "pinecone", "tei", "dashscope")
FAILURES = ("rerank_http500", "rerank_invalid", "rerank_timeout", "rerank_unreachable", "rerank_budget0")


@pytest.fixture(scope="module")
def recording(shared: Path) -> dict[str, Any]:
    with gzip.open(shared / "fixtures/peer/traces.json.gz") as file:
        found: dict[str, Any] = json.load(file)
    return found


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, str]:
    lines = (shared / "fixtures/peer/memories.jsonl").read_text("utf-8").splitlines()
    return {row["id"]: row["text"] for row in map(json.loads, lines)}


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running


def settings_of(config: dict[str, Any], server: Loopback) -> RerankSettings:
    block = config["retrieval"]
    return RerankSettings(
        provider=block.get("rerankProvider", "jina"),
        endpoint=block["rerankEndpoint"].replace("http://127.0.0.1:<rerank>", server.url),
        model=block["rerankModel"],
        api_key=block["rerankApiKey"],
        timeout_ms=block["rerankTimeoutMs"],
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_request_and_scores_equal_the_recorded_ones(
    provider: str, recording: dict[str, Any], texts: dict[str, str], server: Loopback
):
    name = f"provider_{provider}"
    config = recording["configs"][name]
    queries = {query["qid"]: query["text"] for query in recording["queries"]}
    traces = [t for t in recording["traces"] if t["config"] == name and "rerank_request" in t]
    assert len(traces) == 2
    for trace in traces:
        stages = {stage["stage"]: stage["items"] for stage in trace["stages"]}
        window = [id_ for id_, _ in stages["rerank_input"]]
        raw = {texts[id_]: score for id_, _, score in stages["reranked"] if score is not None}
        server.score = lambda _, text, raw=raw: raw[text]
        top_n = min(len(window), max(1, config["retrieval"]["candidatePoolSize"]))

        got = rerank(settings_of(config, server), queries[trace["qid"]], [texts[i] for i in window], top_n)

        assert server.requests[-1].recorded() == trace["rerank_request"]
        assert list(server.requests[-1].body) == list(trace["rerank_request"]["body"])
        assert {texts[window[index]]: score for index, score in got} == raw


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_the_recorded_reason(name: str, recording: dict[str, Any], server: Loopback):
    config = recording["configs"][name]
    trace = next(t for t in recording["traces"] if t["config"] == name and t["diagnostics"]["rerankFallback"])
    recorded = trace["diagnostics"]["rerankFallback"]
    budget = config["call_overrides"].get("rerankTimeoutMs") if config["call_overrides"] else None
    with pytest.raises(RerankError) as caught:
        rerank(settings_of(config, server), "tea", ["one", "two"], 2, timeout_ms=budget)
    assert caught.value.reason == recorded["reason"]
    assert config["retrieval"]["rerankApiKey"] not in str(caught.value)
