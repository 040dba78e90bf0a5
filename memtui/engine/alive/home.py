"""Everything on disk that the check looks at, each part read once: configuration, host, agents, log, stores, turns."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from memtui.engine.alive.gateway_log import GatewayLog, log_files, read_log
from memtui.engine.alive.model import CauseEvidence
from memtui.engine.alive.recent_turns import AgentActivity, read_activity
from memtui.engine.core.sqlite_file import column_names, open_unchanged
from memtui.engine.discovery.agents import AgentPlace, agent_places, normalized_agent_id
from memtui.engine.discovery.host_state import (
    INDEX_ROW,
    HostState,
    InstalledPlugin,
    read_host_state,
)
from memtui.engine.discovery.openclaw_config import LoadedConfig, load
from memtui.engine.discovery.places import PathReading, PlaceFinder, read_environment, readings, user_path
from memtui.engine.discovery.plugins import PluginStore, claims
from memtui.engine.discovery.write_guard import find_manifests
from memtui.engine.store.manifests import TableSketch, sketch_table

CORE = "memory-core"

MODERN = (2026, 7)
"""First release line that keeps its own record, knows keyed agents and asks for permissions."""


@dataclass(frozen=True, slots=True)
class LanceTable:
    """A plugin's table as its newest manifest tells it."""

    folder: Path
    table: Path
    sketch: TableSketch | None
    """None where there is none, or it cannot be read."""
    owners: Mapping[str, int] = field(default_factory=dict)
    """Rows by the agent that they belong to; "" for rows of nobody."""
    owners_known: bool = True

    @property
    def there(self) -> bool:
        """Whether a table's folder is there at all."""
        return self.table.is_dir()

    @property
    def manifest(self) -> str:
        """The folder of its versions: the file of evidence about the store."""
        return str(self.table / "_versions") if (self.table / "_versions").is_dir() else str(self.folder)


