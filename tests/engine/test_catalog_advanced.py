"""Metadata at the next version: only of the rows that changed, and the same as if all had been read."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from memtui.engine.catalog.build import build_catalog
from memtui.engine.catalog.catalog import Catalog, MetadataColumns
from memtui.engine.catalog.metadata_columns import read_metadata
from memtui.engine.store.open import open_store
from memtui.engine.store.snapshot import Snapshot
from tests.conftest import thinned
from tests.engine.transfer_stores import memory, pro_store


def metadata(n: int) -> str:
    """As varied as agents write it: plain, odd, broken, with times that most rows do not have."""
    made: dict[str, Any] = {
        "tier": ("core", "working", "peripheral")[n % 3],
        "access_count": n,
        "state": "confirmed",
    }
    if n % 4 == 0:
        made |= {"memory_category": ("cases", "events", "profile")[n % 3], "source": "auto-capture"}
    if n % 5 == 0:
        made["valid_until"] = 1_790_000_000_000 + n
    if n % 7 == 0:
        made |= {"invalidated_at": 1_789_000_000_000 + n, "superseded_by": f"m{n}"}
    if n % 11 == 0:
        made["suppressed_until_ms"] = 1_788_000_000_000 + n
    return "not json" if n % 13 == 0 else json.dumps(made | {f"own_{n % 3}": None} if n % 6 == 0 else made)


def row(n: int) -> dict[str, Any]:
    return memory(n, f"Memory {n}", metadata=metadata(n))


def table_of(folder: Path) -> Any:
    return lancedb.connect(folder).open_table("memories")


def as_rows(catalog: Catalog) -> list[Any]:
    """Every column of every row, decoded; codes may be numbered otherwise."""
    meta = catalog.meta
    assert isinstance(meta, MetadataColumns)
    plain = [
        np.nan_to_num(np.asarray(getattr(meta, each.name), dtype=np.float64), nan=-1).tolist()
        for each in fields(meta)
        if each.name not in ("memory_category", "memory_categories", "keys")
    ]
    source = catalog.labels["source"]
    return [
        catalog.ids.texts(np.arange(catalog.n)),
        *plain,
        [meta.memory_categories[code] for code in meta.memory_category],
        [source.values[code] for code in source.codes],
    ]


def add(table: Any, dice: random.Random, fresh: Callable[[], int]) -> None:
    names = table.schema.names
    others = {name: 1 for name in names if name.startswith("c") and name[1:].isdigit()}
    made = [row(fresh()) | others for _ in range(3)]
    table.add([{name: each[name] for name in names if name in each} for each in made])


def reword(table: Any, dice: random.Random, fresh: Callable[[], int]) -> None:
    some = dice.choice(table.to_arrow().column("id").to_pylist())
    table.update(where=f"id = '{some}'", values={"metadata": metadata(fresh())})


def drop(table: Any, dice: random.Random, fresh: Callable[[], int]) -> None:
    some = dice.choice(table.to_arrow().column("id").to_pylist())
    table.delete(f"id = '{some}'")


def merge(table: Any, dice: random.Random, fresh: Callable[[], int]) -> None:
    """As an upsert of some columns: the engine may write these anew in place, under the same row ids."""
    ids = table.to_arrow().column("id").to_pylist()
    some = pa.table({"id": ids[::2], "metadata": [metadata(fresh()) for _ in ids[::2]]})
    table.merge_insert("id").when_matched_update_all().execute(some)


def fold(table: Any, dice: random.Random, fresh: Callable[[], int]) -> None:
    table.optimize()


def widen(table: Any, dice: random.Random, fresh: Callable[[], int]) -> None:
    table.add_columns({f"c{fresh()}": "1"})


@pytest.mark.parametrize("seed", thinned(range(6), 3))
def test_what_is_carried_over_is_what_a_whole_reading_finds(tmp_path: Path, seed: int) -> None:
    folder = pro_store(tmp_path / "store", [row(n) for n in range(40)])
    dice, numbers = random.Random(seed), iter(range(1_000, 100_000))
    store = open_store(folder)
    known = read_metadata(store, build_catalog(store))
    for _ in range(8):
        change = dice.choice([add, add, reword, reword, reword, drop, merge, fold, widen])
        change(table_of(folder), dice, lambda: next(numbers))
        store.refresh()
        bare = build_catalog(store)
        whole = read_metadata(store, bare)
        advanced = read_metadata(store, bare, known=known)
        assert as_rows(advanced) == as_rows(whole), change.__name__
        assert set(advanced.meta.keys) >= set(known.meta.keys)
        if dice.random() < 0.7:  # else the next one advances over several versions
            known = advanced


def test_only_what_changed_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = pro_store(tmp_path / "store", [row(n) for n in range(400)])
    store = open_store(folder)
    known = read_metadata(store, build_catalog(store))
    table_of(folder).update(where="id = '" + row(7)["id"] + "'", values={"metadata": metadata(5_001)})
    add(table_of(folder), random.Random(1), iter(range(5_002, 6_000)).__next__)
    store.refresh()
    bare = build_catalog(store)
    taken: list[int] = []
    real = Snapshot.take

    def counted(self: Snapshot, row_ids: Any, columns: Any) -> Any:
        if "metadata" in columns:
            taken.extend(row_ids)
        return real(self, row_ids, columns)

    monkeypatch.setattr(Snapshot, "take", counted)
    monkeypatch.delattr(Snapshot, "read_through")
    advanced = read_metadata(store, bare, known=known)
    assert len(taken) == 4
    assert advanced.n == 403


def test_a_table_that_was_made_anew_shares_nothing_with_the_old_one(tmp_path: Path) -> None:
    folder = pro_store(tmp_path / "store", [row(n) for n in range(60)])
    store = open_store(folder)
    known = read_metadata(store, build_catalog(store))
    lancedb.connect(folder).drop_table("memories")
    again = pro_store(tmp_path / "again", [row(n + 500) for n in range(60)])
    (again / "memories.lance").rename(folder / "memories.lance")
    anew = open_store(folder)
    bare = build_catalog(anew)
    assert as_rows(read_metadata(anew, bare, known=known)) == as_rows(read_metadata(anew, bare))
