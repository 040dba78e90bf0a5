"""The leak hunt and the reach of one memory, on made stores with made sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import open_engine
from memtui.engine.engine import Engine
from memtui.engine.witness.economy import read_economy
from memtui.engine.witness.leaks import hunt_leaks
from memtui.engine.witness.reach import plan_removal, reach_of
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
    planned = plan_removal(engine, reach)
    assert {each.id for each in planned.changes} == {"11111111-a", "22222222-b"}
    outcome = engine.curate.apply(planned, confirmed=True)
    engine.store.refresh()
    states = {each.id: each.state for each in engine.memories(["11111111-a", "22222222-b"]).values()}
    assert set(states.values()) == {"archived"}, outcome
    engine.curate.apply(engine.curate.undo(), confirmed=True)
    engine.store.refresh()
    states = {each.id: each.state for each in engine.memories(["11111111-a", "22222222-b"]).values()}
    assert set(states.values()) == {"confirmed"}


def test_the_dearest_memories_without_a_trace_of_use(world: dict[str, Any]) -> None:
    found = read_economy(opened(world), world["environ"], world["cwd"])
    assert (found.turns, found.silent, found.unknown) == (2, 1, 0)
    assert [each.id for each in found.dearest] == ["11111111-a", "33333333-c"]
    assert all(each.times == 1 and each.tokens > 10 for each in found.dearest)
    assert sum(found.by_day) == 0
