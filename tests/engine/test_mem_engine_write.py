"""Stores of openclaw-mem-engine are written as its own program writes them: held against what it was recorded to do."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from memtui.engine import RefusedError, UsageError, changes, transfer
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.engine import Engine
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.providers.openai_embedder import OpenAIEmbedder
from memtui.engine.store.open import open_store
from memtui.engine.transfer import ImportRequest
from tests.conftest import NOW_MS
from tests.engine.curate_world import WordEmbedder, engine_at, row_of, rows_of, same_rows
from tests.engine.loopback import loopback

Row = dict[str, Any]

COLUMNS = ("text", "createdAt", "category", "importance", "importance_label", "scope", "trust_tier")

DIMS = 1536


@pytest.fixture
def folder(shared: Path, unpack: Callable[[Path], Path]) -> Path:
    """A fresh copy of the store that the plugin made."""
    return unpack(shared / "fixtures" / "stores" / "engine.tar.gz")


@pytest.fixture
def engine(folder: Path) -> Engine:
    return engine_at(folder, embedder=WordEmbedder(DIMS))


@pytest.fixture(scope="module")
def recorded(shared: Path) -> list[Row]:
    """Every row as the plugin stored it."""
    lines = (shared / "fixtures/stores/rows/engine.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def log(shared: Path) -> list[Row]:
    """What the plugin's tools were called with, and what came of it."""
    with gzip.open(shared / "fixtures/stores/recalls/engine.json.gz") as file:
        found: list[Row] = json.load(file)["write_log"]
    return found


def golden(shared: Path, case: str) -> Row:
    cases = json.loads((shared / "fixtures/mem-engine/golden.json").read_text("utf-8"))["cases"]
    return next(each for each in cases if each["id"] == case)


def empty_like(folder: Path, target: Path) -> Path:
    """A table of the plugin's without rows, with the columns that it made."""
    schema = lancedb.connect(folder).open_table("memories").schema
    lancedb.connect(target).create_table("memories", schema=schema)
    return target


def edit(engine: Engine, memory: str, **given: Any) -> changes.ChangeSet:
    planned = changes.plan_edit(engine, [memory], given)
    changes.apply(engine, planned, confirmed=True)
    return planned


def others(folder: Path, memory: str) -> pa.Table:
    return rows_of(folder, but=[memory])


# ---------------------------------------------------------------------- edits


def test_a_number_writes_the_label_that_the_plugin_stored_with_it(
    engine: Engine, folder: Path, log: list[Row]
) -> None:
    told = {each["importance"]: each["label"] for each in log if each.get("importance") is not None}
    assert len(told) >= 8
    memory = log[0]["id"]
    for number, label in told.items():
        before = row_of(folder, memory)
        rest = others(folder, memory)
        edit(engine, memory, importance=number)
        assert row_of(folder, memory) == {**before, "importance": number, "importance_label": label}
        assert same_rows(others(folder, memory), rest)


def test_a_label_alone_leaves_the_number_under_the_plugins_words(engine: Engine, folder: Path) -> None:
    memory = rows_of(folder).column("id").to_pylist()[0]
    before = row_of(folder, memory)
    for word, label in (("High", "must_remember"), ("nice-to-have", "nice_to_have"), ("none", "unknown")):
        edit(engine, memory, importance_label=word)
        assert row_of(folder, memory) == {**before, "importance_label": label}
    edit(engine, memory, importance=0.9, importance_label="ignore")
    assert row_of(folder, memory) == {**before, "importance": 0.9, "importance_label": "ignore"}
    with pytest.raises(UsageError, match="importance_label"):
        changes.plan_edit(engine, [memory], {"importance_label": "weird"})


