"""The OpenAI form over a real socket: what is sent, keys in turn, another try, checked answers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from memtui.engine.core.errors import EmbeddingError
from memtui.engine.providers.embedding_services import QWEN3_TASK, EmbeddingSettings
from memtui.engine.providers.openai_embedder import CACHED_QUESTIONS, OpenAIEmbedder
from tests.engine.loopback import DROP, Answer, Loopback, loopback, text_vector

KEYS = ("sk-first-0123456789", "sk-second-0123456789", "sk-third-0123456789")
LIMITED = Answer(429, {"error": {"code": "rate_limit_exceeded", "message": "slow down"}})


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running


def embedder(server: Loopback, **more: Any) -> OpenAIEmbedder:
    values = {"model": "some-model", "base_url": f"{server.url}/v1", "api_keys": KEYS[:1], **more}
    return OpenAIEmbedder(EmbeddingSettings(**values), sleep=lambda _: None)


def test_a_question_is_one_request_with_the_key(server: Loopback):
    vector = embedder(server).embed_query("  green tea ")
    assert vector == pytest.approx(text_vector("green tea", 8), abs=1e-6)
    assert vector.dtype == np.float32
    assert server.requests[0].recorded() == {
        "path": "/v1/embeddings",
        "headers": {"Content-Type": "application/json", "Authorization": f"Bearer {KEYS[0]}"},
        "body": {"model": "some-model", "input": "green tea", "encoding_format": "float"},
    }


FLOAT = {"encoding_format": "float"}
JINA = {**FLOAT, "task": "retrieval.query"}
BODIES = [
    ({"provider": "jina", "normalized": True}, {**JINA, "normalized": True}),
    ({"provider": "jina", "request_dimensions": 8}, {**JINA, "dimensions": 8}),
    ({"provider": "jina", "request_dimensions": 8, "omit_dimensions": True}, JINA),
    ({"provider": "nvidia", "request_dimensions": 8}, {**FLOAT, "input_type": "query", "dimensions": 8}),
    ({"provider": "openai", "normalized": True, "dimensions": 8}, FLOAT),
    ({"provider": "voyage", "request_dimensions": 8}, {"input_type": "query", "output_dimension": 8}),
    ({"model": "jina-embeddings-v9"}, JINA),
    ({"model": "voyage-9", "normalized": True}, {"input_type": "query"}),
    ({"model": "nvidia/nv-embedqa"}, {**FLOAT, "input_type": "query"}),
]


@pytest.mark.parametrize(("more", "fields"), BODIES)
def test_each_service_gets_the_fields_it_knows(
    more: dict[str, Any], fields: dict[str, Any], server: Loopback
):
    embedder(server, task_query="retrieval.query", **more).embed_query("tea")
    sent = server.requests[0].body
    assert {name: value for name, value in sent.items() if name not in ("model", "input")} == fields


def test_passages_have_their_own_task_and_go_in_one_batch(server: Loopback):
    found = embedder(server, provider="voyage", task_passage="retrieval.passage").embed_passages(["a", "b "])
    assert server.requests[0].body["input"] == ["a", "b"]
    assert server.requests[0].body["input_type"] == "document"
    assert found == pytest.approx(np.array([text_vector("a", 8), text_vector("b", 8)]), abs=1e-6)


def test_many_passages_go_in_batches_and_come_back_in_order(server: Loopback):
    texts = [f"text {i}" for i in range(150)]
    found = embedder(server).embed_passages(texts)
    assert [len(request.body["input"]) for request in server.requests] == [64, 64, 22]
    assert found[149] == pytest.approx(text_vector("text 149", 8), abs=1e-6)
    assert embedder(server).embed_passages([]).shape == (0, 0)


def test_vectors_are_taken_by_index_not_by_place(server: Loopback):
    items = [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]
    server.script = [Answer(200, {"data": items})]
    assert embedder(server).embed_passages(["a", "b"]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_qwen3_questions_carry_their_task_passages_do_not(server: Loopback):
    model = embedder(server, model="Qwen/Qwen3-Embedding-0.6B")
    model.embed_query("tea?")
    model.embed_passages(["tea"])
    embedder(server, model="qwen3_embedding", task_query="Find tea").embed_query("tea?")
    sent = [request.body["input"] for request in server.requests]
    assert sent == [f"Instruct: {QWEN3_TASK}\nQuery:tea?", "tea", "Instruct: Find tea\nQuery:tea?"]


def test_ollama_single_and_batch_forms(server: Loopback):
    model = embedder(server, base_url=f"{server.url}/ollama/v1/", api_keys=(), request_dimensions=8)
    assert model.embed_query("tea") == pytest.approx(text_vector("tea", 8), abs=1e-6)
    model.embed_passages(["a", "b"])
    assert [request.path for request in server.requests] == [
        "/ollama/api/embeddings",
        "/ollama/v1/embeddings",
    ]
    assert server.requests[0].body == {"model": "some-model", "prompt": "tea"}
    assert server.requests[1].body == {"model": "some-model", "input": ["a", "b"]}
    assert server.requests[0].key == ""


def test_azure_has_its_own_header_and_version(server: Loopback):
    base = f"{server.url}/openai/deployments/d"
    embedder(server, base_url=base, provider="azure-openai", api_version="2024-02-01").embed_query("tea")
    request = server.requests[0]
    assert request.path == "/openai/deployments/d/embeddings?api-version=2024-02-01"
    assert {k.lower(): v for k, v in request.headers.items()}["api-key"] == KEYS[0]
    assert "Authorization" not in request.headers


def test_keys_take_turns(server: Loopback):
    model = embedder(server, api_keys=KEYS)
    for text in "abcd":
        model.embed_query(text)
    assert [request.key for request in server.requests] == [*KEYS, KEYS[0]]


@pytest.mark.parametrize(
    "refusal",
    [
        LIMITED,
        Answer(503, {"error": "overloaded"}),
        Answer(400, {"error": {"message": "You exceeded your quota"}}),
    ],
)
def test_another_key_steps_in_for_a_limited_one(refusal: Answer, server: Loopback):
    server.by_key = {KEYS[0]: refusal, KEYS[1]: refusal}
    embedder(server, api_keys=KEYS).embed_query("tea")
    assert [request.key for request in server.requests] == list(KEYS)


def test_each_key_is_asked_once_for_a_question(server: Loopback):
    server.by_key = dict.fromkeys(KEYS, LIMITED)
    with pytest.raises(EmbeddingError, match="all 3 API keys") as caught:
        embedder(server, api_keys=KEYS).embed_query("tea")
    assert sorted(request.key for request in server.requests) == sorted(KEYS)
    assert "quota" in caught.value.fix


def test_passages_wait_for_a_rate_limit_as_long_as_the_server_says(server: Loopback):
    waits: list[float] = []
    server.script = [
        Answer(429, {"error": "slow down"}, {"Retry-After": "7"}),
        Answer(429, {"error": "slow down"}),
    ]
    settings = EmbeddingSettings(model="m", base_url=f"{server.url}/v1", api_keys=KEYS[:1])
    OpenAIEmbedder(settings, sleep=waits.append).embed_passages(["a", "b"])
    assert waits == [7.0, 0.5]
    assert len(server.requests) == 3


def test_no_wait_goes_beyond_the_budget(server: Loopback):
    server.script = [Answer(429, {}, {"Retry-After": "3600"})] * 3
    with pytest.raises(EmbeddingError, match="rate limited"):
        embedder(server).embed_passages(["a", "b"])
    assert len(server.requests) == 1


@pytest.mark.parametrize("failure", [DROP, Answer(502, b"bad gateway"), Answer(500, {"error": "oops"})])
def test_a_passing_failure_is_tried_again(failure: Answer, server: Loopback):
    server.script = [failure, failure]
    embedder(server).embed_query("tea")
    assert len(server.requests) == 3


def test_a_lasting_failure_is_tried_three_times(server: Loopback):
    server.script = [Answer(500, {"error": "oops"})] * 9
    with pytest.raises(EmbeddingError, match="answered 500"):
        embedder(server).embed_query("tea")
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "fix"), [(401, "apiKey"), (403, "apiKey"), (404, "baseURL"), (422, "settings")]
)
def test_a_refusal_is_final_and_says_what_to_check(status: int, fix: str, server: Loopback):
    server.script = [Answer(status, {"error": f"no: {KEYS[0]}"})]
    with pytest.raises(EmbeddingError, match=str(status)) as caught:
        embedder(server).embed_query("tea")
    assert fix in caught.value.fix
    assert len(server.requests) == 1
    assert KEYS[0] not in str(caught.value) + caught.value.details
    assert "[key]" in caught.value.message


def test_one_budget_covers_a_question(server: Loopback):
    server.hang = True
    with pytest.raises(EmbeddingError, match=r"did not answer within 2.5 s"):
        embedder(server, timeout_s=2.5).embed_query("tea")
    assert len(server.requests) == 1, "no second try has a budget of its own"
    assert server.answered == []


def test_nobody_there(server: Loopback):
    with pytest.raises(EmbeddingError, match="cannot be asked") as caught:
        embedder(server, base_url="http://127.0.0.1:1/v1").embed_query("tea")
    assert "127.0.0.1:1" in caught.value.fix


BAD_ANSWERS = [
    (Answer(200, b"<html>"), "no usable vectors"),
    (Answer(200, {"data": []}), "no usable vectors"),
    (Answer(200, {"data": [{"embedding": "AACAPw=="}]}), "no usable vectors"),
    (Answer(200, {"data": [{"embedding": [[1.0], [2.0]]}]}), "no usable vectors"),
    (Answer(200, {"data": [{"embedding": ["a", "b"]}]}), "no usable vectors"),
    (Answer(200, {"data": [{"embedding": [0.0] * 8}]}), "zeros"),
    (Answer(200, b'{"data": [{"embedding": [1, NaN, 1, 1, 1, 1, 1, 1]}]}'), "zeros"),
    (Answer(200, {"data": [{"embedding": [1e300] * 8}]}), "zeros"),
    (Answer(200, {"data": [{"embedding": [1.0] * 7}]}), "gives 7 dimensions, not 8"),
]


@pytest.mark.parametrize(("answer", "words"), BAD_ANSWERS)
def test_a_useless_answer_is_an_error(answer: Answer, words: str, server: Loopback):
    server.script = [answer]
    with pytest.raises(EmbeddingError, match=words):
        embedder(server, dimensions=8).embed_query("tea")


def test_the_table_has_the_last_word_on_the_length(server: Loopback):
    settings = EmbeddingSettings(model="m", base_url=f"{server.url}/v1", dimensions=8)
    with pytest.raises(EmbeddingError, match="gives 8 dimensions, not 16"):
        OpenAIEmbedder(settings, table_dims=16).embed_query("tea")


def test_a_question_is_remembered_the_last_256_times(server: Loopback):
    model = embedder(server)
    first = model.embed_query("question 0")
    for i in range(CACHED_QUESTIONS):
        model.embed_query(f"question {i}")
    assert len(server.requests) == CACHED_QUESTIONS
    assert model.embed_query("question 0") is first
    model.embed_query("one more")
    model.embed_query("question 1")
    assert len(server.requests) == CACHED_QUESTIONS + 2
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1.0


def test_many_threads_share_one_embedder(server: Loopback):
    model = embedder(server, api_keys=KEYS)
    texts = [f"question {i}" for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(model.embed_query, texts))
    assert found == pytest.approx(np.array([text_vector(text, 8) for text in texts]), abs=1e-6)
    used = [request.key for request in server.requests]
    assert max(used.count(key) for key in KEYS) - min(used.count(key) for key in KEYS) <= 1


def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    settings = EmbeddingSettings(model="m", base_url="http://embeddings.invalid/v1")
    with pytest.raises(EmbeddingError, match="proxy"):
        OpenAIEmbedder(settings).embed_query("tea")


def test_a_proxy_is_never_asked_for_this_machine(server: Loopback, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    embedder(server).embed_query("tea")
    assert len(server.requests) == 1


def test_after_close_it_opens_again(server: Loopback):
    model = embedder(server)
    model.embed_query("a")
    model.close()
    model.embed_query("b")
    assert len(server.requests) == 2


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_to_embed(text: str, server: Loopback):
    with pytest.raises(EmbeddingError, match="no question"):
        embedder(server).embed_query(text)
    with pytest.raises(EmbeddingError, match="Text 2 of 2"):
        embedder(server).embed_passages(["a", text])
    assert server.requests == []


def test_hostile_text_is_sent_as_javascript_would(server: Loopback):
    embedder(server).embed_query('a\ud800b "quoted" \x00 日本')
    assert server.requests[0].body["input"] == 'a\ud800b "quoted" \x00 日本'


def test_no_description_shows_a_key(server: Loopback):
    settings = EmbeddingSettings(model="m", base_url="https://u:pw@h.example/v1?key=abc", api_keys=KEYS)
    shown = repr(settings) + OpenAIEmbedder(settings).describe()
    assert not any(secret in shown for secret in (*KEYS, "pw", "abc"))
    assert "h.example" in shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:word@h.example:8443/v1", "h.example:8443"),
        ("https://api.example/v1?key=secret", "api.example"),
        ("http://user:p@ss/word@h.example/v1", "(host hidden)"),
        ("https://user:pa#ss@h.example/v1", "(host hidden)"),
        ("user:word@h.example", "(no host)"),
    ],
)
def test_no_part_of_a_password_is_shown(url: str, shown: str) -> None:
    assert EmbeddingSettings(model="m", base_url=url).host == shown
