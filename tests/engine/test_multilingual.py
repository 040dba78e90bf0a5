"""The model of `memtui[multilingual]`: sound vectors where it is installed, a sentence that helps where it is not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine.core.errors import EmbeddingError, RefusedError
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.providers.embedder import NoEmbedder, embedder_named, resolve_embedder
from memtui.engine.providers.local_models import LOCAL_MODELS, runs_here
from memtui.engine.providers.multilingual_embedder import (
    MULTILINGUAL,
    MULTILINGUAL_DIMS,
    MultilingualEmbedder,
    installed,
)
from memtui.engine.providers.static_embedder import BUNDLED, bundled
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.recipes.memtui.scripts import unknown_language
from memtui.engine.recall.recipes.memtui.settings import resolve_own
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.engine.transfer.importing.embedding_cost import is_offline
from tests.conftest import NOW_MS
from tests.quality import languages
from tests.quality.tuning import Asked, by_recipe, by_words, measured

with_model = pytest.mark.skipif(not installed(), reason="the extra memtui[multilingual] is not installed")

ENGLISH = (
    "Which port does the staging gateway listen on?",
    "What did Caroline say about her trip to the mountains last summer?",
    "where is the backup of the old database",
    "Who takes care of the garden while they are away",
)
OTHERS = (
    "Auf welchem Port lauscht das Gateway der Testumgebung?",
    "¿En qué carpeta guarda Lucía las facturas de los proveedores?",
    "Em que pasta a Marta guarda as faturas dos fornecedores?",
    "Где хранится резервная копия старой базы данных?",
    "备份文件放在哪里",
    "バックアップはどこにありますか",
    "백업은 어디에 있습니까",
    "أين توجد النسخة الاحتياطية",
)


@pytest.mark.parametrize("question", ENGLISH)
def test_english_is_a_language_that_the_bundled_model_knows(question: str) -> None:
    assert unknown_language(question, bundled().common_words()) == 0.0


@pytest.mark.parametrize("question", OTHERS)
def test_other_languages_are_not(question: str) -> None:
    assert unknown_language(question, bundled().common_words()) >= 0.5


@pytest.mark.parametrize("question", ENGLISH)
def test_in_english_it_adds_nothing_to_what_the_recipe_has(question: str) -> None:
    settings, _ = resolve_own(None, bundled=False, multilingual=True, question=question)
    plain, _ = resolve_own(None, bundled=True, question=question)
    assert settings.bm25_weight == plain.bm25_weight
    assert settings.late_weight == plain.late_weight


@pytest.mark.parametrize("question", OTHERS)
def test_elsewhere_its_vectors_lead(question: str) -> None:
    settings, findings = resolve_own(None, bundled=False, multilingual=True, question=question)
    assert settings.vector_weight > settings.late_weight
    assert any(MULTILINGUAL in finding for finding in findings)


def test_a_model_of_this_machine_needs_no_service() -> None:
    assert set(LOCAL_MODELS) == {BUNDLED, MULTILINGUAL}
    assert runs_here(f" {MULTILINGUAL} ")
    assert not runs_here("text-embedding-3-small")
    assert all(is_offline(make()) for make in LOCAL_MODELS.values())


@pytest.mark.skipif(installed(), reason="the extra is installed")
def test_without_the_wheel_a_sentence_says_what_to_install() -> None:
    found = resolve_embedder(None, own_store=True, dims=MULTILINGUAL_DIMS, model_hint=MULTILINGUAL)
    assert isinstance(found, NoEmbedder)
    assert "memtui[multilingual]" in found.fix
    with pytest.raises(RefusedError, match="not installed"):
        embedder_named(MULTILINGUAL, {})
    with pytest.raises(EmbeddingError, match="not installed"):
        MultilingualEmbedder().embed_query("port")


@with_model
def test_its_vectors_are_sound() -> None:
    texts = ["Der Port ist 8443.", "", " \n", "a\x00b", "\ud800 broken", "口" * 300]
    made = MultilingualEmbedder().embed_passages(texts)
    assert made.shape == (len(texts), MULTILINGUAL_DIMS)
    assert np.linalg.norm(made, axis=1).round(3).tolist() == [1, 0, 0, 1, 1, 1]
    alone = MultilingualEmbedder().embed_passages([texts[0]])[0]
    assert np.allclose(alone, made[0], atol=1e-6)
    with ThreadPoolExecutor(4) as pool:
        for again in pool.map(MultilingualEmbedder().embed_query, [texts[0]] * 8):
            assert np.allclose(again, MultilingualEmbedder().embed_query(texts[0]), atol=1e-6)


@with_model
def test_a_question_finds_its_answer_across_languages() -> None:
    model = MultilingualEmbedder()
    texts = [
        "The cat likes to eat fish.",
        "The bicycle stands in the yard.",
        "Our flight leaves at nine in the evening.",
    ]
    for question, answer in (
        ("那只猫喜欢吃什么", 0),
        ("Wo steht das Fahrrad?", 1),
        ("¿A qué hora sale nuestro vuelo?", 2),
    ):
        assert int((model.embed_passages(texts) @ model.embed_query(question)).argmax()) == answer, question


@with_model
@pytest.mark.slow
@pytest.mark.parametrize("language", ["Korean", "Arabic", "Russian"])
def test_the_recipe_with_its_vectors_finds_what_keywords_do_not(language: str, tmp_path: Path) -> None:
    model, facts = MultilingualEmbedder(), languages.facts(language)
    vectors = model.embed_passages([turn.text for turn, _ in facts])
    rows = [
        {
            "id": turn.id,
            "text": turn.text,
            "vector": vector.tolist(),
            "category": "fact",
            "scope": language,
            "importance": 0.7,
            "timestamp": float(turn.timestamp_ms),
            "metadata": "{}",
        }
        for (turn, _), vector in zip(facts, vectors, strict=True)
    ]
    create_own(tmp_path / "store", pa.Table.from_pylist(rows, schema=own_schema(MULTILINGUAL_DIMS)))
    store = open_store(tmp_path / "store")
    store.pin().table.optimize()
    store.refresh()
    context = RecallContext(store, NOW_MS, model.embed_query, multilingual=True)
    asked = [Asked(question, language, frozenset([turn.id]), None) for turn, question in facts]
    by_keywords, by_both = (measured(answer(context), asked).mean(axis=0) for answer in (by_words, by_recipe))
    assert by_both[1] > by_keywords[1] + 0.2
    assert by_both[0] >= 0.95
