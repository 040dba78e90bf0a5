"""Cases out of real turns: a week of questions becomes the regression test for any change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine import explain
from memtui.engine.cases.case import Case, case_id
from memtui.engine.core.progress import CancelToken
from memtui.engine.core.secrets import find_secrets
from memtui.engine.witness.askers import read_askers
from memtui.engine.witness.audit import injection_history
from memtui.engine.witness.find import find_sessions
from memtui.engine.witness.matching import Matcher
from memtui.engine.witness.replay import ReplayedTurn, read_turns, replay_turns

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


ALIVE = ("same", "text_changed")
"""States of a memory that should still come back."""


@dataclass(frozen=True, slots=True)
class MadeCases:
    """What a time of sessions gives."""

    cases: tuple[Case, ...]
    turns: int
    left_out: Mapping[str, int]
    """Turns that make no case, by the reason."""


def case_of_turn(turn: ReplayedTurn, agent: str, scopes: Sequence[str] | None, now_ms: int) -> Case | str:
    """The case of one turn, or why it makes none.

    Expected is what was injected and is still alive; what was replaced, archived or expired since is rejected.
    """
    question = turn.turn.question.strip()
    if not question:
        return "no question"
    if turn.memories is None:
        return "not recorded what was injected"
    alive = tuple(memory.id for memory in turn.memories if memory.id and memory.state in ALIVE)
    if not alive:
        return "nothing injected that is still alive" if turn.memories else "nothing was injected"
    if find_secrets(question):
        return "the question holds a secret"
    gone = tuple(memory.id for memory in turn.memories if memory.id and memory.state == "superseded")
    limits = None if scopes is None else tuple(scopes)
    return Case(
        id=case_id(question, limits, None, agent),
        query=question,
        expected=tuple(dict.fromkeys(alive)),
        rejected=tuple(dict.fromkeys(gone)),
        scopes=limits,
        agent=agent,
        note="from a session",
        created_ms=now_ms,
    )


def make_cases(
    engine: Engine,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    since_ms: int = 0,
    agent: str | None = None,
    cancel: CancelToken | None = None,
) -> MadeCases:
    """The cases of all turns since a moment; the same question of the same agent is one case, its latest turn."""
    events = injection_history(engine, cancel=cancel).events()
    matcher = Matcher(engine.store, engine.now_ms, cancel)
    found: dict[str, tuple[int, Case]] = {}
    left_out: dict[str, int] = {}
    count = 0
    askers = read_askers(find_sessions(environ, cwd), environ, events, cancel)
    for file in find_sessions(environ, cwd, agent):
        turns = [turn for turn in read_turns(file, environ, cancel)[0] if turn.time_ms >= since_ms]
        scopes = explain.agent_scopes(engine, file.agent)
        for turn in replay_turns(
            file, turns, engine.store, askers.of(file), now_ms=engine.now_ms, matcher=matcher, cancel=cancel
        ):
            if turn.turn.machine:
                continue
            count += 1
            case = case_of_turn(turn, file.agent, scopes, engine.now_ms)
            if isinstance(case, str):
                left_out[case] = left_out.get(case, 0) + 1
            elif case.id not in found or found[case.id][0] <= turn.turn.time_ms:
                found[case.id] = (turn.turn.time_ms, case)
    return MadeCases(tuple(case for _, case in found.values()), count, left_out)
