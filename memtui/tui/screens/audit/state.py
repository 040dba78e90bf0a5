"""What Audit knows: sessions and the turns of one, rights, leaks, the reach of one memory, and the cursor in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from memtui.tui.messages import ShowReach

if TYPE_CHECKING:
    from memtui.engine.configuration import ListPlace
    from memtui.engine.cost import CostReport, CostSum, WhatIfCost
    from memtui.engine.witness import (
        GotIndex,
        InjectionEconomy,
        Leak,
        LeakReport,
        LiveEvent,
        Mend,
        Reach,
        ReplayedSession,
        ReplayedTurn,
        Rights,
        SessionSummary,
    )


View = Literal["sessions", "access", "leaks", "reach", "live", "cost"]

VIEWS: tuple[View, ...] = ("sessions", "access", "leaks", "reach", "live", "cost")

DAY_MS = 86_400_000

MOST_LIVE = 500
"""Events that the live view holds."""


@dataclass(frozen=True, slots=True)
class AuditState:
    """Everything that is painted; None is not read yet."""

    view: View = "sessions"
    zoom: str = ""
    revealed: bool = False
    """Whether secrets are shown in the clear, for a moment."""
    sessions: tuple[SessionSummary, ...] | None = None
    session: str = ""
    """The id of the session under the cursor."""
    replayed: ReplayedSession | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    """The words, as they are now, of the memories of its turns and of what took their place."""
    turn: int = 0
    """The number of the turn under the cursor."""
    asked: frozenset[tuple[str, int]] = frozenset()
    """(session, turn) that were asked again."""
    rights: Rights | None = None
    places: Mapping[str, ListPlace] = field(default_factory=dict)
    """Where the lists of the agents stand in the configuration."""
    got: GotIndex | None = None
    """Which agent got memories of which scope, as far as there is evidence."""
    agent: str = ""
    column: int = 0
    """The place of the scope under the cursor."""
    leaks: LeakReport | None = None
    leak: int = 0
    reach: Reach | None = None
    mends: Mapping[str, Mend] = field(default_factory=dict)
    """What is to become of each row of the reach that is in the store."""
    live: tuple[LiveEvent, ...] = ()
    """Newest first."""
    words: str = ""
    """What the live view is filtered by: words that must be there, `-word` that must not."""
    paused: bool = False
    economy: InjectionEconomy | None = None
    storeless: bool = False
    """Whether no store is open: the sessions tell by their own files, and no memory is looked up."""
    cost: CostReport | None = None
    forms: WhatIfCost | None = None
    """What other forms of the block would have cost; hypothetical."""
    cost_row: str = ""
    """Day and agent under the cursor of the costs."""
    injections: int = 0
    """How many injections the store's own history tells of, at least."""

    @property
    def cost_sum(self) -> CostSum | None:
        """The sum under the cursor of the costs, else that of all turns."""
        if self.cost is None:
            return None
        named = (day.sum for day in self.cost.days() if f"{day.day} {day.agent}" == self.cost_row)
        return next(named, self.cost.total)

    @property
    def live_shown(self) -> list[LiveEvent]:
        """The events that pass the filter of the live view, newest first."""
        words = self.words.casefold().split()
        wanted = [word for word in words if not word.startswith("-") or word == "-"]
        unwanted = [word[1:] for word in words if word.startswith("-") and word != "-"]
        shown = []
        for event in self.live:
            text = f"{event.kind} {event.scope or ''} {event.id} {event.preview}".casefold()
            if all(each in text for each in wanted) and not any(each in text for each in unwanted):
                shown.append(event)
        return shown

    @property
    def chosen(self) -> ReplayedTurn | None:
        """The turn under the cursor."""
        turns = self.replayed.turns if self.replayed is not None else []
        return next((turn for turn in turns if turn.turn.n == self.turn), None)

    @property
    def summary(self) -> SessionSummary | None:
        """The session under the cursor."""
        return next((session for session in self.sessions or () if session.file.id == self.session), None)

    @property
    def scopes(self) -> list[str | None]:
        """The columns of the matrix: scopes of one kind side by side, in the order of each kind's largest."""
        found = self.rights.matrix.scopes if self.rights is not None else []
        kinds = list(dict.fromkeys(map(kind_of, found)))
        return sorted(found, key=lambda scope: kinds.index(kind_of(scope)))

    @property
    def editable(self) -> bool:
        """Whether the agent under the cursor can be given another list: it is one, and there is a configuration."""
        rights = self.rights
        agents = rights.matrix.agents if rights is not None else []
        agent = next((agent for agent in agents if agent.id == self.agent), None)
        return rights is not None and bool(rights.source) and agent is not None and not agent.pseudo

    @property
    def pseudo(self) -> frozenset[str]:
        """The agents of the matrix that are none: no id, and the shell."""
        agents = self.rights.matrix.agents if self.rights is not None else []
        return frozenset(agent.id for agent in agents if agent.pseudo)

    @property
    def shown_leak(self) -> Leak | None:
        """The leak under the cursor."""
        leaks = self.leaks.leaks if self.leaks is not None else []
        return leaks[self.leak] if 0 <= self.leak < len(leaks) else None


def kind_of(scope: str | None) -> str:
    """What a scope is of: `project` of `project:atlas`; the scope itself where it has no parts."""
    if scope is None or not scope.strip():
        return ""
    head, colon, _ = scope.strip().partition(":")
    return head if colon else scope.strip()


def first_memory(turn: ReplayedTurn | None) -> str:
    """The memory of a turn that a key means while none is under the cursor: one that changed, else the first."""
    known = [memory for memory in (turn.memories or () if turn is not None else ()) if memory.id]
    return next(
        (injection.id or "" for injection in (*[one for one in known if one.state != "same"], *known)), ""
    )


def differs(turn: ReplayedTurn) -> bool:
    """Whether a line of the turn is no longer what it was, or would not come back today."""
    return any(memory.state != "same" or memory.gate for memory in turn.memories or ())


def mark(turn: ReplayedTurn, *, storeless: bool = False) -> str:
    """The turn in a few cells: got three, silent, not known; one line no longer true, which only a store can tell."""
    if turn.memories is None:
        return "┄"
    if not turn.memories:
        return "✗"
    odd = 0 if storeless else sum(memory.state not in ("same", "ambiguous") for memory in turn.memories)
    return f"✓{len(turn.memories)}" + (f" ≠{odd}" if odd else "")


def at_wish(state: AuditState, wish: ShowReach, now_ms: int) -> tuple[AuditState, str] | None:
    """The state with the cursor on what is wished for, and what is to be said of it; None where it is not read yet."""
    if wish.view == "sessions" and wish.agent and state.sessions is not None:
        return _session(state, wish, now_ms)
    if wish.view == "access" and state.rights is not None:
        if wish.scope:
            return _scope(state, wish.scope)
        if wish.agent:
            ids = [agent.id for agent in state.rights.matrix.agents]
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
    agents = sorted({session.file.agent for session in sessions})
    agent = _meant(wish.agent, agents)
    if not agent:
        there = f": there are some of {', '.join(agents)}" if agents else ", nor of another agent"
        return state, f"no session of {wish.agent}{there}"
    own = sorted(
        (session for session in sessions if session.file.agent == agent), key=lambda each: -each.ended_ms
    )
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
    low = {name.casefold(): name for name in names}
    near = [name.casefold()] if name.casefold() in low else get_close_matches(name.casefold(), low, 1, 0.75)
    return low[near[0]] if near else ""
