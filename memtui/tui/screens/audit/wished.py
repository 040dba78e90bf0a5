"""What of Audit was asked for in words: an agent's sessions, its rights or those of a scope. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from memtui.tui.messages import ShowReach
from memtui.tui.screens.audit.state import AuditState

DAY_MS = 86_400_000


def found(state: AuditState, wish: ShowReach, now_ms: int) -> tuple[AuditState, str] | None:
    """The state with the cursor on what is wished for, and what is to be said of it; None where it is not read yet."""
    if wish.view == "sessions" and wish.agent and state.sessions is not None:
        return _session(state, wish, now_ms)
    if wish.view == "access" and state.rights is not None:
        if wish.scope:
            return _scope(state, wish.scope)
        if wish.agent:
            ids = [each.id for each in state.rights.matrix.agents]
            agent = _meant(wish.agent, ids)
            return (
                (replace(state, agent=agent), "")
                if agent
                else (state, f"no agent {wish.agent}: there are {', '.join(ids)}")
            )
    return None


def _session(state: AuditState, wish: ShowReach, now_ms: int) -> tuple[AuditState, str]:
    """The newest session of an agent, of those that lie within the days that were asked for."""
    sessions = state.sessions or ()
    agents = sorted({each.file.agent for each in sessions})
    agent = _meant(wish.agent, agents)
    if not agent:
        there = f": there are some of {', '.join(agents)}" if agents else ", nor of another agent"
        return state, f"no session of {wish.agent}{there}"
    own = sorted((each for each in sessions if each.file.agent == agent), key=lambda each: -each.ended_ms)
    since = now_ms - wish.days * DAY_MS
    told = ""
    if wish.days and own[0].ended_ms < since:
        told = f"nothing of {agent} since then: this is its newest session"
    return replace(state, session=own[0].file.id, replayed=None, turn=0), told


def _scope(state: AuditState, scope: str) -> tuple[AuditState, str]:
    """The column of a scope, and a row that reads it."""
    rights = state.rights
    if rights is None or scope not in state.scopes:
        return state, f"no memory stands in {scope}"
    return replace(state, column=state.scopes.index(scope)), ""


def _meant(name: str, names: Sequence[str]) -> str:
    """The one of the names that is meant, perhaps misspelt; empty for none."""
    low = {each.casefold(): each for each in names}
    near = [name.casefold()] if name.casefold() in low else get_close_matches(name.casefold(), low, 1, 0.75)
    return low[near[0]] if near else ""
