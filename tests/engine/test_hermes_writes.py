"""Hermes' store written beside its plugin: its columns to the byte, the hash that follows, and the way back."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import lancedb
import pytest

from memtui.engine import Engine, UsageError, changes, open_engine, transfer
from memtui.engine.changes.applier import ConflictError
from memtui.engine.providers.embedding_services import EmbeddingSettings
from tests.engine.hermes_store import NOW_MS, recorded, unpack
from tests.engine.loopback import loopback

TEXT = "fact_e3faaee4a90a4408a38d6c9296d29d5d"
"""A fact with a category and a tag."""


@pytest.fixture
def folder(shared: Path, tmp_path: Path) -> Path:
    """The plugin's store with a column that another program added."""
    store = unpack(shared, tmp_path / "home")
    lancedb.connect(store).open_table("memories").add_columns({"added_by_another": "concat('  x', id)"})
    return store


def opened(folder: Path, **more: Any) -> Engine:
    place = folder.parent.parent
    return open_engine(
        folder, now=lambda: NOW_MS, environ={}, cwd=place, writable=True, state=place / "state", **more
    )


Rows = list[dict[str, Any]]


def table_of(folder: Path) -> Rows:
    """Every row as it is stored, vectors as bytes, in an order of their own."""
    rows = lancedb.connect(folder).open_table("memories").to_arrow()
    vectors = rows.column("vector").combine_chunks().flatten().to_numpy().reshape(rows.num_rows, -1)
    whole = [
        {**row, "vector": vector.tobytes()}
        for row, vector in zip(rows.drop_columns(["vector"]).to_pylist(), vectors, strict=True)
    ]
    return sorted(whole, key=repr)


def but(rows: Rows, which: str, **columns: Any) -> Rows:
    return sorted(({**row, **columns} if row["id"] == which else row for row in rows), key=repr)


def hash_of(kind: str, workspace: str, text: str) -> str:
    plain = " ".join(text.strip().lower().split())
    return sha256(f"{kind}\0{workspace}\0{plain}".encode()).hexdigest()


def test_the_hash_is_the_plugins(shared: Path) -> None:
    from memtui.engine.dialects.hermes import text_hash

    for row in recorded(shared)["rows"]:
        assert text_hash(row["kind"], row["agent_workspace"], row["content"]) == row["content_hash"]


@pytest.mark.parametrize(
    ("given", "columns"),
    [
        ({"category": "Décision"}, {"category": "Décision"}),
        ({"category": ""}, {"category": ""}),
        ({"tags": "b, a,b , "}, {"tags": ["b", "a"]}),
        ({"tags": '["x, y"]'}, {"tags": ["x, y"]}),
        ({"tags": ""}, {"tags": []}),
        ({"abstract": "In short."}, {"abstract": "In short."}),
        ({"scope": "alt ötment"}, {"agent_workspace": "alt ötment"}),
        ({"workspace": ""}, {"agent_workspace": ""}),
    ],
)
def test_an_edit_writes_its_column_alone_and_undo_brings_back_every_byte(
    folder: Path, given: dict[str, str], columns: dict[str, Any]
) -> None:
    before = table_of(folder)
    row = next(each for each in before if each["id"] == TEXT)
    if "agent_workspace" in columns:
        columns = {**columns, "content_hash": hash_of("fact", columns["agent_workspace"], row["content"])}
    schema = lancedb.connect(folder).open_table("memories").schema
    engine = opened(folder)
    changes.apply(engine, changes.plan_edit(engine, [TEXT], given))
    assert table_of(folder) == but(before, TEXT, **columns)
    assert lancedb.connect(folder).open_table("memories").schema == schema
    changes.apply(engine, changes.plan_undo(engine))
    assert table_of(folder) == before


def test_a_new_text_takes_its_vector_and_its_hash_along(folder: Path) -> None:
    before = table_of(folder)
    with loopback() as server:
        server.dims = 64
        settings = EmbeddingSettings(model="loopback", base_url=f"{server.url}/v1", api_keys=("k",))
        engine = opened(folder, embedding=settings)
        changes.apply(engine, changes.plan_edit(engine, [TEXT], {"text": "The hut is locked."}))
    after = table_of(folder)
    row = next(each for each in after if each["id"] == TEXT)
    assert (row["content"], row["content_hash"]) == (
        "The hut is locked.",
        hash_of("fact", "hermes", "the hut is locked."),
    )
    old = next(each for each in before if each["id"] == TEXT)
    assert row["vector"] != old["vector"]
    changed = {"content", "content_hash", "vector"}
    assert {name for name in row if row[name] != old[name]} == changed
    changes.apply(engine, changes.plan_undo(engine))
    assert table_of(folder) == before


