"""The memory plugins that keep a LanceDB store, and which store each of them uses under a configuration."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.discovery.agents import agent_places
from memtui.engine.discovery.openclaw_config import LoadedConfig
from memtui.engine.discovery.places import PathReading, PlaceFinder, storage_path
from memtui.engine.discovery.types import BUILTIN, ENGINE, OWNERS, PRO, Agent, ConfigFinding, Workspace
from memtui.engine.discovery.variables import (
    MASK,
    KeyRef,
    SecretText,
    expand_field,
    key_ref,
    key_refs,
    mask_text,
    masked,
)
from memtui.engine.discovery.write_guard import find_manifests
from memtui.engine.providers.embedding_services import DEFAULT_MODEL, EmbeddingSettings
from memtui.engine.providers.reranker import RerankSettings

DEFAULT_FOLDERS: Mapping[str, str] = {PRO: "lancedb-pro", BUILTIN: "lancedb", ENGINE: "lancedb"}
"""Folder below `<state>/memory` that a plugin uses when no `dbPath` is set."""


@dataclass(frozen=True, slots=True)
class PluginStore:
    """A plugin's entry in a configuration, and the store that it uses."""

    plugin: str
    config: LoadedConfig
    block: Mapping[str, Any]
    raw: Mapping[str, Any]
    enabled: bool
    active: bool
    manifests: tuple[Path, ...]
    """Of every build that is installed."""
    path: str | None
    """Where the store is, None when that cannot be told."""
    why: str
    table: str = "memories"


def claims(
    config: LoadedConfig, look: PlaceFinder, cwd: Path
) -> tuple[list[PluginStore], list[ConfigFinding]]:
    """Every memory plugin that `config` names, in the memory slot or among the entries."""
    out, findings = [], []
    active = config.at("plugins", "slots", "memory")
    off = config.at("plugins", "enabled") is False
    for plugin in OWNERS:
        entry = config.at("plugins", "entries", plugin)
        if not isinstance(entry, dict) and active != plugin:
            continue
        enabled = not off and not (isinstance(entry, dict) and entry.get("enabled") is False)
        block = settings_block(config.mapping("plugins", "entries", plugin, "config"))
        raw = settings_block(config.mapping("plugins", "entries", plugin, "config", raw=True))
        manifests = find_manifests(plugin, config, cwd)
        manifest = manifests[0] if manifests else None
        table = block.get("tableName") if plugin == ENGINE else None
        table = table if isinstance(table, str) and table else "memories"
        path, why, problem = _place(plugin, block, config, manifest, look, table)
        if active == plugin and not enabled:
            findings.append(_finding(config, f"{plugin} has the memory slot but is switched off."))
        if problem:
            findings.append(_finding(config, problem))
        claim = PluginStore(
            plugin, config, block, raw, enabled, enabled and active == plugin, manifests, path, why, table
        )
        out.append(claim)
    return out, findings


def settings_block(config: dict[str, Any]) -> dict[str, Any]:
    """A plugin's settings; a second `config` inside is tolerated, as by the plugin itself, and wins."""
    inner = config.get("config")
    return (
        {**{key: config[key] for key in config if key != "config"}, **inner}
        if isinstance(inner, dict)
        else config
    )


def _place(
    plugin: str,
    block: Mapping[str, Any],
    config: LoadedConfig,
    manifest: Path | None,
    look: PlaceFinder,
    table: str,
) -> tuple[str | None, str, str]:
    """Path of the store, why it is there, and what is wrong (empty when nothing is)."""
    reading = config.reading
    given = block.get("dbPath")
    if not isinstance(given, str) or not given.strip():
        return _default(plugin, reading, look, table)
    text = expand_field(given, config.environ)
    if text is None or "${" in text:
        return None, "", f"dbPath of {plugin} names a variable that is not set, so its store cannot be found."
    if "://" in text and mask_text(text) != text:
        return None, "", f"dbPath of {plugin} carries a password; such an address is not opened."
    relative = (
        not text.strip().startswith(("~", "/", "\\")) and "://" not in text and not Path(text).is_absolute()
    )
    if relative and manifest is None:
        return (
            None,
            "",
            f"dbPath of {plugin} is relative ({text.strip()}) and the plugin's folder is unknown.",
        )
    anchor = manifest.parent if manifest is not None else reading.state
    place = storage_path(text, reading.home, anchor)
    if place is None:
        return None, "", f"dbPath of {plugin} starts with ~ and no home is set."
    if isinstance(place, Path) and not look.store(place, table):
        return str(place), "", f"dbPath of {plugin} is {place}, where there is no store (yet)."
    return str(place), "dbPath", ""


