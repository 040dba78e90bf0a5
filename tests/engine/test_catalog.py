"""The catalog: the same values as row by row, ids that are found, and orders that keep their promises."""

from __future__ import annotations

import json
import random
import uuid as uuids
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import Catalog
from memtui.engine.catalog.ids import PackedIds, pack
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.catalog.select import choose, counts, in_scopes, order, positions_of
from memtui.engine.catalog.types import SORT_KEYS
from memtui.engine.catalog.views import memories_at
from memtui.engine.core.errors import Cancelled, UsageError
from memtui.engine.core.memory import LAYERS, STATES, Memory
from memtui.engine.core.progress import CancelToken, Progress
from memtui.engine.store.open import open_store
from tests.conftest import NOW_MS, thinned
from tests.engine.tables import pro_row, write_table

Unpack = Callable[[Path], Path]
ARCHIVES = [
    "peer/store-clean",
    "peer/store-lived",
    "stores/builtin-old",
    "stores/builtin-mixed",
    "stores/builtin-new",
    "stores/engine",
    "stores/damaged/builtin-new-null-agent",
    "stores/damaged/builtin-old-seconds",
    "stores/damaged/engine-null-fields",
    "stores/damaged/engine-sentinel",
    "stores/damaged/pro-bad-metadata",
    "stores/damaged/pro-duplicate-ids",
    "stores/damaged/pro-null-scope-vector",
    "stores/damaged/pro-on-builtin",
    "stores/damaged/pro-seconds",
    "stores/damaged/pro-sentinel",
    "stores/damaged/pro-zero-rows",
]


@pytest.mark.parametrize("name", thinned(ARCHIVES, 3))
def test_the_catalog_says_what_the_rows_say(shared: Path, unpack: Unpack, name: str) -> None:
    store = open_store(unpack(shared / f"fixtures/{name}.tar.gz"))
    catalog = read_metadata(store, build_catalog(store))
    assert catalog.version == store.version
    assert catalog.n == store.count()
    assert (np.diff(catalog.timestamp) <= 0).all()
    rows = memories_at(store, catalog, np.arange(catalog.n), now_ms=NOW_MS)
    assert [each or "" for each in catalog.ids.texts(range(catalog.n))] == [row.id for row in rows]
    for at, row in enumerate(rows):
        assert catalog.timestamp[at] == row.timestamp_ms
        assert catalog.scopes[catalog.scope_codes[at]] == row.scope
        assert catalog.categories[catalog.category_codes[at]] == row.category
        importance = catalog.importance[at]
        assert np.isnan(importance) if row.importance is None else importance == np.float32(row.importance)
        for label, coded in catalog.labels.items():
            if label != "source":
                assert coded.values[coded.codes[at]] == row.extra[label]
        assert at in catalog.find(row.id)


def test_nothing_in_it_can_be_set(tmp_path: Path) -> None:
    write_table(tmp_path, [pro_row(1)])
    catalog = build_catalog(open_store(tmp_path))
    with pytest.raises(AttributeError):
        catalog.n = 5  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        catalog.timestamp[0] = 1.0


def test_progress_and_cancelling(tmp_path: Path) -> None:
    write_table(tmp_path, [pro_row(n) for n in range(20)])
    store = open_store(tmp_path)
    heard: list[Progress] = []
    catalog = build_catalog(store, heard.append)
    assert heard[-1].fraction == 1.0
    heard.clear()
    read_metadata(store, catalog, heard.append)
    assert heard[-1].fraction == 1.0
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        build_catalog(store, cancel=token)
    with pytest.raises(Cancelled):
        read_metadata(store, catalog, cancel=token)


def test_more_scopes_than_two_bytes_can_number(tmp_path: Path) -> None:
    n = 70_000
    table = write_table(tmp_path, [])
    row = pro_row(0)
    columns = {key: [row[key]] * n for key in table.schema.names}
    columns["id"] = [str(uuids.UUID(int=k)) for k in range(n)]
    columns["scope"] = [f"user:{k}" for k in range(n)]
    table.add(pa.table(columns, schema=table.schema))
    catalog = build_catalog(open_store(tmp_path))
    assert catalog.scope_codes.dtype == np.uint32
    assert len(set(catalog.scopes)) == n
    assert int(in_scopes(catalog, ["user:69999", None]).sum()) == 1
    (at,) = catalog.find(str(uuids.UUID(int=69_999)))
    assert catalog.scopes[catalog.scope_codes[at]] == "user:69999"


def as_ids(texts: list[str | None]) -> PackedIds:
    column = pa.array(texts, pa.string())
    high, low, odd = pack(column)
    return PackedIds(high, low, np.flatnonzero(odd), column.filter(pa.array(odd)))


