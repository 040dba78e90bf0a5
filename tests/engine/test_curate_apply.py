"""A change set is one commit, one journal entry, and touches nothing else."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from memtui.engine import changes
from memtui.engine.changes.applier import ConflictError
from memtui.engine.changes.write_access import access_to
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.dialects.memory_lancedb_pro import pro
from memtui.engine.discovery.types import FoundStore, Lock, WriteGuard
from memtui.engine.engine import Engine
from memtui.engine.store.open import open_store
from memtui.engine.store.row_values import differing
from tests.conftest import tree_hash
from tests.engine.curate_world import (
    NO_EMBEDDER,
    WordEmbedder,
    engine_at,
    file_formats,
    row_of,
    rows_of,
    same_rows,
    version_of,
)
from tests.engine.tables import pro_row, uuid, write_table

COLUMNS = ("text", "vector", "category", "scope", "importance", "timestamp", "metadata")


@pytest.fixture
def peer(shared: Path, tmp_path: Path) -> Path:
    """A copy of the store that memory-lancedb-pro itself wrote."""
    with tarfile.open(shared / "fixtures" / "peer" / "store-lived.tar.gz") as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path / "store-lived"


def edited(engine: Engine, ids: list[str], **given: object) -> object:
    return changes.apply(engine, changes.plan_edit(engine, ids, given))


def test_many_rows_are_one_version_and_nothing_else_moves(peer: Path) -> None:
    before = rows_of(peer)
    rows = [row for row in before.to_pylist() if "corpus:" not in row["id"]][:200]
    moving = [row["id"] for row in rows if row["scope"] != "project:atlas"]
    engine = engine_at(peer)
    outcome = changes.apply(
        engine, changes.plan_edit(engine, [row["id"] for row in rows], {"scope": "project:atlas"})
    )
    after = rows_of(peer)
    assert outcome.version_after == outcome.version_before + 1 == version_of(peer)
    assert outcome.changed == len(moving)
    assert differing(before, after, COLUMNS) == moving
    assert same_rows(before.drop_columns("scope"), after.drop_columns("scope"))
    assert {row["scope"] for row in after.to_pylist() if row["id"] in moving} == {"project:atlas"}


def test_schema_types_index_and_file_format_stay(peer: Path) -> None:
    store, formats = open_store(peer), file_formats(peer)
    schema, fts = store.schema, store.fts_status()
    hand = engine_at(peer, embedder=WordEmbedder(384))
    ids = rows_of(peer).column("id").to_pylist()[:3]
    changes.apply(hand, changes.plan_edit(hand, ids, {"tier": "core"}))
    changes.apply(hand, changes.plan_undo(hand))
    again = open_store(peer)
    assert again.schema == schema
    assert (
        (again.fts_status().version, again.fts_status().positions)
        == (1, True)
        == (fts.version, fts.positions)
    )
    assert file_formats(peer) == formats


def test_metadata_keeps_every_byte_that_was_not_meant(peer: Path) -> None:
    before = {row["id"]: row["metadata"] for row in rows_of(peer).to_pylist()}
    engine = engine_at(peer)
    ids = [each for each, text in before.items() if _is_object(text) and "corpus:" not in each]
    changes.apply(engine, changes.plan_edit(engine, ids, {"tier": "peripheral"}))
    for row in rows_of(peer).to_pylist():
        if row["id"] in ids and row["metadata"] != before[row["id"]]:
            old, new = (json.loads(text, parse_float=str) for text in (before[row["id"]], row["metadata"]))
            assert {**old, "tier": "peripheral"} == new
            assert list(old) == [key for key in new if key in old]


def test_planning_and_looking_write_nothing(peer: Path) -> None:
    ids = rows_of(peer).column("id").to_pylist()[:5]
    before = tree_hash(peer)
    engine = engine_at(peer)
    changes.plan_edit(engine, ids, {"scope": "global", "importance": 1})
    changes.find_interrupted(engine)
    assert engine.write_state.journal.entries() == []
    assert tree_hash(peer) == before
    assert not (peer.parent / "state").exists()


def test_without_a_writable_handle_nothing_is_written(peer: Path) -> None:
    ids = rows_of(peer).column("id").to_pylist()[:1]
    before = tree_hash(peer)
    engine = engine_at(peer, writable=False)
    planned = changes.plan_edit(engine, ids, {"scope": "agent:main"})
    with pytest.raises(RefusedError, match="reading only"):
        changes.apply(engine, planned)
    assert tree_hash(peer) == before
    engine.write_state.unlock()
    assert engine.write_state.writable
    assert changes.apply(engine, planned).changed == 1


def test_a_row_changed_underneath_is_noticed(tmp_path: Path) -> None:
    table = write_table(tmp_path / "db", [pro_row(1), pro_row(2)])
    engine = engine_at(tmp_path / "db")
    planned = changes.plan_edit(engine, [uuid(1), uuid(2)], {"scope": "agent:main"})
    table.update(where=f"id = '{uuid(2)}'", values={"scope": "agent:ops"})
    before = rows_of(tmp_path / "db")
    with pytest.raises(ConflictError) as error:
        changes.apply(engine, planned)
    (conflict,) = error.value.conflicts
    (field,) = conflict.fields
    assert (conflict.id, conflict.reason) == (uuid(2), "changed")
    assert (field.field, field.before, field.mine, field.theirs) == (
        "scope",
        "global",
        "agent:main",
        "agent:ops",
    )
    assert same_rows(rows_of(tmp_path / "db"), before)
    assert engine.write_state.journal.entries() == []


def test_the_rest_of_the_row_comes_from_the_database(tmp_path: Path) -> None:
    """An agent counted on meanwhile, and wrote a key of its own: both stay."""
    table = write_table(tmp_path / "db", [pro_row(1, metadata='{"access_count":3,"tier":"working"}')])
    engine = engine_at(tmp_path / "db")
    planned = changes.plan_edit(engine, [uuid(1)], {"tier": "core"})
    table.update(
        where="true", values={"metadata": '{"access_count":4,"tier":"working","x":1.0}', "importance": 0.55}
    )
    changes.apply(engine, planned)
    row = row_of(tmp_path / "db", uuid(1))
    assert row["metadata"] == '{"access_count":4,"tier":"core","x":1.0}'
    assert row["importance"] == 0.55


def test_a_row_that_went_or_is_there_twice_is_a_conflict(tmp_path: Path) -> None:
    table = write_table(tmp_path / "db", [pro_row(1), pro_row(2), pro_row(2), pro_row(3)])
    engine = engine_at(tmp_path / "db")
    assert [each.reason for each in changes.plan_edit(engine, [uuid(2)], {"importance": 1}).conflicts] == [
        "duplicate id"
    ]
    planned = changes.plan_edit(engine, [uuid(1), uuid(3)], {"importance": 1})
    table.delete(f"id = '{uuid(1)}'")
    with pytest.raises(ConflictError) as error:
        changes.apply(engine, planned)
    assert [(each.id, each.reason) for each in error.value.conflicts] == [(uuid(1), "gone")]


def test_a_table_put_in_its_place_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    """Same version number, same ids, other contents: the shortcut for an unchanged version must not be taken."""
    for name, scope in (("db", "global"), ("other", "agent:secret")):
        write_table(tmp_path / name, [pro_row(1, scope=scope)])
    engine = engine_at(tmp_path / "db")
    planned = changes.plan_edit(engine, [uuid(1)], {"importance": 1})
    (tmp_path / "db").rename(tmp_path / "away")
    (tmp_path / "other").rename(tmp_path / "db")
    with pytest.raises(ConflictError):
        changes.apply(engine, planned)
    assert row_of(tmp_path / "db", uuid(1))["scope"] == "agent:secret"


def test_unknown_columns_and_vectors_survive(tmp_path: Path) -> None:
    import pyarrow as pa

    from tests.engine.tables import PRO

    schema = PRO.append(pa.field("extra", pa.list_(pa.int32()))).append(
        pa.field("note", pa.string(), nullable=False)
    )
    rows = [pro_row(n, extra=[n, None], note=f"n{n}", vector=[0.1 * n, -0.0]) for n in range(4)]
    write_table(tmp_path / "db", rows, schema)
    before = rows_of(tmp_path / "db")
    engine = engine_at(tmp_path / "db")
    changes.apply(engine, changes.plan_edit(engine, [uuid(n) for n in range(4)], {"category": "decision"}))
    after = rows_of(tmp_path / "db")
    for name in ("extra", "note", "vector"):
        assert same_rows(before.select(["id", name]), after.select(["id", name]))


def test_a_set_without_effect_writes_nothing(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    store = engine_at(tmp_path / "db")
    version = version_of(tmp_path / "db")
    outcome = edited(store, [uuid(1)], scope="global", tier="working", state="confirmed")
    assert (outcome.entry, outcome.changed) == (None, 0)  # type: ignore[attr-defined]
    assert version_of(tmp_path / "db") == version


def gated(folder: Path, verdict: str, kind: str = "file") -> FoundStore:
    return FoundStore(
        "store", str(folder), "memory-lancedb-pro", "memories", True, True, True, "dbPath",
        Lock(kind), WriteGuard(verdict, f"The gate says {verdict}."),  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_gate_of_the_store_is_respected(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    write_table(folder, [pro_row(1)])
    for found in (gated(folder, "read-only"), gated(folder, "ok", "redis"), gated(folder, "ok", "unknown")):
        engine = engine_at(folder, found=found)
        with pytest.raises(RefusedError, match="The gate says"):
            changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"importance": 1}), confirmed=True)
        assert not engine.write_state.writable
        assert "The gate says" in engine.write_state.never_because
        with pytest.raises(RefusedError, match="The gate says"):
            engine.write_state.unlock()
    asks = engine_at(folder, found=gated(folder, "stop-agent"))
    planned = changes.plan_edit(asks, [uuid(1)], {"importance": 1})
    with pytest.raises(RefusedError, match="stop-agent") as refused:
        changes.apply(asks, planned)
    assert "--yes" in refused.value.fix
    assert changes.apply(asks, planned, confirmed=True).changed == 1


def test_a_redis_lock_in_the_environment_is_respected(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    engine = engine_at(tmp_path / "db", environ={"MEMORY_LANCEDB_REDIS_URL": "redis://localhost"})
    with pytest.raises(RefusedError, match="Redis"):
        changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"importance": 1}), confirmed=True)


def test_an_empty_plan_is_wrong_usage(tmp_path: Path) -> None:
    write_table(tmp_path / "db", [pro_row(1)])
    with pytest.raises(UsageError):
        changes.plan_edit(engine_at(tmp_path / "db", embedder=NO_EMBEDDER), [uuid(1)], {})


def _is_object(text: str | None) -> bool:
    try:
        return isinstance(json.loads(text or "{}"), dict) and bool(text)
    except ValueError:
        return False


def test_a_database_service_is_never_written_for_there_is_no_lock_there() -> None:
    access = access_to(pro(), None, None, {}, served=True)
    assert access.verdict == "read-only"
    assert "no place for a lock" in access.reason


def test_each_entry_names_the_client_that_made_it(tmp_path: Path) -> None:
    """Clients of one server share the engine: what the second writes is not the first one's."""
    write_table(tmp_path / "db", [pro_row(1)])
    engine = engine_at(tmp_path / "db")
    for client, tier in (("scribe", "core"), ("archivist", "peripheral")):
        engine.write_state.client = client
        changes.apply(engine, changes.plan_edit(engine, [uuid(1)], {"tier": tier}))
    entries = engine.write_state.journal.entries()
    assert [each.as_json()["client"] for each in entries] == ["archivist", "scribe"]
