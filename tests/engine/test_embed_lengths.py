"""Texts that are too long for a model: split as the plugin splits them, averaged, or cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memtui.engine.core.errors import EmbeddingError
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.providers.openai_embedder import OpenAIEmbedder, split
from tests.engine.loopback import Answer, Loopback, loopback, text_vector

MINI = "all-MiniLM-L6-v2"
"""Pieces of at most 358 characters, at least 100 (0.1 of 512 is less), 25 of them shared."""
SENTENCE = "The gateway of the staging cluster restarts at noon. "


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback() as running:
        yield running


def embedder(server: Loopback, **more: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        EmbeddingSettings(**{"model": MINI, "base_url": f"{server.url}/v1", "dimensions": 8, **more})
    )


def mean(pieces: list[str]) -> np.ndarray:
    return np.mean([text_vector(piece, 8) for piece in pieces], axis=0)


def test_a_text_that_fits_is_one_piece():
    assert split("x" * 358, MINI) == ["x" * 358]
    assert split("x" * 5734, "unknown-model") == ["x" * 5734]


def test_a_text_without_any_break_is_cut_hard_with_an_overlap():
    text = "".join(chr(97 + i % 26) for i in range(800))
    assert split(text, MINI) == [text[:358], text[333:691], text[666:]]


def test_pieces_end_at_a_sentence_else_a_line_else_a_word():
    for first in split(SENTENCE * 20, MINI)[:-1]:
        assert first.endswith("noon.")
    lines = ("x" * 49 + "\n") * 20
    assert split(lines, MINI)[0] == lines[:350].strip()
    words = ("x" * 9 + " ") * 80
    assert split(words, MINI)[0] == words[:349]


def test_a_piece_has_at_most_fifty_lines_but_its_least_length():
    text = "- items\n" * 1000  # fifty lines are 400 characters, the least is 819
    assert split(text, "unknown-model")[0] == text[:819]
    long_lines = ("y" * 29 + "\n") * 300
    assert split(long_lines, "unknown-model")[0] == (("y" * 29 + "\n") * 50).strip()


def test_nothing_is_lost_however_many_lines():
    text = "".join(f"- point {i}\n" for i in range(3000))
    pieces = split(text, "unknown-model")
    assert all(any(f"- point {i}\n" in piece + "\n" for piece in pieces) for i in range(3000))


def test_cjk_text_gets_smaller_pieces():
    pieces = split("网关配置在周五更新。" * 300, "unknown-model")
    assert max(map(len, pieces)) <= 2293
    assert max(map(len, split("gateway. " * 1000, "unknown-model"))) > 2293


def test_no_piece_is_longer_than_the_limit():
    pieces = split(SENTENCE * 40, "nomic-embed-text", 1400)
    assert max(map(len, pieces)) <= 1400
    assert "".join(SENTENCE * 40).replace(" ", "") == "".join(pieces).replace(" ", "")


def test_a_long_text_is_the_mean_of_its_pieces_not_made_unit_length(server: Loopback):
    text = (SENTENCE * 40).strip()
    found = embedder(server, model="nomic-embed-text").embed_query(text)
    pieces = split(text, "nomic-embed-text", 1400)
    assert [request.body["input"] for request in server.requests] == pieces
    assert found == pytest.approx(mean(pieces), abs=1e-6)
    assert np.linalg.norm(found) < 0.95


def test_without_chunking_a_long_text_is_cut_with_three_dots(server: Loopback):
    embedder(server, max_input_chars=20, chunking=False).embed_query("a long question about green tea")
    assert server.requests[0].body["input"] == "a long question a..."


def test_a_text_that_the_server_finds_too_long_is_split(server: Loopback):
    server.max_chars = 400
    text = (SENTENCE * 20).strip()
    found = embedder(server).embed_query(text)
    assert len(server.requests[0].body["input"]) == len(text)
    assert found == pytest.approx(mean(split(text, MINI)), abs=1e-6)


def test_a_text_that_cannot_be_split_is_halved_until_it_fits(server: Loopback):
    server.max_chars = 150
    text = "x" * 1000
    assert embedder(server, model="unknown-model").embed_query(text) == pytest.approx(
        text_vector("x" * 125, 8), abs=1e-6
    )
    assert embedder(server, chunking=False).embed_query(text) == pytest.approx(
        text_vector("x" * 125, 8), abs=1e-6
    )


def test_a_short_text_is_not_shortened_further(server: Loopback):
    server.max_chars = 50
    with pytest.raises(EmbeddingError, match="too long for") as caught:
        embedder(server).embed_query("x" * 199)
    assert "maxInputChars" in caught.value.fix
    assert len(server.requests) == 1


def test_one_long_text_does_not_spoil_its_batch(server: Loopback):
    server.max_chars = 400
    texts = ["green tea", (SENTENCE * 20).strip(), "black tea"]
    found = embedder(server).embed_passages(texts)
    assert found[0] == pytest.approx(text_vector("green tea", 8), abs=1e-6)
    assert found[1] == pytest.approx(mean(split(texts[1], MINI)), abs=1e-6)
    assert found[2] == pytest.approx(text_vector("black tea", 8), abs=1e-6)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(400, {"error": {"message": "This model's maximum context length is 8192 tokens"}}),
        Answer(413, {"error": "Payload Too Large"}),
        Answer(
            422,
            {"error": "Input validation error: `inputs` must have less than 512 tokens", "type": "too long"},
        ),
        Answer(500, {"error": "the input length exceeds the context length"}),
    ],
)
def test_servers_say_too_long_in_many_words(answer: Answer, server: Loopback):
    server.script = [answer]
    embedder(server).embed_query("x" * 300)
    assert len(server.requests[1].body["input"]) == 150
