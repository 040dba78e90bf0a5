"""Editing who reads what as a planned change of the configuration: the difference of cells comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.access.policy import BYPASS_AGENTS, TEAM_VARIABLE, Reason, ScopePolicy
from memtui.engine.configuration.file import REMOVED, Configuration
from memtui.engine.configuration.owner_rules import CORE, other_owner
from memtui.engine.configuration.plans import SettingChange, block_under, change_to
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.core.javascript import trim
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import one_line
from memtui.engine.discovery.types import BUILTIN, PRO

_QUOTED = 160
"""Characters of a list of the configuration that are quoted."""


_RULED: Mapping[str, str] = {
    BUILTIN: "an agent reads and writes the rows with its own agentId",
    CORE: "an agent reads its own workspace and its own index",
}
"""How the owners of the slot that have no lists keep agents apart."""


def without_lists(config: Configuration) -> str:
    """Why no list of what agents read can be written: another plugin has the memory slot. Empty where it can."""
    owner = other_owner(config)
    if not owner:
        return ""
    ruled = f": {_RULED[owner]}" if owner in _RULED else ""
    return f"{one_line(owner)} has the memory slot and reads no lists of scopes{ruled}. Nothing was changed."


def plan_access(config: Configuration, agent: str, scopes: Sequence[str] | None) -> tuple[SettingChange, ...]:
    """Plan an agent's list of scopes, word for word and in this order; None takes the list away.

    Where the configuration writes the agent's name with space around it, that entry is changed: the plugin trims
    it, too, and of several the last counts. Raises UsageError for an agent that cannot have a list and for a
    scope of no text, RefusedError where the owner of the memory slot reads no such lists.
    """
    if why := without_lists(config):
        raise RefusedError(why, fix=f"Lists are read while plugins.slots.memory names {PRO}.")
    name = trim(agent)
    if not name or name in BYPASS_AGENTS:
        raise UsageError(
            f"{agent!r} cannot have an access list.", fix="It reads every scope, or is no agent at all."
        )
    if any(not trim(scope) for scope in scopes or ()):
        raise UsageError("A list cannot grant a scope without a name.", fix="Re-scope these memories first.")
    listed = config.plugin.get("scopes")
    block = listed.get("agentAccess") if isinstance(listed, dict) else None
    written = [key for key in block if trim(key) == name] if isinstance(block, dict) else []
    path = (*config.config_path, "scopes", "agentAccess", written[-1] if written else name)
    change = change_to(
        config, path, REMOVED if scopes is None else list(scopes), f"what {name} reads and writes"
    )
    return () if change is None else (change,)


def access_under(
    config: Configuration, changes: Sequence[SettingChange], environ: Mapping[str, str]
) -> ScopePolicy:
    """The rules once the changes are made. Raises ConfigError where the plugin would refuse them."""
    block: Any = block_under(config, changes).get("scopes")
    return ScopePolicy.from_config(block, environ)


def listed_scopes(config: Configuration, agent: str) -> tuple[str, ...] | None:
    """The agent's list as the configuration has it; None where it has none and the usual scopes count."""
    listed = config.plugin.get("scopes")
    block = listed.get("agentAccess") if isinstance(listed, dict) else None
    found: tuple[str, ...] | None = None
    for key, value in block.items() if isinstance(block, dict) else ():
        if trim(key) == trim(agent):
            found = tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
    return found


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Where an agent's list stands: the file, the line of its key, and the line of each scope in it."""

    file: Path
    line: int
    scopes: Mapping[str, int]
    words: str = ""
    """The key and its list as the file has them, on one line, cut, and with secrets masked."""


def list_places(config: Configuration) -> dict[str, ListPlace]:
    """Where each agent's list stands, by the agent; of a name that is written twice the one that counts."""
    found: dict[str, ListPlace] = {}
    listed = config.plugin.get("scopes")
    block = listed.get("agentAccess") if isinstance(listed, dict) else None
    for key in block if isinstance(block, dict) else ():
        spot = config.spot((*config.config_path, "scopes", "agentAccess", key))
        if not spot.there or spot.node is None:
            continue
        text = config.texts[spot.file]
        lines = {item.value: text.count("\n", 0, item.start) + 1 for item in spot.node.items}
        first = text.count("\n", 0, spot.node.start) + 1
        named = {scope: line for scope, line in lines.items() if isinstance(scope, str)}
        words = one_line(mask(f'"{key}": {text[spot.node.start : spot.node.end]}')[0])
        words = words if len(words) <= _QUOTED else f"{words[:_QUOTED]}…"
        found[trim(key)] = ListPlace(spot.file, first, named, words)
    return found


def rule_place(
    places: Mapping[str, ListPlace], config: Path | None, agent: str, scope: str | None, reason: Reason
) -> str:
    """Which line of which file makes a cell so: "agentAccess.scribe names user:eva, openclaw.json:41"; else ""."""
    if reason in ("bypass", "null-scope", "own-reflection"):
        return ""
    if reason == "env":
        return f"{TEAM_VARIABLE} in the environment"
    place = places.get(trim(agent))
    if place is None:
        return "" if config is None else f"{config.name} has no agentAccess.{agent}"
    line = place.scopes.get(scope or "")
    if line is not None:
        return f"agentAccess.{agent} names it, {place.file.name}:{line}"
    return f"agentAccess.{agent} does not name it, {place.file.name}:{place.line}"
