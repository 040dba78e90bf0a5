"""The agents of a host's configuration: the one place that knows how its forms name them, and where each lives.

Forms: `agents.entries` keyed by id (since 2026.7) with `memory.search`, and the older `agents.list` with
`memorySearch`, which the host migrates in memory while the file keeps it. Source: spec/openclaw.md 1.2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtui.engine.access import DEFAULT_AGENT
from memtui.engine.discovery.host_state import state_database
from memtui.engine.discovery.openclaw_config import LoadedConfig, load
from memtui.engine.discovery.places import (
    PathReading,
    PlaceFinder,
    default_states,
    read_environment,
    readings,
    user_path,
)
from memtui.engine.discovery.variables import KeyPath

ENTRIES: KeyPath = ("agents", "entries")

LIST: KeyPath = ("agents", "list")

DATABASE = "openclaw-agent.sqlite"

_PLAIN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """One agent as the configuration names it."""

    id: str
    values: Mapping[str, Any]
    path: KeyPath
    """Where it stands: ("agents", "entries", id) or ("agents", "list", number)."""
    legacy_owner: bool = False
    """Whether the older form makes it the default agent, which keeps the undivided workspace."""


def agent_entries(values: Any) -> tuple[AgentEntry, ...]:
    """The agents that a configuration's tree names, in its order, the older list after the keyed entries.

    Empty where it names none: the host then runs one implicit agent. What is no agent is left out.
    """
    agents = values.get("agents") if isinstance(values, Mapping) else None
    agents = agents if isinstance(agents, Mapping) else {}
    keyed, listed = agents.get("entries"), agents.get("list")
    found: dict[str, AgentEntry] = {}
    for name, entry in keyed.items() if isinstance(keyed, Mapping) else ():
        if isinstance(name, str) and name.strip() and isinstance(entry, Mapping):
            found.setdefault(name.strip(), AgentEntry(name.strip(), entry, (*ENTRIES, name)))
    old = [
        (number, entry)
        for number, entry in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str) and entry["id"].strip()
    ]
    owner = next(
        (number for number, entry in old if entry.get("default") is True), old[0][0] if old else None
    )
    for number, entry in old:
        name = entry["id"].strip()
        found.setdefault(name, AgentEntry(name, entry, (*LIST, number), number == owner))
    return tuple(found.values())


def agent_ids(values: Any) -> tuple[str, ...]:
    """The ids of the agents that a configuration's tree names, the one that owns ambient work first."""
    entries = agent_entries(values)
    first = system_agent(values)
    return tuple(dict.fromkeys([*([first] if first else []), *(entry.id for entry in entries)]))


def system_agent(values: Any) -> str:
    """The agent that owns ambient work (the dreaming job): the sole one, the older default, else the one named.

    Empty where several agents are named and none of them owns it.
    """
    entries = agent_entries(values)
    if not entries:
        return ""
    named = _text(_at(values, "agents", "defaults", "systemAgent", "agentId"))
    legacy = next((entry.id for entry in entries if entry.legacy_owner), "")
    known = {entry.id for entry in entries}
    return entries[0].id if len(entries) == 1 else named if named in known else legacy


def normalized_agent_id(agent: str) -> str:
    """An agent's id as the host writes it into paths, session keys and rows: lower case, odd characters as "-"."""
    text = agent.strip()
    if _PLAIN_ID.fullmatch(text):
        return text.lower()
    made = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-")[:64]
    return made or DEFAULT_AGENT


SEARCH_FORMS: tuple[tuple[KeyPath, ...], tuple[KeyPath, ...]] = (
    (("agents", "defaults", "memorySearch"), ("memorySearch",), ("memory", "search")),
    (("memorySearch",), ("memory", "search")),
)
"""Where the settings of search stand: in the root, and in an agent's entry; the later ones win."""


def memory_search(values: Any, agent: str | None = None) -> dict[str, Any]:
    """The settings of memory-core's search that count for an agent, or for all; a deeper key wins alone."""
    entry = next((entry for entry in agent_entries(values) if entry.id == agent), None)
    out: dict[str, Any] = {}
    for place in SEARCH_FORMS[0]:
        out = _laid(out, _at(values, *place))
    for place in SEARCH_FORMS[1] if entry is not None else ():
        out = _laid(out, _at(entry.values if entry else {}, *place))
    return out


def search_key(values: Any, *keys: str, agent: str | None = None) -> KeyPath:
    """Where the setting of search that counts for an agent stands; today's place where none is set."""
    entry = next((entry for entry in agent_entries(values) if entry.id == agent), None)
    places = [*SEARCH_FORMS[0], *((*entry.path, *place) for place in SEARCH_FORMS[1] if entry is not None)]
    found = [place for place in places if _at(values, *place, *keys) is not None]
    return (*(found[-1] if found else ("memory", "search")), *keys)


