"""Editing who reads what as a planned change of the configuration: the difference of cells comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtui.engine.access.policy import BYPASS_AGENTS, ScopePolicy
from memtui.engine.configuration.file import REMOVED, Configuration
from memtui.engine.configuration.plans import SettingChange, block_under, change_to
from memtui.engine.core.errors import UsageError
from memtui.engine.core.javascript import trim


def plan_access(config: Configuration, agent: str, scopes: Sequence[str] | None) -> tuple[SettingChange, ...]:
    """An agent's list of scopes becomes this one, word for word and in this order; None takes the list away.

    Where the configuration writes the agent's name with space around it, that entry is changed: the plugin trims
    it, too, and of several the last counts. Raises UsageError for an agent that cannot have a list and for a
    scope of no text.
    """
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
            found = tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
    return found
