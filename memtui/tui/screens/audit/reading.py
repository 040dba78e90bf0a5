"""What Audit asks of the engine, each one call for a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine import CancelToken, MemtuiError, counted, explain
from memtui.engine.cases import CaseBook
from memtui.tui.screens.audit.state import DAY_MS

if TYPE_CHECKING:
    from memtui.engine import Engine, RecallRequest
    from memtui.engine.configuration import ListPlace
    from memtui.engine.cost import CostReport, WhatIfCost
    from memtui.engine.witness import (
        GotIndex,
        InjectionEconomy,
        LeakReport,
        LiveEvent,
        Reach,
        ReplayedSession,
        ReplayedTurn,
        Rights,
        SessionSummary,
    )


def read_sessions(engine: Engine, cancel: CancelToken) -> tuple[tuple[SessionSummary, ...], int]:
    """The sessions, and how many injections the store alone tells of."""
    from memtui.engine.witness import injection_history, list_sessions

    count = len(injection_history(engine, cancel=cancel).events())
    found = list_sessions(engine.environ, Path.cwd(), engine=engine, cancel=cancel)
    return tuple(found), count


def read_why_no_lists(engine: Engine) -> str:
    """Why no list of what agents read can be written; empty where it can, and where the plan will say what is wrong."""
    from memtui.engine.configuration import without_lists
    from memtui.tui.config_request import read_configuration

    try:
        return without_lists(read_configuration(engine))
    except MemtuiError:
        return ""


MOST_TEXTS = 400
"""Memories of a session whose words are read beside its turns."""


def read_turns(engine: Engine, session: str, cancel: CancelToken) -> tuple[ReplayedSession, dict[str, str]]:
    """One session, turn by turn; with the words, as they are now, of its memories and of what replaced them."""
    from memtui.engine.alive import explain_silence
    from memtui.engine.witness import replay_session

    found = replay_session(session, engine.environ, Path.cwd(), engine=engine, cancel=cancel)
    explain_silence(found, engine.environ, Path.cwd(), engine)
    injected = [memory for turn in found.turns for memory in turn.memories or ()]
    ids = dict.fromkeys(id for each in injected for id in (each.id, each.superseded_by) if id)
    return found, {id: each.text for id, each in engine.memories(list(ids)[:MOST_TEXTS]).items()}


def read_turns_alone(environ: Mapping[str, str], session: str, cancel: CancelToken) -> ReplayedSession:
    """One session, turn by turn, without a store: the lines of a block are shown, and no memory is named by them."""
    from memtui.engine.alive import explain_silence
    from memtui.engine.witness import replay_session

    found = replay_session(session, environ, Path.cwd(), cancel=cancel)
    explain_silence(found, environ, Path.cwd(), None)
    return found


def read_again(
    engine: Engine, replayed: ReplayedSession, turn: ReplayedTurn, as_of: bool, cancel: CancelToken
) -> tuple[str, ReplayedTurn, bool]:
    """A turn's question again; with the session's id, and whether it was asked as of then."""
    from memtui.engine.witness import with_today

    asked = with_today(engine, turn, replayed.file.agent, replayed.turns, as_of=as_of, cancel=cancel)
    return replayed.file.id, asked, as_of


def read_all_rights(engine: Engine, cancel: CancelToken) -> Rights:
    """Who may read what."""
    from memtui.engine.witness import read_rights

    return read_rights(engine, engine.environ, Path.cwd(), cancel=cancel)


def read_places(engine: Engine, cancel: CancelToken) -> dict[str, ListPlace]:
    """Where the configuration lists what the agents read; empty where there is none that can be read."""
    from memtui.engine.configuration import list_places
    from memtui.tui.config_request import read_configuration

    try:
        return list_places(read_configuration(engine))
    except MemtuiError:
        return {}


def read_got_scopes(engine: Engine, cancel: CancelToken) -> GotIndex:
    """Which agent got memories of which scope."""
    from memtui.engine.witness import read_got

    return read_got(engine, engine.environ, Path.cwd(), cancel)


def read_rights_anew(engine: Engine, cancel: CancelToken) -> Rights:
    """Who may read what by the configuration as it is on disk now: the store was opened under the one before."""
    from memtui.engine.configuration import access_under
    from memtui.engine.witness import read_rights
    from memtui.tui.config_request import read_configuration

    config = read_configuration(engine)
    access = access_under(config, (), engine.environ)
    return read_rights(engine, engine.environ, Path.cwd(), access=access, cancel=cancel)


def read_leaks(engine: Engine, cancel: CancelToken) -> tuple[Rights, LeakReport]:
    """What crossed, or can; with the rights that it was held against."""
    from memtui.engine.witness import hunt_leaks

    rights = read_all_rights(engine, cancel)
    return rights, hunt_leaks(engine, rights, engine.environ, Path.cwd(), cancel=cancel)


def read_reach(engine: Engine, memory: str, cancel: CancelToken) -> Reach:
    """How far a memory reached."""
    from memtui.engine.witness import reach_of

    return reach_of(engine, memory, engine.environ, Path.cwd(), cancel=cancel)


def read_new(engine: Engine, seen: int, cancel: CancelToken) -> tuple[int, list[LiveEvent]]:
    """The newest version, and what was written since `seen`."""
    from memtui.engine.witness import read_live

    if engine.store.newest_version() == seen:
        return seen, []
    engine.store.refresh()
    return engine.store.version, read_live(engine.store, seen, cancel)


COST_DAYS = 14

ASSUMED_RULE = "anthropic"
"""Whose cache rule other forms of the block are played by, where a transcript names no provider that is known."""

SHORTER, LONGER_REPEAT = 1, 12
"""Memories of the shorter block, and turns of the longer minimum repeat."""


def read_cost_report(engine: Engine, cancel: CancelToken) -> tuple[CostReport, WhatIfCost]:
    """What memory costs, and what other forms of the block would have cost. Nothing is sent."""
    from memtui.engine.cost import measure_what_if, read_cost
    from memtui.paths import cases_file

    since_ms = max(0, engine.now_ms - COST_DAYS * DAY_MS)
    report = read_cost(engine, engine.environ, Path.cwd(), since_ms=since_ms, cancel=cancel)
    cases = CaseBook(cases_file(engine.info.uri)).cases()
    with engine.sending_nothing():
        forms = measure_what_if(
            engine,
            replace(report, assumed=ASSUMED_RULE),
            cases,
            items=SHORTER,
            repeat=LONGER_REPEAT,
            cancel=cancel,
        )
    return report, forms


def read_costs(engine: Engine, cancel: CancelToken) -> InjectionEconomy:
    """What injections cost."""
    from memtui.engine.witness import read_economy

    return read_economy(engine, engine.environ, Path.cwd(), cancel)


def for_bisect(engine: Engine, turn: ReplayedTurn, agent: str, memory: str) -> tuple[RecallRequest, str, str]:
    """A turn's question as its agent asks it, and the memory to look for with its text."""
    from memtui.engine.witness import request_of_turn

    text = next((each.text for each in turn.memories or () if each.id == memory), "")
    return request_of_turn(engine, turn, agent, False), memory, text or memory


def keep_case(engine: Engine, replayed: ReplayedSession, turn: ReplayedTurn) -> str:
    """Make a turn a case; what to say of it. Raises MemtuiError where it makes none."""
    from memtui.engine.witness import case_of_turn
    from memtui.paths import cases_file

    agent = replayed.file.agent
    case = case_of_turn(turn, agent, explain.agent_scopes(engine, agent), engine.now_ms)
    if isinstance(case, str):
        raise MemtuiError(f"This turn makes no case: {case}.", fix="Take another turn.")
    CaseBook(cases_file(engine.info.uri)).put(case)
    return f"kept as a case: {counted(len(case.expected), 'memory', 'memories')} expected"


def write_proof(engine: Engine, memory: str, name: str, cancel: CancelToken) -> str:
    """Write the proof pack; the file's path."""
    from memtui.engine.witness import collect_proof, write_pack

    file = Path(name).expanduser()
    write_pack(collect_proof(engine, [memory], engine.environ, Path.cwd(), cancel=cancel), file)
    return str(file)
