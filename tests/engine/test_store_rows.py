"""Rows read through their dialect: equal to what is stored, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.core.memory import Memory
from memtui.engine.metadata.read import normalise
from memtui.engine.store.open import open_store
from memtui.engine.store.table import Store
from tests.conftest import NOW_MS

Unpack = Callable[[Path], Path]


def jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def memories(store: Store) -> dict[str, Memory]:
    return {
        memory.id: memory
        for batch in store.scan(store.row_columns)
        for memory in store.dialect.to_memories(as_table(batch), NOW_MS)
    }


def as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


@pytest.mark.parametrize("name", ["store-clean", "store-lived"])
def test_peer_rows(shared: Path, unpack: Unpack, name: str) -> None:
    stored = jsonl(shared / "fixtures/peer/memories.jsonl")
    found = memories(open_store(unpack(shared / f"fixtures/peer/{name}.tar.gz")))
    assert len(found) == len(stored) == 267
    for row in stored:
        memory = found[row["id"]]
        assert (memory.raw_text, memory.category, memory.scope) == (
            row["text"],
            row["category"],
            row["scope"],
        )
        assert memory.importance == row["importance"]
        assert memory.timestamp_ms == row["timestamp"]
        assert memory.metadata == row["metadata"]
        assert memory.extra == {}
        expected = normalise(
            row["metadata"],
            text=row["text"],
            category=row["category"],
            timestamp_ms=row["timestamp"],
            now_ms=NOW_MS,
        )
        assert (memory.tier, memory.access_count, memory.state, memory.layer, memory.source) == (
            expected.tier,
            expected.access_count,
            expected.state,
            expected.memory_layer,
            expected.source,
        )
        assert memory.memory_category == expected.memory_category
        assert memory.last_accessed_ms == expected.last_accessed_at
        assert (memory.active, memory.expired) == (expected.active(NOW_MS), expected.expired(NOW_MS))
        assert (memory.valid_until_ms, memory.invalidated_at_ms) == (
            expected.valid_until,
            expected.invalidated_at,
        )
        assert memory.metadata_valid == expected.valid


def test_the_lifecycle_the_peer_itself_saw(shared: Path, unpack: Unpack) -> None:
    recorded = json.loads((shared / "fixtures/peer/functions.json").read_text())["rows"]
    found = memories(open_store(unpack(shared / "fixtures/peer/store-clean.tar.gz")))
    for row in recorded:
        memory, meta = found[row["id"]], row["meta"]
        assert memory.tier == meta["tier"]
        assert memory.state == meta["state"]
        assert memory.layer == meta["memory_layer"]
        assert memory.memory_category == meta["memory_category"]
        assert memory.access_count == meta["access_count"]
        assert memory.confidence == meta["confidence"]
        assert memory.active == row["active"]
        assert memory.expired == row["expired"]


@pytest.mark.parametrize("name", ["builtin-old", "builtin-legacy", "builtin-mixed", "builtin-new"])
def test_builtin_rows(shared: Path, unpack: Unpack, name: str) -> None:
    stored = jsonl(shared / f"fixtures/stores/rows/{name}.jsonl")
    found = memories(open_store(unpack(shared / f"fixtures/stores/{name}.tar.gz")))
    assert len(found) == len(stored)
    for row in stored:
        memory = found[row["id"]]
        assert (memory.raw_text, memory.category, memory.importance) == (
            row["text"],
            row["category"],
            row["importance"],
        )
        assert memory.timestamp_ms == row["createdAt"]
        assert memory.scope == row.get("scope")
        assert memory.extra == ({"agentId": row["agentId"]} if "agentId" in row else {})
        assert (memory.tier, memory.state, memory.metadata) == (None, None, None)


def test_mem_engine_rows(shared: Path, unpack: Unpack) -> None:
    stored = jsonl(shared / "fixtures/stores/rows/engine.jsonl")
    found = memories(open_store(unpack(shared / "fixtures/stores/engine.tar.gz")))
    assert len(found) == len(stored) == 98
    seconds = 0
    for row in stored:
        memory = found[row["id"]]
        assert (memory.raw_text, memory.scope, memory.importance) == (
            row["text"],
            row["scope"],
            row["importance"],
        )
        assert memory.extra == {key: row[key] for key in ("importance_label", "trust_tier")}
        in_seconds = row["createdAt"] < 1e12
        seconds += in_seconds
        assert memory.timestamp_ms == row["createdAt"] * (1000 if in_seconds else 1)
    assert seconds == 4


def test_null_and_blank_scopes_stay_as_stored(shared: Path, unpack: Unpack) -> None:
    damaged = json.loads((shared / "fixtures/stores/damaged/damaged.json").read_text())
    ids = damaged["pro-null-scope-vector"]["ids"]
    folder = unpack(shared / "fixtures/stores/damaged/pro-null-scope-vector.tar.gz")
    store = open_store(folder)
    found = memories(store)
    assert {found[each].scope for each in ids["null_scope"]} == {None}
    assert {found[each].scope for each in ids["blank_scope"]} == {"", "  "}
    assert found[ids["padded_scope"][0]].scope == " global "
    with_vectors = store.dialect.to_memories(store.rows_by_id(list(found), store.columns), NOW_MS)
    states = {memory.id: memory.extra.get("vector") for memory in with_vectors}
    assert {each for each, state in states.items() if state == "null"} == set(ids["null_vector"])
    assert {each for each, state in states.items() if state == "zero"} == set(ids["zero_vector"])


def test_odd_times_of_a_pro_store(shared: Path, unpack: Unpack) -> None:
    ids = json.loads((shared / "fixtures/stores/damaged/damaged.json").read_text())["pro-seconds"]["ids"]
    found = memories(open_store(unpack(shared / "fixtures/stores/damaged/pro-seconds.tar.gz")))
    for each in ids["seconds"]:
        assert 1_600_000_000_000 < found[each].timestamp_ms < 1_900_000_000_000
    assert [found[ids[key]].timestamp_ms for key in ("zero", "null", "negative")] == [0, 0, 0]
    assert found[ids["year_2099"]].timestamp_ms > 4_000_000_000_000


def test_a_table_opened_in_place_shows_the_old_rows_own_time(shared: Path, unpack: Unpack) -> None:
    folder = unpack(shared / "fixtures/stores/damaged/pro-on-builtin.tar.gz")
    store = open_store(folder)
    old = {row["id"]: row for row in jsonl(shared / "fixtures/stores/rows/builtin-legacy.jsonl")}
    found = memories(store)
    assert len(set(found) & set(old)) == 27
    for each, row in old.items():
        assert found[each].timestamp_ms == row["createdAt"]
        assert found[each].extra == {"createdAt": row["createdAt"]}
    new = [found[each] for each in set(found) - set(old)]
    assert all(memory.timestamp_ms > 0 and memory.extra["createdAt"] is None for memory in new)
    assert any("createdAt" in warning for warning in store.warnings)


def test_odd_metadata_is_shown_as_stored(shared: Path, unpack: Unpack) -> None:
    ids = json.loads((shared / "fixtures/stores/damaged/damaged.json").read_text())["pro-bad-metadata"]["ids"]
    found = memories(open_store(unpack(shared / "fixtures/stores/damaged/pro-bad-metadata.tar.gz")))
    for each, raw in ids.items():
        stored = found[each].metadata
        assert stored == raw or (raw.endswith("…") and stored is not None and stored.startswith(raw[:-1]))
        assert found[each].tier == "working"
    by_raw = {found[each].metadata: found[each] for each in ids}
    assert by_raw['{"state":"confirmed","state":"archived"}'].state == "archived"
    assert not by_raw['{"confidence": NaN}'].metadata_valid
    assert by_raw[None].metadata_valid