def _default(plugin: str, reading: PathReading, look: PlaceFinder, table: str) -> tuple[str | None, str, str]:
    folder = DEFAULT_FOLDERS[plugin]
    here = reading.state / "memory" / folder
    # Builds differ: older ones always take ~/.openclaw, newer ones the state folder that is in use.
    fixed = None if reading.home is None else reading.home / ".openclaw" / "memory" / folder
    if look.store(here, table):
        both = fixed is not None and fixed != here and look.store(fixed, table)
        problem = f"{plugin} may use {here} or {fixed}, by its build: set dbPath to be sure." if both else ""
        return str(here), "default dbPath", problem
    if fixed is not None and look.store(fixed, table):
        return str(fixed), "default dbPath", ""
    return str(here), "", f"{plugin} is configured, but there is no store at {here} (yet)."


def _finding(config: LoadedConfig, message: str) -> ConfigFinding:
    path = "" if config.file is None else config.file.path
    return ConfigFinding(
        "store-not-found" if "store" in message else "plugin-off", "warning", message, path=path
    )


# The embedding and reranking services that a plugin's settings name.


def embedding_of(
    block: Mapping[str, Any], raw: Mapping[str, Any], environ: Mapping[str, str], home: Path | None
) -> tuple[EmbeddingSettings | None, tuple[KeyRef, ...], str]:
    """The embedding provider without keys, where its keys are, and why it cannot be used ("" when it can)."""
    given = block.get("embedding")
    if not isinstance(given, Mapping):
        return None, (), "the plugin's settings name no embedding model"
    raw_given = raw.get("embedding")
    raw_key = raw_given.get("apiKey") if isinstance(raw_given, Mapping) else None
    keys = key_refs("embedding.apiKey", raw_key, given.get("apiKey"), environ, home)
    if not keys and given.get("provider") != "ollama":
        keys = key_refs("embedding.apiKey", None, {"source": "env", "id": "OPENAI_API_KEY"}, environ, home)
    address = _text(given, "baseURL") or _text(given, "baseUrl") or ""
    base_url = expand_field(address, environ)
    settings = EmbeddingSettings(
        model=_text(given, "model") or DEFAULT_MODEL,
        base_url=address if base_url is None else base_url,  # never OpenAI's own, with another service's key
        dimensions=_count(given, "dimensions") or _count(given, "dims") or _count(block, "dimensions"),
        request_dimensions=_count(given, "requestDimensions"),
        omit_dimensions=given.get("omitDimensions") is True,
        task_query=_text(given, "taskQuery"),
        task_passage=_text(given, "taskPassage"),
        normalized=given["normalized"] if isinstance(given.get("normalized"), bool) else None,
        max_input_chars=_count(given, "maxInputChars"),
        chunking=given.get("chunking") is not False,
        batch_timeout_s=(_count(given, "clientTimeoutMs") or 30_000) / 1000,
        provider=_text(given, "provider") or "",
        api_version=_text(given, "apiVersion") or "",
    )
    problem = (
        ""
        if base_url is not None
        else "the address of the embedding service names a variable that is not set"
    )
    if not problem and keys and all(ref.state == "not set" for ref in keys):
        problem = f"its key is not set here ({', '.join(ref.name or ref.where for ref in keys)})"
    return settings, keys, problem


def rerank_of(
    retrieval: Mapping[str, Any], raw: Mapping[str, Any], environ: Mapping[str, str], home: Path | None
) -> tuple[RerankSettings | None, tuple[KeyRef, ...]]:
    """The reranking service without its key, and where its key is; None when no remote one is configured."""
    if retrieval.get("rerank", "cross-encoder") != "cross-encoder":
        return None, ()
    key = key_ref(
        "retrieval.rerankApiKey", raw.get("rerankApiKey"), retrieval.get("rerankApiKey"), environ, home
    )
    if key is None:
        return None, ()
    default = RerankSettings()
    endpoint = _text(retrieval, "rerankEndpoint") or ""
    settings = RerankSettings(
        provider=_text(retrieval, "rerankProvider") or default.provider,
        endpoint=expand_field(endpoint, environ) or endpoint or default.endpoint,
        model=_text(retrieval, "rerankModel") or default.model,
        timeout_ms=float(_count(retrieval, "rerankTimeoutMs") or default.timeout_ms),
    )
    return settings, (key,)


