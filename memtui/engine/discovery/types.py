"""What discovery found: plain frozen values without a secret in them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.discovery.places import KnownPlace
from memtui.engine.discovery.variables import KeyRef, SecretText, mask_text

if TYPE_CHECKING:
    from memtui.engine.providers.embedding_services import EmbeddingSettings
    from memtui.engine.providers.reranker import RerankSettings


PRO = "memory-lancedb-pro"

BUILTIN = "memory-lancedb"

ENGINE = "openclaw-mem-engine"

CORE = "memory-core"
"""OpenClaw's own: an index in SQLite, which is no store of LanceDB."""

CREWAI = "crewai"
"""CrewAI's memory: no plugin of a host, one store a project."""

HERMES = "hermes"
"""LanceDB's plugin for Hermes: one store a home, each profile is one."""

OWNERS = (PRO, BUILTIN, ENGINE)
"""The plugins that keep their memories in LanceDB."""


@dataclass(frozen=True, slots=True)
class ConfigFinding:
    """Something a person should know; `path`, `line` and `column` (from 1) say where."""

    kind: str
    """Machine word, for example `config-unreadable` or `variable-missing`."""
    severity: Literal["error", "warning", "note"]
    message: str
    fix: str = ""
    path: str = ""
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One `openclaw.json` and what became of it."""

    path: str
    reader: Literal["host", "plugin"]
    """Whose reading of the environment leads here; differs only under OPENCLAW_HOME."""
    state: str
    """The state folder that goes with it."""
    parse: Literal["ok", "incomplete", "error"]
    """incomplete: a file that it includes could not be read."""
    message: str = ""
    line: int | None = None
    column: int | None = None
    includes: tuple[str, ...] = ()
    active_plugin: str | None = None
    """`plugins.slots.memory`; None when not set or not readable."""


@dataclass(frozen=True, slots=True)
class Redis:
    """Where the plugin's Redis lock is; its URL stays hidden, it may carry a password."""

    host: str
    port: int
    db: int
    key_prefix: str
    key: str
    """`<prefix>:<sha256 of the resolved dbPath>`."""
    ttl_ms: int
    url: SecretText[str] = field(default=SecretText(""), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Lock:
    """How other writers of this store keep out of each other's way."""

    kind: Literal["file", "redis", "none", "unknown"]
    redis: Redis | None = None


@dataclass(frozen=True, slots=True)
class WriteGuard:
    """Whether editing beside the agent is safe."""

    verdict: Literal["ok", "stop-agent", "read-only"]
    """stop-agent: only once a person confirms that the agent is stopped (or will be restarted)."""
    reason: str
    manifest: str = ""
    """The installed plugin's manifest, empty when none was found."""
    read_consistency_s: float | None = None
    """Seconds for which the agent may see an old version; None when its build does not know the setting."""


@dataclass(frozen=True, slots=True)
class FoundStore:
    """A store that exists (or a remote one that is configured), and how its agent uses it."""

    name: str
    path: str
    """Absolute folder, or the URI of a remote store."""
    plugin: str
    """Program that owns it: `PRO`, `BUILTIN`, `ENGINE`, `CREWAI` or `HERMES`; for a left-over store, by its folder."""
    table: str
    configured: bool | None
    """None: unknown, the configuration cannot be read."""
    active: bool
    """It belongs to the plugin in the memory slot."""
    enabled: bool
    why: str
    lock: Lock
    gate: WriteGuard
    config: str = ""
    """The configuration that names it."""
    reader: Literal["host", "plugin", ""] = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The plugin's whole block, variables filled in, secrets masked."""
    model: str | None = None
    config_dims: int | None = None
    keys: tuple[KeyRef, ...] = ()
    embedding_problem: str = ""
    """Why no embedder can be made from the configuration; empty when one can."""
    retrieval: dict[str, Any] | None = None
    decay: dict[str, Any] | None = None
    tier: dict[str, Any] | None = None
    scopes: dict[str, Any] | None = None
    agents: tuple[str, ...] = ()
    """The agents that the configuration names, the one that owns ambient work first; empty where it names none."""
    retention_days: float | None = None
    """Days after which the plugin prunes old versions; None when it does not."""
    agent: str = ""
    """Of an index of memory-core: whose it is."""
    workspace: str = ""
    """Of an index of memory-core: the folder of its Markdown; empty where it is not known."""
    extra_paths: tuple[tuple[str, str], ...] = ()
    """Of an index of memory-core: the paths beside the workspace that are indexed, each with its pattern."""
    rerank_keys: tuple[KeyRef, ...] = ()
    hidden_embedding: SecretText[EmbeddingSettings | None] = field(
        default=SecretText(None), repr=False, compare=False
    )
    hidden_rerank: SecretText[RerankSettings | None] = field(
        default=SecretText(None), repr=False, compare=False
    )
    hidden_storage: SecretText[Mapping[str, str]] = field(default=SecretText({}), repr=False, compare=False)

    @property
    def embedding(self) -> EmbeddingSettings | None:
        """The agent's embedding provider with its keys; a key file is read at this moment."""
        from dataclasses import replace

        settings = self.hidden_embedding.reveal()
        keys = tuple(key for ref in self.keys if (key := ref.read()))
        return None if settings is None else replace(settings, api_keys=keys)

    @property
    def rerank(self) -> RerankSettings | None:
        """The agent's reranking service with its key; None when it uses none."""
        from dataclasses import replace

        settings = self.hidden_rerank.reveal()
        key = next((key for ref in self.rerank_keys if (key := ref.read())), "")
        return None if settings is None else replace(settings, api_key=key)

    @property
    def storage_options(self) -> Mapping[str, str]:
        """Options for opening a remote store; may hold secrets."""
        return self.hidden_storage.reveal()

    @property
    def is_index(self) -> bool:
        """Whether it is memory-core's index of an agent, and no table."""
        return self.plugin == CORE

    @property
    def is_remote(self) -> bool:
        """Whether the store is not a local folder."""
        return "://" in self.path

    @property
    def base_url(self) -> str:
        """The embedding service's address without user, password or key; empty without one."""
        settings = self.hidden_embedding.reveal()
        return "" if settings is None else mask_text(settings.url)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of a configuration."""

    id: str
    config: str
    workspace: str
    workspace_exists: bool
    implicit: bool = False
    """No agents are configured: OpenClaw then runs one, `main`."""
    scopes: tuple[str, ...] | None = None
    """What it may read in the memory-lancedb-pro store; None where that plugin is not configured."""
    database: str = ""
    """Where its database is, or would be: sessions and memory-core's index of today's host."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder of memory-core notes: MEMORY.md and memory/*.md, and the index made from them."""

    path: str
    agents: tuple[str, ...]
    memory_file: str | None
    notes: bool
    index: str | None
    """The agent's database of newer hosts, else `<state>/memory/<agent>.sqlite`, where there is one."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """Everything that was found, and every place that was looked at."""

    looked_at: tuple[KnownPlace, ...]
    configs: tuple[ConfigFile, ...]
    stores: tuple[FoundStore, ...]
    """The stores of the active plugin first, left-over ones last."""
    agents: tuple[Agent, ...]
    workspaces: tuple[Workspace, ...]
    findings: tuple[ConfigFinding, ...]
    indexes: tuple[FoundStore, ...] = ()
    """memory-core's index of each agent that has a database, those that are recalled by first."""
    conflict: str = ""
    """Non-empty when the environment can be read in two ways: which, in one sentence."""

    @property
    def folders(self) -> tuple[str, ...]:
        """`looked_at` in short: the folders that hold the configurations and default stores looked for."""
        out = []
        for place in self.looked_at:
            folder = os.path.dirname(place.path)
            is_default = place.what == "store" and os.path.basename(folder) == "memory"
            out.append(
                os.path.dirname(folder) if is_default else folder if place.what == "config" else place.path
            )
        return tuple(dict.fromkeys(out))

    @property
    def active_plugin(self) -> str | None:
        """The plugin in the memory slot, None when unknown or in conflict."""
        plugins = {config.active_plugin for config in self.configs}
        return plugins.pop() if len(self.configs) == 1 else None

    def named(self, name: str) -> tuple[FoundStore, ...]:
        """The stores that a person may mean by `name`: its own name, else the plugin that is configured."""
        exact = tuple(store for store in (*self.stores, *self.indexes) if store.name == name)
        return exact or tuple(store for store in self.stores if store.plugin == name and store.configured)