def test_a_trust_tier_is_stored_as_typed_and_quarantine_says_who_heeds_it(
    engine: Engine, folder: Path
) -> None:
    memory = rows_of(folder).column("id").to_pylist()[0]
    before = row_of(folder, memory)
    planned = edit(engine, memory, trust_tier="Un-Trusted")
    assert row_of(folder, memory) == {**before, "trust_tier": "Un-Trusted"}
    assert not planned.warnings
    planned = edit(engine, memory, trust_tier="quarantined")
    assert row_of(folder, memory) == {**before, "trust_tier": "quarantined"}
    (warning,) = planned.warnings
    assert "own recall still returns" in warning
    assert "packer" in warning
    several = changes.plan_edit(engine, rows_of(folder).column("id").to_pylist()[:3], {"trust": "quarantine"})
    assert several.warnings == (warning,)


def test_scopes_and_categories_go_by_the_strict_rule(engine: Engine, folder: Path, log: list[Row]) -> None:
    memory = rows_of(folder).column("id").to_pylist()[0]
    before = row_of(folder, memory)
    odd = [each for each in log if "scope_given" in each]
    assert len(odd) >= 5
    for each in odd:
        if each["scopeValidation"]["invalid"]:
            with pytest.raises(UsageError, match="scope"):
                changes.plan_edit(engine, [memory], {"scope": each["scope_given"]})
        elif each["scope_given"].strip():
            edit(engine, memory, scope=each["scope_given"])
            assert row_of(folder, memory) == {**before, "scope": each["scope"]}
    edit(engine, memory, scope="global", category="todo")
    assert row_of(folder, memory) == {**before, "scope": "global", "category": "todo"}
    with pytest.raises(UsageError, match="category"):
        changes.plan_edit(engine, [memory], {"category": "reflection"})
    for field in ("tier", "state", "pinned", "agent"):
        with pytest.raises(UsageError, match="have no"):
            changes.plan_edit(engine, [memory], {field: "core"})


def test_a_text_is_embedded_anew_within_the_plugins_lengths(folder: Path) -> None:
    memory = rows_of(folder).column("id").to_pylist()[0]
    before = row_of(folder, memory)
    long = "".join(f"line {n:04}\n" for n in range(2_000)).strip()
    with loopback() as server:
        server.dims = DIMS
        settings = EmbeddingSettings(model="text-embedding-3-small", base_url=f"{server.url}/v1")
        engine = configured(folder, settings, {"embedding": {"maxChars": 400, "headChars": 100}})
        edit(engine, memory, text=long)
        sent = [text for request in server.requests for text in texts_of(request.body)]
    assert long[:100] + "\n...\n" + long[-295:] in sent
    assert all(len(text) <= 400 for text in sent)
    after = row_of(folder, memory)
    assert after["vector"] != before["vector"]
    assert after == {**before, "text": long, "vector": after["vector"]}


def test_a_text_is_refused_where_nothing_embeds_it(folder: Path) -> None:
    memory = rows_of(folder).column("id").to_pylist()[0]
    before = rows_of(folder)
    with pytest.raises(RefusedError, match="vector would not follow"):
        changes.plan_edit(engine_at(folder), [memory], {"text": "another text"})
    settings = EmbeddingSettings(
        model="text-embedding-3-small", base_url="http://127.0.0.1:9/v1", timeout_s=1
    )
    down = engine_at(folder, embedder=OpenAIEmbedder(replace(settings, batch_timeout_s=1), table_dims=DIMS))
    with pytest.raises(EmbeddingError):
        changes.plan_edit(down, [memory], {"text": "another text"})
    assert same_rows(rows_of(folder), before)


def configured(folder: Path, settings: EmbeddingSettings, block: Mapping[str, Any]) -> Engine:
    """An engine as an agent's configuration with the plugin's `block` makes it."""
    from memtui.engine.discovery.target import Target
    from memtui.engine.discovery.types import ENGINE, FoundStore, Lock, WriteGuard

    found = FoundStore(
        name="engine",
        path=str(folder),
        plugin=ENGINE,
        table="memories",
        configured=True,
        active=True,
        enabled=True,
        why="",
        lock=Lock("none"),
        gate=WriteGuard("ok", "safe"),
        settings=block,
    )
    target = Target(str(folder), folder.name, found=found)
    return Engine(
        open_store(folder),
        embedding=settings,
        now=lambda: NOW_MS,
        state=folder.parent / "state",
        writable=True,
        target=target,
    )


