"""An index that splits words by a dictionary which this machine does not have: recall, why-not and the doctor go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memtui.engine.recall.recipes.registry import all_recipes
from memtui.engine.store import word_matrix
from tests.cli.every_command import call
from tests.engine.curate_world import engine_at

ASKED = "which gate is used for deliveries"
TEXTS = (
    "Deliveries come through the north gate.",
    "The rota is printed on blue paper.",
    "The gulls are loud at the harbour.",
    "天气 很 好 at the harbour today",
)
RECIPES = tuple(recipe.name for recipe in all_recipes())
BY_MEANING = frozenset(recipe.name for recipe in all_recipes() if recipe.by_meaning) | {"hermes"}
"""Recipes that search no words; Hermes' own plugin does where its configuration says so."""


@pytest.fixture(scope="module")
def taken_away(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose index was made where a dictionary was; it is gone since."""
    return _without_dictionary(tmp_path_factory.mktemp("store"), TEXTS)


def _without_dictionary(folder: Path, texts: Sequence[str]) -> Path:
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS

    models = folder / "models"
    dictionary = models / "jieba" / "default"
    dictionary.mkdir(parents=True)
    (dictionary / "dict.txt").write_text("天气 100 n\n很 50 d\n好 60 a\n", encoding="utf-8")
    vectors = np.eye(16, dtype=np.float32)[np.arange(len(texts)) % 16]
    rows = pa.table(
        {
            "id": [f"aaaa{n:04}-1111-4222-8333-000000000001" for n in range(len(texts))],
            "text": list(texts),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 16),
            "category": ["fact"] * len(texts),
            "scope": ["global"] * len(texts),
            "importance": [0.7] * len(texts),
            "timestamp": [1_790_000_000_000.0] * len(texts),
            "metadata": ["{}"] * len(texts),
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANCE_LANGUAGE_MODEL_HOME", str(models))
        table = lancedb.connect(str(folder / "db")).create_table("memories", rows)
        table.create_index("text", config=FTS(base_tokenizer="jieba/default", with_position=False))
    (dictionary / "dict.txt").unlink()
    dictionary.rmdir()
    (folder / "question.json").write_text(json.dumps(vectors[0].tolist()), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, taken_away: Path) -> None:
    monkeypatch.setenv("LANCE_LANGUAGE_MODEL_HOME", str(taken_away / "models"))


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("asked_by", ["vector and words", "words"])
def test_every_recipe_answers_and_so_does_the_question_why_not(
    taken_away: Path, recipe: str, asked_by: str
) -> None:
    if recipe in BY_MEANING and asked_by == "words":
        pytest.skip("it asks by meaning alone")
    by_vector = [] if asked_by == "words" else ["--query-vector", str(taken_away / "question.json")]
    store = ["--store", str(taken_away / "db"), "--recipe", recipe, *by_vector, "--json"]
    recalled = call("recall", ASKED, *store)
    assert (recalled.code, recalled.faults) == (0, []), recalled.err
    warnings = str(json.loads(recalled.out)["warnings"])
    if recipe not in BY_MEANING:
        assert "jieba/default" in warnings, "what is missing is named"
    for memory in (0, 1):
        why = call("why-not", f"aaaa000{memory}", ASKED, *store)
        assert (why.code, why.faults) == (0, []), why.err


@pytest.mark.parametrize("recipe", ["memtui", "memory-core"])
def test_our_own_recipes_still_find_words(taken_away: Path, recipe: str) -> None:
    called = call("recall", ASKED, "--store", str(taken_away / "db"), "--recipe", recipe, "--json")
    assert json.loads(called.out)["results"][0]["text"] == TEXTS[0]


@pytest.mark.parametrize("recipe", ["memtui", "memory-core"])
def test_so_do_they_in_a_store_too_large_for_words_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: str
) -> None:
    many = [f"Box {n} stands in row {n % 97}." for n in range(word_matrix.MOST_ROWS + 1)]
    large = _without_dictionary(tmp_path, [*TEXTS, *many])
    monkeypatch.setenv("LANCE_LANGUAGE_MODEL_HOME", str(large / "models"))
    called = call("recall", ASKED, "--store", str(large / "db"), "--recipe", recipe, "--json")
    assert (called.code, called.faults) == (0, []), called.err
    assert json.loads(called.out)["results"][0]["text"] == TEXTS[0]


def test_the_doctor_names_the_dictionary_and_its_remedy_heals(taken_away: Path, tmp_path: Path) -> None:
    import shutil

    store = tmp_path / "db"
    shutil.copytree(taken_away / "db", store)
    found = call("doctor", "--store", str(store))
    assert "D5" in found.out
    assert "jieba/default" in found.out
    fixed = call("doctor", "--fix", "D5", "--yes", "--store", str(store))
    assert (fixed.code, fixed.faults) in ((0, []), (1, [])), fixed.err
    assert "jieba" not in call("doctor", "--store", str(store)).out
    assert engine_at(store).store.pin().unsplit == ""


def test_an_index_that_can_split_is_not_accused(tmp_path: Path) -> None:
    call("new", str(tmp_path / "own"), "--dims", "16")
    assert engine_at(tmp_path / "own").store.pin().unsplit == ""
