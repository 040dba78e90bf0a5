"""Locks, the edit gate, and the embedding and reranking services of a plugin's settings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.discovery import FoundStore, discover
from memtui.engine.discovery.plugins import embedding_of, rerank_of, retrieval_block
from memtui.engine.discovery.types import BUILTIN, PRO, Lock, Redis
from memtui.engine.discovery.write_guard import (
    DEFAULT_KEY_PREFIX,
    gate_of,
    gate_of_builds,
    is_gateway,
    lock_of,
    retention_days,
    running_gateways,
)

KNOWS = {
    "configSchema": {
        "properties": {"storageMaintenance": {"properties": {"readConsistencyIntervalSeconds": {}}}}
    }
}


def found(tmp_path: Path, block: dict[str, Any], **environ: str) -> FoundStore:
    """The store of memory-lancedb-pro with these settings, in the default place."""
    state = tmp_path / ".openclaw"
    (state / "memory/lancedb-pro/memories.lance").mkdir(parents=True)
    plugins = {"slots": {"memory": PRO}, "entries": {PRO: {"config": block}}}
    (state / "openclaw.json").write_text(json.dumps({"plugins": plugins}))
    (store,) = discover({"HOME": str(tmp_path), **environ}, cwd=tmp_path).stores
    return store


@pytest.mark.parametrize(
    ("block", "environ", "kind"),
    [
        ({}, {}, "file"),
        ({"locking": {"redis": {"enabled": True}}}, {}, "redis"),
        ({"locking": {"redis": {"url": "redis://h"}}}, {}, "redis"),
        ({"locking": {"redis": {"url": "redis://h", "enabled": False}}}, {}, "file"),
        ({"redisUrl": "redis://h"}, {}, "redis"),
        ({}, {"MEMORY_LANCEDB_REDIS_URL": "redis://h"}, "redis"),
        ({"locking": {"redis": {"enabled": False}}}, {"MEMORY_LANCEDB_REDIS_URL": "redis://h"}, "file"),
    ],
)
def test_which_lock_the_plugin_takes(block: dict[str, Any], environ: dict[str, str], kind: str) -> None:
    assert lock_of(PRO, block, "/db", environ).kind == kind
    assert lock_of(BUILTIN, block, "/db", environ) == Lock("none")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://cache:7000/3", ("cache", 7000, 3)),
        ("rediss://user:word@cache", ("cache", 6379, 0)),
        ("redis://:w/ord@cache:7000/3", ("", 6379, 0)),
        ("redis://:w?ord@cache/3", ("", 6379, 0)),
        ("redis://secret@word:x@cache:bad/3", ("", 6379, 0)),
        ("${MISSING}", ("", 6379, 0)),
        ("not a url", ("", 6379, 0)),
    ],
)
def test_a_redis_address_never_shows_a_password(url: str, place: tuple[str, int, int]) -> None:
    redis = lock_of(PRO, {"redisUrl": url}, "/db", {}).redis
    assert isinstance(redis, Redis)
    assert (redis.host, redis.port, redis.db) == place
    assert (redis.ttl_ms, redis.key_prefix) == (60_000, DEFAULT_KEY_PREFIX)
    assert "ord@" not in repr(redis)
    assert redis.url.reveal() == url


def test_redis_locks_the_real_path_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    block = {"redisUrl": "redis://h"}
    real, link = (lock_of(PRO, block, str(tmp_path / name), {}).redis for name in ("real", "link"))
    assert real is not None
    assert real == link


@pytest.mark.parametrize(
    ("manifest", "interval", "verdict"),
    [
        (None, 0, "stop-agent"),
        ({"configSchema": {}}, 0, "stop-agent"),
        (KNOWS, None, "ok"),
        (KNOWS, 0, "ok"),
        (KNOWS, 5, "stop-agent"),
    ],
)
def test_the_edit_gate(tmp_path: Path, manifest: Any, interval: int | None, verdict: str) -> None:
    path = tmp_path / "openclaw.plugin.json"
    path.write_text(json.dumps(manifest))
    block = {"storageMaintenance": {} if interval is None else {"readConsistencyIntervalSeconds": interval}}
    gate = gate_of(PRO, Lock("file"), block, None if manifest is None else path)
    assert gate.verdict == verdict
    assert gate.reason.endswith(".")
    assert gate_of(PRO, Lock("redis"), block, path).verdict == "read-only"
    assert gate_of(BUILTIN, Lock("none"), block, path).verdict == "stop-agent"


def test_two_builds_are_judged_each_and_the_stricter_counts(tmp_path: Path) -> None:
    knows, stale = (tmp_path / name / "openclaw.plugin.json" for name in ("new", "old"))
    for path, schema in ((knows, KNOWS), (stale, {"configSchema": {}})):
        path.parent.mkdir()
        path.write_text(json.dumps({"id": PRO, **schema}))
    for order in ((knows, stale), (stale, knows)):
        gate = gate_of_builds(PRO, Lock("file"), {}, order)
        assert (gate.verdict, gate.manifest, gate.read_consistency_s) == ("stop-agent", str(stale), None)
        assert f"{knows}: ok" in gate.reason
        assert f"{stale}: stop-agent" in gate.reason
    assert gate_of_builds(PRO, Lock("file"), {}, (knows, knows)) == gate_of(PRO, Lock("file"), {}, knows)
    assert gate_of_builds(PRO, Lock("file"), {}, ()) == gate_of(PRO, Lock("file"), {}, None)


def test_both_installed_builds_are_found(tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    for folder, schema in ((tmp_path / "work", KNOWS), (state / "extensions" / PRO, {"configSchema": {}})):
        folder.mkdir(parents=True)
        (folder / "openclaw.plugin.json").write_text(json.dumps({"id": PRO, **schema}))
    (state / "memory/lancedb-pro/memories.lance/_versions").mkdir(parents=True)
    plugins = {
        "slots": {"memory": PRO},
        "entries": {PRO: {"config": {}}},
        "load": {"paths": [str(tmp_path / "work")]},
    }
    (state / "openclaw.json").write_text(json.dumps({"plugins": plugins}))
    (store,) = discover({"HOME": str(tmp_path)}, cwd=tmp_path).stores
    assert store.gate.verdict == "stop-agent"
    assert "2 builds" in store.gate.reason


def test_a_fault_in_the_access_lists_is_named_and_the_other_agents_stay(tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    (state / "memory/lancedb-pro/memories.lance/_versions").mkdir(parents=True)
    scopes = {"default": "nowhere", "agentAccess": {"system": ["global"], "ops": ["agent:ops", "custom:ops"]}}
    plugins = {"slots": {"memory": PRO}, "entries": {PRO: {"config": {"scopes": scopes}}}}
    agents = {"list": [{"id": "main"}, {"id": "ops"}]}
    (state / "openclaw.json").write_text(json.dumps({"plugins": plugins, "agents": agents}))
    found = discover({"HOME": str(tmp_path)}, cwd=tmp_path)
    reads = {agent.id: agent.scopes for agent in found.agents}
    assert reads["main"] == ("global", "agent:main", "reflection:agent:main")
    assert reads["ops"] == ("agent:ops", "custom:ops", "reflection:agent:ops")
    said = [each.message for each in found.findings if each.kind == "scopes-invalid"]
    assert len(said) == 2
    assert any("nowhere" in each for each in said)
    assert any("system" in each for each in said)


def test_an_included_file_that_is_missing_closes_the_gate(tmp_path: Path) -> None:
    store = found(tmp_path, {"$include": "gone.json", "locking": {}})
    assert store.configured
    assert (store.gate.verdict, store.lock.kind) == ("read-only", "unknown")


@pytest.mark.parametrize(
    ("cleanup", "days"),
    [
        (None, None),
        ({"enabled": False}, None),
        ({"enabled": True}, 7.0),
        ({"enabled": True, "retentionDays": 9999}, 3650.0),
    ],
)
def test_retention(cleanup: Any, days: float | None) -> None:
    assert retention_days({"storageMaintenance": {"autoCleanup": cleanup}}) == days


def test_the_embedding_block_of_the_plugin() -> None:
    block = {
        "dimensions": 99,
        "embedding": {
            "provider": "openai-compatible",
            "model": "m",
            "baseURL": "https://h/v1",
            "apiKey": ["k1", "${K2}"],
            "dimensions": "256",
            "requestDimensions": 0,
            "omitDimensions": True,
            "taskQuery": "q",
            "taskPassage": "p",
            "normalized": False,
            "maxInputChars": 1000,
            "chunking": False,
            "clientTimeoutMs": 5000,
        },
    }
    settings, keys, problem = embedding_of(block, block, {"K2": "two"}, None)
    assert settings is not None
    assert (settings.model, settings.url, settings.expected_dimensions) == ("m", "https://h/v1", 256)
    assert (settings.task_query, settings.task_passage, settings.normalized) == ("q", "p", False)
    assert (settings.request_dimensions, settings.omit_dimensions) == (None, True)
    assert (settings.max_input_chars, settings.chunking, settings.batch_timeout_s) == (1000, False, 5.0)
    assert settings.api_keys == ()
    assert [key.read() for key in keys] == ["k1", "two"]
    assert problem == ""


def test_defaults_and_old_forms_of_the_embedding_block() -> None:
    settings, keys, _ = embedding_of({"dimensions": 12, "embedding": {}}, {}, {"OPENAI_API_KEY": "k"}, None)
    assert settings is not None
    assert (settings.model, settings.host, settings.dimensions) == (
        "text-embedding-3-small",
        "api.openai.com",
        12,
    )
    assert [key.read() for key in keys] == ["k"]
    local = {
        "embedding": {"provider": "ollama", "model": "x", "baseUrl": "http://127.0.0.1:11434", "dims": 7}
    }
    settings, keys, problem = embedding_of(local, local, {"OPENAI_API_KEY": "k"}, None)
    assert settings is not None
    assert (settings.provider, settings.host, settings.dimensions) == ("ollama", "127.0.0.1:11434", 7)
    assert (keys, problem) == ((), "")


def test_what_stands_in_the_way_of_embedding() -> None:
    assert embedding_of({}, {}, {}, None) == (None, (), "the plugin's settings name no embedding model")
    block = {"embedding": {"apiKey": "${K}", "baseURL": "${URL}/v1"}}
    settings, _, problem = embedding_of(block, block, {"K": "key"}, None)
    assert settings is not None
    assert "not set" in problem
    assert settings.host != "api.openai.com", "a key must not go to another service than its own"
    _, _, problem = embedding_of({"embedding": {}}, {}, {}, None)
    assert problem == "its key is not set here (OPENAI_API_KEY)"


def test_reranking(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("rr\n")
    block = {
        "rerankApiKey": {"source": "file", "id": str(tmp_path / "key")},
        "rerankProvider": "voyage",
        "rerankEndpoint": "https://user:word@h/rerank",
        "minScore": 0.2,
    }
    store = found(
        tmp_path, {"retrieval": block, "decay": {"betaCore": 1}, "tier": {}, "scopes": {"default": "global"}}
    )
    assert store.rerank is not None
    assert store.rerank.endpoint == "https://user:word@h/rerank"
    assert (store.rerank.provider, store.rerank.api_key, store.rerank.timeout_ms) == ("voyage", "rr", 5000.0)
    assert store.retrieval == {
        "rerankProvider": "voyage",
        "rerankEndpoint": "https://********@h/rerank",
        "minScore": 0.2,
        "rerankApiKey": "********",
    }
    assert (store.decay, store.tier, store.scopes) == ({"betaCore": 1}, {}, {"default": "global"})
    assert "rr" not in [*store.settings["retrieval"].values()]
    assert "word" not in str(store.settings)


def test_no_reranker_without_a_key_or_when_it_is_off() -> None:
    assert rerank_of({}, {}, {}, None) == (None, ())
    assert rerank_of({"rerank": "none", "rerankApiKey": "k"}, {}, {}, None) == (None, ())
    block = {"rerankApiKey": "${NOPE}"}
    settings, keys = rerank_of(block, block, {}, None)
    assert settings is not None
    assert keys[0].state == "not set"
    assert retrieval_block({"retrieval": block}, keys) == {}


@pytest.mark.parametrize(
    ("words", "gateway"),
    [
        (["openclaw-gateway"], True),
        (["openclaw-gateway --port 18789"], True),  # a process that wrote its own title
        (
            ["node", "--max-old-space-size=4096", "/usr/lib/node_modules/openclaw/openclaw.mjs", "gateway"],
            True,
        ),
        (["openclaw", "gateway", "run", "--force"], True),
        (["openclaw", "gateway", "restart"], False),
        (["openclaw", "status"], False),
        (["vim", "openclaw-gateway.md"], False),
        (["grep", "openclaw", "gateway"], False),
        ([], False),
    ],
)
def test_a_gateway_is_told_by_its_command_line(words: list[str], gateway: bool) -> None:
    assert is_gateway(words) is gateway


@pytest.mark.skipif(sys.platform == "win32", reason="processes are listed by /proc or ps")
def test_a_gateway_that_runs_is_found_and_one_that_ended_is_not() -> None:
    code = "import sys; print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        ["openclaw-gateway", "-c", code],
        executable=sys.executable,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert process.pid in (running_gateways() or ())
        process.communicate()
    assert process.pid not in (running_gateways() or ())
