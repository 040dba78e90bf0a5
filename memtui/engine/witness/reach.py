"""How far one memory reached: its copies, the agents and turns that got it, what was made of it, where it remains."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine import explain
from memtui.engine.changes.forgetting import read_receipts
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.secrets import mask
from memtui.engine.witness.askers import read_askers
from memtui.engine.witness.audit import injection_history
from memtui.engine.witness.find import find_sessions
from memtui.engine.witness.matching import Matcher, RowState, use_in
from memtui.engine.witness.replay import join_events, read_turns, replay_turns
from memtui.engine.witness.session import SessionFile
from memtui.engine.witness.session_copies import file_holds, session_paths
from memtui.engine.witness.turns import name_turn

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


SAME, NEAR = 0.995, 0.86
"""Likeness from which a memory says the same, and from which it is a near copy."""

LIKELY = 0.3
"""Share of a memory's own words in an answer from which it is said to be used, likely."""

_MOST_COPIES = 20

_NEEDLE = 48

_SHORTEST_NEEDLE = 12


@dataclass(frozen=True, slots=True)
class ReachedCopy:
    """Another memory that says the same, or nearly."""

    id: str
    scope: str | None
    likeness: float
    same: bool
    preview: str
    """Its text, masked and cut."""


@dataclass(frozen=True, slots=True)
class ReachedTurn:
    """A turn whose agent got the memory."""

    session: str
    agent: str
    n: int
    time_ms: int
    evidence: str
    id: str
    """The memory itself, or the copy that it got."""
    used: float | None
    """Share of the memory's own words in the answer: a guess of whether it was used."""
    machine: str = ""
    """What began the turn when no person did: heartbeat, cron, subagent, ..."""

    @property
    def name(self) -> str:
        """The turn's name for people."""
        return name_turn(self.n, self.machine)


@dataclass(frozen=True, slots=True)
class Remains:
    """A file outside the table that holds the memory's text."""

    path: str
    kind: str


@dataclass(slots=True)
class Reach:
    """Everything that one memory reached."""

    id: str
    text: str
    """Masked."""
    scope: str | None
    there: bool
    """Whether the memory is still in the store."""
    copies: list[ReachedCopy] = field(default_factory=list)
    turns: list[ReachedTurn] = field(default_factory=list)
    events: list[tuple[int, str]] = field(default_factory=list)
    """(time in ms, id) of injections that only the store tells of: at least these."""
    captured: dict[str, str] = field(default_factory=dict)
    """Memories that were captured in these sessions after the memory was injected: masked previews by id."""
    files: list[Remains] = field(default_factory=list)
    versions: tuple[int, int] | None = None
    """The oldest and the newest version that have its text; None where none has."""
    warnings: list[str] = field(default_factory=list)

    @property
    def agents(self) -> dict[str, int]:
        """Turns by agent."""
        out: dict[str, int] = {}
        for turn in self.turns:
            out[turn.agent] = out.get(turn.agent, 0) + 1
        return out

    @property
    def answers(self) -> int:
        """Answers that have the memory's own words, likely used."""
        return sum(turn.used is not None and turn.used >= LIKELY for turn in self.turns)

    @property
    def removable(self) -> list[str]:
        """The memory and the copies that say the same, as far as they are in the store."""
        return [*([self.id] if self.there else []), *(copy.id for copy in self.copies if copy.same)]

    @property
    def rows(self) -> dict[str, str]:
        """Everything of it that is in the store, masked previews by id: itself, its copies, what was captured."""
        itself = {self.id: self.text} if self.there else {}
        return {**itself, **{copy.id: copy.preview for copy in self.copies}, **self.captured}

    def as_json(self) -> dict[str, Any]:
        """The document of the command-line contract; secrets are masked."""
        return {
            "schema": "memtui.blast.v1",
            "id": self.id,
            "text": self.text,
            "scope": self.scope,
            "there": self.there,
            "copies": [
                {
                    "id": copy.id,
                    "scope": copy.scope,
                    "likeness": round(copy.likeness, 4),
                    "same": copy.same,
                    "text": copy.preview,
                }
                for copy in self.copies
            ],
            "agents": [{"agent": agent, "turns": count} for agent, count in self.agents.items()],
            "turns": [
                {
                    "session": turn.session,
                    "agent": turn.agent,
                    "n": turn.n,
                    "time_ms": turn.time_ms,
                    "evidence": turn.evidence,
                    "id": turn.id,
                    "used": turn.used,
                    "machine": turn.machine or None,
                }
                for turn in self.turns
            ],
            "events": [{"time_ms": time_ms, "id": each} for time_ms, each in self.events],
            "answers": self.answers,
            "captured": list(self.captured),
            "files": [{"path": file.path, "kind": file.kind} for file in self.files],
            "versions": None
            if self.versions is None
            else {"first": self.versions[0], "last": self.versions[1]},
            "removable": self.removable,
            "warnings": list(self.warnings),
        }


