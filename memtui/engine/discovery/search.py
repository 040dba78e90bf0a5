"""The whole search: environment, configurations, plugins, default places, agents. Creates nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from memtui.engine.clean import one_line
from memtui.engine.discovery import gate
from memtui.engine.discovery.agents import agents_of, listed_agents, workspaces_of
from memtui.engine.discovery.config import Loaded, load
from memtui.engine.discovery.found import BUILTIN, PRO, Agent, Discovery, Finding, FoundStore, Lock, Workspace
from memtui.engine.discovery.models import embedding_of, rerank_of, retrieval_block, storage_options
from memtui.engine.discovery.owners import Claim, claims
from memtui.engine.discovery.places import Looker, default_states, read_environment, readings
from memtui.engine.discovery.secret import Hidden, masked


def discover(environ: Mapping[str, str], *, cwd: Path) -> Discovery:
    """Find every store that the agents of this environment use, and the left-over ones at the default places.

    No store is opened, no lancedb imported, nothing written and nothing connected to; a few milliseconds.
    What is wrong with a configuration becomes a finding, never an exception.
    """
    look = Looker()
    where = read_environment(environ, cwd)
    used = readings(where, look)
    configs = [load(reading, environ, cwd) for reading in used]
    findings = [finding for config in configs for finding in config.findings]
    if where.config is not None and used[0].config is None:
        message = f"OPENCLAW_CONFIG_PATH names {where.config}, which does not exist."
        findings.append(Finding("config-missing", "error", message, path=str(where.config)))
    stores: dict[str, FoundStore] = {}
    agents: list[Agent] = []
    workspaces: list[Workspace] = []
    for config in configs:
        owned, problems = claims(config, look, cwd)
        findings += problems
        for claim in owned:
            if claim.path is not None and claim.why:
                _add(stores, claim, claim.path)
        people, problems = agents_of(config, owned, cwd)
        findings += problems
        agents += people
        workspaces += workspaces_of(config, people)
    unreadable = next((config for config in configs if not config.readable), None)
    for state in default_states(where, used):
        for plugin, folder in ((PRO, "lancedb-pro"), (BUILTIN, "lancedb")):
            place = state / "memory" / folder
            if look.store(place) and os.path.realpath(place) not in stores:
                stores[os.path.realpath(place)] = _left_over(place, plugin, configs, unreadable)
    return Discovery(
        looked_at=tuple(look.places.values()),
        configs=tuple(config.file for config in configs if config.file is not None),
        stores=_named(sorted(stores.values(), key=_order)),
        agents=tuple(agents),
        workspaces=tuple(workspaces),
        findings=tuple(findings),
        conflict=_conflict(configs),
    )


def _add(stores: dict[str, FoundStore], claim: Claim, path: str) -> None:
    """Note the claimed store; of two plugins on one folder the active one is taken."""
    key = path if "://" in path else os.path.realpath(path)
    if key not in stores or (claim.active and not stores[key].active):
        stores[key] = _store(claim, path)


def _store(claim: Claim, path: str) -> FoundStore:
    config, block = claim.config, claim.block
    home, environ = config.reading.home, config.environ
    embedding, keys, problem = embedding_of(block, claim.raw, environ, home)
    given, raw = block.get("retrieval"), claim.raw.get("retrieval")
    rerank, rerank_keys = rerank_of(
        given if isinstance(given, dict) else {}, raw if isinstance(raw, dict) else {}, environ, home
    )
    lock = gate.lock_of(claim.plugin, block, path, environ)
    return FoundStore(
        name=os.path.basename(path.rstrip("/")),
        path=path,
        plugin=claim.plugin,
        table=claim.table,
        configured=True,
        active=claim.active,
        enabled=claim.enabled,
        why=f"{claim.why} of {claim.plugin}" + ("" if claim.enabled else ", which is switched off"),
        lock=lock if config.readable else Lock("unknown"),
        gate=gate.gate_of(claim.plugin, lock, block, claim.manifest) if config.readable else gate.UNREADABLE,
        config="" if config.file is None else config.file.path,
        reader=config.reading.who,
        settings=masked(block),
        model=None if embedding is None else embedding.model,
        config_dims=None if embedding is None else embedding.expected_dimensions,
        keys=keys,
        embedding_problem=problem,
        retrieval=retrieval_block(block, rerank_keys),
        decay=_mapping(block, "decay"),
        tier=_mapping(block, "tier"),
        scopes=_mapping(block, "scopes"),
        agents=listed_agents(config),
        retention_days=gate.retention_days(block),
        rerank_keys=rerank_keys,
        hidden_embedding=Hidden(embedding),
        hidden_rerank=Hidden(rerank),
        hidden_storage=storage_options(block, environ),
    )


def _mapping(block: Mapping[str, object], name: str) -> dict[str, object] | None:
    value = block.get(name)
    return dict(value) if isinstance(value, dict) else None


def _left_over(place: Path, plugin: str, configs: list[Loaded], unreadable: Loaded | None) -> FoundStore:
    """A store at a default place that no configuration names."""
    if unreadable is not None:
        why, problem = "default place; whether it is in use is unknown", "the configuration cannot be read"
    elif any(config.file is not None for config in configs):
        why, problem = (
            "left over: a default place that the configuration does not name",
            "no configuration names this store",
        )
    else:
        why, problem = "default place; there is no openclaw.json", "there is no openclaw.json"
    return FoundStore(
        name=place.name,
        path=str(place),
        plugin=plugin,
        table="memories",
        configured=False if unreadable is None else None,
        active=False,
        enabled=False,
        why=why,
        lock=Lock("file" if plugin == PRO else "none") if unreadable is None else Lock("unknown"),
        gate=gate.LEFT_OVER if unreadable is None else gate.UNREADABLE,
        embedding_problem=problem,
    )


def _order(store: FoundStore) -> tuple[bool, bool, bool]:
    """Active first, then configured, then switched off; discovery order (host before plugin) within."""
    return (not store.active, not store.configured, not store.enabled)


def _named(stores: list[FoundStore]) -> tuple[FoundStore, ...]:
    """Give every store a name of its own: its folder's, with its reading or a number where that is taken."""
    names = [one_line(store.name) or "store" for store in stores]
    out: list[FoundStore] = []
    for store, name in zip(stores, names, strict=True):
        if (
            names.count(name) > 1
            and store.reader
            and len({each.reader for each in stores if each.reader}) > 1
        ):
            name = f"{name}@{store.reader}"
        taken = {each.name for each in out}
        number = 2
        unique = name
        while unique in taken:
            unique = f"{name}-{number}"
            number += 1
        out.append(replace(store, name=unique))
    return tuple(out)


def _conflict(configs: list[Loaded]) -> str:
    files = [config.file for config in configs if config.file is not None]
    if len(files) < 2:
        return ""
    host, plugin = files[0], files[1]
    return (
        f"OPENCLAW_HOME can be read in two ways: OpenClaw takes it for a home and uses {host.path}, "
        f"memory-lancedb-pro's own command takes it for the state folder and uses {plugin.path}."
    )