def retrieval_block(block: Mapping[str, Any], keys: tuple[KeyRef, ...]) -> dict[str, Any] | None:
    """The `retrieval` block for the recall engine, secrets masked; a key that is not there is left out."""
    given = block.get("retrieval")
    if not isinstance(given, Mapping):
        return None
    out: dict[str, Any] = masked({name: value for name, value in given.items() if name != "rerankApiKey"})
    if any(ref.state != "not set" for ref in keys):
        out["rerankApiKey"] = MASK
    return out


def storage_options(block: Mapping[str, Any], environ: Mapping[str, str]) -> SecretText[Mapping[str, str]]:
    """The options of a remote store, variables filled in; one with a missing variable is left out."""
    given = block.get("storageOptions")
    options = {}
    for name, value in given.items() if isinstance(given, Mapping) else ():
        if isinstance(value, str) and (text := expand_field(value, environ)) is not None:
            options[str(name)] = text
    return SecretText(options)


def _text(block: Mapping[str, Any], name: str) -> str | None:
    value = block.get(name)
    return value.strip() or None if isinstance(value, str) else None


def _count(block: Mapping[str, Any], name: str) -> int | None:
    """A positive whole number, also written as text, as the plugin accepts it; 0 is not positive."""
    value = block.get(name)
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else 0.0
    except ValueError:
        return None
    return int(number) if math.isfinite(number) and number >= 1 else None


# The agents of a configuration, what each may read, and their folders of Markdown notes.

MEMORY_FILES = ("MEMORY.md", "memory.md")


def agents_of(
    config: LoadedConfig, claims: Iterable[PluginStore], cwd: Path
) -> tuple[list[Agent], list[ConfigFinding]]:
    """The configured agents, or the one implicit `main`; scopes where memory-lancedb-pro is configured."""
    if not config.readable or (config.file is None and not os.path.isdir(config.reading.state)):
        return [], []
    findings: list[ConfigFinding] = []
    path = "" if config.file is None else config.file.path
    pro = next((claim for claim in claims if claim.plugin == PRO), None)
    policy = None
    if pro is not None:
        from memtui.engine.access import ScopePolicy

        policy, faults = ScopePolicy.read(pro.block.get("scopes"), config.environ)
        findings += [
            ConfigFinding("scopes-invalid", "error", fault.message, fault.fix, path) for fault in faults
        ]
    agents = []
    for place in agent_places(config, cwd):
        if not place.configured:
            continue
        exists = place.workspace is not None and os.path.isdir(place.workspace)
        if not exists and place.entry is not None and isinstance(place.entry.values.get("workspace"), str):
            findings.append(
                ConfigFinding(
                    "workspace-missing",
                    "note",
                    f"The workspace of agent {place.id} does not exist: {place.workspace}.",
                    path=path,
                )
            )
        scopes = None if policy is None else tuple(policy.accessible(place.id))
        workspace = "" if place.workspace is None else str(place.workspace)
        agents.append(Agent(place.id, path, workspace, exists, place.implicit, scopes, str(place.database)))
    return agents, findings


def workspaces_of(config: LoadedConfig, agents: Iterable[Agent]) -> list[Workspace]:
    """The workspaces that hold memory-core notes or have an index made from them."""
    by_path: dict[str, list[Agent]] = {}
    for agent in agents:
        if agent.workspace:
            by_path.setdefault(agent.workspace, []).append(agent)
    out = []
    for path, named in by_path.items():
        folder = Path(path)
        memory = next((str(folder / name) for name in MEMORY_FILES if os.path.isfile(folder / name)), None)
        notes = os.path.isdir(folder / "memory")
        index = next((file for agent in named if (file := _index(config.reading.state, agent))), None)
        if memory or notes or index:
            out.append(Workspace(path, tuple(agent.id for agent in named), memory, notes, index))
    return out


def _index(state: Path, agent: Agent) -> str | None:
    """The agent's own database on hosts of today; what an older one left behind is no longer the index."""
    places = (agent.database, str(state / "memory" / f"{agent.id}.sqlite"))
    return next((place for place in places if os.path.isfile(place)), None)
