"""What the screen and the command line ask of the witnesses: sessions, replays, injections of one store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.witness.askers import read_askers
from memtui.engine.witness.find import find_session, find_sessions
from memtui.engine.witness.injections import InjectionEvent, InjectionHistory, read_injections
from memtui.engine.witness.replay import (
    ReplayedSession,
    evidence_of,
    join_events,
    outline_turns,
    read_turns,
    replay_turns,
    strongest,
)
from memtui.engine.witness.session import SessionFile
from memtui.engine.witness.turns import Evidence

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


Again = Literal["", "now", "as-of"]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session in a list."""

    file: SessionFile
    turns: int
    evidence: Evidence
    """The strongest evidence of any turn."""
    evident: int
    """Turns with any evidence."""
    started_ms: int
    ended_ms: int
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The session of the command-line contract, with what is known beside it."""
        return {
            "id": self.file.id,
            "agent": self.file.agent,
            "turns": self.turns,
            "evidence": self.evidence,
            "turns_with_evidence": self.evident,
            "started_ms": self.started_ms,
            "ended_ms": self.ended_ms,
            "layout": self.file.form,
            "archived": self.file.archived or None,
            "warnings": list(self.warnings),
        }


def injection_history(
    engine: Engine, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
) -> InjectionHistory:
    """The store's own history of injections, kept in memtui's state from one opening to the next."""
    place = engine.state_place
    if place is None:
        return read_injections(engine.store, on_progress=on_progress, cancel=cancel)
    from memtui.engine.witness.log import InjectionLog

    return InjectionLog(place / "injections.sqlite").update(engine.store, on_progress, cancel)


def injection_events(
    engine: Engine,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    since_ms: int = 0,
    cancel: CancelToken | None = None,
) -> tuple[list[InjectionEvent], InjectionHistory]:
    """The injections since a moment, oldest first, and the history that tells of them.

    An event is complete where a session file has the block of the same turn, all of its lines are known, and
    the store has each of them.
    """
    history = injection_history(engine, cancel=cancel)
    events = history.events(since_ms)
    if not events:
        return events, history
    complete: dict[int, InjectionEvent] = {}
    files = find_sessions(environ, cwd)
    askers = read_askers(files, environ, events, cancel)
    for file in files:
        turns, _ = read_turns(file, environ, cancel)
        own = askers.of(file)
        joined = join_events(turns, own)
        told = [turn for turn in turns if turn.lines and turn.n in joined]
        for turn in replay_turns(file, told, engine.store, own, now_ms=engine.now_ms, cancel=cancel):
            ids = [memory.id for memory in turn.memories or ()]
            if turn.event is not None and None not in ids and set(turn.event.ids) <= set(ids):
                everyone = tuple(memory_id for memory_id in dict.fromkeys(ids) if memory_id is not None)
                complete[turn.event.time_ms] = replace(turn.event, ids=everyone, complete=True)
    return [complete.get(event.time_ms, event) for event in events], history


def list_sessions(
    environ: Mapping[str, str],
    cwd: Path,
    *,
    engine: Engine | None = None,
    agent: str | None = None,
    since_ms: int = 0,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> list[SessionSummary]:
    """The sessions of this environment's agents, the latest first; with `engine` the store is a witness, too."""
    events: Sequence[InjectionEvent] = ()
    if engine is not None:
        events = injection_history(engine, cancel=cancel).events()
    files = find_sessions(environ, cwd, agent)
    every = files if agent is None or not events else find_sessions(environ, cwd)
    askers = read_askers(every, environ, events, cancel)
    out = []
    for done, (file, turns, warnings) in enumerate(outline_turns(files, environ, cancel)):
        if on_progress is not None:
            on_progress(Progress("reading sessions", done, len(files), "sessions"))
        persons = [turn for turn in turns if not turn.machine]
        times = [turn.time_ms for turn in turns if turn.time_ms]
        ended = max(times, default=file.modified_ms)
        if ended < since_ms:
            continue
        joined = join_events(turns, askers.of(file))
        kinds = [evidence_of(turn, joined.get(turn.n)) for turn in persons]
        out.append(
            SessionSummary(
                file,
                len(persons),
                strongest(kinds),
                sum(kind != "none" for kind in kinds),
                min(times, default=file.modified_ms),
                ended,
                tuple(warnings),
            )
        )
    return sorted(out, key=lambda each: (-each.ended_ms, each.file.id))


def replay_session(
    name: str,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    engine: Engine | None = None,
    only: int | None = None,
    again: Again = "",
    cancel: CancelToken | None = None,
) -> ReplayedSession:
    """One session, turn by turn; `only` is one turn's number, `again` asks its questions again.

    Without `engine` the lines are read and no memory is named. Raises UsageError for an unknown session.
    """
    files = find_sessions(environ, cwd)
    file = find_session(files, name)
    turns, warnings = read_turns(file, environ, cancel)
    warnings = list(warnings)
    events: Sequence[InjectionEvent] = ()
    if engine is not None:
        try:
            events = injection_history(engine, cancel=cancel).events()
            if join_events(turns, events):
                events = read_askers(files, environ, events, cancel).of(file)
        except MemtuiError as error:
            warnings.append(f"the store's history could not be read: {error.message}")
    store = engine.store if engine is not None else None
    now_ms = engine.now_ms if engine is not None else 0
    needed = None if again else only
    replayed = replay_turns(file, turns, store, events, now_ms=now_ms, only=needed, cancel=cancel)
    replayed = [turn for turn in replayed if not turn.turn.machine]
    chosen = [turn for turn in replayed if only is None or turn.turn.n == only]
    if engine is not None and again:
        from memtui.engine.witness.ask_again import with_today

        chosen = [
            with_today(engine, turn, file.agent, replayed, as_of=again == "as-of", cancel=cancel)
            for turn in chosen
        ]
    return ReplayedSession(file, chosen, warnings)