ID_TEXTS = st.lists(
    st.one_of(
        st.uuids().map(str),
        st.uuids().map(lambda each: str(each).upper()),
        st.sampled_from(["00000000-0000-0000-0000-000000000000", "mem-md-1", "corpus:ab", "é" * 18, ""]),
        st.text(max_size=40).filter(lambda each: not any("\ud800" <= c <= "\udfff" for c in each)),
        st.none(),
    ),
    max_size=30,
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(ID_TEXTS, st.data())
def test_packed_ids_give_back_every_text_and_find_it(texts: list[str | None], data: st.DataObject) -> None:
    ids = as_ids(texts)
    assert ids.texts(range(len(texts))) == texts
    known = [each for each in texts if each]
    twice = [bool(each) and texts.count(each) > 1 for each in texts]
    assert ids.duplicated().tolist() == twice
    if not known:
        return
    wanted = data.draw(st.sampled_from(known))
    assert ids.find(wanted).tolist() == [at for at, each in enumerate(texts) if each == wanted]
    length = data.draw(st.integers(1, len(wanted)))
    prefix = wanted[:length]
    if prefix in texts:
        return
    if prefix.isascii():
        expected = [at for at, each in enumerate(texts) if each and each.lower().startswith(prefix.lower())]
        assert set(expected) <= set(ids.find(prefix).tolist())


def test_an_id_without_dashes_and_a_prefix_across_a_dash() -> None:
    texts: list[str | None] = [
        "0b7f3a52-6c1e-4f0a-9d55-1f2e3d4c5b6a",
        "0b7f3a52-6c1e-4f0b-0000-000000000000",
        None,
    ]
    ids = as_ids(texts)
    assert ids.find("0b7f3a526c1e4f0a9d551f2e3d4c5b6a").tolist() == [0]
    assert ids.find("0b7f3a52-6c1e-4f0a-9d55-1f2e").tolist() == [0]
    assert ids.find("0B7F3A52-6C1E").tolist() == [0, 1]
    assert ids.find("0b7f3a52-").tolist() == [0, 1]
    assert ids.find("0b7f3-a52").tolist() == []
    assert ids.find("-").tolist() == []


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Catalog, list[Memory]]:
    """Four hundred rows with ties, unknown times and NULLs, and their memories in catalog order."""
    rng = random.Random(5)
    rows = [
        pro_row(
            n,
            scope=rng.choice(["global", "agent:b", "agent:a", None, ""]),
            category=rng.choice(["fact", "other", None]),
            importance=rng.choice([0.1, 0.5, 0.5, 0.9]),
            timestamp=rng.choice([0.0, None, 1.7e12, 1.75e12 + rng.randrange(5)]),
            metadata=json.dumps(
                {
                    "tier": rng.choice(["core", "working", "peripheral"]),
                    "access_count": rng.randrange(4),
                    "confidence": rng.choice([0.2, 0.7]),
                    "last_accessed_at": rng.choice([0, 1_760_000_000_000, 1_770_000_000_000]),
                }
            ),
        )
        for n in range(400)
    ]
    folder = tmp_path_factory.mktemp("mixed")
    write_table(folder, rows)
    store = open_store(folder)
    catalog = read_metadata(store, build_catalog(store))
    return catalog, memories_at(store, catalog, np.arange(catalog.n), now_ms=NOW_MS)


VALUE: dict[str, Callable[[Memory], float | str | None]] = {
    "timestamp": lambda m: m.timestamp_ms or None,
    "importance": lambda m: m.importance,
    "access": lambda m: m.access_count,
    "used": lambda m: m.last_accessed_ms or None,
    "tier": lambda m: ["peripheral", "working", "core"].index(m.tier or ""),
    "scope": lambda m: m.scope,
    "category": lambda m: m.category,
    "confidence": lambda m: m.confidence,
    "state": lambda m: STATES.index(m.state),
    "layer": lambda m: LAYERS.index(m.layer),
    "source": lambda m: m.source,
    "valid_from": lambda m: m.valid_from_ms,
    "valid_until": lambda m: m.valid_until_ms,
    "invalidated": lambda m: m.invalidated_at_ms,
    "suppressed": lambda m: m.metadata_values.get("suppressed_until_ms") or None,
    "id": lambda m: m.id,
}


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("key", SORT_KEYS)
def test_every_order_is_sorted_stable_and_puts_the_unknown_last(
    mixed: tuple[Catalog, list[Memory]], key: str, sign: str
) -> None:
    catalog, rows = mixed
    found = order(catalog, sign + key).tolist()
    known = [at for at in range(catalog.n) if VALUE[key](rows[at]) is not None]
    unknown = [at for at in range(catalog.n) if VALUE[key](rows[at]) is None]
    expected = sorted(known, key=lambda at: VALUE[key](rows[at]), reverse=bool(sign))  # type: ignore[arg-type,return-value]
    assert found == expected + unknown
    assert order(catalog, sign + key) is order(catalog, sign + key)


def test_an_unknown_order_is_refused(mixed: tuple[Catalog, list[Memory]]) -> None:
    with pytest.raises(UsageError, match="colour"):
        order(mixed[0], "-colour")


def test_choosing_and_counting(mixed: tuple[Catalog, list[Memory]]) -> None:
    catalog, rows = mixed
    mask = in_scopes(catalog, [None, "agent:a"])
    assert mask.tolist() == [row.scope in (None, "agent:a") for row in rows]
    chosen = choose(catalog, mask, "-importance")
    assert sorted(chosen.tolist()) == np.flatnonzero(mask).tolist()
    importance = [rows[at].importance for at in chosen]
    assert importance == sorted(importance, key=lambda each: -(each or 0))
    for values, codes, read in (
        (catalog.scopes, catalog.scope_codes, lambda row: row.scope),
        (catalog.categories, catalog.category_codes, lambda row: row.category),
    ):
        found = counts(codes, values, mask)
        assert dict(found) == {
            value: number
            for value in values
            if (number := sum(read(row) == value for row, kept in zip(rows, mask, strict=True) if kept))
        }
        assert [number for _, number in found] == sorted((number for _, number in found), reverse=True)


def test_row_ids_lead_back_to_their_places(mixed: tuple[Catalog, list[Memory]]) -> None:
    catalog, _ = mixed
    some = np.array([399, 0, 17])
    asked = np.append(catalog.row_ids[some], np.uint64(2**60))
    assert positions_of(catalog, asked).tolist() == some.tolist()
