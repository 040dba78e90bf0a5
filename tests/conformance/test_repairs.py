"""Each kind of repair on each dialect's recorded store, and the recorded recalls before and after it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import changes
from memtui.engine.recall.context import RecallContext
from memtui.engine.store.open import open_store
from memtui.engine.transfer.repairs import REPAIRS, plan_repair
from tests.cli.every_command import call
from tests.conformance.recalls import TABLES, _difference
from tests.conformance.recording import clock_of
from tests.conformance.replay import Peer
from tests.engine.curate_world import engine_at, rows_of

pytestmark = pytest.mark.conformance


def repaired(folder: Path, kind: str, now_ms: int) -> int:
    """Write one kind of repair to a store; how many rows it changed."""
    planned = plan_repair(open_store(folder), [kind], now_ms=now_ms)
    if planned.changes:
        changes.apply(engine_at(folder), planned, confirmed=True)
    return len(planned.changes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", REPAIRS)
@pytest.mark.parametrize("name", TABLES)
def test_no_repair_changes_a_recall_of_the_built_in_program(
    shared: Path, unpack: Callable[[Path], Path], name: str, kind: str
) -> None:
    stores = shared / "fixtures" / "stores"
    folder = unpack(stores / f"{name}.tar.gz")
    recorded = json.loads((stores / "recalls" / f"{name}.json").read_text(encoding="utf-8"))
    now_ms = clock_of(recorded, shared / "fixtures")
    assert repaired(folder, kind, now_ms) == 0, "its rows are as its program wants them"
    bench = RecallContext(open_store(folder), now_ms, None)
    assert [
        found for case in recorded["recall"] if (found := _difference(case, bench, stores / "recalls"))
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", REPAIRS)
def test_no_repair_is_planned_for_what_mem_engine_finds(
    shared: Path, unpack: Callable[[Path], Path], kind: str
) -> None:
    for archive in ("engine.tar.gz", "damaged/engine-null-fields.tar.gz"):
        store = open_store(unpack(shared / "fixtures" / "stores" / archive))
        planned = plan_repair(store, [kind], now_ms=clock_of({}, shared / "fixtures"))
        scopes = [each for each in planned.changes if "scope" in each.after]
        assert scopes == []


@pytest.mark.parametrize("kind", REPAIRS)
def test_of_mem_engines_rows_only_times_in_seconds_are_mended(
    shared: Path, unpack: Callable[[Path], Path], kind: str
) -> None:
    """Its importer keeps such times as they come; nothing else in what it stores is wrong, and nothing else changes."""
    folder = unpack(shared / "fixtures" / "stores" / "engine.tar.gz")
    before = rows_of(folder).to_pylist()
    called = call("repair", kind, "--yes", "--store", folder)
    assert (called.code, called.faults) == (0, [])
    mended = [
        {**row, "createdAt": row["createdAt"] * 1_000} if kind == "times" and row["createdAt"] < 1e12 else row
        for row in before
    ]
    assert rows_of(folder).to_pylist() == mended


def test_a_null_scope_of_the_built_in_store_becomes_the_agents_own(
    shared: Path, unpack: Callable[[Path], Path]
) -> None:
    folder = unpack(shared / "fixtures" / "stores" / "damaged" / "builtin-new-null-agent.tar.gz")
    planned = plan_repair(open_store(folder), ["scopes"], now_ms=clock_of({}, shared / "fixtures"))
    assert [(each.before["scope"], each.after["scope"]) for each in planned.changes] == [(None, "")] * 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", REPAIRS)
def test_no_repair_loses_a_recall_of_the_plugin(
    shared: Path, unpack: Callable[[Path], Path], kind: str
) -> None:
    """Which ids each recorded question brings is the same; only rows that were mended may come in addition."""
    folder = shared / "fixtures" / "peer"
    clean, lived = unpack(folder / "store-clean.tar.gz"), unpack(folder / "store-lived.tar.gz")
    before = Peer(shared, clean, lived)
    for each in (clean, lived):
        repaired(each, kind, before.data["now_ms"])
    after = Peer(shared, clean, lived)
    try:
        for trace in before.data["traces"][::8]:
            assert after.compare(trace, recorded=True) == before.compare(trace, recorded=True)
    finally:
        before.reranker.close()
        after.reranker.close()
