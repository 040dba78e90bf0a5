"""Effective access: who reads and writes which scope, with the reason, by each program's rules."""

from __future__ import annotations

import pytest

from memtui.engine.access import (
    REASONS,
    OneScopeAccess,
    OpenAccess,
    OwnerAccess,
    ScopePolicy,
    access_of,
    agents_in,
)

BLOCK = {
    "definitions": {"team": {}},
    "agentAccess": {"main": ["global", "agent:main", "lost"], "ops": ["project:atlas"]},
}


@pytest.mark.parametrize(
    ("agent", "scope", "allowed", "reason"),
    [
        ("main", "global", True, "acl"),
        ("main", "lost", True, "acl"),
        ("main", "user:eva", False, "not-granted"),
        ("main", " global ", False, "padded"),
        ("main", "Agent:main", False, "case"),
        ("main", "nowhere", False, "undefined-form"),
        ("main", "team", False, "not-granted"),
        ("main", None, False, "null-scope"),
        ("main", "  ", False, "null-scope"),
        ("main", "reflection:agent:main", True, "own-reflection"),
        (" main ", "agent:main", True, "acl"),
        ("ops", "agent:ops", False, "acl-replaces-default"),
        ("ops", "global", False, "acl-replaces-default"),
        ("ops", "agent:main", False, "not-granted"),
        ("fresh", "global", True, "default-global"),
        ("fresh", "agent:fresh", True, "default-own"),
        ("fresh", "agent:main", False, "not-granted"),
        ("fresh", "shared", True, "env"),
        ("system", None, True, "bypass"),
        ("undefined", "user:eva", True, "bypass"),
        (None, " any ", True, "bypass"),
    ],
)
def test_the_plugins_verdict_on_a_scope(agent: str | None, scope: str, allowed: bool, reason: str) -> None:
    access = access_of("pro", block=BLOCK, environ={"CLAWTEAM_MEMORY_SCOPE": "shared"})
    grant = access.reads(agent, scope)
    assert (grant.allowed, grant.reason) == (allowed, reason)
    assert grant.words == REASONS[grant.reason]


@pytest.mark.parametrize("agent", ["main", "ops", "fresh", " main ", "system", "undefined", None, ""])
def test_what_is_searched_is_what_may_be_read(agent: str | None) -> None:
    access = access_of("pro", block=BLOCK, environ={"CLAWTEAM_MEMORY_SCOPE": "shared"})
    scopes = (None, "", " global ", "global", "lost", "user:eva", "agent:main", "agent:ops", "agent:fresh",
              "reflection:agent:main", "project:atlas", "team", "shared", "GLOBAL")  # fmt: skip
    searched = access.searched(agent)
    for scope in scopes:
        assert access.reads(agent, scope).allowed == (searched is None or scope in searched), scope


def test_where_a_memory_without_a_scope_goes_and_which_scopes_may_be_named() -> None:
    access = access_of("pro", block=BLOCK)
    assert access.writes_to("main") == "agent:main"
    assert access.writes_to("ops") == "global"  # its own scope is not in its list
    assert access.writes_to(" main ") == "global"  # not trimmed here
    assert access.writes_to("system") is None
    assert access.writes_to(None) == "global"
    assert access.writes("ops", "project:atlas").allowed
    assert access.writes("ops", "global").reason == "acl-replaces-default"
    assert not access.writes("main", None).allowed
    assert access.writes(None, "custom:x").reason == "bypass"
    assert access.writes(None, "nowhere").reason == "undefined-form"
    assert access.named_agents() == ("main", "ops")
    assert set(access.named_scopes()) == {"global", "team", "agent:main", "lost", "project:atlas"}


def test_the_built_in_program_asks_for_the_agent_of_a_row() -> None:
    first, second, third = (access_of(f"builtin-g{n}") for n in (1, 2, 3))
    assert isinstance(first, OpenAccess)
    assert isinstance(second, OwnerAccess)
    assert first.reads("ops", None).reason == "one-pool"
    assert second.reads("", None, "main").reason == "own-row"
    assert second.reads("ops", None, "main").reason == "other-agent"
    assert second.reads("ops", None, None).reason == "no-agent"
    assert third.reads("main", "", "main").reason == "unscoped"
    assert third.reads("main", "home", "main").reason == "by-name"
    assert (first.searched("ops"), second.searched("ops"), third.searched("ops")) == (None, None, ())


def test_mem_engine_searches_the_one_scope_of_its_policy() -> None:
    access = access_of("engine", one_scope=("work", ("global",)))
    assert isinstance(access, OneScopeAccess)
    assert access.searched("anyone") == ("work", "global")
    assert access.reads("anyone", None).reason == "fallback"
    assert access.reads("anyone", "home").reason == "by-name"
    assert access.writes_to("anyone") == "work"


def test_agents_that_scopes_speak_of() -> None:
    assert agents_in(
        ["global", "agent:ops", "reflection:agent:eva", None, "agent:", "agent: ", "agent:ops ", "user:x"]
    ) == (
        "ops",
        "eva",
    )


def test_a_table_of_memtui_is_asked_by_the_plugins_rules() -> None:
    assert access_of("memtui") == ScopePolicy()