def reach_of(
    engine: Engine,
    id_or_prefix: str,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Reach:
    """The reach of a memory, of one that is gone, too, while a version still has it. Reads only.

    One that no version holds any more is known by its whole id, where memtui's journal or a receipt names it.
    Raises UsageError for an id that none of them know.
    """
    engine.load_catalog()
    matcher = Matcher(engine.store, engine.now_ms, cancel)
    memory_id = explain.resolve(engine, id_or_prefix)
    if memory_id == id_or_prefix:
        memory_id = matcher.former_id(id_or_prefix)
    row = matcher.row(memory_id)
    states = matcher.writings(memory_id)
    if row is None and not states and not _remembered(engine, memory_id):
        raise UsageError(
            f"No memory has the id {id_or_prefix!r}, in no readable version.",
            fix="Look for it with: memtui ls.",
        )
    state = row or max(states, key=lambda each: each.version, default=None)
    text = state.text if state is not None else ""
    reach = Reach(memory_id, _preview(text, 400), state.scope if state is not None else None, row is not None)
    if state is None:
        reach.warnings.append("no readable version holds its text: only memtui's own records name it")
    if row is not None:
        reach.copies = _copies(engine, matcher, row, reach.warnings)
    wanted = {memory_id, *(copy.id for copy in reach.copies if copy.same)}
    files = find_sessions(environ, cwd)
    _through_sessions(engine, matcher, files, wanted, text, reach, environ, on_progress, cancel)
    reach.captured = _captured(matcher, reach, files)
    reach.versions = _versions(matcher, memory_id, states, row is not None)
    reach.files = _remains(engine, text, memory_id, files)
    return reach


def _remembered(engine: Engine, memory_id: str) -> bool:
    """Whether the journal or a receipt names a memory."""
    try:
        return bool(engine.write_state.journal.of_memory(memory_id) or read_receipts(engine, memory_id))
    except MemtuiError:
        return False


def _copies(engine: Engine, matcher: Matcher, row: RowState, warnings: list[str]) -> list[ReachedCopy]:
    """The nearest memories in all scopes, by the store's own vectors and by equal words."""
    try:
        near = engine.neighbours(row.id, _MOST_COPIES)
    except MemtuiError as error:
        warnings.append(f"near copies were not looked for: {error.message}")
        return []
    out = []
    for neighbour in near:
        same = neighbour.memory.raw_text.strip() == row.text.strip() or neighbour.similarity >= SAME
        if same or neighbour.similarity >= NEAR:
            out.append(
                ReachedCopy(
                    neighbour.memory.id,
                    neighbour.memory.scope,
                    neighbour.similarity,
                    same,
                    _preview(neighbour.memory.raw_text, 120),
                )
            )
    return out


def _through_sessions(
    engine: Engine,
    matcher: Matcher,
    files: Sequence[SessionFile],
    wanted: set[str],
    text: str,
    reach: Reach,
    environ: Mapping[str, str],
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> None:
    events = [event for event in injection_history(engine, cancel=cancel).events() if wanted & set(event.ids)]
    told: set[int] = set()
    askers = read_askers(files, environ, events, cancel)
    for done, file in enumerate(files):
        if on_progress is not None:
            on_progress(Progress("reading sessions", done, len(files), "sessions"))
        turns, _ = read_turns(file, environ, cancel)
        own = askers.of(file)
        joined = join_events(turns, own)
        replayed = replay_turns(file, turns, engine.store, own, now_ms=engine.now_ms, matcher=matcher)
        for turn in replayed:
            got = [memory.id for memory in turn.memories or () if memory.id in wanted]
            got += [
                one
                for memory in turn.memories or ()
                for one in memory.candidates
                if one in wanted
            ]  # fmt: skip
            got += [each for tool in turn.turn.tools for each in tool.gave if each in wanted]
            if turn.turn.n in joined and got:
                told.add(joined[turn.turn.n].time_ms)
            if got:
                used = use_in(turn.turn.answer, text, turn.turn.question)
                reach.turns.append(
                    ReachedTurn(
                        file.id,
                        file.agent,
                        turn.turn.n,
                        turn.turn.time_ms,
                        turn.evidence,
                        str(got[0]),
                        used,
                        turn.turn.machine,
                    )
                )
    reach.turns.sort(key=lambda each: each.time_ms)
    reach.events = [
        (event.time_ms, one)
        for event in events
        if event.time_ms not in told
        for one in event.ids
        if one in wanted
    ]


def _captured(matcher: Matcher, reach: Reach, files: Sequence[SessionFile]) -> dict[str, str]:
    """Memories whose source is one of the sessions, written after the first turn that got the memory."""
    from memtui.engine.store import sql

    column = matcher.store.dialect.columns.metadata
    if column is None or not reach.turns:
        return {}
    first: dict[str, int] = {}
    for turn in reach.turns:
        first[turn.session] = min(first.get(turn.session, turn.time_ms), turn.time_ms)
    keys = {file.key: file.id for file in files if file.key and file.id in first}
    out = {}
    for row in matcher.rows_where(sql.contains(column, "source_session")):
        source = row.meta.source_session
        session = source if source in first else keys.get(source or "")
        if session is not None and row.timestamp_ms >= first[session] and row.id != reach.id:
            out[row.id] = _preview(row.text, 120)
    return out


def _versions(
    matcher: Matcher, memory_id: str, states: Sequence[RowState], there: bool
) -> tuple[int, int] | None:
    """The oldest and the newest readable version that have the memory."""
    readable = [version for version, _ in matcher.store.versions()]
    first = min((state.version for state in states), default=readable[-1])
    last = readable[-1] if there else matcher.last_version(memory_id)
    return None if last is None else (first, last)


def _remains(engine: Engine, text: str, memory_id: str, files: Sequence[SessionFile]) -> list[Remains]:
    """The files that hold the text: mirrors, notes, backups beside the store, sessions and trajectories."""
    from memtui.engine.changes.text_copies import find_copies

    found: dict[str, str] = {}
    if engine.store.folder is not None:
        for copy in find_copies(engine.store.folder, {memory_id: text}):
            found.setdefault(copy.path, copy.kind)
    needles = _needles(text, memory_id)
    for path, kind in session_paths(files).items():
        if file_holds(path, needles):
            found.setdefault(str(path), kind)
    return [Remains(path, kind) for path, kind in found.items()]


def _needles(text: str, memory_id: str) -> list[bytes]:
    """What to look for: the id, and the beginning of the text as files write it."""
    line = text.strip().split("\n")[0][:_NEEDLE]
    forms = {memory_id}
    if len(line) >= _SHORTEST_NEEDLE:
        forms |= {line, json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]}
    return [form.encode("utf-8", "surrogatepass") for form in forms if form]


def _preview(text: str, longest: int) -> str:
    line = " ".join(mask(text)[0].split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
