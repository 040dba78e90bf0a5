"""Agents, workspaces, search settings and the host's own record: both forms of the configuration, real homes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.discovery import discover
from memtui.engine.discovery.agents import (
    agent_entries,
    agent_ids,
    agent_places,
    find_agent_places,
    memory_search,
    normalized_agent_id,
    search_key,
    system_agent,
)
from memtui.engine.discovery.host_state import read_host_state
from memtui.engine.discovery.openclaw_config import load
from memtui.engine.discovery.places import PathReading
from memtui.engine.discovery.variables import key_ref

KEYED = {
    "agents": {
        "ownership": "explicit",
        "defaults": {"systemAgent": {"agentId": "ops"}},
        "entries": {"main": {}, "ops": {"memory": {"search": {"enabled": False}}}},
    },
    "memory": {"search": {"provider": "openai", "remote": {"baseUrl": "http://a"}}},
}

LISTED = {
    "agents": {
        "defaults": {"memorySearch": {"provider": "openai", "remote": {"baseUrl": "http://a"}}},
        "list": [{"id": "main"}, {"id": "ops", "default": True, "memorySearch": {"enabled": False}}],
    }
}


@pytest.mark.parametrize("tree", [KEYED, LISTED], ids=["keyed", "list"])
def test_both_forms_name_the_same_agents(tree: dict[str, Any]) -> None:
    assert [entry.id for entry in agent_entries(tree)] == ["main", "ops"]
    assert agent_ids(tree) == ("ops", "main")
    assert system_agent(tree) == "ops"
    assert memory_search(tree, "main") == {"provider": "openai", "remote": {"baseUrl": "http://a"}}
    assert memory_search(tree, "ops")["enabled"] is False
    assert memory_search(tree, "ops")["provider"] == "openai"
    key = search_key(tree, "enabled", agent="ops")
    node: Any = tree
    for part in key:
        node = node[part]
    assert node is False


def test_what_is_no_agent_is_left_out() -> None:
    tree = {
        "agents": {"entries": {"a": {}, "": {}, "b": 1}, "list": [{"id": "a"}, {"id": 3}, 4, {"id": " c "}]}
    }
    assert [entry.id for entry in agent_entries(tree)] == ["a", "c"]
    assert agent_entries({"agents": []}) == agent_entries(None) == ()
    assert system_agent({"agents": {"entries": {"a": {}, "b": {}}}}) == ""
    assert normalized_agent_id(" Ops Two! ") == "ops-two"
    assert normalized_agent_id("!") == "main"


@pytest.mark.parametrize(
    ("agents", "environ", "expected"),
    [
        ({}, {}, {"main": ".openclaw/workspace"}),
        ({"entries": {"a": {}}}, {}, {"a": ".openclaw/workspace"}),
        ({"entries": {"a": {}}, "defaults": {"workspace": "~/ws"}}, {}, {"a": "ws"}),
        ({"entries": {"a": {}}}, {"OPENCLAW_WORKSPACE_DIR": "~/env"}, {"a": "env"}),
        (
            {"entries": {"a": {}, "b": {}}, "defaults": {"workspace": "~/ws"}},
            {},
            {"a": "ws/a", "b": "ws/b"},
        ),
        (
            {"entries": {"a": {}, "B": {"workspace": "~/own"}}},
            {},
            {"a": ".openclaw/workspace-a", "B": "own"},
        ),
        (
            {"list": [{"id": "a"}, {"id": "b", "default": True}], "defaults": {"workspace": "~/ws"}},
            {},
            {"a": ".openclaw/workspace-a", "b": "ws"},
        ),
    ],
    ids=["implicit", "sole", "defaults", "environment", "divided", "own", "old-list"],
)
def test_workspaces_by_the_hosts_rule(
    tmp_path: Path, agents: dict[str, Any], environ: dict[str, str], expected: dict[str, str]
) -> None:
    state = tmp_path / ".openclaw"
    state.mkdir()
    (state / "openclaw.json").write_text(json.dumps({"agents": agents}))
    config = load(PathReading("host", state / "openclaw.json", state, tmp_path), environ, tmp_path)
    places = {place.id: place for place in agent_places(config, tmp_path)}
    assert {name: str(place.workspace) for name, place in places.items()} == {
        name: str(tmp_path / path) for name, path in expected.items()
    }
    assert all(place.database.name == "openclaw-agent.sqlite" for place in places.values())


def test_folders_of_agents_that_nothing_names_are_found_too(tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    (state / "agents" / "old" / "sessions").mkdir(parents=True)
    (state / "openclaw.json").write_text('{agents: {entries: {main: {agentDir: "~/elsewhere"}}}}')
    places = find_agent_places({"HOME": str(tmp_path)}, tmp_path)
    assert [(place.id, place.configured) for place in places] == [("main", True), ("old", False)]
    assert places[0].folder == tmp_path / "elsewhere"


def test_a_profile_has_its_own_state(tmp_path: Path) -> None:
    for name, agent in ((".openclaw", "main"), (".openclaw-work", "clerk")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "openclaw.json").write_text(json.dumps({"agents": {"entries": {agent: {}}}}))
    found = discover({"HOME": str(tmp_path), "OPENCLAW_PROFILE": "work"}, cwd=tmp_path)
    assert [agent.id for agent in found.agents] == ["clerk"]
    found = discover({"HOME": str(tmp_path), "OPENCLAW_PROFILE": "default"}, cwd=tmp_path)
    assert [agent.id for agent in found.agents] == ["main"]


def test_includes_from_the_roots_that_the_environment_allows(tmp_path: Path) -> None:
    state, outside = tmp_path / ".openclaw", tmp_path / "shared"
    state.mkdir()
    outside.mkdir()
    (outside / "agents.json5").write_text("{entries: {crow: {}}}")
    (state / "openclaw.json").write_text('{agents: {$include: "../shared/agents.json5"}}')
    reading = PathReading("host", state / "openclaw.json", state, tmp_path)
    assert agent_entries(load(reading, {}, tmp_path).values) == ()
    allowed = load(reading, {"OPENCLAW_INCLUDE_ROOTS": "~/shared"}, tmp_path)
    assert [entry.id for entry in agent_entries(allowed.values)] == ["crow"]


def test_a_key_in_a_providers_file_is_read_by_its_pointer(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('{"embed/ding": {"key": "sk-fake"}}')
    providers = {"vault": {"source": "file", "path": "~/keys.json", "mode": "json"}}
    value = {"source": "file", "provider": "vault", "id": "/embed~1ding/key"}
    ref = key_ref("remote.apiKey", None, value, {}, tmp_path, providers)
    assert ref is not None
    assert ref.state == "in a file, not read"
    assert ref.read() == "sk-fake"
    assert "sk-fake" not in repr(ref)
    unknown = key_ref("remote.apiKey", None, {**value, "source": "exec"}, {}, tmp_path, providers)
    assert unknown is not None
    assert unknown.source == "unsupported"
    assert not unknown.read()


HOMES = ("lancedb", "core", "pro", "sessions", "external-edit", "config-old-list", "broken-plugin-missing")


@pytest.mark.parametrize("name", HOMES)
def test_recorded_homes_name_their_agents_and_host(
    name: str, shared: Path, unpack: Callable[[Path], Path]
) -> None:
    folder = shared / "fixtures" / "openclaw"
    home = unpack(folder / f"{name}.tar.gz")
    expected = json.loads((folder / f"{name}.expected.json").read_text("utf-8"))
    found = discover({"HOME": str(home)}, cwd=home)
    there = {agent.id for agent in found.agents if Path(agent.database).is_file()}
    assert there == set(expected["agents"])
    state = read_host_state(home / ".openclaw")
    assert state.version == "2026.9.6"
    assert state.known
    assert not state.problem
    owner = {"lancedb": "memory-lancedb", "external-edit": "memory-lancedb", "pro": "memory-lancedb-pro"}
    if name in owner:
        assert state.plugins[owner[name]].origin == "global"
        assert state.plugins[owner[name]].enabled
    assert state.plugins["memory-core"].bundled
    assert ("memory-lancedb" in state.plugins) == (
        name not in {"core", "pro", "sessions", "broken-plugin-missing"}
    )


def test_edits_beside_todays_memory_lancedb_are_seen_at_once(
    shared: Path, unpack: Callable[[Path], Path]
) -> None:
    home = unpack(shared / "fixtures" / "openclaw" / "external-edit.tar.gz")
    (store,) = discover({"HOME": str(home)}, cwd=home).stores
    assert (store.gate.verdict, store.gate.read_consistency_s) == ("ok", 0.0)
    package = next((home / ".openclaw" / "extensions").glob("*/package.json"))
    package.write_text(package.read_text().replace("2026.9.4", "2026.6.1"))
    (store,) = discover({"HOME": str(home)}, cwd=home).stores
    assert store.gate.verdict == "stop-agent"


def test_the_old_list_and_what_the_host_made_of_it_are_the_same_agents(
    shared: Path, unpack: Callable[[Path], Path], tmp_path: Path
) -> None:
    folder = shared / "fixtures" / "openclaw"
    home = unpack(folder / "config-old-list.tar.gz")
    expected = json.loads((folder / "config-old-list.expected.json").read_text("utf-8"))
    listed = json.loads(
        next(a for a in reversed(expected["actions"]) if a["args"][:2] == ["agents", "list"])["stdout"]
    )
    truth = {row["id"]: Path(row["workspace"]).name for row in listed}
    old = tmp_path / "old"
    shutil.copytree(home, old)
    shutil.copyfile(old / "openclaw.before.json5", old / ".openclaw" / "openclaw.json")
    for place in (home, old):
        found = discover({"HOME": str(place)}, cwd=place)
        assert {agent.id: Path(agent.workspace).name for agent in found.agents} == truth
        config = load(
            PathReading("host", place / ".openclaw" / "openclaw.json", place / ".openclaw", place), {}, place
        )
        assert memory_search(config.values, "archivist")["enabled"] is False
        assert memory_search(config.values, "main")["model"] == "fake-embed"


@pytest.mark.parametrize(
    "data", [b"", b"not a database", b"SQLite format 3\x00" + b"\x00" * 4080], ids=["empty", "text", "header"]
)
def test_a_state_database_that_cannot_be_read_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "state").mkdir()
    file = tmp_path / "state" / "openclaw.sqlite"
    file.write_bytes(data)
    state = read_host_state(tmp_path, {"meta": {"lastTouchedVersion": "2027.1.1"}})
    assert state.version == "2027.1.1"
    assert not state.known
    assert not state.plugins
    assert file.read_bytes() == data
    assert [item.name for item in file.parent.iterdir()] == ["openclaw.sqlite"]
