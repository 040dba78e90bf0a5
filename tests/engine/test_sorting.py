"""Lists sorted by what the catalog does not hold: texts, columns of one store alone, ids of any kind."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from memtui.engine import ListQuery, UsageError
from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import Catalog
from memtui.engine.catalog.select import order, sort_keys
from memtui.engine.catalog.views import make_view
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS
from tests.engine.tables import PRO, pro_row, write_table

OWN = {
    "rank": (pa.int64(), [3, 2**60 + 1, None, 2**60, 3]),
    "weight": (pa.float32(), [0.5, float("nan"), -1.0, None, 2.0]),
    "My words": (pa.string(), ["pear", "Apple", None, "fig", "fig"]),
    "done": (pa.bool_(), [True, False, None, True, False]),
    "seen": (pa.duration("us"), [datetime.timedelta(days=day) for day in (5, 1, 4, 2, 3)]),
    "list": (pa.list_(pa.int32()), [[1], [2], [3], [4], [5]]),
    "used": (pa.int32(), [1, 2, 3, 4, 5]),
}
"""Columns that no program knows; one has no order, and one is called like a key."""
COUNT = 5
A, B, C = (f"{digit * 8}-0000-4000-8000-{'0' * 12}" for digit in "d24")


def write(folder: Path, ids: list[str | None] | None = None) -> None:
    """Five memories, the first the newest, with the columns of `OWN`."""
    rows: list[dict[str, Any]] = [
        pro_row(n, text=f"{'Eadcb'[n]} text {n}", timestamp=1.7e12 - n) for n in range(COUNT)
    ]
    if ids is not None:
        rows = [{**row, "id": each} for row, each in zip(rows, ids, strict=True)]
    schema = pa.schema([*PRO, *((name, kind) for name, (kind, _) in OWN.items())])
    for name, (_, values) in OWN.items():
        rows = [{**row, name: value} for row, value in zip(rows, values, strict=True)]
    write_table(folder, rows, schema)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Catalog]:
    folder = tmp_path_factory.mktemp("sorting") / "db"
    write(folder)
    store = open_store(folder)
    return store, build_catalog(store)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("rank", [0, 4, 3, 1, 2]),
        ("-rank", [1, 3, 0, 4, 2]),
        ("weight", [2, 0, 4, 1, 3]),
        ("-weight", [4, 0, 2, 1, 3]),
        ("My words", [1, 3, 4, 0, 2]),
        ("-My words", [0, 3, 4, 1, 2]),
        ("done", [1, 4, 0, 3, 2]),
        ("seen", [1, 3, 4, 2, 0]),
        ("text", [1, 4, 3, 2, 0]),
    ],
)
def test_a_list_is_sorted_by_any_column(read: tuple[Store, Catalog], sort: str, expected: list[int]) -> None:
    for query in (ListQuery(sort=sort), ListQuery("text", sort=sort)):
        view = make_view(*read, query, now_ms=NOW_MS)
        assert view.positions.positions.tolist() == expected


def test_the_keys_of_a_store_and_what_is_none(read: tuple[Store, Catalog]) -> None:
    assert sort_keys(read[0].dialect, read[0].schema) == (
        "text",
        "rank",
        "weight",
        "My words",
        "done",
        "seen",
    )
    for key in ("list", "vector", "colour"):
        with pytest.raises(UsageError, match=key) as refused:
            make_view(*read, ListQuery(sort=key), now_ms=NOW_MS)
        assert "weight" in refused.value.fix
        assert "timestamp" in refused.value.fix
    assert "rank" not in sort_keys(read[0].dialect, pa.schema([("id", pa.string())]))


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([A, B, A, C, B], [1, 4, 3, 0, 2]),
        (["b", "x" + B, None, B, "b"], [3, 0, 4, 1, 2]),
        (["x", "a", "x", None, "c"], [1, 4, 0, 2, 3]),
        (["10", "9", "100", "9", "1"], [4, 1, 3, 0, 2]),
    ],
)
def test_ids_of_every_kind(tmp_path: Path, ids: list[str | None], expected: list[int]) -> None:
    write(tmp_path / "db", ids)
    catalog = build_catalog(open_store(tmp_path / "db"))
    assert order(catalog, "id").tolist() == expected
    falling = order(catalog, "-id").tolist()
    known = [at for at in falling if ids[at] is not None]
    assert [ids[at] for at in known] == sorted((ids[at] for at in known), key=_as_one, reverse=True)
    assert all(np.diff([at for at in falling if ids[at] == one]).min(initial=1) > 0 for one in set(ids))


def _as_one(text: str | None) -> tuple[int, str]:
    assert text is not None
    return (int(text) if text.isdigit() else 0, text)
