"""A leak is judged by the rules of its day: the configuration's own age, its copies, else today's, and it is said."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import open_engine
from memtui.engine.witness import hunt_leaks, read_rights
from memtui.engine.witness.leaks import LeakReport
from tests.conftest import tree_hash
from tests.engine import pro_store
from tests.engine.session_world import START_MS, MadeTurn, line, write_session

BUDGET = "The budget of finance is 12 thousand."
DAY = 86_400_000
ALLOWED = {"scribe": ["global", "custom:finance"]}
FORBIDDEN = {"scribe": ["global"]}


def config(lists: dict[str, list[str]]) -> str:
    plugin = {"enabled": True, "config": {"embedding": {"apiKey": "x"}, "scopes": {"agentAccess": lists}}}
    return json.dumps(
        {
            "agents": {"list": [{"id": "main"}, {"id": "scribe"}]},
            "plugins": {
                "slots": {"memory": "memory-lancedb-pro"},
                "entries": {"memory-lancedb-pro": plugin},
            },
        }
    )


class World:
    """A home whose scribe got a memory of finance at START_MS; files of rules are put there with their times."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = root / "home" / ".openclaw"
        store = self.state / "memory" / "lancedb-pro"
        store.mkdir(parents=True)
        rows = [pro_store.row("11111111-a", BUDGET, [1, 0], scope="custom:finance")]
        pro_store.write_store(store, rows, dims=2)
        got = MadeTurn("what is the budget", (line(BUDGET, "custom:finance"),))
        write_session(root / "home", "blocks", [got], session="s1", agent="scribe")

    def put(self, name: str, text: str, at_ms: int) -> None:
        place = self.state / name
        place.write_text(text, "utf-8")
        os.utime(place, (at_ms / 1000, at_ms / 1000))

    def hunt(self) -> LeakReport:
        environ = {"HOME": str(self.root / "home")}
        engine = open_engine(None, now=lambda: START_MS + 90 * DAY, environ=environ, cwd=self.root)
        before = tree_hash(self.root)
        report = hunt_leaks(engine, read_rights(engine, environ, self.root), environ, self.root)
        assert tree_hash(self.root) == before
        return report


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def did(report: LeakReport) -> list[tuple[str, str]]:
    return [
        (each.reason, each.rules.basis)
        for each in report.leaks
        if each.channel == "wrong-scope" and each.rules is not None
    ]


def test_a_configuration_that_is_older_than_the_turn_tells_the_rules_of_its_day(world: World) -> None:
    world.put("openclaw.json", config(FORBIDDEN), START_MS - DAY)
    assert did(world.hunt()) == [("not-granted", "unchanged")]


def test_a_configuration_changed_since_is_todays_rules_and_called_so(world: World) -> None:
    world.put("openclaw.json", config(FORBIDDEN), START_MS + DAY)
    report = world.hunt()
    assert did(report) == [("not-granted", "today")]
    [leak] = [each for each in report.leaks if each.certainty == "did"]
    assert leak.rules is not None
    assert "by today's rules" in leak.rules.words
    assert report.as_json()["found"][0]["rules"]["basis"] == "today"


@pytest.mark.parametrize("name", ["openclaw.json.memtui-20261001-120000", "openclaw.json.bak"])
def test_a_copy_of_that_time_forbids_what_today_allows(world: World, name: str) -> None:
    """The stamp in a name counts, whatever the file system says of the copy."""
    world.put("openclaw.json", config(ALLOWED), START_MS + 40 * DAY)
    world.put(name, config(FORBIDDEN), START_MS + 30 * DAY)
    report = world.hunt()
    assert did(report) == [("not-granted", "copy")]
    assert "was not allowed to read it then" in report.leaks[0].sentence
    assert report.allowed_then == 0


