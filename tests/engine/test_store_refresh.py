"""Beside another writer: a version is pinned until we move, row ids are good for theirs only."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.types import ListQuery
from memtui.engine.catalog.views import make_view, page_of
from memtui.engine.core.errors import MemtuiError, UnknownDialectError
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS
from tests.engine.tables import PRO, pro_row, uuid, write_table

ROWS = [pro_row(n, text=f"memory {n}", timestamp=1_780_000_000_000.0 + n) for n in range(10)]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Any, Store]:
    """Another program's handle on a table, and ours."""
    return write_table(tmp_path, ROWS), open_store(tmp_path)


def add(table: Any, *rows: dict[str, Any]) -> None:
    table.add(pa.Table.from_pylist(list(rows), schema=PRO))


def ids(store: Store) -> set[str]:
    return {each for batch in store.scan(["id"]) for each in batch.column("id").to_pylist()}


def test_nothing_moves_until_we_refresh(pair: tuple[Any, Store]) -> None:
    writer, store = pair
    version = store.version
    assert store.newest_version() == version
    assert not store.refresh()
    add(writer, pro_row(50))
    assert store.newest_version() == version + 1
    assert (store.version, store.count()) == (version, 10)
    assert uuid(50) not in ids(store)
    assert store.refresh()
    assert (store.version, store.count()) == (version + 1, 11)
    assert uuid(50) in ids(store)


def test_takes_go_to_the_version_of_the_catalog(pair: tuple[Any, Store]) -> None:
    writer, store = pair
    before = read_metadata(store, build_catalog(store))
    view = make_view(store, before, ListQuery(), now_ms=NOW_MS)
    writer.update(where=f"id = '{uuid(3)}'", values={"text": "rewritten"})
    writer.delete(f"id = '{uuid(4)}'")
    writer.optimize()
    store.refresh()
    after = build_catalog(store)
    assert set(before.row_ids.tolist()).isdisjoint(after.row_ids.tolist())
    old = page_of(store, view, 0, 20, now_ms=NOW_MS)
    assert [memory.text for memory in old] == [f"memory {n}" for n in range(9, -1, -1)]
    new = page_of(store, make_view(store, after, ListQuery(), now_ms=NOW_MS), 0, 20, now_ms=NOW_MS)
    assert [memory.text for memory in new] == [
        "rewritten" if n == 3 else f"memory {n}" for n in range(9, -1, -1) if n != 4
    ]


def test_a_version_long_gone_by_is_opened_again(pair: tuple[Any, Store]) -> None:
    writer, store = pair
    before = build_catalog(store)
    for n in range(3):
        add(writer, pro_row(60 + n))
        store.refresh()
    taken = store.take(before.row_ids.tolist(), ["text"], before.version)
    assert taken.column("text").to_pylist() == [f"memory {n}" for n in range(9, -1, -1)]
    assert read_metadata(store, before).meta is not None
    assert store.count() == 13


def test_a_version_that_was_cleaned_away_is_an_error_not_an_empty_page(pair: tuple[Any, Store]) -> None:
    writer, store = pair
    before = build_catalog(store)
    add(writer, pro_row(60))
    writer.delete(f"id = '{uuid(4)}'")
    with pytest.warns(UserWarning, match="Any concurrent reader"):
        writer.optimize(cleanup_older_than=timedelta(0))
    with pytest.raises(MemtuiError) as caught:
        store.take(before.row_ids.tolist(), ["text"], before.version)
    assert caught.value.fix
    store.refresh()
    add(writer, pro_row(70))
    store.refresh()
    with pytest.raises(MemtuiError, match="gone"):
        store.pin(before.version)
    assert store.count() == 11


def test_stable_row_ids_outlive_a_compaction(tmp_path: Path) -> None:
    rows = [{**row, "tier": "core", "access_count": 1} for row in ROWS]
    writer = write_table(tmp_path, rows, own_schema(2), new_table_enable_stable_row_ids="true")
    store = open_store(tmp_path)
    before = build_catalog(store)
    writer.update(where=f"id = '{uuid(3)}'", values={"text": "rewritten"})
    writer.optimize()
    store.refresh()
    taken = store.take(before.row_ids.tolist(), ["text"])
    assert taken.column("text").to_pylist()[6] == "rewritten"
    assert taken.num_rows == 10


def test_columns_that_another_program_adds_change_the_dialect(tmp_path: Path) -> None:
    builtin = pa.schema(
        [PRO.field(name) for name in ("id", "text", "vector", "importance", "category")]
        + [pa.field("createdAt", pa.float64())]
    )
    rows = [{key: row[key] for key in builtin.names if key in row} | {"createdAt": 1.78e12} for row in ROWS]
    writer = write_table(tmp_path, rows, builtin)
    store = open_store(tmp_path)
    assert store.dialect.name == "builtin-g1"
    writer.add_columns({"scope": "'global'", "timestamp": "cast(0 as double)", "metadata": "'{}'"})
    store.refresh()
    assert store.dialect.name == "pro"
    assert build_catalog(store).timestamp.tolist() == [1.78e12] * 10
    writer.drop_columns(["metadata"])
    with pytest.raises(UnknownDialectError):
        store.refresh()


def test_pages_stay_whole_while_another_writes_and_we_refresh(pair: tuple[Any, Store]) -> None:
    """Every page is of one version, whichever was pinned meanwhile."""
    writer, store = pair
    catalogs = [build_catalog(store)]
    wrong: list[list[str]] = []
    done = threading.Event()

    def browse() -> None:
        while not done.is_set():
            catalog = catalogs[-1]
            view = make_view(store, catalog, ListQuery("-id:zzz"), now_ms=NOW_MS)
            texts = [memory.text for memory in page_of(store, view, 0, 50, now_ms=NOW_MS)]
            if len(texts) != catalog.n or len(set(texts)) != catalog.n:
                wrong.append(texts)

    readers = [threading.Thread(target=browse) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(8):
        writer.update(where=f"id = '{uuid(n)}'", values={"text": f"rewritten {n}"})
        add(writer, pro_row(80 + n, text=f"new {n}"))
        assert store.refresh()
        catalogs.append(build_catalog(store))
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert catalogs[-1].n == 18
