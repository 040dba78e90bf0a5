"""What crosses although the matrix says no: each leak with its proof, that it could or that it did."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine import explain
from memtui.engine.access import Access, agent_of_session
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import DAY_MS, counted
from memtui.engine.recall.request import RecallRequest
from memtui.engine.witness.askers import read_askers
from memtui.engine.witness.audit import injection_history
from memtui.engine.witness.day_rules import DayRules, read_day_rules
from memtui.engine.witness.find import find_sessions, state_folders
from memtui.engine.witness.matching import Matcher
from memtui.engine.witness.replay import ReplayedTurn, read_turns, replay_turns
from memtui.engine.witness.session import SessionFile
from memtui.engine.witness.turns import name_turn

if TYPE_CHECKING:
    from memtui.engine.engine import Engine
    from memtui.engine.witness.rights import Rights


Channel = Literal[
    "wrong-scope", "merged-by-compaction", "no-agent-id", "null-scope-as-global", "same-text", "indexed-transcript",
    "files",
]  # fmt: skip

CHANNELS: Mapping[Channel, str] = {
    "wrong-scope": "did or could cross",
    "merged-by-compaction": "merged by compaction",
    "no-agent-id": "no agent id",
    "null-scope-as-global": "NULL scope as global",
    "same-text": "same text in two scopes",
    "indexed-transcript": "transcripts indexed",
    "files": "files beside it",
}

UNSEEN = "what an agent says to another, and files outside these folders, cannot be seen from here"

_K = 20

_BLOCK_LINE = re.compile(r"\[[CWP]\]\[[^:\]]+:(?P<scope>[^\]]+)\]")

_CORPUS = "corpus:"

_SHORTEST = 16


@dataclass(frozen=True, slots=True)
class LeakTurn:
    """A turn in which a memory reached an agent."""

    session: str
    n: int
    time_ms: int
    evidence: str
    line: int | None
    """The line of the block, from 1; None for a tool's answer and where only the store tells."""
    machine: str = ""
    """What began the turn when no person did: heartbeat, cron, subagent, ..."""

    @property
    def name(self) -> str:
        """The turn's name for people."""
        return name_turn(self.n, self.machine)


@dataclass(frozen=True, slots=True)
class Leak:
    """One thing that crossed, or can."""

    channel: Channel
    certainty: Literal["did", "could"]
    sentence: str
    agent: str | None = None
    id: str | None = None
    scope: str | None = None
    meant_for: str | None = None
    """The scope whose readers the words were written for; None where it is `scope` itself, or not known."""
    since_ms: int = 0
    """When the memory was written into its scope, by its own time; 0 where not known."""
    text: str = field(default="", repr=False)
    """The memory as it is, or last was: for a person's eyes only, masked unless it is revealed."""
    reason: str = ""
    """The rule that forbids it."""
    rules: DayRules | None = None
    """Of what did cross: the rules that it was judged by; None where today's count, because it could cross."""
    turns: tuple[LeakTurn, ...] = ()
    path: str = ""
    today: bool | None = None
    """Whether the real recipe, as that agent, has it in its pool today; None where that was not asked."""

    def as_json(self) -> dict[str, Any]:
        """For the command line; no text of a memory."""
        return {
            "channel": self.channel,
            "certainty": self.certainty,
            "sentence": self.sentence,
            "agent": self.agent,
            "id": self.id,
            "scope": self.scope,
            "meant_for": self.meant_for,
            "since_ms": self.since_ms or None,
            "reason": self.reason or None,
            "rules": self.rules.as_json() if self.rules is not None else None,
            "turns": [
                {
                    "session": turn.session,
                    "n": turn.n,
                    "time_ms": turn.time_ms,
                    "evidence": turn.evidence,
                    "line": turn.line,
                }
                for turn in self.turns
            ],
            "path": self.path or None,
            "today": self.today,
        }


@dataclass(slots=True)
class LeakReport:
    """What the hunt found, and how much it looked at."""

    leaks: list[Leak] = field(default_factory=list)
    looked: dict[Channel, int | None] = field(default_factory=dict)
    """How many things each channel had to look at; None where it could not look."""
    turns: int = 0
    allowed_then: int = 0
    """Memories in turns that today's rules forbid and the rules of their day did not."""

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        one = self.allowed_then == 1
        then = (
            f"; {self.allowed_then} more {'was' if one else 'were'} allowed by the rules of "
            f"{'its' if one else 'their'} day"
            if self.allowed_then
            else ""
        )
        channels = sum(count is not None for count in self.looked.values())
        if not self.leaks:
            return f"No leak found in {channels} channels, {counted(self.turns, 'turn')}{then}; {UNSEEN}."
        looked = f"{channels} channels and {counted(self.turns, 'turn')} checked"
        return f"{len(self.leaks)} found, {looked}{then}; {UNSEEN}."

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "sentence": self.sentence,
            "looked": dict(self.looked),
            "allowed_then": self.allowed_then,
            "found": [leak.as_json() for leak in self.leaks],
        }


