"""Rows of a small table, read at once: the same as those read one by one, at every version; and small products."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtui.engine.core.products import all_products, row_products
from memtui.engine.recall import rows_at_hand as subject
from memtui.engine.recall.rows import CandidateRow, rows_of
from memtui.engine.recall.rows_at_hand import RowsById, rows_at_hand
from memtui.engine.recall.store_search import read_columns
from memtui.engine.store.open import open_store
from memtui.engine.store.snapshot import Snapshot
from memtui.engine.store.table import Store
from tests.engine.pro_store import row, write_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    rows = [
        row(f"m{at}", f"tea number {at}", [1.0, float(at), 0.5], metadata=f'{{"note": {at}}}')
        for at in range(60)
    ]
    rows[3] |= {"vector": None}
    rows[4] |= {"text": None, "metadata": None, "importance": None}
    rows[5] |= {"id": "m6"}  # a duplicated id: the last one counts
    return open_store(write_store(tmp_path / "store", rows, dims=3))


def told(each: CandidateRow) -> tuple[object, ...]:
    vector = None if each.vector is None else tuple(each.vector.tolist())
    return (
        each.id,
        each.text,
        each.scope,
        each.category,
        each.importance,
        each.timestamp_ms,
        each.raw_metadata,
        vector,
    )


def row_ids(pin: Snapshot) -> list[int]:
    return [
        number for batch in pin.scan([], with_row_id=True) for number in batch.column("_rowid").to_pylist()
    ]


def test_they_are_the_rows_that_are_read_one_by_one(store: Store) -> None:
    pin = store.pin()
    columns, wanted = read_columns(pin.dialect), row_ids(pin)[::-1]
    small = rows_at_hand(pin, columns)
    assert small is not None
    one_by_one = rows_of(pin.take(wanted, columns), pin.dialect)
    assert [told(each) for each in small.by_row_id(wanted).values()] == [told(each) for each in one_by_one]
    by_id = small.by_id(["m9", "m6", "nobody", "m4"])
    assert list(by_id) == ["m9", "m6", "m4"]
    assert by_id["m6"].text == "tea number 6"
    assert by_id["m9"] is small.by_row_id(row_ids(pin))[row_ids(pin)[9]], "made once, however it is asked for"
    assert [told(each) for each in RowsById(pin, wanted, columns)] == [told(each) for each in one_by_one]


def test_a_new_version_has_its_own(store: Store) -> None:
    old = store.pin()
    columns = read_columns(old.dialect)
    before = rows_at_hand(old, columns)
    assert before is not None
    store.pin().table.add([row("new", "coffee", [0.0, 0.0, 1.0])])
    store.refresh()
    after = rows_at_hand(store.pin(), columns)
    assert after is not None
    assert not before.by_id(["new"])
    assert after.by_id(["new"])["new"].text == "coffee"


@pytest.mark.parametrize("most", ["ROWS_KEPT", "MOST_BYTES"])
def test_a_large_table_is_read_row_by_row(store: Store, monkeypatch: pytest.MonkeyPatch, most: str) -> None:
    monkeypatch.setattr(subject, most, 50)
    pin = store.pin()
    columns, wanted = read_columns(pin.dialect), row_ids(pin)
    assert rows_at_hand(pin, columns) is None
    assert [each.id for each in RowsById(pin, wanted, columns)][:3] == ["m0", "m1", "m2"]


@pytest.mark.parametrize("shape", [(1, 3, 2), (12, 700, 256), (300, 40, 384), (0, 5, 4), (5, 0, 4)])
def test_small_products_are_those_of_the_library(shape: tuple[int, int, int]) -> None:
    few, many, dims = shape
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=(n, dims)).astype(np.float32) for n in (few, many))
    assert all_products(a, b) == pytest.approx(a @ b.T, abs=1e-4)
    assert all_products(a, b).dtype == np.float32
    if few:
        assert row_products(b, a[0]) == pytest.approx(b @ a[0], abs=1e-4)
