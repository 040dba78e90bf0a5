"""Migration, upgrade, repair and missing vectors: what is mended, what stays, and the way back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine import changes, transfer
from memtui.engine.core.errors import Cancelled, MemtuiError, RefusedError, UsageError
from memtui.engine.core.progress import CancelToken, Progress
from memtui.engine.providers.chat import ChatSettings
from memtui.engine.providers.embedding_services import EmbeddingSettings
from memtui.engine.providers.static_embedder import bundled
from memtui.engine.store.open import open_store
from memtui.engine.transfer import make_store, migration
from tests.conftest import tree_hash
from tests.engine.loopback import Answer, loopback
from tests.engine.transfer_stores import memory, opened, own_store, pro_store, rows_of
from tests.engine.transfer_world import NOW_MS


def _migrator(source: Path, tmp_path: Path, form: migration.Form = "pro") -> migration.Migrator:
    return migration.Migrator(
        migration.request_for(source), form, NOW_MS, tmp_path / "work", time.perf_counter
    )


STORES = ("builtin-old", "builtin-legacy", "builtin-mixed", "builtin-new", "engine")


@pytest.mark.slow
@pytest.mark.parametrize("form", migration.FORMS)
@pytest.mark.parametrize("name", STORES)
def test_real_stores_are_migrated_and_verified(
    shared: Path, tmp_path: Path, unpack: Callable[[Path], Path], name: str, form: migration.Form
) -> None:
    source = unpack(shared / "fixtures" / "stores" / f"{name}.tar.gz")
    before = tree_hash(source)
    migrator = _migrator(source, tmp_path, form)
    checked = migrator.check()
    new = tmp_path / "new"
    done = migrator.run(new)
    assert tree_hash(source) == before
    assert done.written == done.verified == done.rows == checked.written
    assert done.loss == checked.loss
    assert migrator.verify(new).problems == ()
    old, made = open_store(source), open_store(new)
    assert made.dialect.name == form
    assert made.dims == old.dims
    lines = (
        (shared / "fixtures" / "stores" / "rows" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    )
    rows = {row["id"]: row for row in map(json.loads, lines)}
    for batch in made.pin().read_through(list(made.row_columns)):
        for row in batch.to_pylist():
            theirs = _theirs(row, rows)
            assert row["text"] == theirs["text"]
            if theirs["importance"] is not None:
                assert row["importance"] == theirs["importance"]
            if theirs["createdAt"] > 1e12:
                assert row["timestamp"] == theirs["createdAt"]
            if theirs.get("agentId"):
                assert row["scope"] == f"agent:{theirs['agentId']}"


def _theirs(row: dict[str, Any], rows: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = rows[row["id"]]
    return found


SEVEN = ("id", "text", "category", "scope", "importance", "timestamp", "metadata")

EMPTY = [
    memory(at, f"Without {name}.", **{name: None})
    for at, name in enumerate(("category", "scope", "importance", "timestamp", "metadata"), start=1)
] + [memory(at, f"Scope {scope!r}.", scope=scope) for at, scope in enumerate(("", "  ", " global "), start=9)]


@pytest.mark.parametrize("form", migration.FORMS)
@pytest.mark.parametrize("make", [own_store, pro_store])
def test_what_holds_nothing_holds_nothing_in_the_new_store(
    tmp_path: Path, make: Callable[..., Path], form: migration.Form
) -> None:
    """A memory that no agent finds for want of a scope is not given to all of them on the way."""
    source = make(tmp_path / "old", EMPTY)
    done = _migrator(source, tmp_path, form).run(tmp_path / "new")
    old, made = (rows_of(opened(each, tmp_path / "state")) for each in (source, tmp_path / "new"))
    crossed = make is own_store and form == "pro"  # the columns that pro has not are kept in its metadata
    for row_id, row in old.items():
        for name in SEVEN:
            assert (crossed and name == "metadata") or made[row_id][name] == row[name], (name, row["text"])
    assert {(theirs, ours) for theirs, ours, _ in done.scopes} == {
        (each, each) for each in ("global", None, "", "  ", " global ")
    }
    asked = migration.Migrator(
        migration.request_for(source, scope="agent:main"), form, NOW_MS, tmp_path / "work", time.perf_counter
    ).run(tmp_path / "asked")
    assert {ours for theirs, ours, _ in asked.scopes if not (theirs or "").strip()} == {"agent:main"}


def test_a_migration_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = own_store(tmp_path / "source", [memory(1, "The kiln needs a seal.")])
    migrator = _migrator(source, tmp_path)
    occupied = tmp_path / "occupied"
    occupied.mkdir()
    (occupied / "mine").write_text("x")
    with pytest.raises(RefusedError, match="is not empty"):
        migrator.run(occupied)
    monkeypatch.setattr(migration, "compare", lambda *_: (0, ("a row is missing",)))
    with pytest.raises(MemtuiError, match="a row is missing"):
        migrator.run(tmp_path / "new")
    left = {each.name for each in tmp_path.iterdir()} - {"source", "occupied", "work"}
    assert left == set()


@pytest.mark.parametrize("step", ["reading", "writing", "comparing"])
def test_a_cancelled_migration_leaves_nothing(tmp_path: Path, step: str) -> None:
    source = own_store(tmp_path / "source", [memory(n, f"Fact {n}.") for n in range(3)])
    cancel = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.what.startswith(step):
            cancel.cancel()

    with pytest.raises(Cancelled):
        _migrator(source, tmp_path).run(tmp_path / "new", stop, cancel)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["source", "work"]
    assert list((tmp_path / "work").iterdir()) == []


def test_what_a_killed_run_left_is_cleared_away(tmp_path: Path) -> None:
    source = own_store(tmp_path / "source", [memory(1, "Fact.")])
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    lead = f".new.{make_store._machine()}-"
    left, beside = (
        tmp_path / f"{lead}{dead.stdout.strip()}.x.making",
        tmp_path / f"{lead}{os.getpid()}.y.making",
    )
    left.mkdir()
    beside.mkdir()
    (left / "memories.lance").mkdir()
    _migrator(source, tmp_path).run(tmp_path / "new")
    assert not left.exists()
    assert beside.exists()


def test_a_verification_finds_what_is_wrong(tmp_path: Path) -> None:
    source = own_store(tmp_path / "source", [memory(n, f"Fact {n} about the kiln.") for n in (1, 2, 3)])
    migrator = _migrator(source, tmp_path, "memtui")
    migrator.run(tmp_path / "new")
    engine = opened(tmp_path / "new", tmp_path / "state")
    changes.apply(engine, changes.plan_edit(engine, [memory(2, "")["id"]], {"importance": "0.9"}))
    found = migrator.verify(tmp_path / "new")
    assert found.verified == 2
    assert [problem.split(" is ")[0] for problem in found.problems] == [memory(2, "")["id"]]


def test_in_place_tables_get_their_times_back(
    shared: Path, tmp_path: Path, unpack: Callable[[Path], Path]
) -> None:
    source = unpack(shared / "fixtures" / "stores" / "damaged" / "pro-on-builtin.tar.gz")
    new = tmp_path / "new"
    _migrator(source, tmp_path).run(new)
    store = open_store(new)
    times = [t for batch in store.scan(["timestamp"]) for t in batch.column("timestamp").to_pylist()]
    assert len(times) == 30
    assert min(times) > 1_700_000_000_000


OLD_FORM = [
    memory(1, "My name is Ines and I lead the team.", metadata={}),
    memory(2, "The standup is at 09:30. " * 20, metadata={"unknown": 1, "tier": "core"}, category="decision"),
    memory(3, "Already there.", metadata={"memory_category": "cases", "l0_abstract": "there"}),
    memory(4, "A reflection.", metadata={"type": "memory-reflection-item"}, category="reflection"),
    memory(5, "Broken.", metadata="{not json"),
]


def test_upgrade_fills_what_is_missing_and_nothing_else(tmp_path: Path) -> None:
    engine = opened(pro_store(tmp_path / "store", OLD_FORM), tmp_path / "state")
    before = rows_of(engine)
    planned = transfer.plan_upgrade(engine)
    assert [change.id for change in planned.changes] == [memory(1, "")["id"], memory(2, "")["id"]]
    assert "not a JSON object" in " ".join(planned.warnings)
    done = changes.apply(engine, planned)
    assert done.changed == len(planned.changes)
    after = rows_of(engine)
    first = json.loads(after[memory(1, "")["id"]]["metadata"])
    assert first["memory_category"] == "profile"
    assert first["l0_abstract"] == first["l2_content"] == OLD_FORM[0]["text"]
    assert (first["tier"], first["confidence"], first["upgraded_at"]) == ("working", 0.7, NOW_MS)
    second = json.loads(after[memory(2, "")["id"]]["metadata"])
    assert (second["unknown"], second["tier"], second["memory_category"]) == (1, "core", "events")
    assert len(second["l0_abstract"]) <= 200 < len(second["l2_content"])
    for each in (3, 4, 5):
        key = memory(each, "")["id"]
        assert after[key] == before[key]
    assert transfer.plan_upgrade(engine).changes == ()
    changes.apply(engine, changes.plan_undo(engine, done.entry))
    assert rows_of(engine) == before


SUMMARY = {
    "l0_abstract": "short",
    "l1_overview": "- a",
    "l2_content": "long",
    "resolved_category": "case",
}


def _said(content: str) -> Answer:
    return Answer(200, {"choices": [{"message": {"content": content}}]})


def test_upgrade_with_a_language_model(tmp_path: Path) -> None:
    engine = opened(pro_store(tmp_path / "store", OLD_FORM), tmp_path / "state")
    with loopback() as server:
        server.script = [Answer(429, {"error": "slow down"}, {"Retry-After": "0"})]
        server.script += [_said(f"Sure:\n```json\n{json.dumps(SUMMARY)}\n```") for _ in range(2)]
        settings = ChatSettings(f"{server.url}/v1", "tidy", "sk-test")
        dry = transfer.plan_upgrade(engine, settings, dry_run=True)
        assert server.requests == []
        planned = transfer.plan_upgrade(engine, settings)
        assert any("put the summary in the place of 2 texts" in note for note in planned.warnings)
        assert not any("in the place of" in note for note in dry.warnings)
        assert [change.id for change in dry.changes] == [change.id for change in planned.changes]
        assert server.requests[0].path == "/v1/chat/completions"
        assert server.requests[0].key == "sk-test"
        assert "sk-test" not in repr(settings)
    changes.apply(engine, planned)
    values = json.loads(rows_of(engine)[memory(1, "")["id"]]["metadata"])
    assert (values["l0_abstract"], values["memory_category"]) == ("short", "cases")


def test_an_upgrade_that_failed_half_way_asks_for_the_rest_only(tmp_path: Path) -> None:
    engine = opened(pro_store(tmp_path / "store", OLD_FORM), tmp_path / "state")
    before = rows_of(engine)
    with loopback() as server:
        settings = ChatSettings(f"{server.url}/v1", "tidy", "sk-test")
        server.script = [_said(json.dumps(SUMMARY)), Answer(401, {"error": "no credit for sk-test"})]
        with pytest.raises(MemtuiError, match="status 401") as caught:
            transfer.plan_upgrade(engine, settings)
        assert "sk-test" not in str(caught.value)
        assert rows_of(engine) == before
        server.script = [_said(json.dumps(SUMMARY))]
        assert len(transfer.plan_upgrade(engine, settings).changes) == 2
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    "content", ["no json at all", '{"l0_abstract": ""}', "[1]", json.dumps(dict.fromkeys(SUMMARY, " "))]
)
def test_a_model_that_answers_something_else_changes_nothing(tmp_path: Path, content: str) -> None:
    engine = opened(pro_store(tmp_path / "store", OLD_FORM), tmp_path / "state")
    with loopback() as server:
        server.script = [_said(content)]
        with pytest.raises(
            MemtuiError, match=r"did not answer with a summary|left a part of the summary empty"
        ):
            transfer.plan_upgrade(engine, ChatSettings(f"{server.url}/v1", "tidy"))


BROKEN = [
    memory(1, "Nobody finds this.", scope=None),
    memory(2, "Nor this.", scope="  "),
    memory(3, "Nor that.", scope=" global "),
    memory(4, "In seconds.", timestamp=1_772_000_000.0),
    memory(
        5, "Half summarised.", metadata={"memory_category": "cases", "l0_abstract": "half", "l2_content": ""}
    ),
    memory(
        6,
        "Same.",
        metadata={"memory_category": "cases", "l0_abstract": "x", "l1_overview": "x", "l2_content": "x"},
    ),
    memory(7, "Not an object.", metadata="[1]"),
    memory(
        8,
        "Sound.",
        metadata={"memory_category": "cases", "l0_abstract": "s", "l1_overview": "- s", "l2_content": "s."},
    ),
]


def test_repair_mends_what_was_named(tmp_path: Path) -> None:
    engine = opened(pro_store(tmp_path / "store", BROKEN), tmp_path / "state")
    before = rows_of(engine)
    scopes = transfer.plan_repair(engine, ["scopes"], target_scope="agent:main")
    assert [(change.before["scope"], change.after["scope"]) for change in scopes.changes] == [
        (None, "agent:main"),
        ("  ", "agent:main"),
        (" global ", "global"),
    ]
    everything = transfer.plan_repair(engine, ["scopes", "summaries", "times", "metadata"])
    assert len(everything.changes) == 7
    done = changes.apply(engine, everything)
    rows = rows_of(engine)
    assert rows[memory(4, "")["id"]]["timestamp"] == 1_772_000_000_000.0
    half = json.loads(rows[memory(5, "")["id"]]["metadata"])
    assert (half["l0_abstract"], half["l1_overview"], half["l2_content"]) == (
        "half",
        "- Half summarised.",
        "Half summarised.",
    )
    assert json.loads(rows[memory(7, "")["id"]]["metadata"]) == {"metadata_as_given": "[1]"}
    assert rows[memory(8, "")["id"]] == before[memory(8, "")["id"]]
    assert transfer.plan_repair(engine, ["scopes", "times", "metadata"]).changes == ()
    undo = changes.plan_undo(engine, done.entry)
    (whole,) = (each for each in undo.changes if each.id == memory(7, "")["id"])
    assert (json.loads(whole.before["metadata"]), whole.after["metadata"]) == (
        {"metadata_as_given": "[1]"},
        "[1]",
    )
    changes.apply(engine, undo)
    assert rows_of(engine) == before
    with pytest.raises(UsageError, match="no repair of 'luck'"):
        transfer.plan_repair(engine, ["luck"])


def test_upgrade_needs_metadata(shared: Path, tmp_path: Path, unpack: Callable[[Path], Path]) -> None:
    engine = opened(unpack(shared / "fixtures/stores/builtin-old.tar.gz"), tmp_path / "state", embedding=None)
    with pytest.raises(UsageError, match="have no metadata to upgrade"):
        transfer.plan_upgrade(engine)


def test_missing_vectors_are_made_in_place(tmp_path: Path) -> None:
    zeros = [0.0] * 256
    rows = [
        memory(1, "The kiln needs a seal."),
        memory(2, "The door is green.", vector=zeros),
        memory(3, " ", vector=zeros),
    ]
    engine = opened(own_store(tmp_path / "store", rows), tmp_path / "state")
    before = rows_of(engine)
    dry = transfer.plan_missing_vectors(engine, dry_run=True)
    planned = transfer.plan_missing_vectors(engine)
    assert (
        [change.id for change in dry.changes]
        == [change.id for change in planned.changes]
        == [memory(2, "")["id"]]
    )
    done = changes.apply(engine, planned)
    vector = np.frombuffer(rows_of(engine)[memory(2, "")["id"]]["vector"], np.float32)
    assert (vector == bundled().embed_passages(["The door is green."])[0]).all()
    changes.apply(engine, changes.plan_undo(engine, done.entry))
    assert rows_of(engine) == before


def test_what_a_service_made_is_kept_until_it_is_in_the_store(tmp_path: Path) -> None:
    rows = [memory(1, "The kiln needs a seal.", vector=[0.0] * 8)]
    with loopback() as server:
        settings = EmbeddingSettings(model="test-model", base_url=f"{server.url}/v1", dimensions=8)
        engine = opened(pro_store(tmp_path / "store", rows, dims=8), tmp_path / "state", embedding=settings)
        planned = transfer.plan_missing_vectors(engine)
        assert len(list((tmp_path / "state").rglob("*.vectors"))) == 1
        changes.apply(engine, planned, confirmed=True)
        transfer.forget_answers(engine, planned.action)
    assert not list((tmp_path / "state").rglob("*.vectors"))
