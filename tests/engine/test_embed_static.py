"""The bundled model: exact, the same alone and in a batch, and honest about what it does not know."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memtui.engine.core.errors import EmbeddingError
from memtui.engine.providers import static_embedder
from memtui.engine.providers.static_embedder import BUNDLED, BUNDLED_DIMS, StaticEmbedder, bundled

TEXTS = [
    "The staging database runs on port 5432",
    "Mira prefers tea over coffee",
    "deploy window friday",
    "",
    "naïve café, 42 °C",
    "a" * 3000 + " tail",
    "word " * 900,
]

GOLDEN_HASH = "c3b7ca1c4902b460d11f1fd9f33fa2ee99e58db6c20431485422237a11f4403d"
GOLDEN_HEAD = [-0.1606856, -0.1647536, 0.3884932, -0.1627196]
"""The first numbers of the first text's vector as model2vec 0.10.0 gives them."""


def cosine(left: str, right: str) -> float:
    model = bundled()
    return float(model.embed_query(left) @ model.embed_query(right))


def test_vectors_are_pinned_to_the_last_bit():
    found = bundled().embed_passages(TEXTS)
    assert found.dtype == np.float32
    assert found.shape == (len(TEXTS), BUNDLED_DIMS)
    little = found.astype("<f4").tobytes()
    assert hashlib.sha256(little).hexdigest() == GOLDEN_HASH
    assert found[0, :4].tolist() == pytest.approx(GOLDEN_HEAD, abs=1e-7)


def test_a_text_gets_the_same_vector_alone_and_in_any_batch():
    model = bundled()
    together = model.embed_passages(TEXTS * 300)
    for index, text in enumerate(TEXTS):
        alone = model.embed_passages([text])[0]
        assert np.array_equal(alone, together[index])
        assert np.array_equal(alone, together[index + len(TEXTS) * 299])


def test_lengths_are_one_or_zero():
    lengths = np.linalg.norm(bundled().embed_passages(TEXTS), axis=1)
    assert lengths[3] == 0.0
    assert np.delete(lengths, 3) == pytest.approx(1.0, abs=1e-6)


def test_no_texts_no_vectors():
    assert bundled().embed_passages([]).shape == (0, BUNDLED_DIMS)


def test_meaning_is_nearer_than_chance():
    assert cosine("database port", "postgres listens on 5432") > cosine("database port", "afternoon tea")
    assert cosine("car", "automobile") == pytest.approx(0.8136, abs=1e-4)
    assert cosine("car", "tea") == pytest.approx(0.0234, abs=1e-4)
    assert cosine("Hello World", "hello world") == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("text", ["", "   ", "🙂🙂", "\ud800"])
def test_a_question_without_a_known_word_is_an_error_not_a_zero_vector(text: str):
    with pytest.raises(EmbeddingError) as caught:
        bundled().embed_query(text)
    assert "keyword" in caught.value.fix


def test_token_vectors_point_into_the_text_and_sum_to_its_vector():
    text = "Postgres läuft on port 5432 🙂 ok"
    model = bundled()
    tokens, spans, matrix = model.token_vectors(text)
    assert matrix.shape == (len(tokens), BUNDLED_DIMS)
    assert matrix.dtype == np.float32
    for token, (start, end) in zip(tokens, spans, strict=True):
        assert text[start:end].lower().replace("ä", "a") == token.removeprefix("##")
    total = matrix.sum(axis=0)
    assert total / np.linalg.norm(total) == pytest.approx(model.embed_query(text), abs=1e-6)
    assert "🙂" not in tokens


def test_rare_words_weigh_more_than_common_ones():
    tokens, _, matrix = bundled().token_vectors("the postgres")
    weight = {token: float(np.linalg.norm(row)) for token, row in zip(tokens, matrix, strict=True)}
    assert weight["##gre"] > 2 * weight["the"]


def test_token_vectors_of_many_texts_equal_those_of_each():
    model = bundled()
    for text, many in zip(TEXTS, model.token_vectors_many(TEXTS), strict=True):
        alone = model.token_vectors(text)
        assert alone.tokens == many.tokens
        assert alone.spans == many.spans
        assert np.array_equal(alone.matrix, many.matrix)


def test_only_the_first_512_pieces_count():
    model = bundled()
    assert len(model.token_vectors("tea " * 600).tokens) == 512
    assert np.array_equal(
        model.embed_query("tea " * 512), model.embed_query("tea " * 512 + "database " * 500)
    )


def test_endless_text_is_cut_before_it_costs_seconds():
    assert bundled().embed_query("tea " * 5_000_000).shape == (BUNDLED_DIMS,)


def test_a_broken_installation_says_so(tmp_path: Path):
    with pytest.raises(EmbeddingError, match="cannot be read") as caught:
        StaticEmbedder(tmp_path, "broken", 256).embed_query("tea")
    assert "Install memtui again" in caught.value.fix


def test_naming_the_model_costs_no_import():
    code = (
        "import sys; from memtui.engine.providers.static_embedder import bundled; bundled().describe();"
        "print([m for m in ('numpy', 'tokenizers', 'safetensors', 'httpx', 'tenacity') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_licence_and_origin_lie_beside_the_weights():
    folder = Path(static_embedder.__file__).parent / "models" / BUNDLED
    assert "all-MiniLM-L6-v2" in (folder / "NOTICE").read_text()
    assert "Apache License" in (folder / "LICENSE").read_text()
    config = json.loads((folder / "config.json").read_text())
    assert config["hidden_dim"] == BUNDLED_DIMS
