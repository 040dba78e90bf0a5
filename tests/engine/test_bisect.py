"""Bisect: the version, the clock or the configuration that changed a memory's rank is found; nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import RecallRequest, UsageError
from memtui.engine.cases.bisect import TableVersion, bisect
from memtui.engine.engine import Engine
from memtui.engine.store.open import open_store
from tests.conftest import tree_hash
from tests.engine.pro_store import DAY_MS, NOW_MS, row, schema, write_store

QUESTION = RecallRequest("gateway port", recipe="pro/tool", query_vector=[1, 0], limit=3)


def engine_on(folder: Path) -> tuple[Engine, list[TableVersion]]:
    engine = Engine(open_store(folder), now=lambda: NOW_MS)
    return engine, [TableVersion(version, 1000 + version) for version, _ in engine.store.versions()]


def grow(folder: Path, rows: list[dict[str, object]]) -> None:
    """One version a row, as a program that stores memories one by one makes them."""
    import lancedb
    import pyarrow as pa

    table = lancedb.connect(folder).open_table("memories")
    for each in rows:
        table.add(pa.Table.from_pylist([each], schema=schema(2)))


def test_the_version_that_pushed_it_down_is_found(tmp_path: Path) -> None:
    folder = write_store(tmp_path, [row("right", "The gateway port is 8443", (0.9, 0.436))], dims=2)
    noise = [row(f"n{i}", f"A note about lunch {i}", (0, 1)) for i in range(15)]
    grow(folder, [*noise[:9], row("rival", "The gateway port was 8080", (1, 0)), *noise[9:]])
    engine, versions = engine_on(folder)
    before = tree_hash(folder)
    found = bisect(QUESTION, "right", versions, engine.recall, now_ms=NOW_MS)
    assert found.cause == "version"
    assert found.changed_at is not None
    assert found.before is not None
    assert (found.before.rank, found.changed_at.rank) == (1, 2)
    at = found.changed_at.version
    ranks = {
        version: [
            r.id
            for r in engine.recall(RecallRequest(**{**_fields(QUESTION), "table_version": version})).results
        ]
        for version in (at - 1, at)
    }
    assert ranks[at - 1][0] == "right"
    assert ranks[at][0] == "rival"
    assert tree_hash(folder) == before


def test_the_clock_that_expired_it_is_found(tmp_path: Path) -> None:
    gone = row("right", "The gateway port is 8443", (1, 0), age=5, metadata={"valid_until": NOW_MS - DAY_MS})
    folder = write_store(tmp_path, [gone], dims=2)
    engine, versions = engine_on(folder)
    found = bisect(QUESTION, "right", versions, engine.recall, now_ms=NOW_MS, then_ms=NOW_MS - 2 * DAY_MS)
    assert found.cause == "clock"
    assert found.then.rank == 1
    assert found.now.rank is None


def test_the_configuration_is_blamed_last_and_nothing_when_nothing_changed(tmp_path: Path) -> None:
    folder = write_store(tmp_path, [row("right", "The gateway port is 8443", (1, 0))], dims=2)
    engine, versions = engine_on(folder)
    strict = RecallRequest(**{**_fields(QUESTION), "config": {"retrieval": {"hardMinScore": 1}}})
    found = bisect(
        strict, "right", versions, engine.recall, now_ms=NOW_MS, then_ms=NOW_MS, then_config=QUESTION
    )
    assert found.cause == "configuration"
    assert (
        bisect(QUESTION, "right", versions[-1:], engine.recall, now_ms=NOW_MS, then_ms=NOW_MS).cause
        == "nothing"
    )
    created = bisect(QUESTION, "right", versions, engine.recall, now_ms=NOW_MS)
    assert created.sentence == "version 2 changed it: not a candidate before, rank 1 since"


def test_a_version_that_was_cleaned_up_is_said_to_be_unreadable(tmp_path: Path) -> None:
    folder = write_store(tmp_path, [row("right", "The gateway port is 8443", (1, 0))], dims=2)
    engine, versions = engine_on(folder)
    gone = TableVersion(10_000, 0)
    found = bisect(QUESTION, "right", [gone, *versions], engine.recall, now_ms=NOW_MS)
    assert any(point.disposition == "unreadable" for point in found.points)
    with pytest.raises(UsageError):
        bisect(QUESTION, "right", [], engine.recall, now_ms=NOW_MS)


def _fields(request: RecallRequest) -> dict[str, object]:
    return {name: getattr(request, name) for name in request.__dataclass_fields__}