@dataclass(frozen=True, slots=True)
class AgentPlace:
    """An agent of a configuration, or one that left a folder, with the places where it keeps things."""

    id: str
    config: str
    """The configuration that names it, empty without one."""
    workspace: Path | None
    """None where `~` cannot be told."""
    folder: Path
    """The agent's own folder: `<state>/agents/<id>/agent`, or its `agentDir`."""
    sessions: Path
    """`<state>/agents/<id>/sessions`: archives of today's host, transcripts of older ones."""
    entry: AgentEntry | None = None
    """None for the implicit agent, and for one that the configuration does not name."""
    implicit: bool = False
    configured: bool = True
    """False for a folder below `<state>/agents` that no configuration names."""
    search: Mapping[str, Any] = field(default_factory=dict)
    """`memory_search` of the agent."""

    @property
    def database(self) -> Path:
        """The agent's database, whether or not it is there."""
        return self.folder / DATABASE

    @property
    def search_enabled(self) -> bool:
        """Whether the agent has a memory at all: `memory.search.enabled` takes every plugin's from it."""
        return self.search.get("enabled") is not False


def agent_places(config: LoadedConfig, cwd: Path) -> tuple[AgentPlace, ...]:
    """The agents that `config` names, or the one implicit `main`, then those that only left a folder.

    Nothing is opened. A configuration that cannot be read names none.
    """
    state = config.reading.state
    path = "" if config.file is None else config.file.path
    entries = agent_entries(config.values)
    places: dict[str, AgentPlace] = {}
    known = config.readable and (config.file is not None or os.path.isdir(state))
    for entry in (entries or (AgentEntry(DEFAULT_AGENT, {}, ()),)) if known else ():
        folder_id = normalized_agent_id(entry.id)
        own = _text(entry.values.get("agentDir"))
        folder = user_path(own, config.reading.home, cwd) if own else None
        places.setdefault(
            folder_id,
            AgentPlace(
                entry.id,
                path,
                workspace_of(config, entry, cwd),
                folder or state / "agents" / folder_id / "agent",
                state / "agents" / folder_id / "sessions",
                entry if entries else None,
                implicit=not entries,
                search=memory_search(config.values, entry.id),
            ),
        )
    try:
        left = sorted(item.name for item in (state / "agents").iterdir() if item.is_dir())
    except OSError:
        left = []
    for name in left:
        if name not in places:
            folder = state / "agents" / name
            places[name] = AgentPlace(name, "", None, folder / "agent", folder / "sessions", configured=False)
    return tuple(places.values())


def find_agent_places(environ: Mapping[str, str], cwd: Path) -> tuple[AgentPlace, ...]:
    """The agents of every state folder of this environment, those that a configuration names first, each once."""
    where = read_environment(environ, cwd)
    used = readings(where, PlaceFinder())
    found: dict[tuple[str, str], AgentPlace] = {}
    loaded = [load(reading, environ, cwd) for reading in used]
    others = [PathReading("host", None, state, where.user_home) for state in default_states(where, used)]
    known = {os.path.realpath(reading.state) for reading in used}
    loaded += [
        load(reading, environ, cwd) for reading in others if os.path.realpath(reading.state) not in known
    ]
    for config in loaded:
        for place in agent_places(config, cwd):
            if config.file is not None or not place.implicit:
                found.setdefault((os.path.realpath(place.folder), os.path.realpath(place.sessions)), place)
    return tuple(sorted(found.values(), key=lambda place: not place.configured))


def workspace_of(config: LoadedConfig, entry: AgentEntry, cwd: Path) -> Path | None:
    """The agent's workspace by the host's rule; None for `~` without a home.

    Its own key; for the sole agent and the older default one `agents.defaults.workspace`, OPENCLAW_WORKSPACE_DIR or
    `<state>/workspace`; for the others a folder of their id below the default one, else `<state>/workspace-<id>`.
    """
    home, state = config.reading.home, config.reading.state
    own = _text(entry.values.get("workspace"))
    if own:
        return user_path(own, home, cwd)
    shared = _text(config.at("agents", "defaults", "workspace"))
    name = normalized_agent_id(entry.id)
    if len(agent_entries(config.values)) <= 1 or entry.legacy_owner:
        shared = shared or config.environ.get("OPENCLAW_WORKSPACE_DIR", "").strip()
        return user_path(shared, home, cwd) if shared else state / "workspace"
    # The older host never divided the shared folder; today's reads the older form by its own rule.
    divides = entry.path[: len(LIST)] != LIST or state_database(state).is_file()
    if not divides or not shared:
        return state / f"workspace-{name}"
    place = user_path(shared, home, cwd)
    return None if place is None else place / name


def _laid(base: dict[str, Any], over: Any) -> dict[str, Any]:
    """`over` laid upon `base`: objects key by key, all else replaced."""
    out = dict(base)
    for key, value in over.items() if isinstance(over, Mapping) else ():
        known = out.get(key)
        out[key] = _laid(known, value) if isinstance(known, dict) and isinstance(value, Mapping) else value
    return out


def _at(values: Any, *path: str | int) -> Any:
    node = values
    for key in path:
        if isinstance(node, Mapping):
            node = node.get(key)
        elif isinstance(node, list) and isinstance(key, int) and key < len(node):
            node = node[key]
        else:
            return None
    return node


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def configured_ids(places: Iterable[AgentPlace]) -> tuple[str, ...]:
    """The ids as the host writes them into rows, of the agents that the configuration names."""
    return tuple(normalized_agent_id(place.id) for place in places if place.configured)
