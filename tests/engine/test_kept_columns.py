"""The light columns of a store far away: the next version reads the rows that it wrote, not the table again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import Catalog
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import thinned
from tests.engine.counting_proxy import CountingProxy, counting_proxy
from tests.engine.object_storage import BUCKET, object_service, options, rows

MANY = 20_000


@pytest.fixture
def proxy() -> Iterator[CountingProxy]:
    with object_service() as endpoint, counting_proxy(endpoint) as found:
        create_own(f"s3://{BUCKET}/team", rows(MANY), options(endpoint))
        yield found


def opened(proxy: CountingProxy) -> Store:
    return open_store(f"s3://{BUCKET}/team", storage_options=options(proxy.endpoint))


def written(proxy: CountingProxy) -> Any:
    """The table, as another program changes it."""
    table = opened(proxy).pin().table
    table.checkout_latest()
    return table


def same(one: Catalog, other: Catalog) -> None:
    assert one.n == other.n
    assert one.row_ids.tolist() == other.row_ids.tolist()
    assert one.timestamp.tolist() == other.timestamp.tolist()
    assert one.ids.texts(np.arange(one.n)) == other.ids.texts(np.arange(other.n))
    assert [one.scopes[code] for code in one.scope_codes] == [
        other.scopes[code] for code in other.scope_codes
    ]
    assert one.importance.tolist() == other.importance.tolist()


def megabytes(proxy: CountingProxy, mark: int) -> float:
    return sum(each.bytes for each in proxy.since(mark)) / 1e6


def change(table: Any, what: str) -> None:
    if what == "edited":
        table.update(where="id LIKE '00000007-%'", values={"text": "new words", "importance": 0.9})
    elif what == "added":
        table.add(rows(3))
    elif what == "removed":
        table.delete("id LIKE '0000001%'")
    else:
        table.optimize()


@pytest.mark.parametrize("what", thinned(["edited", "added", "removed"], 3))
def test_one_change_reads_what_changed(proxy: CountingProxy, tmp_path: Path, what: str) -> None:
    store = opened(proxy)
    mark = len(proxy.passed)
    before = build_catalog(store, kept=tmp_path)
    whole = megabytes(proxy, mark)
    change(written(proxy), what)
    assert store.refresh()
    mark = len(proxy.passed)
    after = build_catalog(store, kept=tmp_path)
    assert len(proxy.since(mark)) <= 12
    assert megabytes(proxy, mark) < whole / 10
    assert before.version < after.version
    same(after, build_catalog(store))
    mark = len(proxy.passed)
    again = build_catalog(opened(proxy), kept=tmp_path)
    assert megabytes(proxy, mark) < whole / 10, "the next start finds what was advanced"
    same(again, after)


def test_a_table_that_was_written_anew_is_read_anew(proxy: CountingProxy, tmp_path: Path) -> None:
    store = opened(proxy)
    build_catalog(store, kept=tmp_path)
    written(proxy).update(values={"importance": 0.25})
    assert store.refresh()
    after = build_catalog(store, kept=tmp_path)
    assert set(after.importance.tolist()) == {0.25}
    same(after, build_catalog(store))


def test_files_that_say_nothing_of_their_version_are_as_good_as_none(
    proxy: CountingProxy, tmp_path: Path
) -> None:
    store = opened(proxy)
    build_catalog(store, kept=tmp_path)
    for file in tmp_path.rglob("*.arrow"):
        file.write_bytes(b"ARROW1 and no more")
    change(written(proxy), "edited")
    assert store.refresh()
    same(build_catalog(store, kept=tmp_path), build_catalog(store))


def test_the_metadata_of_what_changed_alone_is_read(proxy: CountingProxy, tmp_path: Path) -> None:
    store = opened(proxy)
    known = read_metadata(store, build_catalog(store, kept=tmp_path))
    change(written(proxy), "edited")
    assert store.refresh()
    mark = len(proxy.passed)
    after = read_metadata(store, build_catalog(store, kept=tmp_path), known=known)
    assert len(proxy.since(mark)) <= 20
    assert megabytes(proxy, mark) < 0.2
    assert after.meta is not None
