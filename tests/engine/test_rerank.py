"""Reranking over a real socket: answers of every form, failures of every kind."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from memtui.engine.core.errors import RerankError
from memtui.engine.providers.reranker import RerankSettings, rerank, scores
from tests.engine.loopback import Answer, Loopback, loopback

DOCUMENTS = ["green tea at four", "the port is 5432", "black tea"]
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running


def ask(server: Loopback, path: str = "/v1/rerank", *, top_n: int = 3, timeout_ms: float = 3000, **more: Any):
    settings = RerankSettings(endpoint=server.url + path, api_key=KEY, **more)
    return rerank(settings, "green tea", DOCUMENTS, top_n, timeout_ms=timeout_ms)


@pytest.mark.parametrize(
    "provider", ["jina", "siliconflow", "voyage", "pinecone", "dashscope", "tei", "vllm"]
)
def test_every_provider_gives_positions_and_scores_in_its_order(provider: str, server: Loopback):
    assert ask(server, provider=provider) == [(0, 1.0), (2, 0.5), (1, 0.0)]


def test_top_n_is_sent(server: Loopback):
    assert ask(server, top_n=2) == [(0, 1.0), (2, 0.5)]
    assert server.requests[0].body["top_n"] == 2


def test_a_partial_answer_is_an_answer(server: Loopback):
    assert ask(server, "/partial/v1/rerank") == [(0, 1.0), (1, 0.0)]


def test_a_server_without_a_key_gets_no_header(server: Loopback):
    for provider in ("tei", "pinecone"):
        rerank(RerankSettings(provider=provider, endpoint=f"{server.url}/rerank"), "q", ["a"], 1)
        assert server.requests[-1].key == ""


@pytest.mark.parametrize("path", ["/garbage/rerank", "/invalid/rerank", "/empty/rerank"])
def test_an_answer_without_scores_is_invalid(path: str, server: Loopback):
    with pytest.raises(RerankError) as caught:
        ask(server, path)
    assert caught.value.reason == "invalid_response"
    assert "rerankProvider" in caught.value.fix


def test_a_refusal_shows_status_and_the_first_200_characters_never_the_key(server: Loopback):
    server.script = [Answer(401, f"bad key {KEY} \x1b[31m ".encode() + b"x" * 500)]
    with pytest.raises(RerankError) as caught:
        ask(server)
    assert caught.value.reason == "http_error"
    assert "401" in caught.value.message
    assert KEY not in repr(caught.value) + str(caught.value) + caught.value.details
    assert "\x1b" not in caught.value.message
    assert caught.value.message.count("x") < 200
    assert caught.value.fix == "Check rerankApiKey."


@pytest.mark.parametrize("path", ["/slow/rerank", "/drip/rerank"])
def test_the_budget_covers_headers_and_body(path: str, server: Loopback):
    with pytest.raises(RerankError) as caught:
        ask(server, path, timeout_ms=200)
    assert caught.value.reason == "timeout"
    assert "200 ms" in caught.value.message
    assert server.answered == [], "it was given up before its answer was whole"


def test_a_server_that_drips_its_headers_is_cut_too():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stop, whole = threading.Event(), threading.Event()

        def drip() -> None:
            connection, _ = listener.accept()
            with connection:
                for _ in range(200):
                    if stop.wait(0.05):
                        return
                    connection.sendall(b"H")
            whole.set()

        threading.Thread(target=drip, daemon=True).start()
        settings = RerankSettings(endpoint=f"http://127.0.0.1:{listener.getsockname()[1]}/rerank")
        with pytest.raises(RerankError, match="did not answer"):
            rerank(settings, "q", ["a"], 1, timeout_ms=300)
        assert not whole.is_set()
        stop.set()


def test_no_budget_asks_nobody(server: Loopback):
    with pytest.raises(RerankError) as caught:
        ask(server, timeout_ms=0)
    assert caught.value.reason == "timeout"
    assert server.requests == []


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:1/rerank", "ftp://x/rerank", "rerank", "http://[::1/r"]
)
def test_nobody_there_is_a_request_error(endpoint: str):
    with pytest.raises(RerankError) as caught:
        rerank(RerankSettings(endpoint=endpoint, api_key=KEY), "q", ["a"], 1, timeout_ms=2000)
    assert caught.value.reason == "request_error"


@pytest.mark.parametrize("key", ["schlüssel-geheim", "two\nlines-secret"])
def test_a_key_that_no_header_carries_is_not_shown(key: str, server: Loopback):
    with pytest.raises(RerankError) as caught:
        rerank(RerankSettings(endpoint=server.url, api_key=key), "q", ["a"], 1)
    assert caught.value.reason == "request_error"
    assert not any(part in str(caught.value) + caught.value.details for part in ("geheim", "secret"))


def test_a_redirect_is_not_followed_with_the_key(server: Loopback):
    server.script = [Answer(307, None, {"Location": "/elsewhere"})]
    with pytest.raises(RerankError, match="307"):
        ask(server)
    assert len(server.requests) == 1


def test_settings_never_show_the_key():
    settings = RerankSettings(endpoint="https://user:pass@rerank.example/v1?token=abc", api_key=KEY)
    assert all(word not in repr(settings) for word in (KEY, "pass", "abc"))
    assert settings.host == "rerank.example"


READINGS = [
    ("jina", {"results": [{"index": "1", "relevance_score": "0.25"}]}, [(1, 0.25)]),
    ("jina", {"results": [{"index": None, "relevance_score": None}]}, [(0, 0.0)]),
    ("jina", {"results": [{"index": 0, "relevance_score": "high", "score": 0.5}]}, [(0, 0.5)]),
    (
        "jina",
        {"results": [{"index": 0}, {"relevance_score": 1}, "x", {"index": 2, "score": -3.5}]},
        [(2, -3.5)],
    ),
    ("jina", {"results": [{"index": "x", "score": 1}], "data": [{"index": 1, "score": 2}]}, [(1, 2.0)]),
    ("jina", {"results": [], "data": []}, None),
    ("jina", [{"index": 0, "score": 1}], None),
    ("voyage", {"results": [{"index": 0, "score": 1}], "data": [{"index": 1, "score": 2}]}, [(1, 2.0)]),
    ("pinecone", {"data": [{"index": 0, "score": 1, "relevance_score": 9}]}, [(0, 1.0)]),
    ("tei", [{"index": 0, "score": 1, "relevance_score": 9}], [(0, 1.0)]),
    ("tei", {"data": [{"index": 0, "relevance_score": 9}]}, [(0, 9.0)]),
    ("dashscope", {"output": {"results": [{"index": 0, "relevance_score": 1}]}}, [(0, 1.0)]),
    ("dashscope", {"output": {}, "results": [{"index": 0, "relevance_score": 1}]}, None),
    ("dashscope", {"results": [{"index": 0, "relevance_score": 1}]}, [(0, 1.0)]),
    ("jina", None, None),
]


@pytest.mark.parametrize(("provider", "answer", "expected"), READINGS)
def test_reading_an_answer(provider: str, answer: Any, expected: Any):
    assert scores(provider, answer) == expected


def test_positions_outside_the_documents_are_left_out(server: Loopback):
    items = [{"index": index, "score": 1} for index in (-1, 3, 1.5, 2, 2)]
    server.script = [Answer(200, {"results": items})]
    assert ask(server) == [(2, 1.0), (2, 1.0)]
