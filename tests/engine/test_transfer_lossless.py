"""Our own lossless forms, out of every recorded store and out of rows made up at random, and back: bit for bit."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from memtui.engine import transfer
from memtui.engine.store.create import create_like
from memtui.engine.transfer.exporting.request import ExportRequest
from memtui.engine.transfer.importing.request import ImportRequest
from tests.conftest import SHARED, thinned
from tests.engine.transfer_stores import imported, memory, opened, own_store, pro_store, rows_of

EVERYTHING = frozenset(("exact", "near", "short", "secret", "noise"))
STORES = (
    *("builtin-old", "builtin-mixed", "builtin-new", "builtin-legacy"),
    *(
        f"damaged/{name}"
        for name in ("pro-bad-metadata", "pro-seconds", "pro-null-scope-vector", "pro-on-builtin")
    ),
    *(f"damaged/{name}" for name in ("builtin-old-seconds", "pro-sentinel", "builtin-new-null-agent")),
)


def there_and_back(store: Path, folder: Path, form: str) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The rows of a store, those of an empty one of the same form after an export and an import, and what was lost."""
    engine = opened(store, folder / "state")
    out = folder / f"out.{form}"
    transfer.export_memories(engine, ExportRequest(out, form, vectors=True, mask=False))
    copy = folder / "copy"
    schema = engine.store.schema
    create_like(
        copy,
        pa.Table.from_pylist([], schema=schema),
        {} if engine.store.dialect.name == "memtui" else {"new_table_data_storage_version": "2.0"},
    )
    taking = opened(copy, folder / "state")
    plan = transfer.plan_import(
        taking, ImportRequest((out,), rules_off=EVERYTHING, vectors="keep", without_embedding=True)
    )
    try:
        lost = [f"{each.field}: {each.what}" for each in plan.losses()]
        lost += (
            [f"left out: {reason}" for (reason, _) in plan.draft.reasons] if hasattr(plan, "draft") else []
        )
        transfer.run_import(taking, plan, confirmed=True)
    finally:
        plan.close()
    return rows_of(engine), rows_of(taking), lost


