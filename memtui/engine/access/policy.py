"""Who reads which scope, who writes where, and why: one piece of code for recall, capture and the access view.

Ask `Access` for the effective scopes of an agent under a configuration:

    access = access_of("pro", block=config["scopes"], environ=environ)   # or Engine.access
    access.searched("main")          # ("global", "agent:main", ...), None where nothing is filtered
    access.reads("main", "user:eva") # Grant(scope="user:eva", allowed=False, reason="not-granted")
    access.writes("main", "global")  # Grant(scope="global", allowed=True, reason="default-global")
    access.writes_to("main")         # "agent:main": where a memory goes that names no scope

Each dialect has its own rules (spec/admin 3.1): memory-lancedb-pro filters by scopes, the built-in program by the
agent of a row, openclaw-mem-engine searches the one scope that a call names. Reasons are machine words of a closed
set; `REASONS` says each in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from memtui.engine.core.errors import ConfigError, UsageError
from memtui.engine.core.javascript import trim

GLOBAL = "global"

KINDS = ("agent", "custom", "project", "user", "reflection")

BYPASS_AGENTS = ("system", "undefined")
"""Reserved agent ids that no filter applies to."""

DEFAULT_AGENT = "main"
"""The agent that a host without a list of agents runs; tools ask as it where no agent is known."""

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


Reason = Literal[
    "bypass",
    "acl",
    "default-global",
    "default-own",
    "own-reflection",
    "env",
    "not-granted",
    "null-scope",
    "padded",
    "case",
    "undefined-form",
    "acl-replaces-default",
    "one-pool",
    "own-row",
    "unscoped",
    "other-agent",
    "no-agent",
    "by-name",
    "default-scope",
    "fallback",
]
"""Why a scope may be used or not. The first twelve are memory-lancedb-pro's, the others those of other programs."""

REASONS: Mapping[Reason, str] = {
    "bypass": "no agent is named, or a reserved one: nothing is filtered",
    "acl": "its access list names it",
    "default-global": "every agent without an access list reads global",
    "default-own": "its own scope",
    "own-reflection": "its own reflections, which no list takes away",
    "env": f"{TEAM_VARIABLE} gives it to every agent",
    "not-granted": "not granted",
    "null-scope": "no filter matches a memory without a scope",
    "padded": "the same name with spaces around it, which is another scope",
    "case": "the same name in other letters, which is another scope",
    "undefined-form": "no known form and not defined",
    "acl-replaces-default": "its access list does not name it, and replaces what it would have without one",
    "one-pool": "all agents share one pool",
    "own-row": "the memory is its own",
    "unscoped": "its own, and unscoped memories are always searched",
    "other-agent": "the memory is another agent's",
    "no-agent": "the memory has no agent yet: refused until the program's own repair",
    "by-name": "any agent may name any scope",
    "default-scope": "searched where no scope is named",
    "fallback": "searched after it while there is room",
}


@dataclass(frozen=True, slots=True)
class Grant:
    """One scope, as stored, and whether an agent may use it."""

    scope: str | None
    allowed: bool
    reason: Reason

    @property
    def words(self) -> str:
        """The reason in English."""
        return REASONS[self.reason]


