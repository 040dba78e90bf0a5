"""Which configuration and which stores the environment leads to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.discovery import Discovery, discover, inspect
from memtui.engine.discovery.places import storage_path, user_path
from memtui.engine.discovery.types import BUILTIN, ENGINE, PRO


def put_store(folder: Path, table: str = "memories") -> Path:
    """A folder that looks like a store from outside; discovery opens nothing."""
    (folder / f"{table}.lance").mkdir(parents=True)
    return folder


def put_config(folder: Path, name: str = "openclaw.json", **plugins: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({"plugins": plugins}))
    return folder / name


def pro(**block: Any) -> dict[str, Any]:
    """`plugins` with memory-lancedb-pro in the slot."""
    return {"slots": {"memory": PRO}, "entries": {PRO: {"config": block}}}


def look(tmp_path: Path, **environ: Path | str) -> Discovery:
    return discover({name: str(value) for name, value in environ.items()}, cwd=tmp_path)


def paths(found: Discovery) -> list[str]:
    return [store.path for store in found.stores]


def configs(found: Discovery) -> list[str]:
    return [config.path for config in found.configs]


def test_without_a_configuration_the_default_places_are_found(tmp_path: Path) -> None:
    store = put_store(tmp_path / ".moldbot/memory/lancedb")
    found = look(tmp_path, HOME=tmp_path)
    assert paths(found) == [str(store)]
    assert (found.stores[0].plugin, found.stores[0].configured, found.stores[0].active) == (
        BUILTIN,
        False,
        False,
    )
    assert "no openclaw.json" in found.stores[0].why
    assert found.configs == ()


def test_without_a_home_nothing_is_looked_at(tmp_path: Path) -> None:
    found = look(tmp_path)
    assert (found.looked_at, found.stores, found.agents) == ((), (), ())


def test_nothing_at_all_lists_every_place_and_makes_none(tmp_path: Path) -> None:
    found = look(tmp_path, HOME=tmp_path)
    assert found.stores == ()
    assert len(found.looked_at) == 4 * 4 + 4 * 2 + 1  # hosts of OpenClaw, CrewAI, and Hermes' one home
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("variable", ["OPENCLAW_CONFIG_PATH", "CLAWDBOT_CONFIG_PATH"])
def test_an_explicit_configuration_wins(tmp_path: Path, variable: str) -> None:
    put_config(tmp_path / ".openclaw", **pro())
    mine = put_config(tmp_path / "mine", "x.json5", **pro(dbPath=str(put_store(tmp_path / "db"))))
    found = look(tmp_path, HOME=tmp_path, **{variable: "mine/x.json5"})
    assert configs(found) == [str(mine)]
    assert paths(found) == [str(tmp_path / "db")]


def test_an_explicit_configuration_that_is_missing_is_said(tmp_path: Path) -> None:
    found = look(tmp_path, HOME=tmp_path, OPENCLAW_CONFIG_PATH="~/gone.json")
    assert [finding.kind for finding in found.findings] == ["config-missing"]
    assert str(tmp_path / "gone.json") in found.findings[0].message


def test_the_state_folder_variable(tmp_path: Path) -> None:
    config = put_config(tmp_path / "state", "moltbot.json", **pro())
    store = put_store(tmp_path / "state/memory/lancedb-pro")
    found = look(tmp_path, HOME=tmp_path / "none", OPENCLAW_STATE_DIR=tmp_path / "state")
    assert configs(found) == [str(config)]
    assert paths(found) == [str(store)]
    assert found.stores[0].active


def test_userprofile_stands_in_for_home(tmp_path: Path) -> None:
    config = put_config(tmp_path / "u/.openclaw", **pro())
    assert configs(look(tmp_path, HOME=" ", USERPROFILE=tmp_path / "u")) == [str(config)]
    assert configs(look(tmp_path, HOME=tmp_path, USERPROFILE=tmp_path / "u")) == [str(config)]


@pytest.mark.parametrize("inside", ["oc/.openclaw", "oc"])
def test_openclaw_home_with_one_reading_is_no_conflict(tmp_path: Path, inside: str) -> None:
    config = put_config(tmp_path / inside, **pro())
    store = put_store(tmp_path / inside / "memory/lancedb-pro")
    found = look(tmp_path, HOME=tmp_path / "h", OPENCLAW_HOME=tmp_path / "oc")
    assert (configs(found), paths(found), found.conflict) == ([str(config)], [str(store)], "")


def test_an_empty_openclaw_home_falls_back_to_home(tmp_path: Path) -> None:
    config = put_config(tmp_path / "h/.openclaw", **pro())
    assert configs(look(tmp_path, HOME=tmp_path / "h", OPENCLAW_HOME=tmp_path / "oc")) == [str(config)]


@pytest.mark.parametrize(
    "form", ["~/my data/db", "file://{home}/my%20data/db", "{home}/my data/../my data/db/"]
)
def test_forms_of_a_db_path(tmp_path: Path, form: str) -> None:
    store = put_store(tmp_path / "my data/db")
    put_config(tmp_path / ".openclaw", **pro(dbPath=form.format(home=tmp_path)))
    assert paths(look(tmp_path, HOME=tmp_path)) == [str(store)]


def test_a_remote_store_is_listed_unopened_with_hidden_options(tmp_path: Path) -> None:
    entry = {
        "config": {
            "dbPath": "s3://bucket/db",
            "storageOptions": {"aws_secret_access_key": "${SEC}", "region": "r"},
        }
    }
    put_config(tmp_path / ".openclaw", slots={"memory": BUILTIN}, entries={BUILTIN: entry})
    (store,) = look(tmp_path, HOME=tmp_path, SEC="hush").stores
    assert (store.path, store.is_remote, store.name) == ("s3://bucket/db", True, "db")
    assert store.storage_options == {"aws_secret_access_key": "hush", "region": "r"}
    assert "hush" not in repr(store)
    assert (inspect(store).word, inspect(store).rows) == ("remote", None)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("${NOWHERE}/db", "names a variable that is not set"),
        ("relative/db", "is relative"),
        ("/nonexistent/db", "where there is no store"),
        ("s3://user:hush@bucket/db", "carries a password"),
    ],
)
def test_a_db_path_without_a_store_is_a_finding(tmp_path: Path, path: str, said: str) -> None:
    put_config(tmp_path / ".openclaw", **pro(dbPath=path))
    found = look(tmp_path, HOME=tmp_path)
    assert found.stores == ()
    assert [finding.message for finding in found.findings if said in finding.message]
    assert "hush" not in repr(found)


def test_a_relative_db_path_starts_at_the_plugins_folder(tmp_path: Path) -> None:
    plugin = tmp_path / ".openclaw/extensions/memory-lancedb"
    store = put_store(plugin / "data/db")
    (plugin / "openclaw.plugin.json").write_text(json.dumps({"id": BUILTIN}))
    put_config(
        tmp_path / ".openclaw",
        slots={"memory": BUILTIN},
        entries={BUILTIN: {"config": {"dbPath": "data/db"}}},
    )
    assert paths(look(tmp_path, HOME=tmp_path)) == [str(store)]


def test_two_plugins_on_one_folder_are_one_store_of_the_active_one(tmp_path: Path) -> None:
    store = put_store(tmp_path / ".openclaw/memory/lancedb")
    entries = {BUILTIN: {"config": {}}, PRO: {"config": {"dbPath": str(store)}}}
    put_config(tmp_path / ".openclaw", slots={"memory": PRO}, entries=entries)
    (found,) = look(tmp_path, HOME=tmp_path).stores
    assert (found.plugin, found.active) == (PRO, True)


def test_the_mem_engine_plugin_with_a_table_of_its_own(tmp_path: Path) -> None:
    put_store(tmp_path / "db", "memories_engine")
    block = {"dbPath": str(tmp_path / "db"), "tableName": "memories_engine"}
    put_config(tmp_path / ".openclaw", slots={"memory": ENGINE}, entries={ENGINE: {"config": block}})
    (store,) = look(tmp_path, HOME=tmp_path).stores
    assert (store.plugin, store.table, store.active, store.lock.kind) == (
        ENGINE,
        "memories_engine",
        True,
        "none",
    )


def test_a_switched_off_plugin_is_not_active(tmp_path: Path) -> None:
    put_store(tmp_path / ".openclaw/memory/lancedb-pro")
    put_config(tmp_path / ".openclaw", slots={"memory": PRO}, entries={PRO: {"enabled": False, "config": {}}})
    found = look(tmp_path, HOME=tmp_path)
    assert (found.stores[0].configured, found.stores[0].active) == (True, False)
    assert [finding.kind for finding in found.findings] == ["plugin-off"]


def test_both_candidates_of_a_default_are_shown_and_said(tmp_path: Path) -> None:
    state, fixed = (
        put_store(tmp_path / "s/memory/lancedb-pro"),
        put_store(tmp_path / ".openclaw/memory/lancedb-pro"),
    )
    put_config(tmp_path / "s", **pro())
    found = look(tmp_path, HOME=tmp_path, OPENCLAW_STATE_DIR=tmp_path / "s")
    assert paths(found) == [str(state), str(fixed)]
    assert [store.name for store in found.stores] == ["lancedb-pro", "lancedb-pro-2"]
    assert ["set dbPath" in finding.message for finding in found.findings] == [True]


def test_workspaces_of_memory_core(tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    for place in ("workspace/memory", "workspace-ops", "memory", "agents/ops/agent"):
        (state / place).mkdir(parents=True)
    (state / "memory/main.sqlite").touch()
    (state / "agents/ops/agent/openclaw-agent.sqlite").touch()
    (state / "openclaw.json").write_text("{agents: {list: [{id: 'main'}, {id: 'ops'}, {id: ''}, 7]}}")
    main, ops = look(tmp_path, HOME=tmp_path).workspaces
    assert (main.agents, main.memory_file, main.notes, main.index) == (
        ("main",),
        None,
        True,
        str(state / "memory/main.sqlite"),
    )
    assert (ops.agents, ops.notes, ops.index) == (
        ("ops",),
        False,
        str(state / "agents/ops/agent/openclaw-agent.sqlite"),
    )


def test_where_an_agent_has_two_indexes_its_own_database_is_the_one(tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    for agent in ("main", "ops"):
        (state / "agents" / agent / "agent").mkdir(parents=True)
        (state / "agents" / agent / "agent" / "openclaw-agent.sqlite").touch()
    (state / "memory").mkdir()
    for agent in ("main", "ops", "late"):
        (state / "memory" / f"{agent}.sqlite").touch()
    (state / "openclaw.json").write_text("{agents: {list: [{id: 'main'}, {id: 'ops'}, {id: 'late'}]}}")
    found = {each.agents[0]: each.index for each in look(tmp_path, HOME=tmp_path).workspaces}
    assert found == {
        "main": str(state / "agents/main/agent/openclaw-agent.sqlite"),
        "ops": str(state / "agents/ops/agent/openclaw-agent.sqlite"),
        "late": str(state / "memory/late.sqlite"),  # the only one that it has
    }


def test_hostile_shapes_are_survived(tmp_path: Path) -> None:
    for plugins in ([], 7, {"entries": []}, {"slots": 3, "entries": {PRO: 1, BUILTIN: {"config": []}}}):
        (tmp_path / ".openclaw").mkdir(exist_ok=True)
        (tmp_path / ".openclaw/openclaw.json").write_text(
            json.dumps({"plugins": plugins, "agents": {"list": 3}, "env": 1})
        )
        assert look(tmp_path, HOME=tmp_path).stores == ()
    put_config(tmp_path / ".openclaw", **pro(dbPath="/x\0y", embedding=7, retrieval=[], locking={"redis": 1}))
    assert look(tmp_path, HOME=tmp_path).stores == ()


def test_paths_of_users() -> None:
    home, cwd = Path("/h"), Path("/c")
    assert user_path("~", home, cwd) == home
    assert user_path("~/a/../b", home, cwd) == Path("/h/b")
    assert user_path("~other/x", home, cwd) == Path("/c/~other/x")
    assert user_path("~/a", None, cwd) is None
    assert user_path("a", home, cwd) == Path("/c/a")
    assert storage_path("gs://b/x", home, cwd) == "gs://b/x"
    assert storage_path("file:///a%20b", home, cwd) == Path("/a b")