def differing(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What is not the same, in words."""
    found = [f"{key} is gone" for key in before.keys() - after.keys()]
    found += [f"{key} is new" for key in after.keys() - before.keys()]
    for key in before.keys() & after.keys():
        for name, value in before[key].items():
            other = after[key][name]
            if (
                name == "vector" and value is None
            ):  # a row without a vector gets one, or zeros until it is made
                continue
            if repr(value) != repr(other):
                found.append(f"{key} {name}: {str(value)[:60]!r} became {str(other)[:60]!r}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("name", STORES if SHARED.is_dir() else ())
def test_every_recorded_store(
    shared: Path, unpack: Callable[[Path], Path], tmp_path: Path, name: str, form: str
) -> None:
    store = unpack(shared / "fixtures" / "stores" / f"{name}.tar.gz")
    before, after, lost = there_and_back(store, tmp_path, form)
    assert differing(before, after) == []
    assert lost == []


def odd_row(n: int, dice: random.Random) -> dict[str, Any]:
    """A row whose values are what programs and people leave in a table."""
    texts = (
        "a memory",
        "  spaced  ",
        "NUL \x00 in it",
        "\ud7ff\ue000 edge",
        "🌊 波",
        "a\r\nb\u2028c",
        "x" * 9_000,
        "'=SUM(1)",
        "[REDACTED]",
    )
    numbers = (
        0.0,
        -0.0,
        1.0,
        1e-320,
        0.1 + 0.2,
        -5.0,
        7e300,
        1_772_000_000_000.5,
        1_772_000_000.0,
        4_102_444_800_000.0,
    )
    metadata = (
        *(
            "",
            "{}",
            "[]",
            "null",
            "not JSON",
            '{"a":1,"a":2}',
            '{"n":9007199254740993}',
            '{ "spaced" : 1.10 }',
        ),
        *(
            '{"timestamp":0,"valid_from":0}',
            '{"tier":"core","unknown":{"deep":[1,null]}}',
            '{"x":"\\ud800"}',
            "\ufeff{}",
        ),
    )
    row = memory(n, f"{dice.choice(texts)} {n}")
    row |= {
        "scope": dice.choice(("global", "", "  ", None, "agent:main", " padded ", "波")),
        "category": dice.choice(("fact", "", None, "weather")),
        "importance": dice.choice((*numbers, None)),
        "timestamp": dice.choice((*numbers, None)),
        "metadata": dice.choice((*metadata, None)),
    }
    return row


@pytest.mark.slow
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
@pytest.mark.parametrize("make", [own_store, pro_store])
@pytest.mark.parametrize("seed", range(4))
def test_rows_made_up_at_random(
    make: Callable[[Path, list[dict[str, Any]]], Path], tmp_path: Path, form: str, seed: int
) -> None:
    dice = random.Random(seed)
    store = make(tmp_path / "store", [odd_row(n, dice) for n in range(60)])
    before, after, lost = there_and_back(store, tmp_path, form)
    assert differing(before, after) == []
    assert lost == []


@pytest.mark.parametrize("form", thinned(["jsonl", "json", "csv", "parquet"], 3))
@pytest.mark.parametrize("stamp", [0.0, None])
def test_an_unknown_time_stays_unknown_on_every_way(tmp_path: Path, form: str, stamp: float | None) -> None:
    store = pro_store(
        tmp_path / "store", [memory(1, "of unknown age", timestamp=stamp), memory(2, "of known age")]
    )
    engine = opened(store, tmp_path / "state")
    out = tmp_path / f"out.{form}"
    transfer.export_memories(engine, ExportRequest(out, form))
    for name, make in (("pro", pro_store), ("own", own_store)):
        taking = opened(make(tmp_path / name, []), tmp_path / "state")
        imported(taking, out, rules_off=EVERYTHING)
        rows = rows_of(taking)
        assert rows[memory(1, "")["id"]]["timestamp"] in (0, None), name
        assert rows[memory(2, "")["id"]]["timestamp"] == memory(2, "")["timestamp"]
        assert taking.memories([memory(1, "")["id"]])[memory(1, "")["id"]].timestamp_ms == 0


def test_the_document_of_the_plugin_with_a_time_of_zero(tmp_path: Path) -> None:
    rows = [{**memory(1, "of unknown age"), "timestamp": 0}, {**memory(2, "as well"), "timestamp": None}]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"version": "1.0", "memories": rows}))
    taking = opened(pro_store(tmp_path / "store", []), tmp_path / "state")
    imported(taking, path, rules_off=EVERYTHING)
    assert {row["timestamp"] for row in rows_of(taking).values()} == {0.0}


def test_the_ledger_of_scopes_says_what_is_lost_and_nothing_else(
    tmp_path: Path, shared: Path, unpack: Callable[[Path], Path]
) -> None:
    """From the built-in table with agents and scopes to one with agents only, with neither, and to the plugin's."""
    stores = shared / "fixtures" / "stores"
    engine = opened(unpack(stores / "builtin-new.tar.gz"), tmp_path / "state")
    out = tmp_path / "out.jsonl"
    transfer.export_memories(engine, ExportRequest(out, "jsonl", vectors=True, mask=False))
    said = {}
    for name in ("builtin-mixed", "builtin-legacy"):
        taking = opened(unpack(stores / f"{name}.tar.gz"), tmp_path / "state")
        plan = transfer.plan_import(taking, ImportRequest((out,), rules_off=EVERYTHING))
        said[name] = {(each.rows, each.what) for each in plan.losses() if each.field == "scope"}
        plan.close()
    taking = opened(pro_store(tmp_path / "pro", []), tmp_path / "state")
    plan = transfer.plan_import(taking, ImportRequest((out,), rules_off=EVERYTHING, without_embedding=True))
    said["pro"] = {(each.rows, each.what) for each in plan.losses() if each.field == "scope"}
    plan.close()
    inner = (28, "a scope inside one agent's memories: this table has none, lost")
    assert said == {
        "builtin-mixed": {inner},
        "builtin-legacy": {inner, (64, "this table has none: lost")},
        "pro": {(28, "a scope inside one agent's memories: kept in metadata, the agent sees them all")},
    }


def test_global_memories_lose_no_scope_in_a_table_without_one(
    tmp_path: Path, shared: Path, unpack: Callable[[Path], Path]
) -> None:
    taking = opened(unpack(shared / "fixtures" / "stores" / "builtin-legacy.tar.gz"), tmp_path / "state")
    store = opened(
        pro_store(tmp_path / "pro", [memory(1, "of everybody", scope="global")]), tmp_path / "state"
    )
    out = tmp_path / "out.jsonl"
    transfer.export_memories(store, ExportRequest(out, "jsonl"))
    plan = transfer.plan_import(taking, ImportRequest((out,), rules_off=EVERYTHING, without_embedding=True))
    assert [each.what for each in plan.losses() if each.field == "scope"] == []
    plan.close()
