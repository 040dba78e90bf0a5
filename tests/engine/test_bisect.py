"""Bisect: the version, the clock or the configuration that changed a memory's rank is found; nothing is written."""

from __future__ import annotations

import math
from datetime import timedelta
from pathlib import Path

import lancedb
import pytest
from lancedb.index import IvfFlat

from memtui.engine import RecallRequest, UsageError, explain
from memtui.engine.cases.bisection import IndexCoverage, TableVersion, bisect, gap, held
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
    assert found.sentence.endswith("dropped by rerank input (expired) now, on the same rows")


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


def test_an_index_that_came_later_or_took_rows_later_is_named(tmp_path: Path) -> None:
    rows = [row(f"n{i}", f"gateway port note {i}{' and some filler' * (i % 7)}", (0, 1)) for i in range(30)]
    folder = write_store(tmp_path, rows, dims=2)
    grow(folder, [row("late", "the gateway port is 8443", (0, 1)), row("later", "lunch", (0, 1))])
    lancedb.connect(folder).open_table("memories").optimize(cleanup_older_than=timedelta(days=36_500))
    engine, versions = engine_on(folder)
    words = RecallRequest("gateway port", recipe="pro/tool", limit=20)
    folded = explain.bisect(engine, words, "n21")
    assert folded.cause == "index"
    assert folded.changed_at is not None
    at = folded.changed_at.version
    assert folded.sentence.endswith("; it took 2 rows into the full-text index, so words weigh differently")
    assert [engine.store.pin(version).fts.unindexed_rows for version in (at - 1, at)] == [2, 0]

    def look(version: int) -> IndexCoverage | None:
        return held(engine.store.pin(version), "late")

    before, after = look(at - 1), look(at)
    assert before is not None
    assert after is not None
    assert (before.words, after.words) == ("beside", "held")
    said = "it took the memory into the full-text index, before the memory was read beside it"
    assert gap(before, after) == (said, True)
    assert gap(look(3), before) == ("", False)  # it was not there yet: no index is to be blamed
    made = bisect(
        words,
        "n28",
        versions[1:3],
        engine.recall,
        now_ms=NOW_MS,
        held_at=lambda v: held(engine.store.pin(v), "n28"),
    )
    assert (made.cause, made.sentence.split("; ")[1]) == ("index", "it made the full-text index")
    lancedb.connect(folder).open_table("memories").update("id = 'late'", {"importance": 0.1})
    engine, versions = engine_on(folder)
    said, alone = gap(look(at), look(versions[-1].version))
    assert ("does not hold the memory" in said, alone) == (True, False)  # its row is another one, too


def test_a_place_among_equals_is_said_to_be_no_merit(tmp_path: Path) -> None:
    rows = [row(f"r{n}", "the gateway port is 8443", (1, 0)) for n in range(4)]
    folder = write_store(tmp_path, rows, dims=2)
    lancedb.connect(folder).open_table("memories").update("id = 'r3'", {"scope": "global"})
    engine = engine_on(folder)[0]
    ask = RecallRequest("gateway", recipe="pro/tool", query_vector=[1, 0], limit=10)
    pushed, level = (explain.bisect(engine, ask, each) for each in ("r3", "r1"))
    assert "does not hold the memory, which is read beside it" in pushed.sentence  # it was written anew
    assert level.cause == "version"
    assert level.sentence.endswith(
        "; 2 others have the same score, and which of them comes first is not defined"
    )


def test_a_vector_index_takes_a_row_later_too(tmp_path: Path) -> None:
    rows = [row(f"n{i}", f"note {i}", (math.cos(i), math.sin(i))) for i in range(60)]
    folder = write_store(tmp_path, rows, dims=2, fts=False)
    table = lancedb.connect(folder).open_table("memories")
    table.create_index("vector", config=IvfFlat(distance_type="cosine", num_partitions=2))
    grow(folder, [row("late", "late", (1, 0))])
    lancedb.connect(folder).open_table("memories").optimize(cleanup_older_than=timedelta(days=36_500))
    engine, versions = engine_on(folder)
    seen = [held(engine.store.pin(each.version), "late") for each in versions]
    assert [each.vectors for each in seen if each is not None] == ["beside", "held"]


def _fields(request: RecallRequest) -> dict[str, object]:
    return {name: getattr(request, name) for name in request.__dataclass_fields__}
