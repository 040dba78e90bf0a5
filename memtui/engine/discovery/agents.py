"""The agents of a configuration, what each may read, and their folders of Markdown notes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memtui.engine.access import DEFAULT_AGENT
from memtui.engine.discovery.config import Loaded
from memtui.engine.discovery.found import PRO, Agent, Finding, Workspace
from memtui.engine.discovery.owners import Claim
from memtui.engine.discovery.places import user_path
from memtui.engine.errors import MemtuiError

MEMORY_FILES = ("MEMORY.md", "memory.md")


def agents_of(config: Loaded, claims: Iterable[Claim], cwd: Path) -> tuple[list[Agent], list[Finding]]:
    """The configured agents, or the one implicit `main`; scopes where memory-lancedb-pro is configured."""
    if not config.readable or (config.file is None and not os.path.isdir(config.reading.state)):
        return [], []
    findings: list[Finding] = []
    path = "" if config.file is None else config.file.path
    pro = next((claim for claim in claims if claim.plugin == PRO), None)
    policy = None
    if pro is not None:
        from memtui.engine.access import ScopePolicy

        try:
            policy = ScopePolicy.from_config(pro.block.get("scopes"), config.environ)
        except MemtuiError as error:
            findings.append(Finding("scopes-invalid", "error", error.message, error.fix, path))
    entries = _entries(config)
    implicit = not entries
    entries = entries or [{"id": DEFAULT_AGENT}]
    default = _default_of(entries)
    agents = []
    for entry in entries:
        name = entry["id"].strip()
        place = _workspace(entry, entry is default, config, cwd)
        exists = place is not None and os.path.isdir(place)
        if not exists and isinstance(entry.get("workspace"), str):
            findings.append(
                Finding(
                    "workspace-missing",
                    "note",
                    f"The workspace of agent {name} does not exist: {place}.",
                    path=path,
                )
            )
        scopes = None if policy is None else tuple(policy.accessible(name))
        agents.append(Agent(name, path, "" if place is None else str(place), exists, implicit, scopes))
    return agents, findings


def listed_agents(config: Loaded) -> tuple[str, ...]:
    """The ids of the configured agents, the default one first; empty where none are listed."""
    entries = _entries(config)
    if not entries:
        return ()
    ids = [entry["id"].strip() for entry in (_default_of(entries), *entries)]
    return tuple(dict.fromkeys(ids))


def _entries(config: Loaded) -> list[dict[str, Any]]:
    listed = config.at("agents", "list")
    return [entry for entry in listed if _named(entry)] if isinstance(listed, list) else []


def _default_of(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return next((entry for entry in entries if entry.get("default") is True), entries[0])


def _named(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str) and bool(entry["id"].strip())


def _workspace(entry: dict[str, Any], is_default: bool, config: Loaded, cwd: Path) -> Path | None:
    """The agent's own workspace; else the default agent's, or `workspace-<id>` for the others."""
    given = entry.get("workspace")
    if not isinstance(given, str) or not given.strip():
        shared = config.at("agents", "defaults", "workspace")
        given = shared if is_default and isinstance(shared, str) and shared.strip() else None
    if given is not None:
        return user_path(given, config.reading.home, cwd)
    return config.reading.state / ("workspace" if is_default else f"workspace-{entry['id'].strip()}")


def workspaces_of(config: Loaded, agents: Iterable[Agent]) -> list[Workspace]:
    """The workspaces that hold memory-core notes or have an index made from them."""
    by_path: dict[str, list[str]] = {}
    for agent in agents:
        if agent.workspace:
            by_path.setdefault(agent.workspace, []).append(agent.id)
    out = []
    for path, names in by_path.items():
        folder = Path(path)
        memory = next((str(folder / name) for name in MEMORY_FILES if os.path.isfile(folder / name)), None)
        notes = os.path.isdir(folder / "memory")
        index = next(
            (file for name in names if (file := _index(config.reading.state, name)) is not None), None
        )
        if memory or notes or index:
            out.append(Workspace(path, tuple(names), memory, notes, index))
    return out


def _index(state: Path, agent: str) -> str | None:
    places = (
        state / "memory" / f"{agent}.sqlite",
        state / "agents" / agent / "agent" / "openclaw-agent.sqlite",
    )
    return next((str(place) for place in places if os.path.isfile(place)), None)
