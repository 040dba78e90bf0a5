"""Vectors in memory: the same rows as the library's search, at every version, reading only what is new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine import RecallRequest, UsageError
from memtui.engine.recall.answer import recall
from memtui.engine.recall.context import RecallContext
from memtui.engine.store import vector_matrix
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS
from tests.engine.pro_store import row, schema, write_store

DIMS = 8


def rows_of(rng: np.random.Generator, first: int, n: int) -> list[dict[str, Any]]:
    vectors = rng.normal(size=(n, DIMS)) * rng.uniform(0.1, 9, size=(n, 1))
    return [row(f"m{first + at}", f"tea {first + at}", vector.tolist()) for at, vector in enumerate(vectors)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    rng = np.random.default_rng(1)
    rows = rows_of(rng, 0, 300)
    rows[7]["vector"] = [0.0] * DIMS
    for each in rows[:100]:
        each["scope"] = "agent:one"
    return open_store(write_store(tmp_path / "store", rows, dims=DIMS))


def agrees(store: Store, question: list[float], k: int, where: str | None = None) -> None:
    pin = store.pin()
    assert pin.vectors_in_memory
    theirs = pin.vector_search(question, k=k, where=where, columns=["id"], with_row_id=True)
    ours = pin.nearest(question, k=k, where=where)
    assert ours.row_ids.tolist() == theirs.column("_rowid").to_pylist()
    assert ours.distances.tolist() == pytest.approx(theirs.column("_distance").to_pylist(), abs=1e-5)


def test_it_finds_what_the_library_finds(store: Store) -> None:
    rng = np.random.default_rng(2)
    for k in (1, 10, 299, 300, 1000):
        agrees(store, rng.normal(size=DIMS).tolist(), k)
        agrees(store, rng.normal(size=DIMS).tolist(), k, where="scope = 'agent:one'")
    assert len(store.pin().nearest([0.0] * DIMS, k=5).row_ids) == 0
    with pytest.raises(UsageError):
        store.pin().nearest([1.0], k=5)


def test_a_new_version_reads_what_is_new_and_forgets_what_is_gone(store: Store) -> None:
    rng = np.random.default_rng(3)
    question = rng.normal(size=DIMS).tolist()
    agrees(store, question, 20)
    cache = store.pin()._vectors
    assert cache is not None
    assert cache.read == 300
    table = store.pin().table
    table.checkout_latest()
    table.add(pa.Table.from_pylist(rows_of(rng, 1000, 5), schema=schema(DIMS)))
    table.delete("id IN ('m3', 'm200')")
    table.update(where="id = 'm10'", values={"vector": question})
    table.checkout(store.version)
    old = store.pin()
    assert store.refresh()
    agrees(store, question, 20)
    assert store.pin().nearest(question, k=1).distances[0] == pytest.approx(0, abs=1e-6)
    assert cache.read <= 300 + 10, "five new rows and one that was changed"
    assert len(old.nearest(question, k=1000).row_ids) == 299, "the version before is still what it was"


def test_a_store_of_our_own_with_stable_row_ids_sees_a_changed_vector(tmp_path: Path) -> None:
    from tests.quality.dialogues import Turn, write

    turns = [Turn(f"t{n}", "all", "A", f"tea number {n}", "s1", NOW_MS - 1000) for n in range(40)]
    store = open_store(write(tmp_path / "own", turns))
    question = np.random.default_rng(4).normal(size=store.dims or 0).tolist()
    agrees(store, question, 10)
    table = store.pin().table
    table.checkout_latest()
    table.update(where="id = 't5'", values={"vector": question})
    assert store.refresh()
    agrees(store, question, 10)
    assert store.pin().nearest(question, k=1).distances[0] == pytest.approx(0, abs=1e-6)


def test_a_table_that_is_too_large_is_searched_by_the_library(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = RecallContext(store, NOW_MS, None)
    request = RecallRequest("tea", recipe="memtui", query_vector=[1.0] * DIMS, limit=5)
    before = recall(request, bench).returned
    monkeypatch.setattr(vector_matrix, "MOST_BYTES", 100)
    other = open_store(store.uri)
    assert not other.pin().vectors_in_memory
    assert recall(request, RecallContext(other, NOW_MS, None)).returned == before
