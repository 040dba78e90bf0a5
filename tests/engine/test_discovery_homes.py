"""The recorded OpenClaw homes: what a correct tool finds in each, point by point, and what it must not do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.discovery import Discovery, StoreHealth, discover, inspect
from memtui.engine.discovery.places import KnownPlace
from tests.conftest import tree_hash

DIALECTS = {"peer": "pro", "built-in G1": "builtin-g1", "built-in G2": "builtin-g2"}


class Home:
    """One unpacked home, discovered and inspected; the tree is hashed before and after."""

    def __init__(self, root: Path, expected: dict[str, Any], env: dict[str, str]) -> None:
        self.root = root
        self.expected = expected
        self.env = {name: value.replace("$R", str(root.parent)) for name, value in env.items()}
        before = tree_hash(root)
        self.found: Discovery = discover(self.env, cwd=root)
        self.healths: list[StoreHealth] = [inspect(store) for store in self.found.stores]
        assert tree_hash(root) == before, "looking changed something"

    def relative(self, path: str) -> str:
        return str(Path(path).relative_to(self.root))

    def health(self, path: str) -> StoreHealth:
        return next(health for health in self.healths if self.relative(health.found.path) == path)


@pytest.fixture(scope="session")
def homes(shared: Path, unpack: Callable[[Path], Path]) -> Callable[[str], Home]:
    made: dict[str, Home] = {}

    def _home(name: str, env: dict[str, str] | None = None) -> Home:
        key = f"{name}{env}"
        if key not in made:
            folder = shared / "fixtures/sources/discovery"
            expected = json.loads((folder / f"{name}.expected.json").read_text())
            root = unpack(folder / f"{name}.tar.gz")
            made[key] = Home(root, expected, env or expected["env"])
        return made[key]

    return _home


ONE_CONFIG = [
    "01-pro-jina-include",
    "02-builtin-openai",
    "03-both-custom-path",
    "04-old-names",
    "06-broken-json5",
    "07-ollama-redis",
]


@pytest.mark.parametrize("name", ONE_CONFIG)
def test_the_configuration_and_the_active_plugin(homes: Callable[[str], Home], name: str) -> None:
    home = homes(name)
    (config,) = home.found.configs
    assert home.relative(config.path) == home.expected["config"]["path"]
    assert config.parse == home.expected["config"]["parse"]
    assert home.found.active_plugin == home.expected["activePlugin"]
    assert home.found.conflict == ""


@pytest.mark.parametrize("name", ONE_CONFIG)
def test_exactly_the_expected_stores_in_order(homes: Callable[[str], Home], name: str) -> None:
    home = homes(name)
    assert [home.relative(store.path) for store in home.found.stores] == [
        store["path"] for store in home.expected["stores"]
    ]


@pytest.mark.parametrize("name", ONE_CONFIG)
def test_every_store_point_by_point(homes: Callable[[str], Home], name: str) -> None:
    home = homes(name)
    for expected in home.expected["stores"]:
        health = home.health(expected["path"])
        assert health.error == ""
        assert health.dialect == DIALECTS[expected["class"]]
        assert health.rows == expected["rows"]
        assert health.dims == expected["dims"]
        assert health.fts == expected["fts"] or health.fts.startswith(expected["fts"] + ",")
        if isinstance(expected["configured"], bool):
            assert health.found.configured is expected["configured"]
        for key, value in (
            ("model", health.found.model),
            ("configDims", health.found.config_dims),
            ("dimsMatch", health.dims_match),
            ("scopes", health.scopes),
            ("orphanRows", health.orphan_rows),
            ("agents", health.agents),
            ("enabled", health.found.enabled),
            ("lock", health.found.lock.kind),
            ("timeColumn", health.time_column),
            ("retentionDays", health.found.retention_days),
            ("readConsistency", health.found.gate.read_consistency_s),
        ):
            if key in expected:
                assert value == expected[key], key
        assert not set(expected.get("columnsMissing", ())) & set(health.columns)


def test_includes_escapes_and_state_env_file(homes: Callable[[str], Home]) -> None:
    home = homes("01-pro-jina-include")
    (config,), (store,) = home.found.configs, home.found.stores
    folder = Path(config.path).parent
    assert [str(Path(part).relative_to(folder)) for part in config.includes] == home.expected["config"][
        "includes"
    ]
    assert store.settings["maxInputChars"] == home.expected["values"]["maxInputChars"]
    description = home.expected["values"]["scopes.definitions.project:buoys.description"]
    assert store.scopes is not None
    assert store.scopes["definitions"]["project:buoys"]["description"] == description
    assert store.base_url == home.expected["embedding"]["baseURL"]
    assert store.embedding is not None
    assert store.embedding.task_passage == home.expected["embedding"]["taskPassageUsedForStoredRows"]
    assert [str(key) for key in store.keys] == [
        "embedding.apiKey[0]: DEMO_JINA_A: not set",
        "embedding.apiKey[1]: DEMO_JINA_B: not set",
    ]
    assert store.embedding_problem.startswith("its key is not set here")
    assert store.gate.verdict == "stop-agent"
    assert store.gate.manifest == ""


def test_agents_their_scopes_and_workspaces(homes: Callable[[str], Home]) -> None:
    home = homes("01-pro-jina-include")
    for agent, expected in zip(home.found.agents, home.expected["agents"], strict=True):
        assert agent.id == expected["id"]
        assert list(agent.scopes or ()) == expected["scopes"]
        if "seesRows" in expected:
            assert home.healths[0].visible_rows(agent.scopes) == expected["seesRows"]
    assert [agent.workspace_exists for agent in home.found.agents] == [True, True, False]
    said = [finding for finding in home.found.findings if finding.kind == "workspace-missing"]
    assert ["guest" in finding.message for finding in said] == [True]
    places = [home.relative(workspace.path) for workspace in home.found.workspaces]
    assert places == home.expected["memoryCoreWorkspaces"]


def test_without_an_agents_list_there_is_one_implicit_main(homes: Callable[[str], Home]) -> None:
    (agent,) = homes("02-builtin-openai").found.agents
    assert (agent.id, agent.implicit, agent.scopes) == ("main", True, None)


def test_the_builtin_plugin_has_no_lock(homes: Callable[[str], Home]) -> None:
    (store,) = homes("02-builtin-openai").found.stores
    assert store.gate.verdict == "stop-agent"
    assert "no lock" in store.gate.reason
    assert store.lock.kind == "none"
    assert [str(key) for key in store.keys] == ["embedding.apiKey: DEMO_OPENAI: set"]
    assert store.embedding is not None
    assert store.embedding.api_keys == ("any-text",)


def test_a_model_that_does_not_fit_and_a_left_over_store(homes: Callable[[str], Home]) -> None:
    home = homes("03-both-custom-path")
    configured, switched_off, left_over = home.healths
    assert configured.word == "dims differ"
    assert home.expected["stores"][0]["message"] in configured.notes
    assert configured.found.keys[0].state == "in a file, not read"
    assert not switched_off.found.active
    assert "switched off" in switched_off.found.why
    assert left_over.word == "left over"
    assert left_over.found.embedding is None


@pytest.mark.parametrize("home_exists", [True, False])
def test_old_names_by_home_and_by_state_variable(homes: Callable[..., Home], home_exists: bool) -> None:
    plain = homes("04-old-names")
    env = {
        "HOME": "$R/root/home" if home_exists else "$R/elsewhere",
        "CLAWDBOT_STATE_DIR": "$R/root/home/.clawdbot",
    }
    other = homes("04-old-names", env)
    for home in (plain, other):
        (store,) = home.found.stores
        assert home.relative(store.path) == "home/.clawdbot/memory/lancedb-pro"
        assert (store.configured, store.active, store.model) == (True, True, "nomic-embed-text")


def test_two_readings_of_openclaw_home_are_a_conflict(homes: Callable[[str], Home]) -> None:
    home = homes("05-home-conflict")
    assert home.found.conflict
    assert home.found.active_plugin is None
    assert len({store.name for store in home.found.stores}) == len(home.found.stores)
    for reader, reading in zip(("host", "plugin"), home.expected["readings"], strict=True):
        config = next(config for config in home.found.configs if config.reader == reader)
        assert home.relative(config.path) == reading["config"]
        assert config.path in home.found.conflict
        health = home.health(reading["store"]["path"])
        assert (health.rows, health.dims, health.fts) == tuple(
            reading["store"][key] for key in ("rows", "dims", "fts")
        )
        assert health.found.reader == reader


def test_a_broken_configuration_says_where_and_the_defaults_are_still_found(
    homes: Callable[[str], Home],
) -> None:
    home = homes("06-broken-json5")
    (config,) = home.found.configs
    assert (config.line, config.column) == (
        home.expected["config"]["line"],
        home.expected["config"]["column"],
    )
    finding = next(finding for finding in home.found.findings if finding.kind == "config-unreadable")
    assert (finding.severity, finding.line, finding.column) == ("error", 4, 11)
    assert [finding.line for finding in home.found.findings if finding.kind == "store-not-found"] == [5]
    for store in home.found.stores:
        assert store.configured is None
        assert store.gate.verdict == "read-only"
        assert store.lock.kind == "unknown"
        assert store.embedding is None
        assert store.embedding_problem == "the configuration cannot be read"


def test_redis_locking_makes_it_read_only_and_is_not_connected_to(homes: Callable[[str], Home]) -> None:
    home = homes("07-ollama-redis")
    (store,), expected = home.found.stores, home.expected["stores"][0]["redis"]
    redis = store.lock.redis
    assert redis is not None
    assert (redis.host, redis.port, redis.db) == (expected["host"], expected["port"], expected["db"])
    assert (redis.key_prefix, redis.ttl_ms) == (expected["keyPrefix"], expected["ttlMs"])
    digest = hashlib.sha256(f"{home.root}/home/.openclaw/memory/lancedb-pro".encode()).hexdigest()
    assert redis.key == f"demo:lock:{digest}"
    assert store.gate.verdict == "read-only"
    assert "Redis" in store.gate.reason


@pytest.mark.parametrize(("case", "verdict", "seconds"), [(0, "ok", 0.0), (1, "stop-agent", None)])
def test_the_build_is_told_by_the_manifest_not_by_its_version(
    homes: Callable[..., Home], shared: Path, case: int, verdict: str, seconds: float | None
) -> None:
    name = "08-manifests"
    expected = json.loads((shared / f"fixtures/sources/discovery/{name}.expected.json").read_text())["cases"][
        case
    ]
    home = homes(name, expected["env"])
    (health,) = home.healths
    gate = health.found.gate
    assert home.relative(gate.manifest) == expected["manifest"].split(" ")[0]
    assert (gate.verdict, gate.read_consistency_s) == (verdict, seconds)
    assert home.relative(health.found.path) == expected["store"]["path"]
    assert (health.rows, health.dims, health.dims_match) == (2, 384, True)
    assert health.fts.startswith(expected["store"]["fts"])


def _strings(value: object) -> Iterator[str]:
    """Every string that printing, dumping or comparing a result could show."""
    yield repr(value)
    if is_dataclass(value):
        for field in fields(value):
            yield from _strings(getattr(value, field.name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value


def test_no_secret_in_any_string_of_any_result(homes: Callable[..., Home]) -> None:
    for name, secret in (("02-builtin-openai", "any-text"), ("07-ollama-redis", "visible-if-leaked")):
        home = homes(name)
        shown = list(_strings([home.found, home.healths]))
        assert any("lancedb" in text for text in shown)
        assert not [text for text in shown if secret in text]
    for home in (homes("05-home-conflict"), homes("07-ollama-redis")):
        for store in home.found.stores:
            assert store.settings["embedding"]["apiKey"] == "********"


def test_every_place_that_was_looked_at_is_told(homes: Callable[[str], Home]) -> None:
    home = homes("02-builtin-openai")
    missing = str(home.root / "home/.openclaw/memory/lancedb-pro")
    assert KnownPlace(missing, "store", False) in home.found.looked_at
    assert not Path(missing).exists()
    assert str(home.root / "home/.moltbot") in home.found.folders
