"""What one client may read and write of one store: by the agent that it acts for, or by what a person granted it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from memtui.engine.access import DEFAULT_AGENT, GLOBAL, Access, scope_of, split_scope
from memtui.engine.dialects.base import OWNER

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.dialects.base import Dialect


class Scoped(Protocol):
    """A memory, or what was read of one."""

    @property
    def scope(self) -> str | None:
        """The scope as stored."""
        ...

    @property
    def extra(self) -> Mapping[str, Any]:
        """The dialect's own columns."""
        ...


@dataclass(frozen=True, slots=True)
class ClientReach:
    """The rows that a client meets. In tables whose rows have an owner, `agent:x` are the rows of x.

    `agent` empty and `reads` None: a person's own client, which reads everything. `reads` are the scopes that a
    person granted; without them an agent reads `global` and its own, as far as the store's access rules allow.
    """

    dialect: Dialect
    access: Access
    agent: str = ""
    reads: Collection[str] | None = None
    writes: str | None = None
    """The one scope to write to; None: the agent's own, or any where no agent is named."""

    @property
    def scopes(self) -> tuple[str, ...] | None:
        """The scopes that may be read; None without a limit."""
        if self.reads is not None:
            return tuple(self.reads)
        if not self.agent:
            return None
        own = scope_of("agent", self.agent)
        if self.dialect.owned:
            return (own,)
        if self.dialect.columns.scope is None:
            return (GLOBAL,)
        return tuple(scope for scope in (GLOBAL, own) if self.access.reads(self.agent, scope).allowed)

    @property
    def limited(self) -> bool:
        """Whether there are rows that the client may not read: what it is told of the store must not count them."""
        return self.scopes is not None

    @property
    def owners(self) -> tuple[str, ...]:
        """The agents whose rows may be read, where rows have an owner; empty without a limit."""
        named = [split_scope(scope) for scope in self.scopes or ()] if self.dialect.owned else []
        return tuple(each[1] for each in named if each is not None and each[0] == "agent")

    @property
    def home(self) -> str:
        """The scope of a new memory that names none."""
        if self.writes is not None:
            return self.writes
        if self.dialect.columns.scope is None and not self.dialect.owned:
            return GLOBAL
        return scope_of("agent", self.agent) if self.agent else GLOBAL

    @property
    def stored_scopes(self) -> tuple[str | None, ...] | None:
        """The stored scopes to list; None where the rows have to be looked at one by one, or all are shown."""
        if self.scopes is None or self.dialect.owned or self.dialect.columns.scope is None:
            return None
        unscoped = (None, "") if self.access.reads(self.agent, None).allowed and GLOBAL in self.scopes else ()
        return (*self.scopes, *unscoped)

    def scope_of(self, memory: Scoped) -> str | None:
        """The scope as a client is told: a row without one is its owner's, or everybody's where all share one pool."""
        if self.dialect.owned:
            return memory.scope or scope_of("agent", str(memory.extra.get(OWNER) or DEFAULT_AGENT))
        return GLOBAL if self.dialect.columns.scope is None else memory.scope

    def may_read(self, memory: Scoped) -> bool:
        """Whether this row is shown."""
        allowed = self.scopes
        if allowed is None:
            return True
        if self.dialect.owned:
            return scope_of("agent", str(memory.extra.get(OWNER) or "")) in allowed
        if self.dialect.columns.scope is None:
            return GLOBAL in allowed
        stored = self.stored_scopes
        return stored is not None and memory.scope in stored

    def may_name(self, scope: str) -> bool:
        """Whether a search may name this scope. Of its own rows an owner may name any."""
        allowed = self.scopes
        if allowed is None or scope in allowed:
            return True
        named = (split_scope(scope) or ("", ""))[0] == "agent" or scope == GLOBAL
        return self.dialect.owned and not named

    def may_write(self, memory: Memory) -> bool:
        """Whether this row may be changed or forgotten."""
        if not self.agent and self.writes is None:
            return True
        if self.dialect.columns.scope is None and not self.dialect.owned:
            return True  # one pool
        if self.dialect.owned:
            return scope_of("agent", str(memory.extra.get(OWNER) or "")) == self.home
        return memory.scope == self.home

    def refusal(self) -> str:
        """Why nothing may be stored at home, in words; empty where it may."""
        if not self.agent or self.writes is not None or self.dialect.columns.scope is None:
            return ""
        grant = self.access.writes(self.agent, self.home, self.agent)
        return "" if grant.allowed else f"you may not write to {self.home} ({grant.words})"
