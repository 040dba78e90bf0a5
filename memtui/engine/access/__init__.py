"""Who reads which scope, who writes where, and why: one piece of code for recall, capture and the access view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.access.matrix import AccessMatrix, Cell, DenyRule, read_rules
    from memtui.engine.access.policy import (
        DEFAULT_AGENT,
        GLOBAL,
        REASONS,
        Access,
        Grant,
        OneScopeAccess,
        OpenAccess,
        OwnerAccess,
        Reason,
        ScopePolicy,
        access_of,
        agent_of_session,
        agents_in,
        is_built_in,
        is_bypass,
        scope_of,
        split_scope,
    )

__all__ = [
    "DEFAULT_AGENT",
    "GLOBAL",
    "REASONS",
    "Access",
    "AccessMatrix",
    "Cell",
    "DenyRule",
    "Grant",
    "OneScopeAccess",
    "OpenAccess",
    "OwnerAccess",
    "Reason",
    "ScopePolicy",
    "access_of",
    "agent_of_session",
    "agents_in",
    "is_built_in",
    "is_bypass",
    "read_rules",
    "scope_of",
    "split_scope",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Access": "memtui.engine.access.policy",
        "AccessMatrix": "memtui.engine.access.matrix",
        "Cell": "memtui.engine.access.matrix",
        "DEFAULT_AGENT": "memtui.engine.access.policy",
        "DenyRule": "memtui.engine.access.matrix",
        "GLOBAL": "memtui.engine.access.policy",
        "Grant": "memtui.engine.access.policy",
        "OneScopeAccess": "memtui.engine.access.policy",
        "OpenAccess": "memtui.engine.access.policy",
        "OwnerAccess": "memtui.engine.access.policy",
        "REASONS": "memtui.engine.access.policy",
        "Reason": "memtui.engine.access.policy",
        "ScopePolicy": "memtui.engine.access.policy",
        "access_of": "memtui.engine.access.policy",
        "agent_of_session": "memtui.engine.access.policy",
        "agents_in": "memtui.engine.access.policy",
        "is_built_in": "memtui.engine.access.policy",
        "is_bypass": "memtui.engine.access.policy",
        "read_rules": "memtui.engine.access.matrix",
        "scope_of": "memtui.engine.access.policy",
        "split_scope": "memtui.engine.access.policy",
    },
)
