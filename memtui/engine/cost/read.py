"""What memory costs, read from the sessions of this environment and judged with one store. Nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.cost.figures import CostReport, cost_turns
from memtui.engine.cost.host_files import HostTranscript, HostTurn, find_host_transcripts, read_host_turns
from memtui.engine.cost.turns import CostTurn, InjectedCost, Place, split_sent, split_system
from memtui.engine.recall.prompt_block import estimated_tokens
from memtui.engine.witness.askers import read_askers
from memtui.engine.witness.audit import injection_history
from memtui.engine.witness.economy import LIKELY
from memtui.engine.witness.find import find_session, find_sessions
from memtui.engine.witness.matching import Injected, Matcher, use_in
from memtui.engine.witness.prompt_block import block_lines
from memtui.engine.witness.replay import ReplayedTurn, read_turns, replay_turns
from memtui.engine.witness.session import SessionFile

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


def read_cost(
    engine: Engine,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    since_ms: int = 0,
    agent: str | None = None,
    session: str | None = None,
    assume: str = "",
    lifetime: str = "5m",
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> CostReport:
    """The cost of every turn since a moment, of all agents or one, of all sessions or one.

    `assume` names the rule for models whose provider's rule is not known, `lifetime` that of Anthropic's cache. A turn
    is judged with its whole session, however old. Raises UsageError for an unknown session.
    """
    files = find_sessions(environ, cwd)
    hosts = find_host_transcripts(environ)
    events = injection_history(engine, cancel=cancel).events()
    askers = read_askers(files, environ, events, cancel)
    chosen, others = _chosen(files, hosts, session)
    matcher = Matcher(engine.store, engine.now_ms, cancel)
    turns: list[CostTurn] = []
    warnings: list[str] = []
    wanted = [file for file in chosen if agent in (None, file.agent) and file.modified_ms >= since_ms]
    foreign = [file for file in others if agent in (None, file.host) and file.modified_ms >= since_ms]
    for done, file in enumerate(wanted):
        if on_progress is not None:
            on_progress(Progress("reading sessions", done, len(wanted) + len(foreign), "sessions"))
        read, told = read_turns(file, environ, cancel)
        warnings += told
        replayed = replay_turns(
            file, read, engine.store, askers.of(file), now_ms=engine.now_ms, matcher=matcher, cancel=cancel
        )
        turns += [_of_replayed(file, turn) for turn in replayed]
    for transcript in foreign:
        turns += _of_host(transcript, read_host_turns(transcript, warnings, cancel), matcher)
    costs = tuple(cost for cost in cost_turns(turns, assume, lifetime) if cost.turn.time_ms >= since_ms)
    notes = [
        sentence if count == 1 else f"{sentence} ({counted(count, 'session')})"
        for sentence, count in Counter(warnings).items()
    ]
    return CostReport(since_ms, engine.now_ms, costs, assume, tuple(notes))


def _chosen(
    files: Sequence[SessionFile], hosts: Sequence[HostTranscript], session: str | None
) -> tuple[Sequence[SessionFile], Sequence[HostTranscript]]:
    if session is None:
        return files, hosts
    named = [file for file in hosts if session and file.session.startswith(session)]
    if len(named) == 1 and not any(file.id.startswith(session) for file in files):
        return (), named
    if len(named) > 1:
        raise UsageError(f"Several sessions have an id that begins with {session!r}.", fix="Give more of it.")
    return (find_session(files, session),), ()


def _of_replayed(file: SessionFile, replayed: ReplayedTurn) -> CostTurn:
    turn = replayed.turn
    place, memory, question, stays = split_sent(turn.sent, turn.kept or turn.question)
    system, in_system, after = split_system(turn.system)
    if in_system:
        place, memory = "system prompt", in_system
    elif place == "none" and replayed.memories:
        place = "not recorded"  # the store has an injection of this moment, and the message none
    memories = None if replayed.memories is None else tuple(_injected(each) for each in replayed.memories)
    if memories is None and memory:
        memories = ()  # a block of files or standing intents: it costs, and none of it is a row
    elif memories is None and place == "none":
        memories = ()
    last = turn.usage[-1] if turn.usage else None
    return CostTurn(
        file.agent,
        file.id,
        turn.n,
        turn.time_ms,
        place,
        memory,
        question,
        turn.answer,
        stays,
        system,
        after,
        turn.tool_definitions,
        turn.window,
        memories,
        tuple(turn.usage),
        last.provider if last is not None else "",
        last.model if last is not None else "",
        bool(turn.machine),
    )


def _injected(memory: Injected) -> InjectedCost:
    line = memory.line or memory.text
    used = None if memory.used is None else memory.used >= LIKELY
    return InjectedCost(memory.id or "", line, estimated_tokens(line), used, memory.text)


def _of_host(file: HostTranscript, turns: Sequence[HostTurn], matcher: Matcher) -> list[CostTurn]:
    """The turns of a transcript. That a turn got nothing is only known where another turn of the file holds a block."""
    keeps = any(turn.block for turn in turns)
    provider = {"claude": "anthropic", "codex": "openai"}[file.host]
    out = []
    for number, turn in enumerate(turns, 1):
        place: Place = "none" if keeps else "not recorded"
        if turn.block:
            place = "before the question" if turn.inside else "after the question"
        out.append(
            CostTurn(
                file.host,
                file.session,
                number,
                turn.time_ms,
                place,
                turn.block,
                turn.question,
                turn.answer,
                stays=True,
                window=turn.window,
                memories=_of_block(turn, matcher, file.host) if keeps else None,
                usage=tuple(turn.calls.values()),
                provider=provider,
                model=turn.model,
            )
        )
    return out


def _of_block(turn: HostTurn, matcher: Matcher, agent: str) -> tuple[InjectedCost, ...]:
    found = []
    for line in block_lines(turn.block)[1]:
        memory = matcher.match(line, agent)
        used = use_in(turn.answer, line.text, turn.question)
        known = None if used is None else used >= LIKELY
        found.append(InjectedCost(memory.id or "", line.line, estimated_tokens(line.line), known, line.text))
    return tuple(found)
