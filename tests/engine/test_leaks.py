"""The leak hunt and the reach of one memory, on made stores with made sessions."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import MemtuiError, UsageError, changes, open_engine
from memtui.engine.engine import Engine
from memtui.engine.witness.economy import read_economy
from memtui.engine.witness.leaks import hunt_leaks
from memtui.engine.witness.mending import Mend, plan_mends, read_mend, rows_meant, usual_mends
from memtui.engine.witness.proof_pack import collect_proof, write_pack
from memtui.engine.witness.reach import reach_of
from memtui.engine.witness.rights import read_rights
from tests.conftest import tree_hash
from tests.engine import pro_store
from tests.engine.session_world import MadeTurn, line, write_session

DAY = 1_750_000_000_000
SECRET = "Ines sees a physiotherapist on Monday mornings."


@pytest.fixture
def world(tmp_path: Path) -> dict[str, Any]:
    """A home with two agents; the scribe was given a private memory of Ines, and a copy of it stands in global."""
    state = tmp_path / "home" / ".openclaw"
    store = state / "memory" / "lancedb-pro"
    store.mkdir(parents=True)
    rows = [
        pro_store.row("11111111-a", SECRET, [1, 0, 0], scope="user:ines", timestamp=DAY),
        pro_store.row("22222222-b", SECRET, [1, 0.01, 0], scope="global", timestamp=DAY + 5000),
        pro_store.row("33333333-c", "The bastion answers on port 48022.", [0, 1, 0], timestamp=DAY),
        pro_store.row(
            "44444444-d",
            "corpus: - [W][cases:custom:finance] 2025-06-15 (manual) the budget is 12 thousand",
            [0, 0, 1],
            scope="agent:scribe",
        ),
        pro_store.row("corpus:ab12", "- [W][cases:custom:finance] 2025-06-15 (manual) the budget", [0, 0, 1]),
        pro_store.row("66666666-f", "No scope at all here.", [0, 1, 1], scope=None),
        pro_store.row(
            "77777777-g",
            "user likes tea\nThe budget of finance is 12 thousand",
            [0.5, 0, 1],
            metadata={"compacted": True, "sourceCount": 2},
        ),
        pro_store.row(
            "88888888-h", "The budget of finance is 12 thousand", [0.5, 0, 1], scope="custom:finance"
        ),
    ]
    pro_store.write_store(store, rows, dims=3, fts=True)
    import lancedb

    lancedb.connect(store).open_table("memories").delete("id = '88888888-h'")
    plugin = {
        "enabled": True,
        "config": {
            "embedding": {"apiKey": "x"},
            "scopes": {"agentAccess": {"main": ["global", "user:ines"]}},
        },
    }
    config = {
        "agents": {"list": [{"id": "main"}, {"id": "scribe", "workspace": str(state / "memory")}]},
        "plugins": {"slots": {"memory": "memory-lancedb-pro"}, "entries": {"memory-lancedb-pro": plugin}},
    }
    (state / "openclaw.json").write_text(json.dumps(config), "utf-8")
    told = MadeTurn(
        "when is Ines free", (line(SECRET, "user:ines"), line("The bastion answers on port 48022."))
    )
    write_session(tmp_path / "home", "blocks", [MadeTurn("hello"), told], session="s1", agent="scribe")
    return {"environ": {"HOME": str(tmp_path / "home")}, "cwd": tmp_path, "home": tmp_path / "home"}


def opened(world: dict[str, Any], **more: Any) -> Engine:
    return open_engine(None, now=lambda: DAY + 90_000_000, environ=world["environ"], cwd=world["cwd"], **more)


def test_each_channel_is_looked_at_and_a_leak_has_its_proof(world: dict[str, Any]) -> None:
    engine = opened(world)
    before = tree_hash(world["home"])
    rights = read_rights(engine, world["environ"], world["cwd"])
    report = hunt_leaks(engine, rights, world["environ"], world["cwd"])
    assert tree_hash(world["home"]) == before
    found = {(each.channel, each.certainty, each.agent, each.id) for each in report.leaks}
    assert ("wrong-scope", "did", "scribe", "11111111-a") in found
    assert ("same-text", "could", "scribe", "22222222-b") in found
    assert ("indexed-transcript", "could", None, "corpus:ab12") in found
    assert ("merged-by-compaction", "could", None, "77777777-g") in found
    assert any(each.channel == "files" and each.agent == "scribe" for each in report.leaks)
    did = next(each for each in report.leaks if each.certainty == "did")
    assert [(each.session, each.n, each.line) for each in did.turns] == [("s1", 2, 1)]
    assert did.reason == "not-granted"
    assert did.today is False
    assert next(each for each in report.leaks if each.channel == "same-text").today is True
    assert report.looked["null-scope-as-global"] == 1
    assert report.turns == 2
    assert "12 thousand" not in json.dumps(report.as_json())


def test_the_reach_of_a_memory_and_one_change_that_takes_it_out(
    world: dict[str, Any], tmp_path: Path
) -> None:
    engine = opened(world, writable=True, state=tmp_path / "state")
    reach = reach_of(engine, "11111111-a", world["environ"], world["cwd"])
    assert [(each.id, each.same) for each in reach.copies] == [("22222222-b", True)]
    assert [(each.agent, each.session, each.n, each.id) for each in reach.turns] == [
        ("scribe", "s1", 2, "11111111-a")
    ]
    assert [each.kind for each in reach.files] == ["session"]
    planned = plan_mends(engine, reach, usual_mends(reach))
    assert {each.id for each in planned.changes} == {"11111111-a", "22222222-b"}
    outcome = changes.apply(engine, planned, confirmed=True)
    engine.store.refresh()
    states = {each.id: each.state for each in engine.memories(["11111111-a", "22222222-b"]).values()}
    assert set(states.values()) == {"archived"}, outcome
    changes.apply(engine, changes.plan_undo(engine), confirmed=True)
    engine.store.refresh()
    states = {each.id: each.state for each in engine.memories(["11111111-a", "22222222-b"]).values()}
    assert set(states.values()) == {"confirmed"}


def rows_now(engine: Engine) -> dict[str, Any]:
    """The rows of the newest version, order apart."""
    table = engine.store.writer().at(engine.store.newest_version())
    rows = [row for batch in table.scan(list(engine.store.columns)) for row in batch.to_pylist()]
    return {row["id"]: row for row in rows}


def test_each_row_of_a_reach_is_mended_by_its_own_choice_in_one_change(
    world: dict[str, Any], tmp_path: Path
) -> None:
    engine = opened(world, writable=True, state=tmp_path / "state")
    reach = reach_of(engine, "11111111-a", world["environ"], world["cwd"])
    reach.captured = {"33333333-c": "…", "66666666-f": "…", "77777777-g": "…"}
    before = rows_now(engine)
    mends = dict(usual_mends(reach))
    assert {each: mend.verb for each, mend in mends.items()} == {
        "11111111-a": "archive",
        "22222222-b": "archive",
        **dict.fromkeys(reach.captured, "leave"),
    }
    mends["11111111-a"] = read_mend("by:33333333-c")
    mends["22222222-b"] = read_mend("scope:user:ines")
    mends["66666666-f"] = read_mend("delete")
    planned = plan_mends(engine, reach, mends)
    assert planned.destroys
    assert {each.id: each.op for each in planned.changes} == {
        "11111111-a": "edit",
        "22222222-b": "edit",
        "33333333-c": "edit",
        "66666666-f": "delete",
    }
    assert planned.title == "4 memories of one reach: 1 replaced, 1 moved, 1 deleted"
    changes.apply(engine, planned, confirmed=True)
    after = rows_now(engine)
    assert set(before) - set(after) == {"66666666-f"}
    assert json.loads(after["11111111-a"]["metadata"])["superseded_by"] == "33333333-c"
    assert json.loads(after["33333333-c"]["metadata"])["supersedes"] == "11111111-a"
    assert after["22222222-b"]["scope"] == "user:ines"
    assert after["77777777-g"] == before["77777777-g"]
    assert len(engine.write_state.journal.entries()) == 1
    changes.apply(engine, changes.plan_undo(engine), confirmed=True)
    assert rows_now(engine) == before


def test_choices_that_make_no_sense_are_refused(world: dict[str, Any], tmp_path: Path) -> None:
    engine = opened(world, writable=True, state=tmp_path / "state")
    reach = reach_of(engine, "11111111-a", world["environ"], world["cwd"])
    for wrong in ("burn", "scope:", "replace:=>x", "replace:x", "archive:x", "by: "):
        with pytest.raises(UsageError):
            read_mend(wrong)
    for wrong in ("mask", "replace:not there=>x", "by:11111111-a", "by:99999999"):
        with pytest.raises(MemtuiError):
            plan_mends(engine, reach, {"11111111-a": read_mend(wrong)})
    with pytest.raises(UsageError):
        plan_mends(engine, reach, {"33333333-c": Mend("archive")})
    with pytest.raises(UsageError):
        plan_mends(engine, reach, {"11111111-a": Mend("leave")})
    assert rows_meant(reach, "same") == ["11111111-a", "22222222-b"]
    assert rows_meant(reach, "2222") == ["22222222-b"]
    with pytest.raises(UsageError):
        rows_meant(reach, "3333")


def test_the_proof_pack_holds_every_receipt_about_the_subject_and_no_other(
    world: dict[str, Any], tmp_path: Path
) -> None:
    """Forgotten with every trace, so that only the receipts, the sessions and the log still tell of it."""
    engine = opened(world, writable=True, state=tmp_path / "state")
    known = collect_proof(engine, ["11111111-a"], world["environ"], world["cwd"])["memories"][0]
    assert [(each["channel"], each["certainty"]) for each in known["leaks"]] == [("wrong-scope", "did")]
    assert known["receipts"] == []
    forget = changes.plan_forget(engine, ["11111111-a", "33333333-c"], hard=True, shrink=True)
    receipt = changes.apply(engine, forget, confirmed=True).receipt
    assert receipt is not None
    engine.close()
    engine = opened(world, state=tmp_path / "state")
    document = collect_proof(engine, ["11111111-a"], world["environ"], world["cwd"])
    [memory] = document["memories"]
    assert (memory["removed"], memory["stored"], memory["now"]) == (True, [], None)
    [kept] = memory["receipts"]
    assert kept["sha256"] == hashlib.sha256(Path(receipt["file"]).read_bytes()).hexdigest()
    assert kept["receipt"]["clean"] is True
    assert [each["id"] for each in kept["receipt"]["memories"]] == ["11111111-a"]
    assert SECRET not in json.dumps(document)
    write_pack(document, tmp_path / "pack.zip")
    with zipfile.ZipFile(tmp_path / "pack.zip") as parts:
        told = parts.read("READ-ME-FIRST.md").decode()
    assert "history shrunk, nothing was found" in told
    assert "could read it: not known any more" in told
    with pytest.raises(UsageError):
        reach_of(engine, "99999999-z", world["environ"], world["cwd"])


def test_the_dearest_memories_without_a_trace_of_use(world: dict[str, Any]) -> None:
    found = read_economy(opened(world), world["environ"], world["cwd"])
    assert (found.turns, found.silent, found.unknown) == (2, 1, 0)
    assert [each.id for each in found.dearest] == ["11111111-a", "33333333-c"]
    assert all(each.times == 1 and each.tokens > 10 for each in found.dearest)
    assert sum(found.by_day) == 0
