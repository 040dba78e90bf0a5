"""Words of a store of our own go into its index: at the end of a batch, and after single writes once they are many."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memtui.engine import Engine, open_engine
from memtui.engine.capture.draft import Write
from memtui.engine.capture.pipeline import folded
from memtui.engine.capture.recipes.memtui.rows import new_row
from memtui.engine.changes import apply
from memtui.engine.changes.change_set import ChangeSet
from memtui.engine.changes.commit import fold_words
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.recall.context import RecallContext
from memtui.engine.store import word_matrix
from memtui.engine.store.create import create_empty
from memtui.engine.store.open import open_store
from memtui.engine.store.writer import wants_fold
from tests.conftest import NOW_MS
from tests.quality import dialogues
from tests.quality.goals import measures
from tests.quality.tuning import Asked, bench_on, by_recipe


def opened(folder: Path, state: Path) -> Engine:
    return open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=folder, writable=True, state=state)


def write(engine: Engine, number: int, count: int = 1) -> None:
    """`count` new memories in one commit."""
    texts = [f"The boat number {number + at} lies at pier {(number + at) % 7}" for at in range(count)]
    vectors = bundled().embed_passages(texts)
    rows = [
        new_row(f"m{number + at:04d}", text, "entities", "global", now_ms=NOW_MS, at_ms=None, vector=vector)
        for at, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]
    changes = folded([Write("add", row, None, "create") for row in rows], engine.store)
    apply(engine, ChangeSet("capture", "a test", changes, engine.store.version), confirmed=True)
    engine.store.refresh()


@pytest.mark.parametrize(
    ("indexed", "beside", "single", "wanted"),
    [
        (0, 1, False, True),
        (0, 7, True, False),
        (0, 8, True, True),
        (100, 5, False, False),
        (100, 6, False, True),
        (100, 25, True, False),
        (100, 26, True, True),
        (1_000, 63, True, False),
        (1_000, 64, True, True),
        (10_000, 500, True, False),
        (10_000, 501, True, True),
    ],
)
def test_rows_are_folded_by_share_and_number(indexed: int, beside: int, single: bool, wanted: bool) -> None:
    assert wants_fold(indexed, beside, single=single) is wanted


@pytest.mark.slow
def test_single_writes_fold_now_and_then_and_a_batch_at_its_end(tmp_path: Path) -> None:
    create_empty(tmp_path / "store", BUNDLED_DIMS)
    engine = opened(tmp_path / "store", tmp_path / "state")
    first = engine.store.version
    for number in range(40):
        write(engine, number)
        status = engine.store.fts_status()
        assert not wants_fold(status.indexed_rows, status.unindexed_rows, single=True)
    folds = engine.store.version - first - 40
    assert 0 < folds <= 24, "a fold may make two versions, and is not made at each write"
    beside = engine.store.fts_status().unindexed_rows
    assert beside
    fold_words(engine)
    engine.store.refresh()
    left = engine.store.fts_status()
    assert left.unindexed_rows == 0 or not wants_fold(left.indexed_rows, left.unindexed_rows, single=False)


def halves(folder: Path, turns: Sequence[dialogues.Turn], beside: int) -> RecallContext:
    """A store of the turns whose last ones stand beside the index."""
    dialogues.write(folder / "a", turns[:-beside])
    dialogues.write(folder / "b", turns[-beside:])
    store = open_store(folder / "a")
    store.pin().table.add(open_store(folder / "b").pin().table.to_arrow())
    bench = RecallContext(open_store(folder / "a"), NOW_MS, bundled().embed_query, bundled=True)
    assert bench.store.pin().fts.unindexed_rows == beside
    return bench


def test_a_question_answers_alike_before_and_after_the_fold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a table too large for words in memory the engine scores rows beside its index by other statistics: the order
    below may move, the answer may not. In smaller ones nothing moves: `test_word_matrix`."""
    monkeypatch.setattr(word_matrix, "MOST_ROWS", 1)
    turns, questions = dialogues.read("priya-marcus")
    random.Random(1).shuffle(turns)
    bench = halves(tmp_path, turns, len(turns) // 5)
    asked = [Asked(each.query, str(each.scope), frozenset(each.expected), None) for each in questions]
    before = [list(by_recipe(bench)(each)) for each in asked]
    after = [list(by_recipe(bench_on(tmp_path / "a"))(each)) for each in asked]
    moved = np.array(
        [
            measures(new, each.relevant)[1] - measures(old, each.relevant)[1]
            for old, new, each in zip(before, after, asked, strict=True)
        ]
    )
    assert abs(moved.mean()) < 0.01
    assert np.mean([old[:1] == new[:1] for old, new in zip(before, after, strict=True)]) > 0.95
