"""Lists in the order of ~words, and the neighbours of a memory: exact cosines, and words where nothing embeds."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.cli.main import run
from memtui.engine import Engine, ListQuery, UsageError, open_engine
from memtui.engine.catalog import select_ids
from memtui.engine.core.progress import Progress
from memtui.engine.health import find_duplicates, find_suspects
from memtui.engine.providers.embedder import NoEmbedder
from tests.conftest import NOW_MS
from tests.engine.curate_world import WordEmbedder
from tests.engine.pro_store import row, write_store

DIMS = 8
TEXTS = (
    "green tea in the morning",
    "the kiln is hot",
    "green kiln glaze",
    "tea for the guests",
    "nothing of it",
    "",
)


def engine_of(folder: Path, embedder: Any = None) -> Engine:
    """The engine on this store, with the embedder that made its vectors."""
    engine = open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder)
    if embedder is not None:
        engine._embedder = embedder
    return engine


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six rows made by `WordEmbedder`, one without a vector, one of zeros."""
    embedder = WordEmbedder(DIMS)
    vectors: list[Any] = embedder.embed_passages(TEXTS).tolist()
    vectors[3], vectors[4] = None, [0.0] * DIMS
    rows = [
        row(f"row-{i}-aaaa", text, vectors[i], timestamp=NOW_MS - i, scope="agent:a" if i % 2 else "global")
        for i, text in enumerate(TEXTS)
    ]
    return write_store(tmp_path_factory.mktemp("similar") / "store", rows, dims=DIMS)


@pytest.fixture
def engine(store: Path) -> Engine:
    return engine_of(store, WordEmbedder(DIMS))


def ids(engine: Engine, text: str, **more: Any) -> list[str]:
    view = engine.view(ListQuery(text, **more))
    return [memory.id for memory in engine.page(view, 0, 100)]


@pytest.mark.slow
def test_the_list_is_in_the_order_of_the_exact_cosine(engine: Engine) -> None:
    view = engine.view(ListQuery("~green kiln glaze", sort="importance"))
    made = WordEmbedder(DIMS).embed_passages(["green kiln glaze", *TEXTS]).astype(np.float64)
    cosine = made[1:] @ made[0]
    expected = sorted((0, 1, 2, 5), key=lambda i: -cosine[i])
    found = [memory.id for memory in engine.page(view, 0, 9)]
    assert found == [*(f"row-{i}-aaaa" for i in expected), "row-3-aaaa", "row-4-aaaa"]
    assert found[0] == "row-2-aaaa"
    assert [view.similarity(i) for i in range(4)] == pytest.approx([cosine[i] for i in expected], abs=1e-5)
    assert view.similarity(4) is None
    assert view.similarity(99) is None
    assert view.ranked
    assert not view.note
    assert view.total == 6


def test_the_rest_of_the_filter_and_the_scopes_still_choose(engine: Engine) -> None:
    assert set(ids(engine, "~green kiln scope:global")) == {"row-0-aaaa", "row-2-aaaa", "row-4-aaaa"}
    assert set(ids(engine, '"kiln" ~"hot things"')) == {"row-1-aaaa", "row-2-aaaa"}
    assert ids(engine, "~tea", scopes=("agent:a",))[-1] == "row-3-aaaa"
    assert not engine.view(ListQuery("tea")).ranked


def test_the_words_are_embedded_once_while_other_terms_change(store: Path) -> None:
    embedder = WordEmbedder(DIMS)
    engine = engine_of(store, embedder)
    for text in ("~green tea", "~green tea imp>.1", "scope:global ~green tea"):
        engine.view(ListQuery(text))
    assert embedder.calls == 1


@pytest.mark.parametrize(
    ("embedder", "reason"),
    [
        (NoEmbedder("The agent's key is missing.", "Set it."), "The agent's key is missing."),
        (WordEmbedder(DIMS + 1), "gives 9 numbers"),
    ],
)
def test_without_a_fitting_embedder_the_words_are_looked_for(store: Path, embedder: Any, reason: str) -> None:
    engine = engine_of(store, embedder)
    view = engine.view(ListQuery("~green kiln"))
    assert reason in view.note
    assert [memory.id for memory in engine.page(view, 0, 9)] == ["row-2-aaaa", "row-0-aaaa", "row-1-aaaa"]
    assert [view.similarity(i) for i in range(3)] == [1.0, 0.5, 0.5]
    assert ids(engine, "~green kiln -glaze") == ["row-0-aaaa", "row-1-aaaa"]
    assert view.total == 3
    assert dict(view.facets.scopes) == {"global": 2, "agent:a": 1}


def test_progress_is_told(engine: Engine) -> None:
    heard: list[Progress] = []
    engine.view(ListQuery("~tea is:noise"), None, heard.append)
    assert {each.what for each in heard} == {"Comparing vectors", "Looking through the memories"}
    assert heard[-1].done == heard[-1].total == 6


def test_what_orders_does_not_choose_for_a_change(engine: Engine) -> None:
    for choose in (
        partial(select_ids, engine.view),
        partial(find_duplicates, engine),
        partial(find_suspects, engine, None),
    ):
        with pytest.raises(UsageError, match="cannot choose"):
            choose("~tea")


def test_neighbours_are_the_nearest_by_cosine(engine: Engine) -> None:
    made = WordEmbedder(DIMS).embed_passages(TEXTS).astype(np.float64)
    cosine = made @ made[0]
    expected = sorted((1, 2, 5), key=lambda i: -cosine[i])
    found = engine.neighbours("row-0-aaaa", 3)
    assert [each.memory.id for each in found] == [f"row-{i}-aaaa" for i in expected]
    assert [each.similarity for each in found] == pytest.approx([cosine[i] for i in expected], abs=1e-5)
    assert len(engine.neighbours("row-0-aaaa", 1)) == 1


@pytest.mark.parametrize("memory", ["row-3-aaaa", "row-4-aaaa", "gone", "x' OR '1'='1"])
def test_no_neighbours_without_a_vector(engine: Engine, memory: str) -> None:
    with pytest.raises(UsageError, match=r"no usable vector|No memory has the id"):
        engine.neighbours(memory)


def test_the_command_line_lists_by_meaning(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ls", "~green kiln", "--store", str(store), "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [each["similarity"] for each in found["rows"]] == [1.0, 0.5, 0.5]
    assert found["total"] == 3
    assert "looks for the words" in err
    assert run(["ls", "~green kiln", "--limit", "1", "--store", str(store)]) == 0
    out, _ = capsys.readouterr()
    assert out.splitlines()[0].split()[:2] == ["sim", "id"]
    assert out.splitlines()[1].split()[:2] == ["1.00", "row-2-aa"]
    assert run(["ls", "-~green kiln", "--store", str(store)]) == 2
    assert "orders a whole list" in capsys.readouterr().err
