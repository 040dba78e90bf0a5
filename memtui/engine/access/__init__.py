"""Who reads which scope, who writes where, and why: one piece of code for recall, capture and the access view."""

from __future__ import annotations

from memtui.engine.access.policy import (
    BYPASS_AGENTS,
    DEFAULT_AGENT,
    GLOBAL,
    KINDS,
    REASONS,
    TEAM_VARIABLE,
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
    "BYPASS_AGENTS",
    "DEFAULT_AGENT",
    "GLOBAL",
    "KINDS",
    "REASONS",
    "TEAM_VARIABLE",
    "Access",
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
    "scope_of",
    "split_scope",
]