@pytest.mark.parametrize(
    "given", [{"tags": "[1]"}, {"category": "a\nb"}, {"tier": "core"}, {"importance": "1"}]
)
def test_a_value_that_makes_no_sense_is_refused(folder: Path, given: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        changes.plan_edit(opened(folder), [TEXT], given)


def doubled(folder: Path) -> str:
    ids = [row["id"] for row in table_of(folder)]
    return next(each for each in ids if ids.count(each) == 2)


def test_a_forget_of_a_doubled_id_takes_both_rows_and_says_so_and_undo_and_redo(folder: Path) -> None:
    before, which = table_of(folder), doubled(folder)
    engine = opened(folder)
    planned = changes.plan_forget(engine, [which], hard=True)
    assert planned.title.startswith("2 memories")
    assert any("2 rows share the id" in each for each in planned.warnings)
    assert planned.changes[0].as_json()["rows"] == 2
    changes.apply(engine, planned, confirmed=True)
    gone = [row for row in before if row["id"] != which]
    assert table_of(folder) == gone
    changes.apply(engine, changes.plan_undo(engine))
    assert table_of(folder) == before
    changes.apply(engine, changes.plan_redo(engine))
    assert table_of(folder) == gone
    changes.apply(engine, changes.plan_undo(engine))
    assert table_of(folder) == before


def test_an_edit_of_a_doubled_id_is_refused(folder: Path) -> None:
    planned = changes.plan_edit(opened(folder), [doubled(folder)], {"category": "event"})
    assert [each.reason for each in planned.conflicts] == ["duplicate id"]


def test_a_text_that_changed_since_the_preview_is_not_forgotten(folder: Path) -> None:
    engine = opened(folder)
    planned = changes.plan_forget(engine, [TEXT], hard=True)
    table = lancedb.connect(folder).open_table("memories")
    table.update(where=f"id = '{TEXT}'", values={"content": "Written by another."})
    before = table_of(folder)
    with pytest.raises(ConflictError):
        changes.apply(engine, planned, confirmed=True)
    assert table_of(folder) == before


def test_a_memory_of_another_program_becomes_a_fact_as_the_plugin_writes_one(
    folder: Path, tmp_path: Path
) -> None:
    before = table_of(folder)
    given = [
        {
            "text": " The key hangs  left.",
            "scope": "agent:main",
            "category": "case",
            "timestamp_ms": 1780000000000,
        },
        {"text": "No time."},
    ]
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(map(json.dumps, given)), encoding="utf-8")
    with loopback() as server:
        server.dims = 64
        settings = EmbeddingSettings(model="loopback", base_url=f"{server.url}/v1", api_keys=("k",))
        engine = opened(folder, embedding=settings)
        transfer.run_import(
            engine, transfer.plan_import(engine, transfer.ImportRequest((source,))), confirmed=True
        )
    known = {row["id"] for row in before}
    key, none = sorted((r for r in table_of(folder) if r["id"] not in known), key=lambda r: r["created_at"])
    assert (key["kind"], key["category"], key["agent_workspace"]) == ("fact", "case", "hermes")
    assert re.fullmatch(r"fact_[0-9a-f]{32}", key["id"])
    assert key["content_hash"] == hash_of("fact", "hermes", key["content"])
    assert key["created_at"] == datetime.fromtimestamp(1780000000, UTC)
    assert (none["category"], none["created_at"].timestamp() * 1000) == ("general", NOW_MS)
    assert (key["tags"], key["role"], key["turn_index"], key["schema_version"]) == ([], "", 0, 1)
    changes.apply(engine, changes.plan_undo(engine))
    assert table_of(folder) == before


def test_an_export_read_into_an_empty_store_gives_every_row_back_to_the_byte(
    shared: Path, tmp_path: Path
) -> None:
    """But copies of one id, and rows without a text, which no reader takes."""
    theirs = unpack(shared, tmp_path / "theirs")
    source = tmp_path / "all.jsonl"
    engine = opened(theirs)
    transfer.export_memories(engine, transfer.ExportRequest(source, "jsonl", vectors=True, mask=False))
    schema = lancedb.connect(theirs).open_table("memories").schema
    lancedb.connect(tmp_path / "ours" / "lancedb").create_table("memories", schema=schema)
    mine = opened(tmp_path / "ours" / "lancedb")
    transfer.run_import(mine, transfer.plan_import(mine, transfer.ImportRequest((source,))), confirmed=True)
    before = table_of(theirs)
    after = table_of(tmp_path / "ours" / "lancedb")
    ids = {row["id"] for row in before if row["content"].strip()}
    assert {row["id"] for row in after} == ids
    assert len(after) == len(ids)
    assert all(row in before for row in after)
