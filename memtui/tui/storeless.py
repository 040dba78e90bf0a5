"""What is known of agents where no store is open: their sessions on disk, and whether their memory is alive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine import counted, one_line
from memtui.tui.no_store import no_store
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.state_panel import State

if TYPE_CHECKING:
    from datetime import tzinfo

    from memtui.engine import CancelToken
    from memtui.engine.alive import Aliveness
    from memtui.engine.witness import SessionSummary
    from memtui.tui.session import Session


MOST_AGENTS = 6
"""Agents that have a line of their own."""

MOST_CAUSES = 2
"""Causes of dead or weak parts that are told."""


@dataclass(frozen=True, slots=True)
class AgentsHome:
    """The home of the agents of this environment, read without a store."""

    sessions: tuple[SessionSummary, ...]
    alive: Aliveness


def is_storeless(session: Session) -> bool:
    """Whether no store is known, and none waits to be chosen: then the agents' home alone can tell of them."""
    return session.phase == "none" and not session.choices


def read_sessions(environ: Mapping[str, str], cancel: CancelToken) -> tuple[SessionSummary, ...]:
    """The sessions by their own files alone. For a worker."""
    from memtui.engine.witness import list_sessions

    return tuple(list_sessions(environ, Path.cwd(), cancel=cancel))


def read_home(environ: Mapping[str, str], now_ms: int, cancel: CancelToken) -> AgentsHome:
    """Sessions, and what can be judged of the memory. Nothing is written, no service is asked. For a worker."""
    from memtui.engine.alive import check_alive

    found = read_sessions(environ, cancel)
    return AgentsHome(found, check_alive(environ, Path.cwd(), now_ms=now_ms))


def home_state(session: Session, home: AgentsHome) -> State:
    """That agents work here though there is no store, with where to look."""
    looked = no_store(session).facts
    return _with(session, home, [*looked, ("sessions", _sessions(home)), ("memory", _verdict(home.alive))])


def agents_state(session: Session, home: AgentsHome, zone: tzinfo | None) -> State:
    """What each agent did, and what only a store could tell of it."""
    facts = [*_agents(home, zone), ("memory", _verdict(home.alive))]
    facts.append(("not known", "calls, clients and documents: they are kept beside a store"))
    return _with(session, home, facts)


def health_state(session: Session, home: AgentsHome) -> State:
    """Whether the agents' memory is alive, what is not, and the change that revives it."""
    facts = [("memory", _verdict(home.alive))]
    told: dict[tuple[str, str, str], list[str]] = {}
    for agent, _, cause in home.alive.causes:
        told.setdefault((cause.code, cause.sentence, cause.fix), []).append(agent.agent)
    for (code, sentence, fix), names in list(told.items())[:MOST_CAUSES]:
        facts.append((code, one_line(f"{', '.join(names)}: {sentence}")))
        facts.append(("fix", one_line(fix)))
    if len(told) > MOST_CAUSES:
        facts.append(("", f"and {len(told) - MOST_CAUSES} more: memtui alive"))
    facts += [("not read", one_line(remark)) for remark in home.alive.remarks]
    facts.append(("sessions", _sessions(home)))
    facts.append(("not known", "rows, indexes and versions: they are checked once a store is open"))
    return _with(session, home, facts)


def needs_store(session: Session, what: str) -> State:
    """What stands in a view that only a store can fill."""
    said = no_store(session)
    return replace(said, headline=f"{what} can be shown once a store is open")


def _with(session: Session, home: AgentsHome, facts: list[tuple[str, str]]) -> State:
    """The ways to a store, below what the home tells; only the ways where it tells nothing."""
    said = no_store(session)
    if not home.sessions and not home.alive.agents:
        return said
    found = "agents work here" if home.sessions else "agents are configured here"
    return replace(said, headline=f"no memory store was found; {found}", facts=tuple(facts))


def _agents(home: AgentsHome, zone: tzinfo | None) -> list[tuple[str, str]]:
    facts = []
    names = list(dict.fromkeys(session.file.agent for session in home.sessions))
    for name in names[:MOST_AGENTS]:
        own = [session for session in home.sessions if session.file.agent == name]
        last = datetime.fromtimestamp(max(session.ended_ms for session in own) / 1000, zone)
        facts.append((one_line(name), f"{_counted(own)}; last {last.day} {last:%b %Y, %H:%M}"))
    if len(names) > MOST_AGENTS:
        facts.append(("", f"and {counted(len(names) - MOST_AGENTS, 'more agent')}"))
    return facts or [("agents", "no session yet")]


def _sessions(home: AgentsHome) -> str:
    return f"{_counted(list(home.sessions))}; Audit shows each turn" if home.sessions else "none yet"


def _counted(sessions: list[SessionSummary]) -> str:
    turns, evident = (
        sum(session.turns for session in sessions),
        sum(session.evident for session in sessions),
    )
    said = f"{counted(turns, 'turn')} in {counted(len(sessions), 'session')}"
    unknown = turns - evident
    return said + (f", {full(unknown)} not recorded" if unknown else "")


def _verdict(alive: Aliveness) -> str:
    return alive.summary if alive.verdict == "unknown" else f"{alive.verdict}: {one_line(alive.summary)}"
