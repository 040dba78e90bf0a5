"""The demo store: what is in it, that it is the same every time, that it appears whole or not at all."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from memtui.engine.core.errors import Cancelled, MemtuiError, RefusedError
from memtui.engine.core.memory import LAYERS, STATES, TIERS, Memory
from memtui.engine.core.progress import CancelToken, Progress
from memtui.engine.demo import GENERATION, build_demo, demo_folder, is_complete, read_mark
from memtui.engine.demo.build import demo_table
from memtui.engine.demo.content import records
from memtui.engine.demo.rows import DAY_MS, memory_id
from memtui.engine.providers.static_embedder import BUNDLED_DIMS, bundled
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS, tree_hash

MIDNIGHT = NOW_MS - NOW_MS % DAY_MS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_demo(tmp_path_factory.mktemp("cache") / "demo", now_ms=NOW_MS)


@pytest.fixture(scope="module")
def store(folder: Path) -> Store:
    return open_store(folder)


@pytest.fixture(scope="module")
def memories(store: Store) -> Mapping[str, Memory]:
    """Every memory by its key."""
    keys = {memory_id(each.key): each.key for each in records()}
    found = store.rows_by_id(list(keys), store.row_columns)
    return {keys[each.id]: each for each in store.dialect.to_memories(found, MIDNIGHT)}


def test_the_store_is_memtuis_own_complete_and_indexed(store: Store, folder: Path) -> None:
    assert (store.dialect.name, store.dims, store.name) == ("memtui", BUNDLED_DIMS, "demo")
    assert store.count() == len(records()) >= 600
    assert store.warnings == ()
    status = store.fts_status()
    assert (status.exists, status.positions, status.unindexed_rows) == (True, True, 0)
    mark = read_mark(folder)
    assert mark is not None
    assert (mark.generation, mark.now_ms, mark.rows) == (GENERATION, MIDNIGHT, len(records()))


def test_every_kind_of_memory_is_there(memories: Mapping[str, Memory]) -> None:
    def count(field: str) -> Counter[Any]:
        return Counter(getattr(each, field) for each in memories.values())

    assert set(count("tier")) == set(TIERS)
    assert min(count("tier").values()) >= 30
    assert set(count("state")) == set(STATES)
    assert min(count("state").values()) >= 15
    assert set(count("layer")) == set(LAYERS)
    smart = ("profile", "preferences", "entities", "events", "cases", "patterns")
    assert all(count("memory_category")[each] >= 20 for each in smart)
    stored = ("preference", "fact", "decision", "entity", "reflection", "other")
    assert all(count("category")[each] >= 20 for each in stored)
    sources = {"manual", "auto-capture", "legacy", "reflection", "dreaming-engine"}
    assert sources <= set(count("source"))
    kinds = Counter((each.scope or "").partition(":")[0] for each in memories.values())
    assert all(kinds[each] >= 30 for each in ("global", "agent", "project", "user", "custom", "reflection"))


def test_ages_span_four_hundred_days_up_to_yesterday(memories: Mapping[str, Memory]) -> None:
    ages = sorted((MIDNIGHT - each.timestamp_ms) / DAY_MS for each in memories.values())
    assert 0 < ages[0] < 1
    assert 395 < ages[-1] <= 400
    assert all(newer - older < 10 for older, newer in pairwise(ages))
    assert all(each.timestamp_ms <= each.last_accessed_ms <= MIDNIGHT for each in memories.values())


def test_texts_differ_and_speak_four_languages(memories: Mapping[str, Memory]) -> None:
    starts = Counter(" ".join(each.text.casefold().split()[:4]) for each in memories.values())
    shared = sum(count for count in starts.values() if count > 1)
    assert shared <= 0.05 * len(memories)
    texts = [each.text for each in memories.values()]
    japanese = [text for text in texts if re.search("[ぁ-ヿ]", text)]
    chinese = [text for text in texts if re.search("[一-鿿]{3}", text) and not re.search("[ぁ-ヿ]", text)]
    german = [text for text in texts if re.search(r"\b(und|nicht|sie|der|die|bis)\b.*[.]$", text)]
    assert min(len(japanese), len(chinese), len(german)) >= 12
    assert not [text for text in texts if re.search(r"\{(date|iso|month|monthnum|fake_token)", text)]


def test_chains_of_versions_are_linked_both_ways(memories: Mapping[str, Memory]) -> None:
    by_id = {each.id: each for each in memories.values()}
    lengths: Counter[int] = Counter()
    for newest in memories.values():
        if newest.superseded_by or newest.supersedes not in by_id:
            continue
        length, version = 1, newest
        while version.supersedes:
            older = by_id[version.supersedes]
            assert (older.superseded_by, older.invalidated_at_ms) == (version.id, version.timestamp_ms)
            assert not older.active
            assert version.fact_key == older.fact_key
            assert older.last_accessed_ms <= version.timestamp_ms
            length, version = length + 1, older
        lengths[length] += 1
    assert lengths[4] >= 3
    assert lengths[3] >= 5


def test_the_same_day_gives_equal_rows_and_another_day_other_times() -> None:
    one = demo_table(MIDNIGHT, None, CancelToken())
    assert one.equals(demo_table(MIDNIGHT, None, CancelToken()))
    later = demo_table(MIDNIGHT + 9 * DAY_MS, None, CancelToken())
    assert later.column("id").equals(one.column("id"))
    apart = np.subtract(later.column("last_accessed_at"), one.column("last_accessed_at"))
    assert set(apart.tolist()) == {9 * DAY_MS}


def test_vectors_are_those_of_the_bundled_model(store: Store) -> None:
    texts = {memory_id(each.key): each for each in records()}
    rows = store.rows_by_id(list(texts)[::50], ["id", "text", "vector"]).to_pylist()
    assert len(rows) == len(list(texts)[::50])
    for row in rows:
        np.testing.assert_array_equal(row["vector"], bundled().embed_passages([row["text"]])[0])


def test_an_existing_demo_is_left_as_it_is(folder: Path) -> None:
    before = tree_hash(folder)
    assert build_demo(folder, now_ms=NOW_MS + 40 * DAY_MS) == folder
    assert tree_hash(folder) == before


@pytest.mark.parametrize("harm", ["no table", "older generation"])
def test_a_half_made_or_older_demo_is_replaced(tmp_path: Path, harm: str) -> None:
    target = demo_folder(tmp_path)
    mark = {"generation": GENERATION - (harm == "older generation"), "now_ms": 0, "rows": 1}
    target.mkdir()
    (target / "demo.json").write_text(json.dumps(mark))
    if harm == "older generation":
        (target / "memories.lance" / "_versions").mkdir(parents=True)
        (target / "memories.lance" / "_versions" / "1.manifest").write_text("")
    assert not is_complete(target)
    build_demo(target, now_ms=NOW_MS)
    assert open_store(target).count() == len(records())
    assert [each.name for each in tmp_path.iterdir()] == ["demo"]


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RefusedError, match="not a demo store"):
        build_demo(tmp_path, now_ms=NOW_MS)
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MemtuiError, match="cannot be made"):
        build_demo(tmp_path / "file" / "demo", now_ms=NOW_MS)


def test_cancelling_leaves_nothing_behind(tmp_path: Path) -> None:
    token, seen = CancelToken(), list[Progress]()

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if progress.done:
            token.cancel()

    with pytest.raises(Cancelled):
        build_demo(tmp_path / "demo", now_ms=NOW_MS, on_progress=watch, cancel=token)
    assert list(tmp_path.iterdir()) == []
    assert 0 < seen[-1].fraction < 1


def test_what_a_dead_build_left_is_swept_but_not_a_running_one(tmp_path: Path) -> None:
    dead, running = tmp_path / ".demo.dead.making", tmp_path / ".demo.busy.making"
    dead.mkdir()
    running.mkdir()
    os.utime(dead, (0, 0))
    build_demo(tmp_path / "demo", now_ms=NOW_MS)
    assert sorted(each.name for each in tmp_path.iterdir()) == [running.name, "demo"]


@pytest.mark.benchmark
def test_making_it_costs_a_small_multiple_of_the_embedding(tmp_path: Path, folder: Path) -> None:
    texts = [each.text for each in records()]

    def seconds(work: Any) -> float:
        start = perf_counter()
        work()
        return perf_counter() - start

    embedding = min(seconds(lambda: bundled().embed_passages(texts)) for _ in range(3))
    making = min(seconds(lambda n=n: build_demo(tmp_path / f"demo{n}", now_ms=NOW_MS)) for n in range(3))
    assert making < 12 * embedding, f"{making:.3f} s for {embedding:.3f} s of embedding"
