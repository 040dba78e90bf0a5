"""Which turns got a memory, who saw it last, and from which session it was captured: all memories read at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.memory import Memory
from memtui.engine.core.progress import CancelToken
from memtui.engine.witness.askers import read_askers
from memtui.engine.witness.audit import injection_history
from memtui.engine.witness.find import find_sessions
from memtui.engine.witness.matching import Matcher
from memtui.engine.witness.replay import join_events, read_turns, replay_turns
from memtui.engine.witness.turns import Evidence, name_turn

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class GotTurn:
    """A turn whose agent got the memory; `agent` and `session` empty where only the store tells of it."""

    time_ms: int
    agent: str = ""
    session: str = ""
    n: int = 0
    evidence: Evidence = "store"
    machine: str = ""
    """What began the turn when no person did: heartbeat, cron, subagent, ..."""

    @property
    def name(self) -> str:
        """The turn's name for people."""
        return name_turn(self.n, self.machine)


@dataclass(frozen=True, slots=True)
class Got:
    """The turns that got one memory, as far as they are recorded: none recorded does not mean never."""

    turns: tuple[GotTurn, ...] = ()
    """Oldest first; at least these."""
    captured_by: str = ""
    """The agent in whose session it was captured, where that session's files are here."""
    captured_in: str = ""
    """The id of that session."""

    @property
    def last_seen(self) -> GotTurn | None:
        """The last turn whose agent is known."""
        return next((turn for turn in reversed(self.turns) if turn.agent), None)


@dataclass(slots=True)
class GotIndex:
    """The turns by memory, and the sessions by their ids and keys. Ids and times only, never a text."""

    turns: dict[str, list[GotTurn]] = field(default_factory=dict)
    sessions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Session id or key to (id, agent)."""
    by_scope: dict[tuple[str, str | None], list[GotTurn]] = field(default_factory=dict)
    """By agent and scope: a turn for each memory of the scope that the agent got in it."""

    def of(self, memory: Memory) -> Got | None:
        """What is known of a memory; None where neither a session nor an injection of this store is known."""
        if not self.turns and not self.sessions:
            return None
        session, agent = self.sessions.get(memory.source_session or "", ("", ""))
        return Got(tuple(self.turns.get(memory.id, ())), agent, session)


def read_got(
    engine: Engine, environ: Mapping[str, str], cwd: Path, cancel: CancelToken | None = None
) -> GotIndex:
    """Read the sessions and the store's own history once, for every memory."""
    found = GotIndex()
    events = injection_history(engine, cancel=cancel).events()
    told: set[tuple[int, str]] = set()
    matcher = Matcher(engine.store, engine.now_ms, cancel)
    files = find_sessions(environ, cwd)
    askers = read_askers(files, environ, events, cancel)
    for file in files:
        for name in filter(None, (file.id, file.key)):
            found.sessions[name] = (file.id, file.agent)
        read, _ = read_turns(file, environ, cancel)
        own = askers.of(file)
        joined = join_events(read, own)
        for turn in replay_turns(
            file, read, engine.store, own, now_ms=engine.now_ms, matcher=matcher, cancel=cancel
        ):
            ids = [memory.id for memory in turn.memories or () if memory.id is not None]
            ids += [each for tool in turn.turn.tools for each in tool.gave]
            scopes = {memory.id: memory.scope for memory in turn.memories or () if memory.id is not None}
            number = turn.turn.n
            for memory in dict.fromkeys(ids):
                got = GotTurn(
                    turn.turn.time_ms, file.agent, file.id, number, turn.evidence, turn.turn.machine
                )
                found.turns.setdefault(memory, []).append(got)
                scope = scopes[memory] if memory in scopes else _scope_now(matcher, memory)
                found.by_scope.setdefault((file.agent, scope), []).append(got)
                if number in joined:
                    told.add((joined[number].time_ms, memory))
    for event in events:
        for memory in event.ids:
            if (event.time_ms, memory) not in told:
                found.turns.setdefault(memory, []).append(GotTurn(event.time_ms))
    for turns in (*found.turns.values(), *found.by_scope.values()):
        turns.sort(key=lambda each: each.time_ms)
    return found


def _scope_now(matcher: Matcher, memory: str) -> str | None:
    row = matcher.row(memory)
    return row.scope if row is not None else None