def hunt_leaks(
    engine: Engine,
    rights: Rights,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> LeakReport:
    """Look through every channel.

    What did cross is judged by the rules of its day as far as they are known, what could cross by today's.
    """
    report = LeakReport()
    access = rights.access
    if access is None:
        report.looked = dict.fromkeys(CHANNELS)
        return report
    _through_sessions(engine, rights, environ, cwd, report, on_progress, cancel)
    _merged(engine, access, report, cancel)
    _null_scopes(rights, report)
    _copied(engine, rights, access, report, cancel)
    _indexed(engine, access, report, cancel)
    _files(engine, environ, cwd, report)
    matcher = Matcher(engine.store, engine.now_ms, cancel)
    report.leaks = [_proved(engine, access, _shown(matcher, leak)) for leak in report.leaks]
    report.leaks.sort(key=lambda each: (each.certainty != "did", -len(each.turns)))
    return report


def _through_sessions(
    engine: Engine,
    rights: Rights,
    environ: Mapping[str, str],
    cwd: Path,
    report: LeakReport,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> None:
    """Injected lines and tool answers of each session against the rights of its agent on that day."""
    by_day = read_day_rules(rights, environ, cwd)
    assert by_day is not None  # where the configuration throws nobody hunts
    events = injection_history(engine, cancel=cancel).events()
    files = find_sessions(environ, cwd)
    askers = read_askers(files, environ, events, cancel)
    matcher = Matcher(engine.store, engine.now_ms, cancel)
    found: dict[tuple[str, str | None, str | None, str], tuple[DayRules, list[LeakTurn]]] = {}
    searched: dict[str, list[tuple[int, frozenset[str]]]] = {}
    keyless = 0
    for done, file in enumerate(files):
        if on_progress is not None:
            on_progress(Progress("reading sessions", done, len(files), "sessions"))
        turns, _ = read_turns(file, environ, cancel)
        replayed = replay_turns(
            file, turns, engine.store, askers.of(file), now_ms=engine.now_ms, matcher=matcher, cancel=cancel
        )
        report.turns += len(replayed)
        if file.key and agent_of_session(file.key) is None:
            keyless += len(replayed)
            told = tuple(_place(file, turn, None) for turn in replayed if turn.memories or turn.turn.tools)
            if told:
                report.leaks.append(
                    Leak(
                        "no-agent-id",
                        "did",
                        f"the session {file.id} names no agent and has got memories all the same",
                        file.agent,
                        turns=told,
                    )
                )
        for turn in replayed:
            for tool in turn.turn.tools:
                searched.setdefault(file.agent, []).append((turn.turn.time_ms, frozenset(tool.searched)))
            if turn.evidence == "store" and turn.event is not None and turn.event.others:
                continue  # another session may have had them: that is no proof
            rules = by_day.on(turn.turn.time_ms)
            for memory_id, scope, line in _got(turn, matcher):
                if scope is None:
                    continue
                if rules.access.reads(file.agent, scope).allowed:
                    report.allowed_then += not by_day.today.reads(file.agent, scope).allowed
                    continue
                key = (file.agent, memory_id, scope, rules.words)
                found.setdefault(key, (rules, []))[1].append(_place(file, turn, line))
    report.looked |= {"wrong-scope": report.turns, "no-agent-id": keyless}
    for (agent, _, scope, _), (rules, turns_of) in found.items():
        if rules.basis == "today":
            known = [
                turn for turn in turns_of if _searched_then(searched.get(agent, ()), scope, turn.time_ms)
            ]
            report.allowed_then += len(known)
            turns_of[:] = [turn for turn in turns_of if turn not in known]
    for (agent, memory_id, scope, _), (rules, turns_of) in found.items():
        if not turns_of:
            continue
        still = not by_day.today.reads(agent, scope).allowed
        report.leaks.append(
            Leak(
                "wrong-scope",
                "did",
                f"a memory of {scope} reached {agent}, which {'may' if still else 'was'} not "
                f"{'read it' if still else 'allowed to read it then'}",
                agent,
                memory_id,
                scope,
                reason=rules.access.reads(agent, scope).reason,
                rules=rules,
                turns=tuple(turns_of),
            )
        )


def _searched_then(searched: Sequence[tuple[int, frozenset[str]]], scope: str | None, time_ms: int) -> bool:
    """Whether a tool of the agent itself searched the scope within a day of a moment: then it could read it."""
    return any(scope in scopes and abs(time - time_ms) <= DAY_MS for time, scopes in searched)


def _got(turn: ReplayedTurn, matcher: Matcher) -> list[tuple[str | None, str | None, int | None]]:
    """(id, scope, line) of everything that a turn's agent got."""
    out = [
        (memory.id, memory.scope, at if memory.line is not None else None)
        for at, memory in enumerate(turn.memories or (), 1)
    ]
    for tool in turn.turn.tools:
        for memory_id, told in zip(tool.gave, tool.scopes or (None,) * len(tool.gave), strict=False):
            row = matcher.row(memory_id) if told is None else None
            out.append((memory_id, told if row is None else row.scope, None))
    return out


def _place(file: SessionFile, turn: ReplayedTurn, line: int | None) -> LeakTurn:
    return LeakTurn(file.id, turn.turn.n, turn.turn.time_ms, turn.evidence, line, turn.turn.machine)


def _merged(engine: Engine, access: Access, report: LeakReport, cancel: CancelToken | None) -> None:
    """Rows that the plugin's compaction made of rows of several scopes."""
    dialect = engine.store.dialect
    if dialect.columns.metadata is None:
        report.looked["merged-by-compaction"] = 0
        return
    from memtui.engine.store import sql

    matcher = Matcher(engine.store, engine.now_ms, cancel)
    merged = [
        row
        for row in matcher.rows_where(sql.contains(dialect.columns.metadata, '"compacted"'))
        if row.meta.values.get("compacted") is True
    ]
    report.looked["merged-by-compaction"] = len(merged)
    for row in merged:
        parts = {part.strip() for part in row.text.split("\n") if len(part.strip()) >= _SHORTEST}
        sources = {
            (old.id, old.scope)
            for old in matcher.history()
            if old.id != row.id and old.scope != row.scope and (old.text.strip() in parts or old.text in row.text)
            and len(old.text) >= _SHORTEST
        }  # fmt: skip
        for memory_id, scope in sorted(sources, key=str):
            report.leaks.append(
                Leak(
                    "merged-by-compaction",
                    "could",
                    f"a row of {scope} ({memory_id[:8]}) was merged into {row.scope} by compaction",
                    id=row.id,
                    scope=row.scope,
                    meant_for=scope,
                )
            )


def _null_scopes(rights: Rights, report: LeakReport) -> None:
    count = rights.matrix.counts.get(None)
    report.looked["null-scope-as-global"] = count.rows if count else 0


def _copied(
    engine: Engine, rights: Rights, access: Access, report: LeakReport, cancel: CancelToken | None
) -> None:
    """The same text in two scopes, the younger one where an agent reads it that may not read the older."""
    from memtui.engine.dialects.time_columns import stored_values

    dialect = engine.store.dialect
    scope_column, time_column = dialect.columns.scope, dialect.columns.timestamp
    if scope_column is None:
        report.looked["same-text"] = None
        return
    names = [dialect.columns.id, dialect.columns.text, scope_column, *([time_column] if time_column else [])]
    first: dict[int, tuple[str, str | None, float]] = {}
    looked = 0
    readers = {
        scope: {
            agent.id
            for agent in rights.matrix.agents
            if not agent.pseudo and agent.exists and access.reads(agent.id, scope).allowed
        }
        for scope in rights.matrix.counts
    }
    for batch in engine.store.scan(names, batch_size=8_192):
        if cancel is not None:
            cancel.check()
        looked += batch.num_rows
        columns = [batch.column(name).to_pylist() for name in names[:3]]
        times = [0] * batch.num_rows
        if time_column:
            times = list(map(dialect.read_time, stored_values(batch.column(time_column), dialect.times)))
        for row_id, text, scope, time in zip(*columns[:3], times, strict=True):
            if not isinstance(text, str) or len(text) < _SHORTEST:
                continue
            key = hash(text.strip())
            here = (str(row_id), scope, float(time))
            other = first.setdefault(key, here)
            if other is here or other[1] == scope:
                continue
            older, younger = (other, here) if other[2] <= here[2] else (here, other)
            more = readers.get(younger[1], set()) - readers.get(older[1], set())
            if more:
                agent = sorted(more)[0]
                report.leaks.append(
                    Leak(
                        "same-text",
                        "could",
                        f"a text of {older[1]} ({older[0][:8]}) stands in {younger[1]} too: {_several(more)}",
                        agent,
                        younger[0],
                        younger[1],
                        older[1],
                        reason=access.reads(agent, older[1]).reason,
                    )
                )
    report.looked["same-text"] = looked


def _several(names: set[str]) -> str:
    return (
        f"{' and '.join(sorted(names)) if len(names) < 3 else f'{len(names)} agents'} may read that one only"
    )


def _indexed(engine: Engine, access: Access, report: LeakReport, cancel: CancelToken | None) -> None:
    """Rows made of session files that hold a line of a block: memories of other scopes come back through them."""
    from memtui.engine.store import sql

    dialect = engine.store.dialect
    matcher = Matcher(engine.store, engine.now_ms, cancel)
    if not matcher.has_text_ids:
        report.looked["indexed-transcript"] = 0
        return
    ids = sql.name(dialect.columns.id)
    rows = matcher.rows_where(f"starts_with({ids}, {sql.literal(_CORPUS)})")
    report.looked["indexed-transcript"] = len(rows)
    for row in rows:
        for scope in {match["scope"] for match in _BLOCK_LINE.finditer(row.text)} - {row.scope}:
            report.leaks.append(
                Leak(
                    "indexed-transcript",
                    "could",
                    f"an indexed transcript in {row.scope} holds a memory of {scope}",
                    id=row.id,
                    scope=row.scope,
                    meant_for=scope,
                )
            )


def _files(engine: Engine, environ: Mapping[str, str], cwd: Path, report: LeakReport) -> None:
    """Folders with memories that lie inside an agent's workspace, where its file tools reach them."""
    from memtui.engine.discovery import discover
    from memtui.engine.discovery.agents import find_agent_places

    places: list[tuple[str, Path]] = []
    folder = engine.store.folder
    if folder is not None:
        places += [("the store", folder), ("its backups", folder.parent / "backups")]
    for state in state_folders(environ, cwd):
        places.append(("the mirror", state / "memory" / "md-mirror"))
    places += [
        (f"the sessions of {place.id}", place.sessions.parent) for place in find_agent_places(environ, cwd)
    ]
    agents = [agent for agent in discover(environ, cwd=cwd).agents if agent.workspace_exists]
    for agent in agents:
        exports = Path(agent.workspace) / ".openclaw" / "trajectory-exports"
        if exports.is_dir():
            report.leaks.append(
                Leak(
                    "files",
                    "could",
                    f"exported trajectories lie in the workspace of {agent.id}",
                    agent.id,
                    path=str(exports),
                )
            )
    places = [place for place in places if place[1].is_dir()]
    report.looked["files"] = len(places)
    for what, place in places:
        real = os.path.realpath(place)
        for agent in agents:
            inside = os.path.realpath(agent.workspace)
            if os.path.commonpath([real, inside]) == inside and what != f"the sessions of {agent.id}":
                report.leaks.append(
                    Leak(
                        "files",
                        "could",
                        f"{what} lies in the workspace of {agent.id}",
                        agent.id,
                        path=str(place),
                    )
                )


def _shown(matcher: Matcher, leak: Leak) -> Leak:
    """The leak with the memory's words and time, also of one that is gone while a version has it."""
    if leak.id is None:
        return leak
    row = matcher.row(leak.id) or max(matcher.writings(leak.id), key=lambda each: each.version, default=None)
    return leak if row is None else replace(leak, text=row.text, since_ms=row.timestamp_ms)


def _proved(engine: Engine, access: Access, leak: Leak) -> Leak:
    """The leak with today's check: the real recipe as that agent, with the memory itself as the question."""
    if leak.agent is None or leak.id is None:
        return leak
    try:
        request = RecallRequest("", recipe=engine.default_recipe, agent=leak.agent, limit=_K)
        searched: Sequence[str] | None = access.searched(leak.agent)
        request = replace(request, scopes=None if searched is None else list(searched))
        trace = engine.recall(explain.more_like(engine, leak.id, request))
    except MemtuiError:
        return leak
    return replace(leak, today=leak.id in {candidate.id for candidate in trace.candidates})
