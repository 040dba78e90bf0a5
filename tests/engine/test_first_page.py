"""The first page of a store far away: a few requests, before the columns of all rows, and what waits for these."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Cancelled, CancelToken, Engine, ListQuery, Progress
from memtui.engine.catalog.build import FEW, PAGE
from memtui.engine.health.store_findings import FAR_VECTOR_BYTES
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.engine.store.sql import SENTINEL
from tests.conftest import NOW_MS
from tests.engine.counting_proxy import CountingProxy, counting_proxy
from tests.engine.object_storage import BUCKET, DIMS, object_service, options, rows

MANY = 20_000


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with object_service() as endpoint:
        create_own(f"s3://{BUCKET}/many", rows(MANY), options(endpoint))
        yield endpoint


@pytest.fixture
def proxy(service: str) -> Iterator[CountingProxy]:
    with counting_proxy(service) as found:
        yield found


def opened(proxy: CountingProxy, state: Path, name: str = "many") -> Engine:
    store = open_store(f"s3://{BUCKET}/{name}", storage_options=options(proxy.endpoint))
    return Engine(store, now=lambda: NOW_MS, environ={}, state=state)


def test_a_first_page_costs_eight_requests_and_a_part_of_the_bytes(
    proxy: CountingProxy, tmp_path: Path
) -> None:
    engine = opened(proxy, tmp_path)
    assert len(proxy.passed) <= 3
    before = len(proxy.passed)
    assert engine.load_first_page()
    view = engine.view(ListQuery(), partly=True)
    shown = engine.page(view, 0, 50)
    assert engine.info.rows == MANY
    asked = proxy.since(before)
    reads = [each for each in asked if "/data/" in each.path]
    assert len(reads) <= 8
    assert len(asked) <= 9  # and the state of the full-text index
    assert (view.partly, view.total, view.table_total) == (True, PAGE, MANY)
    before = len(proxy.passed)
    engine.load_catalog()
    assert sum(each.bytes for each in asked) < sum(each.bytes for each in proxy.since(before))
    whole = engine.view(ListQuery(), partly=True)
    assert (whole.partly, whole.total) == (False, MANY)
    assert engine.page(whole, 0, PAGE) == shown
    assert engine.place(whole, shown[7].id) == 7


def test_where_the_columns_are_kept_there_is_no_first_page(proxy: CountingProxy, tmp_path: Path) -> None:
    opened(proxy, tmp_path).load_catalog()
    engine = opened(proxy, tmp_path)
    assert not engine.load_first_page()
    before = len(proxy.passed)
    engine.load_catalog()
    assert proxy.since(before) == []


def test_single_additions_do_not_make_it_dear(service: str, proxy: CountingProxy, tmp_path: Path) -> None:
    create_own(f"s3://{BUCKET}/single", rows(300), options(service))
    writer = open_store(f"s3://{BUCKET}/single", storage_options=options(service)).writer()
    for _ in range(20):
        writer.commit(None, rows(1), [])
    engine = opened(proxy, tmp_path, "single")
    before = len(proxy.passed)
    assert engine.load_first_page()
    assert engine.view(ListQuery(), partly=True).total == FEW
    assert len(proxy.since(before)) <= FEW + 3


def test_a_filter_waits_for_all_rows_and_can_be_given_up(proxy: CountingProxy, tmp_path: Path) -> None:
    engine = opened(proxy, tmp_path)
    engine.load_first_page()
    proxy.held = threading.Event()
    told: list[Progress] = []
    loading = threading.Thread(target=engine.load_catalog, args=(told.append,))
    loading.start()
    given_up = CancelToken()
    threading.Timer(0.3, given_up.cancel).start()
    with pytest.raises(Cancelled):
        engine.view(ListQuery(filter="cat:fact"), given_up, partly=True)
    assert engine.view(ListQuery(), partly=True).partly
    proxy.held.set()
    assert engine.view(ListQuery(filter="cat:fact"), partly=True).total == MANY
    loading.join()
    assert (told[-1].unit, told[-1].done) == ("bytes", told[-1].total)


def test_a_sentinel_is_neither_shown_nor_counted_nor_looked_for(
    service: str, proxy: CountingProxy, tmp_path: Path
) -> None:
    table = rows(500)
    ids = table.column("id").to_pylist()
    ids[450] = SENTINEL
    table = table.set_column(table.schema.get_field_index("id"), table.schema.field("id"), [ids])
    create_own(f"s3://{BUCKET}/sentinel", table, options(service))
    engine = opened(proxy, tmp_path, "sentinel")
    engine.load_first_page()
    assert engine.view(ListQuery(), partly=True).total == PAGE - 1
    engine.load_catalog()
    before = len(proxy.passed)
    assert (engine.info.rows, engine.view(ListQuery()).total) == (499, 499)
    assert proxy.since(before) == []
    again = opened(proxy, tmp_path, "sentinel")
    again.load_catalog()
    assert (again.info.rows, again.view(ListQuery()).total) == (499, 499)


def test_the_first_numbers_of_a_far_store_cost_no_vectors(
    service: str, proxy: CountingProxy, tmp_path: Path
) -> None:
    engine = opened(proxy, tmp_path)
    engine.load_catalog()
    before = len(proxy.passed)
    engine.stats()
    few = len(proxy.since(before))
    wide = rows(FAR_VECTOR_BYTES // (4 * DIMS) + 1)
    create_own(f"s3://{BUCKET}/wide", wide, options(service))
    engine = opened(proxy, tmp_path, "wide")
    engine.load_catalog()
    before = len(proxy.passed)
    engine.stats()
    assert sum(each.bytes for each in proxy.since(before)) < FAR_VECTOR_BYTES // 10
    assert len(proxy.since(before)) < few


def test_words_are_looked_for_in_the_texts_alone(proxy: CountingProxy, tmp_path: Path) -> None:
    engine = opened(proxy, tmp_path)
    engine.load_catalog()
    before = len(proxy.passed)
    assert engine.view(ListQuery(filter='"gauge 7 of"')).total == 1
    assert sum(each.bytes for each in proxy.since(before)) < 4 * DIMS * MANY
