"""What the host wrote about itself: its version and the plugins that it found, from its state database.

The row `plugins.installedIndex` of `config_machine_state` tells which builds of which plugins the host found, from
where and whether enabled, without starting it. Source: spec/openclaw.md 1.3.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.core.sqlite_file import column_names, open_unchanged

INDEX_ROW = "config_machine_state.plugins.installedIndex"
"""How the row is named in evidence."""

KNOWN_SCHEMA = 23
"""Newest schema of an agent's database that memtui knows."""

KNOWN_STATE_SCHEMA = 18
"""Newest schema of the state database that memtui knows."""

KNOWN_VERSIONS = ((2026, 1), (2026, 9))
"""First and last release line (year, month) of hosts whose homes memtui was built against."""

_VERSION = re.compile(r"(\d{4})\.(\d{1,2})\.(\d+)")


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """A plugin that the host found when it last looked."""

    id: str
    origin: str
    """bundled, global (extensions), config (load paths), workspace; empty where it is not told."""
    enabled: bool
    version: str
    root: str
    """Folder at the place where the host ran."""
    manifest: str
    tools: tuple[str, ...] = ()

    @property
    def bundled(self) -> bool:
        """Whether it came with the host, and so needs no permission for conversation hooks."""
        return self.origin == "bundled"


@dataclass(frozen=True, slots=True)
class HostState:
    """The host's own record of itself; empty values where it left none."""

    database: Path
    """Where the state database is, or would be."""
    version: str = ""
    schema: int = 0
    plugins: Mapping[str, InstalledPlugin] = field(default_factory=dict)
    diagnostics: tuple[str, ...] = ()
    """What the host said about plugins when it last looked, one line each."""
    workspace: str = ""
    """The workspace for which it looked."""
    generated_ms: int = 0
    indexed: bool = False
    """Whether it left an index of plugins at all."""
    problem: str = ""
    """Why the database cannot be read, in a sentence; empty where it can, or is not there."""

    @property
    def known(self) -> bool:
        """Whether memtui was built against homes of this version: its release line and both schemas."""
        return is_known_version(self.version) and self.schema <= KNOWN_STATE_SCHEMA and not self.problem


def is_known_version(version: str) -> bool:
    """Whether this is a release line that memtui was built against."""
    match = _VERSION.match(version)
    return match is not None and KNOWN_VERSIONS[0] <= (int(match[1]), int(match[2])) <= KNOWN_VERSIONS[1]


def state_database(state: Path) -> Path:
    """The host's state database in a state folder, whether or not it is there."""
    return state / "state" / "openclaw.sqlite"


def read_host_state(state: Path, config: Any = None) -> HostState:
    """The host's record of itself in `state`; never raises.

    `config` is the tree of the configuration: its `meta.lastTouchedVersion` counts where the database has no version.
    """
    database = state_database(state)
    meta = config.get("meta") if isinstance(config, Mapping) else None
    touched = str(meta.get("lastTouchedVersion") or "") if isinstance(meta, Mapping) else ""
    if not database.is_file():
        return HostState(database, touched)
    try:
        with open_unchanged(database) as db:
            schema = int(db.execute("PRAGMA user_version").fetchone()[0])
            index = _index(db)
    except (sqlite3.Error, OSError) as error:
        return HostState(database, touched, problem=f"{database} cannot be read: {error}.")
    if index is None:
        return HostState(database, touched, schema)
    plugins: dict[str, InstalledPlugin] = {}
    listed = index.get("plugins")
    for entry in listed if isinstance(listed, list) else ():
        plugin = _plugin(entry)
        if plugin is not None:
            plugins.setdefault(plugin.id, plugin)
    said = index.get("diagnostics")
    made = index.get("generatedAtMs")
    return HostState(
        database,
        _text(index, "hostContractVersion") or touched,
        schema,
        plugins,
        tuple(_diagnostic(item) for item in said) if isinstance(said, list) else (),
        _text(index, "workspaceDir"),
        int(made) if isinstance(made, int | float) else 0,
        isinstance(listed, list),
    )


def _index(db: sqlite3.Connection) -> Mapping[str, Any] | None:
    if not {"state_key", "value_json"} <= set(column_names(db, "config_machine_state")):
        return None
    row = db.execute(
        "SELECT value_json FROM config_machine_state WHERE state_key = 'plugins.installedIndex'"
    ).fetchone()
    try:
        value = json.loads(row[0]) if row else None
    except (ValueError, TypeError, RecursionError):
        return None
    inner = value.get("index") if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else value if isinstance(value, Mapping) else None


def _plugin(entry: Any) -> InstalledPlugin | None:
    if not isinstance(entry, Mapping) or not _text(entry, "pluginId"):
        return None
    node: Any = entry
    for key in ("contributions", "contracts", "tools"):
        node = node.get(key) if isinstance(node, Mapping) else None
    return InstalledPlugin(
        _text(entry, "pluginId"),
        _text(entry, "origin"),
        entry.get("enabled") is True,
        _text(entry, "packageVersion"),
        _text(entry, "rootDir"),
        _text(entry, "manifestPath"),
        tuple(str(tool) for tool in node) if isinstance(node, list) else (),
    )


def _diagnostic(item: Any) -> str:
    if isinstance(item, Mapping):
        named = " ".join(_text(item, key) for key in ("pluginId", "level", "code", "message"))
        return " ".join(named.split()) or json.dumps(item)[:500]
    return str(item)


def _text(block: Mapping[str, Any], key: str) -> str:
    value = block.get(key)
    return value.strip() if isinstance(value, str) else ""