class Access(Protocol):
    """The rules of one store. An agent of None or "" is a caller that names none."""

    def reads(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Whether an agent may read memories of this scope; `owner` is the row's agent where rows have one."""
        ...

    def writes(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Whether an agent may write a memory that names this scope."""
        ...

    def searched(self, agent: str | None) -> tuple[str, ...] | None:
        """The scopes that a recall of this agent is filtered by when it names none; None is no filter by scope."""
        ...

    def writes_to(self, agent: str | None) -> str | None:
        """The scope of a memory that names none; None where there is none to take."""
        ...

    def named_agents(self) -> tuple[str, ...]:
        """The agents that the configuration names by access lists."""
        ...

    def named_scopes(self) -> tuple[str, ...]:
        """The scopes that the configuration defines or grants."""
        ...


@dataclass(frozen=True, slots=True)
class OpenAccess:
    """No rules: one pool for everybody (the built-in program's first generation, tables of nobody)."""

    def reads(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Everything."""
        return Grant(scope, True, "one-pool")

    def writes(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Everywhere."""
        return Grant(scope, True, "one-pool")

    def searched(self, agent: str | None) -> tuple[str, ...] | None:
        """No filter."""
        return None

    def writes_to(self, agent: str | None) -> str | None:
        """No scope."""
        return None

    def named_agents(self) -> tuple[str, ...]:
        """None."""
        return ()

    def named_scopes(self) -> tuple[str, ...]:
        """None."""
        return ()


@dataclass(frozen=True, slots=True)
class OwnerAccess(OpenAccess):
    """The built-in program since rows have an `agentId`: its own rows; `scope` "" there means unscoped."""

    scoped: bool = False
    """Whether rows have a scope column: a recall names at most one and gets it and the unscoped rows."""

    def reads(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Whether the row is the agent's own; its own rows of a scope only where the recall names the scope."""
        if owner is None or not owner:
            return Grant(scope, False, "no-agent")
        if owner != (trim(agent or "") or DEFAULT_AGENT):
            return Grant(scope, False, "other-agent")
        if not self.scoped:
            return Grant(scope, True, "own-row")
        return Grant(scope, True, "by-name" if scope else "unscoped")

    def writes(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Writes go to the agent's own rows, in any scope."""
        return Grant(scope, True, "own-row")

    def searched(self, agent: str | None) -> tuple[str, ...] | None:
        """Where no scope is named, unscoped rows only."""
        return () if self.scoped else None

    def writes_to(self, agent: str | None) -> str | None:
        """Unscoped."""
        return "" if self.scoped else None


@dataclass(frozen=True, slots=True)
class OneScopeAccess(OpenAccess):
    """openclaw-mem-engine: the policy is per call, not per agent; the one effective scope, then its fallbacks."""

    default: str = GLOBAL
    fallbacks: tuple[str, ...] = ()

    def reads(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Everything, by name; what is searched without one says so."""
        name = scope or GLOBAL
        if name == self.default:
            return Grant(scope, True, "default-scope")
        return Grant(scope, True, "fallback" if name in self.fallbacks else "by-name")

    def writes(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Everywhere, by name."""
        return Grant(scope, True, "default-scope" if (scope or GLOBAL) == self.default else "by-name")

    def searched(self, agent: str | None) -> tuple[str, ...] | None:
        """The default scope, then the fallbacks in order."""
        return (self.default, *self.fallbacks)

    def writes_to(self, agent: str | None) -> str | None:
        """The default scope."""
        return self.default

    def named_scopes(self) -> tuple[str, ...]:
        """The default scope and its fallbacks."""
        return (self.default, *self.fallbacks)


def access_of(
    dialect: str,
    *,
    block: Any = None,
    environ: Mapping[str, str] | None = None,
    one_scope: tuple[str, Sequence[str]] | None = None,
) -> Access:
    """The rules of a dialect, by its name.

    `block` is the plugin's `scopes` block, `one_scope` mem-engine's default scope and fallbacks. Tables of memtui
    and of other programs have no rules of their own: an agent's recipe on them asks by the plugin's. Raises
    ConfigError for a block that the plugin itself refuses.
    """
    if dialect in ("builtin-g2", "builtin-g3"):
        return OwnerAccess(scoped=dialect == "builtin-g3")
    if dialect == "builtin-g1":
        return OpenAccess()
    if dialect == "engine":
        default, fallbacks = one_scope or (GLOBAL, ())
        return OneScopeAccess(default, tuple(fallbacks))
    return ScopePolicy.from_config(block, environ or {})


def agents_in(scopes: Iterable[str | None]) -> tuple[str, ...]:
    """The agents that scopes like `agent:ops` and `reflection:agent:ops` speak of, each once.

    Space around a name is no part of an agent's id: such a scope is a misspelt one of the same agent.
    """
    found: dict[str, None] = {}
    for scope in scopes:
        kind, name = split_scope(scope or "") or ("", "")
        if kind == "reflection":
            kind, name = split_scope(name) or ("", "")
        if kind == "agent" and trim(name):
            found[trim(name)] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ScopePolicy:
    """memory-lancedb-pro's rules: the `scopes` block of a configuration; the default is an empty block."""

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
        policy, faults = cls.read(block, environ)
        if faults:
            raise faults[0]
        return policy

    @classmethod
    def read(cls, block: Any, environ: Mapping[str, str]) -> tuple[ScopePolicy, tuple[ConfigError, ...]]:
        """What can be read of a `scopes` block, and every fault for which the plugin refuses it."""
        faults: list[ConfigError] = []
        given = block if isinstance(block, Mapping) else {}
        named = given.get("definitions")
        definitions = list(dict.fromkeys((GLOBAL, *(named if isinstance(named, Mapping) else ()))))
        default = given.get("default") or GLOBAL
        if default not in definitions:
            faults.append(
                ConfigError(
                    f"The default scope {default} is not defined.",
                    path="scopes.default",
                    fix="Add it to scopes.definitions or take one that is there.",
                )
            )
            default = GLOBAL
        access = _access(given.get("agentAccess"), faults)
        warnings = tuple(
            f"Agent {agent} has access to the scope {scope}, which is not defined."
            for agent, scopes in access.items()
            for scope in scopes
            if scope not in definitions and not is_built_in(scope)
        )
        team = _team(environ, definitions, faults)
        policy = cls(default, tuple(dict.fromkeys((*definitions, *team))), access, team, warnings)
        return policy, tuple(faults)

    @classmethod
    def granting(cls, agent: str, scopes: Sequence[str]) -> ScopePolicy:
        """Rules by which `agent` reads and writes these scopes and no other, and a memory goes to the first of them."""
        first = scopes[0] if scopes else scope_of("agent", agent)
        return cls(first, tuple(scopes), {agent: tuple(scopes)})

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

    def reads(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Whether an agent may read memories of this scope, as it is stored."""
        if not agent or is_bypass(agent):
            return Grant(scope, True, "bypass")
        return self._grant(trim(agent), scope)

    def writes(self, agent: str | None, scope: str | None, owner: str | None = None) -> Grant:
        """Whether an agent may write a memory that names this scope."""
        if scope is None or not trim(scope):
            return Grant(scope, False, "null-scope")
        if not agent or is_bypass(agent):
            return (
                Grant(scope, True, "bypass")
                if self.is_valid(scope)
                else Grant(scope, False, "undefined-form")
            )
        return self._grant(trim(agent), scope)

    def searched(self, agent: str | None) -> tuple[str, ...] | None:
        """`store_filter` as a tuple."""
        scopes = self.store_filter(agent)
        return None if scopes is None else tuple(scopes)

    def writes_to(self, agent: str | None) -> str | None:
        """`default_write_scope`; None for a reserved id, which must name a scope."""
        return None if is_bypass(agent) else self.default_write_scope(agent)

    def named_agents(self) -> tuple[str, ...]:
        """The agents that have a list of their own."""
        return tuple(self.access)

    def named_scopes(self) -> tuple[str, ...]:
        """The scopes that the configuration defines or grants, each once."""
        return tuple(
            dict.fromkeys((*self.definitions, *(s for listed in self.access.values() for s in listed)))
        )

    def _grant(self, name: str, scope: str | None) -> Grant:
        """The verdict on one scope for the agent `name`, trimmed and not reserved."""
        if scope is None or not trim(scope):
            return Grant(scope, False, "null-scope")
        own, listed = scope_of("agent", name), self.access.get(name)
        if scope in (listed if listed is not None else (GLOBAL, own)):
            default: Reason = "default-global" if scope == GLOBAL else "default-own"
            return Grant(scope, True, default if listed is None else "acl")
        if scope == f"reflection:{own}":
            return Grant(scope, True, "own-reflection")
        if scope in self.team:
            return Grant(scope, True, "env")
        return Grant(scope, False, self._refusal(name, scope, own))

    def _refusal(self, name: str, scope: str, own: str) -> Reason:
        readable = self.accessible(name)
        if trim(scope) in readable:
            return "padded"
        if trim(scope).lower() in {each.lower() for each in readable}:
            return "case"
        if name in self.access and scope in (GLOBAL, own):
            return "acl-replaces-default"
        return "not-granted" if self.is_valid(scope) else "undefined-form"

    def counts(self) -> dict[str, int]:
        """Defined scopes by kind; reflections count as `user`, as the plugin counts them."""
        found = dict.fromkeys((GLOBAL, "agent", "custom", "project", "user", "other"), 0)
        for scope in self.definitions:
            kind = (split_scope(scope) or ("other", ""))[0]
            kind = "user" if kind == "reflection" else kind
            found[kind if kind in found else "other"] += 1
        return found


def _access(block: Any, faults: list[ConfigError]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, scopes in block.items() if isinstance(block, Mapping) else ():
        agent = trim(key)
        if is_bypass(agent):
            faults.append(
                ConfigError(
                    f"The reserved agent {agent} cannot have an access list.",
                    path=f"scopes.agentAccess.{agent}",
                    fix="Remove the entry; this id sees every scope.",
                )
            )
        elif agent:
            listed = scopes if isinstance(scopes, list) else []
            found[agent] = tuple(scope for scope in listed if isinstance(scope, str))
    return found


def _team(
    environ: Mapping[str, str], definitions: Sequence[str], faults: list[ConfigError]
) -> tuple[str, ...]:
    named = [scope for part in environ.get(TEAM_VARIABLE, "").split(",") if (scope := trim(part))]
    odd = [scope for scope in named if scope not in definitions and not _DEFINABLE.fullmatch(scope)]
    faults += [
        ConfigError(
            f"{TEAM_VARIABLE} names a scope that cannot be defined: {scope}.",
            path=TEAM_VARIABLE,
            fix="Use 1 to 100 letters, digits and the characters . _ : - for a scope.",
        )
        for scope in odd
    ]
    return tuple(scope for scope in named if scope not in odd)