def texts_of(body: Mapping[str, Any]) -> list[str]:
    given = body["input"]
    return [given] if isinstance(given, str) else list(given)


# ---------------------------------------------------------------------- forget, merge, undo


def test_there_is_no_archive_so_only_a_hard_forget_goes(engine: Engine, folder: Path) -> None:
    memory = rows_of(folder).column("id").to_pylist()[0]
    rest = others(folder, memory)
    with pytest.raises(RefusedError, match="cannot be archived"):
        changes.plan_forget(engine, [memory])
    planned = changes.plan_forget(engine, [memory], hard=True)
    changes.apply(engine, planned, confirmed=True)
    assert same_rows(rows_of(folder), rest)


def test_an_undo_is_exact_beside_a_row_that_the_agent_added(engine: Engine, folder: Path) -> None:
    ids = rows_of(folder).column("id").to_pylist()
    before = rows_of(folder)
    edit(engine, ids[0], importance=0.1, trust_tier="quarantined", scope="kornfeld", category="todo")
    changes.apply(engine, changes.plan_forget(engine, [ids[1]], hard=True), confirmed=True)
    theirs = {**row_of(folder, ids[2]), "id": "0c9b2f7e-0000-4000-8000-000000000001", "text": "by the agent"}
    table = lancedb.connect(folder).open_table("memories")
    table.add(pa.Table.from_pylist([theirs], schema=table.schema))
    for _ in range(2):
        changes.apply(engine, changes.plan_undo(engine), confirmed=True)
    assert same_rows(rows_of(folder, but=[theirs["id"]]), before)
    assert row_of(folder, theirs["id"]) == theirs


def test_a_merge_keeps_one_row_with_the_label_of_its_number(engine: Engine, folder: Path) -> None:
    rows = rows_of(folder).to_pylist()
    low = next(row for row in rows if row["importance_label"] == "ignore" and row["importance"])
    high = next(row for row in rows if row["importance_label"] == "must_remember" and row["importance"])
    before = rows_of(folder, but=[low["id"], high["id"]])
    planned = changes.plan_merge(engine, [low["id"], high["id"]], survivor=low["id"], losers="delete")
    changes.apply(engine, planned, confirmed=True)
    assert row_of(folder, low["id"]) == {
        **low,
        "importance": high["importance"],
        "importance_label": "must_remember",
    }
    assert same_rows(rows_of(folder, but=[low["id"]]), before)


# ---------------------------------------------------------------------- import and add


def imported(engine: Engine, source: Path, **more: Any) -> transfer.ImportPlan:
    engine.load_catalog()
    plan = transfer.plan_import(engine, ImportRequest((source,), **more))
    try:
        transfer.run_import(engine, plan, confirmed=True)
        return plan
    finally:
        plan.close()


def plain(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in COLUMNS)


def test_an_import_makes_the_rows_that_the_plugins_importer_made(
    folder: Path, shared: Path, tmp_path: Path, recorded: list[Row]
) -> None:
    source = shared / "fixtures/stores/engine-import.jsonl"
    given = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    stored = {row["text"]: row for row in recorded if not row["id"].startswith("working_set:")}
    known = {each["text"].strip() for each in given}
    # "Uferweg 3 is the smaller shop ..." was there before, by the store tool
    expected = [row for row in recorded if row["text"] in known and row["text"] != given[-2]["text"]]
    assert len(expected) == 33
    target = empty_like(folder, tmp_path / "engine")
    there = stored[given[-2]["text"]]
    table = lancedb.connect(target).open_table("memories")
    table.add(pa.Table.from_pylist([{**there, "vector": [1.0] * DIMS}], schema=table.schema))
    engine = engine_at(target, embedder=WordEmbedder(DIMS))
    imported(engine, source)
    made = {row["text"]: row for row in rows_of(target, but=[there["id"]]).to_pylist()}
    assert {text: plain(row) for text, row in made.items()} == {row["text"]: plain(row) for row in expected}
    for row in expected:
        if row["id"].startswith("a0000000"):
            assert made[row["text"]]["id"] == row["id"]
    assert all(np.any(row["vector"]) for row in made.values())


