"""Columns of a far store kept here: the same catalog from the file as from the table, and never of another version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from memtui.engine.catalog.build import build_catalog
from memtui.engine.dialects.memtui import own_schema
from memtui.engine.store.create import create_own
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.engine.object_storage import BUCKET, object_service, options


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with object_service() as found:
        yield found


def rows(ids: range) -> pa.Table:
    schema = own_schema(4)
    given = [
        {
            "id": f"{n:08d}-0000-4000-8000-000000000000",
            "text": f"note {n}",
            "vector": [1.0, 0, 0, n],
            "scope": "global",
        }
        | {"category": "fact", "importance": 0.5, "timestamp": 1.79e12 + n, "metadata": "{}"}
        for n in ids
    ]
    return pa.Table.from_pylist(given, schema=schema)


def opened(endpoint: str, name: str) -> Store:
    return open_store(f"s3://{BUCKET}/{name}", storage_options=options(endpoint))


def ids_of(store: Store, kept: Path | None) -> list[str | None]:
    return build_catalog(store, kept=kept).ids.texts(list(range(store.count())))


def test_the_second_reading_is_of_the_file_and_a_new_version_is_read_anew(
    endpoint: str, tmp_path: Path
) -> None:
    create_own(f"s3://{BUCKET}/kept", rows(range(40)), options(endpoint))
    store = opened(endpoint, "kept")
    far = ids_of(store, None)
    assert ids_of(store, tmp_path) == far
    (file,) = tmp_path.rglob("*.arrow")
    before = file.stat().st_mtime_ns
    assert ids_of(opened(endpoint, "kept"), tmp_path) == far
    assert file.stat().st_mtime_ns == before
    store.writer().commit(None, rows(range(40, 45)), [])
    assert len(ids_of(opened(endpoint, "kept"), tmp_path)) == 45
    assert len(list(tmp_path.rglob("*.arrow"))) == 2


def test_a_file_that_is_damaged_is_as_good_as_none(endpoint: str, tmp_path: Path) -> None:
    create_own(f"s3://{BUCKET}/damaged", rows(range(10)), options(endpoint))
    store = opened(endpoint, "damaged")
    far = ids_of(store, tmp_path)
    (file,) = tmp_path.rglob("*.arrow")
    file.write_bytes(file.read_bytes()[:100])
    assert ids_of(store, tmp_path) == far


def test_where_nothing_can_be_kept_the_list_is_read_all_the_same(endpoint: str, tmp_path: Path) -> None:
    create_own(f"s3://{BUCKET}/unkept", rows(range(4)), options(endpoint))
    (tmp_path / "file").touch()
    assert len(ids_of(opened(endpoint, "unkept"), tmp_path / "file")) == 4


def test_one_store_does_not_push_another_out(endpoint: str, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "e"):
        create_own(f"s3://{BUCKET}/{name}", rows(range(2)), options(endpoint))
        ids_of(opened(endpoint, name), tmp_path)
    assert len(list(tmp_path.rglob("*.arrow"))) == 5


def test_a_local_store_is_never_kept(tmp_path: Path) -> None:
    create_own(tmp_path / "store", rows(range(3)))
    assert len(ids_of(open_store(tmp_path / "store"), tmp_path / "kept")) == 3
    assert not (tmp_path / "kept").exists()
