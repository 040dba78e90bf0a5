"""Which memories an agent may read and where it writes: memory-lancedb-pro's scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.errors import ConfigError, UsageError
from memtui.engine.js import trim

GLOBAL = "global"
KINDS = ("agent", "custom", "project", "user", "reflection")
BYPASS_AGENTS = ("system", "undefined")
"""Reserved agent ids that no filter applies to."""
TEAM_VARIABLE = "CLAWTEAM_MEMORY_SCOPE"
"""A comma list of scopes that every agent may use."""
_DEFINABLE = re.compile(r"[a-zA-Z0-9._:-]{1,100}")


def scope_of(kind: str, name: str) -> str:
    """The scope of one agent, project, user or custom name."""
    return f"{kind}:{name}"


def split_scope(scope: str) -> tuple[str, str] | None:
    """(kind, name) at the first colon; `global` has no name; None for a bare word."""
    if scope == GLOBAL:
        return GLOBAL, ""
    kind, colon, name = scope.partition(":")
    return (kind, name) if colon else None


def agent_of_session(session_key: str | None) -> str | None:
    """The agent of a session key `agent:<id>[:...]`; None for any other key and for reserved ids."""
    kind, _, rest = trim(session_key or "").partition(":")
    agent = trim(rest.partition(":")[0]) if kind == "agent" else ""
    return None if not agent or is_bypass(agent) else agent


def is_bypass(agent: str | None) -> bool:
    """Whether this is a reserved id that sees every scope."""
    return agent in BYPASS_AGENTS


def is_built_in(scope: str) -> bool:
    """Whether a scope needs no definition: `global`, or any text after a known kind and a colon."""
    return scope == GLOBAL or scope.startswith(tuple(f"{kind}:" for kind in KINDS))


@dataclass(frozen=True, slots=True)
class ScopePolicy:
    """The `scopes` block of a configuration; the default is an empty block."""

    default: str = GLOBAL
    definitions: tuple[str, ...] = (GLOBAL,)
    """Registered scopes; `global` is always the first."""
    access: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Explicit lists by agent; they replace the usual ones."""
    team: tuple[str, ...] = ()
    """Scopes that the environment gives to every agent."""
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_config(cls, block: Any, environ: Mapping[str, str]) -> ScopePolicy:
        """Read a `scopes` block (None and other non-objects count as empty) and the team variable.

        Raises ConfigError when the default is not defined, an access list names a reserved agent, or a
        team scope is not a name that can be defined.
        """
        given = block if isinstance(block, Mapping) else {}
        named = given.get("definitions")
        definitions = list(dict.fromkeys((GLOBAL, *(named if isinstance(named, Mapping) else ()))))
        default = given.get("default") or GLOBAL
        if default not in definitions:
            raise ConfigError(
                f"The default scope {default} is not defined.",
                path="scopes.default",
                fix="Add it to scopes.definitions or take one that is there.",
            )
        access = _access(given.get("agentAccess"))
        warnings = tuple(
            f"Agent {agent} has access to the scope {scope}, which is not defined."
            for agent, scopes in access.items()
            for scope in scopes
            if scope not in definitions and not is_built_in(scope)
        )
        team = _team(environ, definitions)
        return cls(default, tuple(dict.fromkeys((*definitions, *team))), access, team, warnings)

    def accessible(self, agent: str | None) -> list[str]:
        """The scopes an agent may read: its explicit list or global and its own, and its own reflections.

        Without an agent, and for reserved ids, all defined scopes.
        """
        if not agent or is_bypass(agent):
            return list(self.definitions)
        name = trim(agent)
        scopes = self.access.get(name, (GLOBAL, scope_of("agent", name)))
        return list(dict.fromkeys((*scopes, f"reflection:agent:{name}", *self.team)))

    def store_filter(self, agent: str | None) -> list[str] | None:
        """The scopes to filter by; None means no filter at all, not even for rows without a scope."""
        return None if not agent or is_bypass(agent) else self.accessible(agent)

    def is_valid(self, scope: str) -> bool:
        """Whether a memory may have this scope: built in or defined, padding ignored."""
        name = trim(scope)
        return bool(name) and (is_built_in(name) or name in self.definitions)

    def is_accessible(self, scope: str, agent: str | None) -> bool:
        """Whether an agent may use exactly this scope; without an agent any valid one."""
        if not agent or is_bypass(agent):
            return self.is_valid(scope)
        return scope in self.accessible(agent)

    def default_write_scope(self, agent: str | None) -> str:
        """Where a memory goes that names no scope: the agent's own, else the configured default.

        Raises UsageError for a reserved id, which must name a scope. A padded agent id is not trimmed
        here, so it falls back to the default, as in the plugin.
        """
        if not agent:
            return self.default
        if is_bypass(agent):
            raise UsageError(
                f"The reserved agent {agent} has no scope of its own.", fix="Name the scope to write to."
            )
        own = scope_of("agent", agent)
        return own if own in self.accessible(agent) else self.default

    def counts(self) -> dict[str, int]:
        """Defined scopes by kind; reflections count as `user`, as the plugin counts them."""
        found = dict.fromkeys((GLOBAL, "agent", "custom", "project", "user", "other"), 0)
        for scope in self.definitions:
            kind = (split_scope(scope) or ("other", ""))[0]
            kind = "user" if kind == "reflection" else kind
            found[kind if kind in found else "other"] += 1
        return found


def _access(block: Any) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, scopes in block.items() if isinstance(block, Mapping) else ():
        agent = trim(key)
        if is_bypass(agent):
            raise ConfigError(
                f"The reserved agent {agent} cannot have an access list.",
                path=f"scopes.agentAccess.{agent}",
                fix="Remove the entry; this id sees every scope.",
            )
        if agent:
            listed = scopes if isinstance(scopes, list) else []
            found[agent] = tuple(scope for scope in listed if isinstance(scope, str))
    return found


def _team(environ: Mapping[str, str], definitions: Sequence[str]) -> tuple[str, ...]:
    scopes = tuple(scope for part in environ.get(TEAM_VARIABLE, "").split(",") if (scope := trim(part)))
    for scope in scopes:
        if scope not in definitions and not _DEFINABLE.fullmatch(scope):
            raise ConfigError(
                f"{TEAM_VARIABLE} names a scope that cannot be defined: {scope}.",
                path=TEAM_VARIABLE,
                fix="Use 1 to 100 letters, digits and the characters . _ : - for a scope.",
            )
    return scopes
