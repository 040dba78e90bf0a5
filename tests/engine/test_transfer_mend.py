"""Migration, upgrade, repair and missing vectors: what is mended, what stays, and the way back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtui.engine.embed.static import bundled
from memtui.engine.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.store.open import open_store
from memtui.engine.transfer import migrate
from memtui.engine.transfer.chat import ChatSettings, ChatSummariser
from tests.conftest import tree_hash
from tests.engine.loopback import Answer, Request, loopback
from tests.engine.transfer_stores import memory, opened, own_store, pro_store, rows_of
from tests.engine.transfer_world import NOW_MS

STORES = ("builtin-old", "builtin-legacy", "builtin-mixed", "builtin-new", "engine")


@pytest.mark.parametrize("form", migrate.FORMS)
@pytest.mark.parametrize("name", STORES)
def test_real_stores_are_migrated_and_verified(
    shared: Path, tmp_path: Path, unpack: Callable[[Path], Path], name: str, form: migrate.Form
) -> None:
    source = unpack(shared / "fixtures" / "stores" / f"{name}.tar.gz")
    before = tree_hash(source)
    request = migrate.request_for(source)
    checked = migrate.check(request, form, now_ms=NOW_MS, work=tmp_path / "work")
    new = tmp_path / "new"
    done = migrate.run(request, new, form, now_ms=NOW_MS, work=tmp_path / "work")
    assert tree_hash(source) == before
    assert done.written == done.verified == done.rows == checked.written
    assert done.loss == checked.loss
    assert migrate.verify(request, new, form, now_ms=NOW_MS, work=tmp_path / "work").problems == ()
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


def test_a_migration_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = own_store(tmp_path / "source", [memory(1, "The kiln needs a seal.")])
    request = migrate.request_for(source)
    occupied = tmp_path / "occupied"
    occupied.mkdir()
    (occupied / "mine").write_text("x")
    with pytest.raises(RefusedError, match="is not empty"):
        migrate.run(request, occupied, "pro", now_ms=NOW_MS, work=tmp_path / "work")
    monkeypatch.setattr(migrate, "_compared", lambda *_: (0, ("a row is missing",)))
    with pytest.raises(MemtuiError, match="a row is missing"):
        migrate.run(request, tmp_path / "new", "pro", now_ms=NOW_MS, work=tmp_path / "work")
    left = {each.name for each in tmp_path.iterdir()} - {"source", "occupied", "work"}
    assert left == set()


def test_a_verification_finds_what_is_wrong(tmp_path: Path) -> None:
    source = own_store(tmp_path / "source", [memory(n, f"Fact {n} about the kiln.") for n in (1, 2, 3)])
    request = migrate.request_for(source)
    migrate.run(request, tmp_path / "new", "memtui", now_ms=NOW_MS, work=tmp_path / "work")
    engine = opened(tmp_path / "new", tmp_path / "state")
    engine.curate.apply(engine.curate.edit([memory(2, "")["id"]], {"importance": "0.9"}))
    found = migrate.verify(request, tmp_path / "new", "memtui", now_ms=NOW_MS, work=tmp_path / "work")
    assert found.verified == 2
    assert [problem.split(" is ")[0] for problem in found.problems] == [memory(2, "")["id"]]


def test_in_place_tables_get_their_times_back(
    shared: Path, tmp_path: Path, unpack: Callable[[Path], Path]
) -> None:
    source = unpack(shared / "fixtures" / "stores" / "damaged" / "pro-on-builtin.tar.gz")
    new = tmp_path / "new"
    migrate.run(migrate.request_for(source), new, "pro", now_ms=NOW_MS, work=tmp_path / "work")
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
    planned = engine.transfer.upgrade()
    assert [change.id for change in planned.changes] == [memory(1, "")["id"], memory(2, "")["id"]]
    assert "not a JSON object" in " ".join(planned.warnings)
    done = engine.curate.apply(planned)
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
    assert engine.transfer.upgrade().changes == ()
    engine.curate.apply(engine.curate.undo(done.entry))
    assert rows_of(engine) == before


def test_upgrade_with_a_language_model(tmp_path: Path) -> None:
    engine = opened(pro_store(tmp_path / "store", OLD_FORM), tmp_path / "state")
    with loopback() as server:
        asked: list[Request] = []

        def answer(request: Request) -> Answer:
            asked.append(request)
            if len(asked) == 1:
                return Answer(429, {"error": "slow down"})
            summary = {
                "l0_abstract": "short",
                "l1_overview": "- a",
                "l2_content": "long",
                "resolved_category": "case",
            }
            content = f"Sure:\n```json\n{json.dumps(summary)}\n```"
            return Answer(200, {"choices": [{"message": {"content": content}}]})

        server.answer = answer  # type: ignore[method-assign]
        chat = ChatSummariser(ChatSettings(f"{server.url}/v1", "tidy", "sk-test"), sleep=lambda _: None)
        planned = engine.transfer.upgrade(chat)
        chat.close()
        assert asked[0].path == "/v1/chat/completions"
        assert asked[0].key == "sk-test"
        assert "sk-test" not in repr(ChatSettings(server.url, "tidy", "sk-test"))
    engine.curate.apply(planned)
    values = json.loads(rows_of(engine)[memory(1, "")["id"]]["metadata"])
    assert (values["l0_abstract"], values["memory_category"]) == ("short", "cases")


@pytest.mark.parametrize("content", ["no json at all", '{"l0_abstract": ""}', "[1]"])
def test_a_model_that_answers_something_else_changes_nothing(tmp_path: Path, content: str) -> None:
    engine = opened(pro_store(tmp_path / "store", OLD_FORM), tmp_path / "state")
    with loopback() as server:
        server.answer = lambda _: Answer(200, {"choices": [{"message": {"content": content}}]})  # type: ignore[method-assign]
        chat = ChatSummariser(ChatSettings(f"{server.url}/v1", "tidy"), sleep=lambda _: None)
        with pytest.raises(MemtuiError, match="did not answer with a summary"):
            engine.transfer.upgrade(chat)
        chat.close()


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
    scopes = engine.transfer.repair(["scopes"], target_scope="agent:main")
    assert [(change.before["scope"], change.after["scope"]) for change in scopes.changes] == [
        (None, "agent:main"),
        ("  ", "agent:main"),
        (" global ", "global"),
    ]
    everything = engine.transfer.repair(["scopes", "summaries", "times", "metadata"])
    assert len(everything.changes) == 7
    done = engine.curate.apply(everything)
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
    assert engine.transfer.repair(["scopes", "times", "metadata"]).changes == ()
    engine.curate.apply(engine.curate.undo(done.entry))
    assert rows_of(engine) == before
    with pytest.raises(UsageError, match="no repair of 'luck'"):
        engine.transfer.repair(["luck"])


def test_upgrade_needs_metadata(shared: Path, tmp_path: Path, unpack: Callable[[Path], Path]) -> None:
    engine = opened(unpack(shared / "fixtures/stores/builtin-old.tar.gz"), tmp_path / "state", embedding=None)
    with pytest.raises(UsageError, match="have no metadata to upgrade"):
        engine.transfer.upgrade()


def test_missing_vectors_are_made_in_place(tmp_path: Path) -> None:
    zeros = [0.0] * 256
    rows = [
        memory(1, "The kiln needs a seal."),
        memory(2, "The door is green.", vector=zeros),
        memory(3, " ", vector=zeros),
    ]
    engine = opened(own_store(tmp_path / "store", rows), tmp_path / "state")
    before = rows_of(engine)
    dry = engine.transfer.missing_vectors(dry_run=True)
    planned = engine.transfer.missing_vectors()
    assert (
        [change.id for change in dry.changes]
        == [change.id for change in planned.changes]
        == [memory(2, "")["id"]]
    )
    done = engine.curate.apply(planned)
    vector = np.frombuffer(rows_of(engine)[memory(2, "")["id"]]["vector"], np.float32)
    assert (vector == bundled().embed_passages(["The door is green."])[0]).all()
    engine.curate.apply(engine.curate.undo(done.entry))
    assert rows_of(engine) == before