@dataclass(frozen=True)
class Home:
    """One home of the host: a configuration with its state folder."""

    config: LoadedConfig
    environ: Mapping[str, str]
    cwd: Path
    now_ms: int

    @property
    def state(self) -> Path:
        """The state folder."""
        return self.config.reading.state

    @property
    def user_home(self) -> Path | None:
        """What `~` means."""
        return self.config.reading.home

    @property
    def file(self) -> str:
        """The configuration file, empty without one."""
        return "" if self.config.file is None else self.config.file.path

    @cached_property
    def host(self) -> HostState:
        """The host's own record."""
        return read_host_state(self.state, self.config.values)

    @cached_property
    def host_known(self) -> bool:
        """Whether memtui was built against this home: the state's and every agent's schema, the release line."""
        return self.host.known and not any(activity.newer for activity in self.activities.values())

    @cached_property
    def modern(self) -> bool:
        """Whether the host keeps its own record: then permissions and keyed agents count."""
        version = self.host.version.split(".")
        told = [int(part) for part in version[:2] if part.isdecimal()]
        return self.host.indexed or (len(told) == 2 and (told[0], told[1]) >= MODERN)

    @cached_property
    def places(self) -> tuple[AgentPlace, ...]:
        """The agents with their folders, those only left behind last."""
        return agent_places(self.config, self.cwd)

    @cached_property
    def agents(self) -> tuple[AgentPlace, ...]:
        """The agents that the configuration names, or the implicit one."""
        return tuple(place for place in self.places if place.configured)

    @cached_property
    def activities(self) -> dict[str, AgentActivity]:
        """The newest turns by the agent's id as the host writes it."""
        return {normalized_agent_id(place.id): read_activity(place.database) for place in self.places}

    def activity(self, agent: str) -> AgentActivity:
        """The newest turns of one agent; empty for one without a folder."""
        found = self.activities.get(normalized_agent_id(agent))
        return found or AgentActivity(self.state / "agents" / normalized_agent_id(agent))

    @cached_property
    def log(self) -> GatewayLog:
        """What the gateway's log says of memory."""
        named = self.config.at("logging", "file")
        place = user_path(named, self.user_home, self.cwd) if isinstance(named, str) and named else None
        return read_log(log_files("" if place is None else str(place), self.state))

    @cached_property
    def claims(self) -> tuple[PluginStore, ...]:
        """The LanceDB plugins that the configuration names, with their stores."""
        return tuple(claims(self.config, PlaceFinder(), self.cwd)[0])

    @cached_property
    def slot(self) -> str:
        """The plugin that the memory slot names; memory-core where it is unset, "none" where nobody is wanted."""
        named = self.config.at("plugins", "slots", "memory")
        return named.strip() if isinstance(named, str) and named.strip() else CORE

    def plugin(self, name: str) -> InstalledPlugin | None:
        """A plugin as the host found it."""
        return self.host.plugins.get(name)

    def manifests(self, name: str) -> tuple[Path, ...]:
        """The manifests of a plugin's builds in the folders where the host looks."""
        return find_manifests(name, self.config, self.cwd)

    def is_installed(self, name: str) -> bool | None:
        """Whether the host can find a plugin; None where nothing on disk tells."""
        recorded = self.plugin(name)
        if self.manifests(name):
            return True
        if recorded is None:
            return False if self.host.indexed else None
        if recorded.root and Path(recorded.root).is_dir():
            return True
        # The folder is gone: a fault where the host itself is here, nothing to go by in a copy of another machine.
        return not any(Path(plugin.root).is_dir() for plugin in self.host.plugins.values() if plugin.root)

    def is_bundled(self, name: str) -> bool:
        """Whether a plugin came with the host."""
        recorded = self.plugin(name)
        return recorded.bundled if recorded is not None else name in (CORE, "active-memory", "memory-wiki")

    @cached_property
    def gateway_runs(self) -> bool:
        """Whether a gateway holds the state now, by its lease."""
        try:
            with open_unchanged(self.host.database) as db:
                if not {"scope", "lease_key", "expires_at"} <= set(column_names(db, "state_leases")):
                    return False
                row = db.execute(
                    "SELECT max(expires_at) FROM state_leases WHERE 'gateway-owner' IN (scope, lease_key)"
                ).fetchone()
        except (sqlite3.Error, OSError):
            return False
        return isinstance(row[0], int) and row[0] > self.now_ms

    @cached_property
    def recorded_state(self) -> str:
        """Where the state folder was when the host wrote it: another place in a copied home; "" where not told."""
        try:
            with open_unchanged(self.host.database) as db:
                if "store_key" in column_names(db, "cron_jobs"):
                    row = db.execute(
                        "SELECT store_key FROM cron_jobs WHERE store_key LIKE '%/cron/jobs.json'"
                    ).fetchone()
                    if row is not None:
                        return str(row[0]).removesuffix("/cron/jobs.json")
        except (sqlite3.Error, OSError):
            pass
        lead, mark, _ = self.host.workspace.partition(f"/{self.state.name}/")
        return f"{lead}/{self.state.name}" if mark else ""

    def here(self, recorded: str) -> Path:
        """A path that the host recorded, at the place where the home lies now."""
        old_state = self.recorded_state
        if not old_state or not os.path.isabs(recorded):
            return Path(recorded)
        old, new = Path(old_state), self.state
        if Path(recorded).is_relative_to(old):
            return new / Path(recorded).relative_to(old)
        while old.name and old.name == new.name:  # the folders above that are called alike moved along
            old, new = old.parent, new.parent
            if Path(recorded).is_relative_to(old):
                return new / Path(recorded).relative_to(old)
        old, new = Path(old_state).parent, self.state.parent
        return new / Path(recorded).relative_to(old) if Path(recorded).is_relative_to(old) else Path(recorded)

    def table(self, claim: PluginStore) -> LanceTable | None:
        """The plugin's table; None for a store that is elsewhere or whose place cannot be told."""
        if claim.path is None or "://" in claim.path:
            return None
        if claim.path not in self._tables:
            self._tables[claim.path] = _look_at_table(Path(claim.path), claim.table)
        return self._tables[claim.path]

    @cached_property
    def _tables(self) -> dict[str, LanceTable]:
        return {}

    def key(self, *path: str | int) -> CauseEvidence:
        """CauseEvidence at a key of the configuration."""
        return CauseEvidence(self.file or str(self.state), ".".join(str(part) for part in path))

    @property
    def index_evidence(self) -> str:
        """The state database, where it is there; else the state folder."""
        return str(self.host.database) if self.host.database.is_file() else str(self.state)

    def index_row(self, plugin: str) -> CauseEvidence:
        """CauseEvidence in the host's index of plugins."""
        return CauseEvidence(self.index_evidence, f"{INDEX_ROW}: {plugin}")

    @cached_property
    def changed_ms(self) -> int:
        """When a person last changed the configuration after the host ran; 0 where that cannot be told.

        A copy has all its times at once: then the configuration counts as the one under which the host ran.
        """
        times = []
        for name in (self.file, *(self.config.file.includes if self.config.file is not None else ())):
            try:
                times.append(int(os.stat(name).st_mtime * 1000) if name else 0)
            except OSError:
                continue
        changed = max(times, default=0)
        try:
            ran = int(os.stat(self.host.database).st_mtime * 1000)
        except OSError:
            return 0
        return changed if changed > ran + 60_000 else 0


def homes_here(environ: Mapping[str, str], cwd: Path, now_ms: int) -> tuple[Home, ...]:
    """The homes that this environment leads to: one, or two where OPENCLAW_HOME can be read in two ways."""
    used: tuple[PathReading, ...] = readings(read_environment(environ, cwd), PlaceFinder())
    return tuple(Home(load(reading, environ, cwd), environ, cwd, now_ms) for reading in used)


def _look_at_table(folder: Path, name: str) -> LanceTable:
    table = folder / f"{name}.lance"
    sketch = sketch_table(table)
    if sketch is None or not sketch.rows:
        return LanceTable(folder, table, sketch)
    column = next((column for column in ("agentId", "scope") if column in sketch.columns), None)
    if column is None:
        return LanceTable(folder, table, sketch)
    counted = _count_owners(folder, name, column)
    return LanceTable(folder, table, sketch, counted or {}, counted is not None)


def _count_owners(folder: Path, name: str, column: str) -> dict[str, int] | None:
    """Rows by owner; the one place where a table is opened. None where it cannot be."""
    from memtui.engine.core.errors import MemtuiError
    from memtui.engine.store.open import open_store

    counts: dict[str, int] = {}
    try:
        store = open_store(folder, table=name)
        for batch in store.scan((column,)):
            for pair in batch.column(0).value_counts():
                value: Any = pair["values"].as_py()
                owner = str(value or "")
                if column == "scope":
                    owner = owner.removeprefix("agent:") if owner.startswith("agent:") else ""
                counts[owner] = counts.get(owner, 0) + pair["counts"].as_py()
    except MemtuiError:
        return None
    return counts