@pytest.mark.parametrize(
    "case", ["admin/import-id_text-write", "admin/import-id-write", "admin/import-none-write"]
)
def test_the_importers_golden_cases(case: str, folder: Path, shared: Path, tmp_path: Path) -> None:
    """Copies are looked for as `id_text`, its default, does; the others switch that off by name."""
    told = golden(shared, case)
    dedupe = told["input"]["dedupe"]
    source = tmp_path / "given.jsonl"
    rows = [
        {**each, "text": each.get("text", "".join(each.get("textParts", [])))}
        for each in told["input"]["rows"]
    ]
    source.write_text(
        "".join(json.dumps({k: v for k, v in row.items() if k != "textParts"}) + "\n" for row in rows)
    )
    target = empty_like(folder, tmp_path / "engine")
    table = lancedb.connect(target).open_table("memories")
    (there,) = told["input"]["existing"]
    row = {**dict.fromkeys(table.schema.names), **there, "vector": [1.0] * DIMS, "category": "other"}
    row |= {"importance_label": "unknown", "scope": "global", "trust_tier": "import"}
    table.add(pa.Table.from_pylist([row], schema=table.schema))
    engine = engine_at(target, embedder=WordEmbedder(DIMS))
    off = {"secret"} if dedupe == "id_text" else {"secret", "exact"}
    plan = imported(engine, source, rules_off=frozenset(off))
    assert plan.counts["invalid"] == told["expected"]["failed"]
    if dedupe != "none":  # memtui never writes an id twice
        assert rows_of(target).num_rows == told["expected"]["rowsAfter"]
    if dedupe == "id_text":
        export = golden(shared, "admin/export-jsonl-redacted")["expected"]["records"]
        made = sorted(rows_of(target).to_pylist(), key=lambda each: each["createdAt"])
        for mine, theirs in zip(made, export, strict=True):
            wanted = {key: value for key, value in theirs.items() if key != "id" or value}
            if "[REDACTED]" in wanted["text"]:
                wanted["text"] = mine["text"]
            assert {key: mine[key] for key in wanted} == wanted


def test_without_vectors_the_importers_mark_stands_in_the_trust_tier(
    folder: Path, tmp_path: Path, recorded: list[Row]
) -> None:
    (told,) = [row for row in recorded if row["trust_tier"] == "trusted_noembed"]
    source = tmp_path / "given.jsonl"
    source.write_text(json.dumps({**told, "id": None, "trust_tier": "trusted"}) + "\n")
    target = empty_like(folder, tmp_path / "engine")
    imported(engine_at(target), source, format="mem-engine", without_embedding=True)
    (made,) = rows_of(target).to_pylist()
    assert plain(made) == plain(told)
    assert made["vector"] == [0.0] * DIMS


def test_what_is_typed_is_stored_as_the_store_tool_does(
    folder: Path, tmp_path: Path, recorded: list[Row], log: list[Row]
) -> None:
    by_id = {row["id"]: row for row in recorded}
    target = empty_like(folder, tmp_path / "engine")
    engine = engine_at(target, embedder=WordEmbedder(DIMS), now=lambda: NOW_MS)
    stores = [each for each in log if each["op"] == "memory_store" and each["id"] in by_id]
    chosen = [each for each in stores if "scope_given" in each] + stores[:12]
    assert len(chosen) >= 17
    for each in chosen:
        told = by_id[each["id"]]
        fields = {"category": each["category"], "importance": each["importance"]}
        fields["scope"] = each.get("scope_given", each["scope"])
        given = {key: value for key, value in fields.items() if value is not None}
        with transfer.as_source([{"text": told["text"], **given}]) as source:
            imported(
                engine, source, typed=True, rules_off=frozenset({"secret", "exact", "near", "short", "noise"})
            )
        (made,) = [row for row in rows_of(target).to_pylist() if row["text"] == told["text"]]
        assert plain(made) == plain({**told, "createdAt": float(NOW_MS)}), each
        lancedb.connect(target).open_table("memories").delete("true")
        engine.refresh()