def test_what_the_day_allowed_is_no_leak_although_today_forbids_it(world: World) -> None:
    world.put("openclaw.json", config(FORBIDDEN), START_MS + 40 * DAY)
    world.put("openclaw.json.bak.2", config(ALLOWED), START_MS + 20 * DAY)
    world.put("openclaw.json.bak", config(FORBIDDEN), START_MS + 30 * DAY)
    report = world.hunt()
    assert did(report) == []
    assert report.allowed_then == 1
    assert "1 more were allowed" not in report.sentence
    assert "1 more was allowed by the rules of its day" in report.sentence


@pytest.mark.parametrize("text", ["{ broken", "{}", '{"pid": 7}', "\0\1"])
def test_a_file_that_is_no_configuration_tells_nothing(world: World, text: str) -> None:
    world.put("openclaw.json", config(FORBIDDEN), START_MS + 40 * DAY)
    world.put("openclaw.json.lock", text, START_MS + 30 * DAY)
    assert did(world.hunt()) == [("not-granted", "today")]


def test_a_copy_older_than_the_turn_proves_nothing_of_it(world: World) -> None:
    world.put("openclaw.json", config(FORBIDDEN), START_MS + 40 * DAY)
    world.put("openclaw.json.bak", config(ALLOWED), START_MS - DAY)
    assert did(world.hunt()) == [("not-granted", "today")]


def with_tool(world: World, at_ms: int, **details: Any) -> None:
    """A second session in which the scribe's tool found a memory that is gone since."""
    place = world.state / "agents" / "scribe" / "sessions" / "s2.jsonl"
    memory: dict[str, Any] = {"id": "99999999-z", "scope": "custom:finance", "text": "gone"}
    result = {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "memory_recall",
        "content": [],
        "details": {"count": 1, "memories": [memory], **details},
    }
    call = {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "c1", "name": "memory_recall", "arguments": {"query": "q"}}],
    }
    said = [{"role": "user", "content": "look it up", "timestamp": at_ms}, call, result]
    entries = [
        {"type": "message", "id": f"e{n}", "parentId": f"e{n - 1}" if n else None, "message": each}
        for n, each in enumerate(said)
    ]
    place.write_text("".join(json.dumps(each) + "\n" for each in entries), "utf-8")


def test_a_tools_answer_is_judged_by_the_scope_that_it_named(world: World) -> None:
    """Also of a memory that is gone since: `details` of the result has its scope."""
    world.put("openclaw.json", config(FORBIDDEN), START_MS - DAY)
    with_tool(world, START_MS)
    leaks = {(each.id, each.reason) for each in world.hunt().leaks if each.certainty == "did"}
    assert leaks == {("11111111-a", "not-granted"), ("99999999-z", "not-granted")}


@pytest.mark.parametrize(("after", "left"), [(DAY // 2, set()), (3 * DAY, {"11111111-a"})])
def test_a_scope_that_the_agents_own_tool_searched_that_day_was_open_to_it(
    world: World, after: int, left: set[str]
) -> None:
    """What a tool searched is what its agent may read: a witness where the rules of the day are not known."""
    world.put("openclaw.json", config(FORBIDDEN), START_MS + 40 * DAY)
    with_tool(world, START_MS + after, scopes=["global", "custom:finance"])
    report = world.hunt()
    assert {each.id for each in report.leaks if each.certainty == "did"} == left
    assert report.allowed_then == 2 - len(left)


@pytest.mark.parametrize(("changed", "basis"), [(40, "today"), (10, "copy"), (-1, "unchanged")])
def test_included_files_count_with_their_own_age(world: World, changed: int, basis: str) -> None:
    """What a copy includes is only what it was as long as the included file is older than the copy."""
    world.put(
        "openclaw.json", '{"$include": "./rest.json"}', START_MS + (-1 if basis == "unchanged" else 35) * DAY
    )
    world.put("openclaw.json.bak", '{"$include": "./rest.json"}', START_MS + 30 * DAY)
    world.put("rest.json", config(FORBIDDEN), START_MS + changed * DAY)
    assert did(world.hunt()) == [("not-granted", basis)]
