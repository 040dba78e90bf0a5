"""Words in memory: the library's own scores once all is folded, and the very same ones before."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memtui.engine import RecallRequest
from memtui.engine.catalog.text_search import index_tokens
from memtui.engine.explain.word_tree import keyword_tree
from memtui.engine.providers.static_embedder import bundled
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store import word_matrix
from memtui.engine.store.open import open_store
from memtui.engine.store.snapshot import Snapshot
from memtui.engine.store.sql import is_in
from memtui.engine.store.table import Store
from memtui.engine.store.word_matrix import splitter
from tests.conftest import NOW_MS, thinned
from tests.engine.pro_store import row, write_store
from tests.quality import dialogues, languages

NEARLY = 1e-5
"""The library counts in single precision."""


def fold(store: Store) -> None:
    """Take what stands beside the index into it."""
    table = store.pin().table
    table.checkout_latest()
    table.optimize(cleanup_older_than=timedelta(days=36_500))
    store.refresh()
    assert store.pin().fts.unindexed_rows == 0


def beside(store: Store, turns: Sequence[dialogues.Turn], folder: Path) -> None:
    """Write more rows, which the index does not hold."""
    dialogues.write(folder, turns)
    table = store.pin().table
    table.checkout_latest()
    table.add(open_store(folder).pin().table.to_arrow())
    table.checkout(store.version)  # whoever holds the version before goes on reading it
    store.refresh()
    assert store.pin().fts.unindexed_rows


def ours(pin: Snapshot, text: str, where: str | None = None, k: int = 5_000) -> dict[int, float]:
    found = pin.words_in_memory(text, k=k, where=where)
    assert found is not None
    return dict(zip(found.row_ids.tolist(), found.scores.tolist(), strict=True))


def theirs(pin: Snapshot, text: str, where: str | None = None) -> dict[int, float]:
    found = pin.fts_search(text, k=5_000, where=where, with_row_id=True)
    return dict(zip(found.column("_rowid").to_pylist(), found.column("_score").to_pylist(), strict=True))


def material() -> tuple[list[dialogues.Turn], list[str]]:
    """Rows of three dialogues and of facts in five scripts, mixed; and questions about them."""
    read = [dialogues.read(name) for name in ("priya-marcus", "nadia-theo", "elena-tom")]
    facts = [fact for name in languages.LANGUAGES for fact in languages.facts(name)]
    turns = [turn for each, _ in read for turn in each] + [turn for turn, _ in facts]
    questions = [q.query for _, each in read for q in each] + [question for _, question in facts]
    random.Random(3).shuffle(turns)
    return turns, [
        *questions,
        "Priya, Priya's and PRIYA",
        "co-op gateway_cache.py src/a.py 3.5 v2",
        "the of",
        "",
    ]


@pytest.mark.slow
def test_scores_are_those_of_the_library_where_all_is_folded_and_the_same_before(tmp_path: Path) -> None:
    turns, questions = material()
    cut = len(turns) * 2 // 3
    store = open_store(dialogues.write(tmp_path / "store", turns[:cut]))
    beside(store, turns[cut:], tmp_path / "more")
    scope = is_in("scope", [turns[0].scope])
    before = {(text, where): ours(store.pin(), text, where) for text in questions for where in (None, scope)}
    other = [theirs(store.pin(), text) for text in questions]
    fold(store)
    for (text, where), scores in before.items():
        assert ours(store.pin(), text, where) == scores, text
        assert list(ours(store.pin(), text, where)) == list(scores), "in the same order"
    for text in questions:
        assert ours(store.pin(), text) == pytest.approx(theirs(store.pin(), text), rel=NEARLY), text
    moved = [
        scores != pytest.approx(theirs(store.pin(), text), rel=NEARLY)
        for scores, text in zip(other, questions, strict=True)
    ]
    assert sum(moved) > len(moved) / 2, "the library's own scores do hang on the fold"


@pytest.mark.slow
def test_a_recall_answers_the_same_before_and_after_the_fold(tmp_path: Path) -> None:
    turns, questions = material()
    cut = len(turns) * 4 // 5
    store = open_store(dialogues.write(tmp_path / "store", turns[:cut]))
    beside(store, turns[cut:], tmp_path / "more")

    def answers() -> list[tuple[list[str], list[float]]]:
        bench = RecallContext(store, NOW_MS, bundled().embed_query, bundled=True)
        asked = [
            each for each in (*questions[::4], *questions[-4:]) if each.strip()
        ]  # of every dialogue and script
        traces = [recall(RecallRequest(each, recipe="memtui"), bench) for each in asked]
        return [(list(t.returned), [r.score or 0.0 for r in t.results]) for t in traces]

    before = answers()
    fold(store)
    for (ids, scores), (ids_now, scores_now) in zip(before, answers(), strict=True):
        assert ids_now == ids
        assert scores_now == pytest.approx(scores, abs=1e-9)


def test_changed_and_deleted_rows_count_as_they_are_now(tmp_path: Path) -> None:
    """The library goes on counting what was deleted until its index is made anew."""
    turns, questions = material()
    store = open_store(dialogues.write(tmp_path / "store", turns))
    store.pin().words_in_memory("tea", k=1)
    table = store.pin().table
    table.checkout_latest()
    gone = [turn.id for turn in turns[::7]]
    quoted = ", ".join(f"'{each}'" for each in gone)
    table.delete(f"id IN ({quoted})")
    table.update(where=f"id = '{turns[1].id}'", values={"text": "Priya grows tea in the gateway"})
    store.refresh()
    changed = [ours(store.pin(), each) for each in questions]
    kept = store.pin().table.to_arrow()
    fresh = open_store(dialogues.write(tmp_path / "fresh", turns[:1]))
    fresh_table = fresh.pin().table
    fresh_table.checkout_latest()
    fresh_table.delete("true")
    fresh_table.add(kept)
    fresh.refresh()
    fold(fresh)
    for scores, each in zip(changed, questions, strict=True):
        assert sorted(scores.values()) == pytest.approx(sorted(ours(fresh.pin(), each).values())), each


def test_a_new_version_splits_only_what_is_new(tmp_path: Path) -> None:
    turns, _ = material()
    store = open_store(dialogues.write(tmp_path / "store", turns[:100]))
    ours(store.pin(), "garden")
    cache = store.pin()._words
    assert cache is not None
    assert cache.read == 100
    old = store.pin()
    beside(store, turns[100:105], tmp_path / "more")
    assert len(ours(store.pin(), turns[102].text)) > 0
    assert cache.read == 105
    assert max(ours(old, turns[102].text).values(), default=0) < max(
        ours(store.pin(), turns[102].text).values()
    )


def test_the_best_of_many_are_the_first_and_equal_ones_stand_as_they_are_stored(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        row(f"m{at:03d}", "tea and cake" if at % 3 else "tea", [1.0]) for at in range(90)
    ]
    pin = open_store(write_store(tmp_path / "store", rows, dims=1)).pin()
    every = list(ours(pin, "tea"))
    for k in (1, 7, 30, 31, 60, 90, 500):
        assert list(ours(pin, "tea", k=k)) == every[:k]
    assert sorted(every[:30]) == every[:30]
    assert sorted(every[30:]) == every[30:]


@pytest.mark.slow
@pytest.mark.parametrize("one_in", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_known_words_are_split_as_the_library_splits_them(tmp_path: Path, one_in: int) -> None:
    """Of a table's texts some with the README's command, and all."""
    turns, questions = material()
    pin = open_store(dialogues.write(tmp_path / "store", turns[:20])).pin()
    by = splitter(pin.fts.details or {})
    assert by is not None
    texts = [
        *questions,
        *(turn.text for turn in turns[::one_in]),
        "a\ud800b",
        "x" * 200,
        "zqxwvzq tea",
        "don't U.S. 1,000.50",
    ]
    for text in texts:
        plain = text.encode("utf-8", "replace").decode()
        wanted = list(index_tokens(pin, plain))
        assert by.words(text) == wanted, text
        assert by.words(text) == wanted, "and the second time"
    assert [word for words in by.many(texts) for word in words] == [
        word for text in texts for word in by._split(text)
    ]


def test_large_tables_and_unknown_tokenizers_are_left_to_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns, _ = material()
    folder = dialogues.write(tmp_path / "store", turns[:50])
    assert open_store(folder).pin().words_in_memory("garden", k=5) is not None
    monkeypatch.setattr(word_matrix, "MOST_ROWS", 49)
    pin = open_store(folder).pin()
    assert pin.words_in_memory("garden", k=5) is None
    assert recall(
        RecallRequest("Who has a garden?", recipe="memtui"),
        RecallContext(open_store(folder), NOW_MS, bundled().embed_query, bundled=True),
    ).returned
    assert splitter({"base_tokenizer": "lindera/ipadic"}) is None
    assert splitter({"base_tokenizer": "icu", "lance_tokenizer": "json"}) is None


def test_the_tree_of_a_keyword_score_is_told_beside_the_index_and_adds_up(tmp_path: Path) -> None:
    turns, _ = material()
    store = open_store(dialogues.write(tmp_path / "store", turns[:100]))
    beside(store, turns[100:130], tmp_path / "more")
    bench = RecallContext(store, NOW_MS, bundled().embed_query, bundled=True)
    for turn in (turns[110], turns[3]):
        trace = recall(RecallRequest(f"{turn.text} {turn.text}", recipe="memtui"), bench)
        tree = keyword_tree(trace, turn.id)
        assert tree is not None
        assert tree.words
        assert tree.adds_up


@pytest.mark.parametrize("most", thinned([word_matrix.MOST_ROWS, 60], 2))
def test_who_reads_some_rows_gets_the_scores_of_a_table_of_these_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    turns, questions = material()
    mine, others = turns[:50], turns[50:]
    monkeypatch.setattr(word_matrix, "MOST_ROWS", most)  # so that the whole table has too many, or not
    place = dialogues.write(tmp_path / "all", turns)
    alone = open_store(dialogues.write(tmp_path / "alone", mine)).pin()
    pin = open_store(place).pin()
    assert others
    where = is_in("id", [turn.id for turn in mine])
    counting = pin.counting(where)
    column = pin.dialect.columns.id
    ids = {
        name: dict(
            zip(
                (rows := pa.Table.from_batches(of.scan([column], with_row_id=True)))
                .column("_rowid")
                .to_pylist(),
                rows.column(column).to_pylist(),
                strict=True,
            )
        )
        for name, of in (("all", pin), ("alone", alone))
    }
    met = 0
    for question in questions:
        expected = {ids["alone"][row]: score for row, score in ours(alone, question).items()}
        for within in (where, None):
            found = {ids["all"][row]: score for row, score in ours(counting, question, within).items()}
            assert found == expected
            met += len(found)
    assert met
    assert counting.word_rows == len(mine)
    assert pin.word_rows == len(turns)


def test_the_tree_of_a_recall_that_counts_its_own_rows_has_its_figures(tmp_path: Path) -> None:
    turns, _ = material()
    place = dialogues.write(tmp_path / "store", turns[:100])
    scopes = sorted({turn.scope for turn in turns[:100]})
    assert len(scopes) > 1
    bench = RecallContext(open_store(place), NOW_MS, bundled().embed_query, bundled=True)
    mine = [turn for turn in turns[:100] if turn.scope == scopes[0]]
    for own in (True, False):
        request = RecallRequest(mine[0].text, recipe="memtui", scopes=[scopes[0]], own_words=own)
        trace = recall(request, bench)
        tree = keyword_tree(trace, mine[0].id)
        assert tree is not None
        assert tree.adds_up
        assert trace.proof.recomputed, trace.proof.failures
        assert tree.rows == (len(mine) if own else 100)
