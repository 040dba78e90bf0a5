"""The indexes that memory-core keeps, one an agent, as stores: whose each is, and where the Markdown behind it lies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.discovery.agents import (
    DATABASE,
    AgentPlace,
    agent_places,
    memory_search,
    normalized_agent_id,
)
from memtui.engine.discovery.openclaw_config import LoadedConfig, load
from memtui.engine.discovery.places import CONFIG_NAMES, PathReading
from memtui.engine.discovery.plugins import embedding_of
from memtui.engine.discovery.types import CORE, FoundStore, Lock, WriteGuard
from memtui.engine.discovery.variables import SecretText, masked
from memtui.engine.notes.memory_files import ExtraPath, MemoryFiles, read_extra_paths

if TYPE_CHECKING:
    from memtui.engine.store.table import Store

TABLE = "memory_index_chunks"

GATE = WriteGuard(
    "ok", "memtui changes the Markdown alone; the index is the host's, which reads the files again."
)


def core_indexes(configs: Iterable[LoadedConfig], cwd: Path) -> tuple[FoundStore, ...]:
    """The index of every agent that has a database, those that recall by it first; nothing is opened."""
    found: dict[str, FoundStore] = {}
    for config in configs:
        for place in agent_places(config, cwd):
            if place.database.is_file():
                found.setdefault(os.path.realpath(place.database), _store(config, place))
    return _named(sorted(found.values(), key=lambda store: (not store.active, not store.configured)))


def index_at(file: Path, known: Iterable[FoundStore], environ: Mapping[str, str], cwd: Path) -> FoundStore:
    """What is known of the database `file`: by the environment, else by the configuration of its own state folder."""
    same = os.path.realpath(file)
    found = next((store for store in known if os.path.realpath(store.path) == same), None)
    if found is not None:
        return found
    for config in _own_configs(file, environ, cwd):
        for place in agent_places(config, cwd):
            if os.path.realpath(place.database) == same:
                return _named([_store(config, place)])[0]
    return _unknown(file)


def open_found_index(found: FoundStore) -> Store:
    """The index as a store, with the Markdown that the configuration gives it. Opening reads alone."""
    from memtui.engine.notes.index_store import open_index

    extra = tuple(ExtraPath(Path(path), pattern) for path, pattern in found.extra_paths)
    files = MemoryFiles(Path(found.workspace) if found.workspace else None, extra)
    return open_index(Path(found.path), files, found.agent)


def _own_configs(file: Path, environ: Mapping[str, str], cwd: Path) -> Iterable[LoadedConfig]:
    """The configuration of the state folder that the database lies in: `<state>/agents/<id>/agent/FILE`."""
    parents = file.absolute().parents
    if len(parents) < 4 or parents[2].name != "agents":
        return
    state = parents[3]
    config = next((state / name for name in CONFIG_NAMES if (state / name).is_file()), None)
    if config is not None:
        yield load(PathReading("host", config, state, state.parent), environ, cwd)


def _store(config: LoadedConfig, place: AgentPlace) -> FoundStore:
    slot = config.at("plugins", "slots", "memory")
    off = config.at("plugins", "enabled") is False or (
        config.at("plugins", "entries", CORE, "enabled") is False
    )
    owns = slot in (None, "", CORE) and not off
    enabled = owns and place.search_enabled and place.configured
    search = dict(place.search or memory_search(config.values, place.id))
    embedding, keys, problem = embedding_of(
        _block(search), _block(memory_search(config.raw, place.id)), config.environ, config.reading.home
    )
    none = search.get("provider") == "none"
    workspace = "" if place.workspace is None else str(place.workspace)
    extra = read_extra_paths(search.get("extraPaths"), config.reading.home, place.workspace)
    return FoundStore(
        name=f"{CORE}-{normalized_agent_id(place.id)}",
        path=str(place.database),
        plugin=CORE,
        table=TABLE,
        configured=place.configured,
        active=enabled,
        enabled=enabled,
        why=f"index of agent {place.id}" + _why_off(slot, off, place),
        lock=Lock("none"),
        gate=GATE,
        config=place.config,
        reader=config.reading.who,
        settings=masked(search),
        model=None if none or embedding is None else embedding.model,
        config_dims=None if none or embedding is None else embedding.expected_dimensions,
        keys=() if none else keys,
        embedding_problem="the configuration has no embedding provider (none)" if none else problem,
        agents=(place.id,),
        agent=normalized_agent_id(place.id),
        workspace=workspace,
        extra_paths=tuple((str(path.path), path.pattern) for path in extra),
        hidden_embedding=SecretText(None if none else embedding),
    )


def _why_off(slot: Any, off: bool, place: AgentPlace) -> str:
    if not place.configured:
        return ", which the configuration does not name"
    if off:
        return ", which is switched off"
    if slot not in (None, "", CORE):
        return f", beside {slot}, which owns the memory slot"
    return "" if place.search_enabled else ", whose memory search is switched off"


def _block(search: Mapping[str, Any]) -> dict[str, Any]:
    """The embedding provider of the search settings as a plugin's block names it."""
    remote = search.get("remote")
    remote = remote if isinstance(remote, Mapping) else {}
    given = {
        "model": search.get("model"),
        "baseURL": remote.get("baseUrl"),
        "apiKey": remote.get("apiKey"),
        "dimensions": search.get("outputDimensionality"),
    }
    return {"embedding": {key: value for key, value in given.items() if value is not None}}


def _unknown(file: Path) -> FoundStore:
    agent = file.parent.parent.name if file.parent.name == "agent" else ""
    return FoundStore(
        name=f"{CORE}-{agent}" if agent else CORE,
        path=str(file),
        plugin=CORE,
        table=TABLE,
        configured=None,
        active=False,
        enabled=False,
        why="no configuration names this index",
        lock=Lock("none"),
        gate=GATE,
        embedding_problem="no configuration names this index",
        agent=agent,
    )


def _named(stores: Iterable[FoundStore]) -> tuple[FoundStore, ...]:
    """Each with a name of its own; a second agent of the same id gets a number."""
    out: list[FoundStore] = []
    for store in stores:
        taken = {other.name for other in out}
        number, name = 2, store.name
        while name in taken:
            name, number = f"{store.name}-{number}", number + 1
        out.append(replace(store, name=name))
    return tuple(out)


def is_index_file(path: Path) -> bool:
    """Whether the path is the database of an agent, by its name."""
    return path.name == DATABASE and path.is_file()
