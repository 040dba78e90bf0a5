"""Would the same come back: the question of a past turn asked today, and as of its own moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memtui.engine import explain
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.recall.request import RecallRequest
from memtui.engine.witness.replay import ReplayedTurn

if TYPE_CHECKING:
    from memtui.engine.engine import Engine
    from memtui.engine.recall.record import Trace


NOT_REACHED = "the table's readable versions do not reach back to this turn"

_NO_PROCESS = "which memories the running agent held back as just injected is taken from the turns before"


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """A past question, asked again."""

    trace: Trace
    version: int
    returned: tuple[str, ...]
    """Ids in the order of the answer."""
    injected: tuple[str, ...] | None
    """Those that the block would hold; None where the recipe's block is not known."""
    left_out: Mapping[str, str]
    """Why an answered memory would not be in the block."""


def request_of_turn(engine: Engine, turn: ReplayedTurn, agent: str, as_of: bool) -> RecallRequest:
    """The turn's question as its agent's recall asks it; `as_of` on the version and clock of its moment.

    Raises UsageError where the versions do not reach back so far.
    """
    request = RecallRequest(
        turn.turn.question,
        recipe=engine.default_recipe,
        scopes=explain.agent_scopes(engine, agent),
        agent=agent,
    )
    if not as_of:
        return request
    before = [version for version, time_ms in engine.store.versions() if time_ms <= turn.turn.time_ms]
    if not before:
        raise UsageError(f"{NOT_REACHED}.", fix="Ask it as of today.")
    return replace(request, table_version=before[-1], now_ms=turn.turn.time_ms)


def ask_again(
    engine: Engine,
    turn: ReplayedTurn,
    agent: str,
    earlier: Sequence[ReplayedTurn] = (),
    *,
    as_of: bool = False,
    cancel: CancelToken | None = None,
) -> AskedAgain:
    """The turn's question again, now or as of its moment; `earlier` are the turns of its session before it."""
    trace = engine.recall(request_of_turn(engine, turn, agent, as_of), cancel=cancel)
    injected: tuple[str, ...] | None = None
    left_out: dict[str, str] = {}
    try:
        block = explain.injected(trace, turns_since=turns_since(turn, earlier))
        injected = tuple(part.id for part in block.parts if part.line)
        left_out = {part.id: part.left_out for part in block.parts if part.left_out}
    except UsageError:  # a recipe whose block nobody knows
        pass
    return AskedAgain(trace, trace.table_version, tuple(trace.returned), injected, left_out)


def with_today(
    engine: Engine,
    turn: ReplayedTurn,
    agent: str,
    earlier: Sequence[ReplayedTurn],
    *,
    as_of: bool = False,
    cancel: CancelToken | None = None,
) -> ReplayedTurn:
    """The turn with the places of its memories in today's answer (or in that of its moment).

    Each memory that does not come back gets the first gate that stops it, today or then; a question that cannot
    be asked becomes a warning.
    """
    if not turn.memories or not turn.turn.question:
        return turn
    try:
        asked = ask_again(engine, turn, agent, earlier, as_of=as_of, cancel=cancel)
    except MemtuiError as error:
        turn.turn.warnings.append(f"not asked again: {error.message}")
        return turn
    memories = []
    for memory in turn.memories:
        if memory.id is None:
            memories.append(memory)
            continue
        rank = asked.returned.index(memory.id) + 1 if memory.id in asked.returned else None
        if rank is None and (other := equal_in_score(asked.trace, memory.id)) is not None:
            turn.turn.warnings.append(
                f"{memory.id[:8]} has the very score of {other[:8]}, which came back: which of two equal ones "
                "comes first is the database's own order"
            )
        gate = asked.left_out.get(memory.id) if rank is not None else _gate(engine, asked.trace, memory.id)
        if as_of:
            memories.append(replace(memory, rank_as_of=rank, gate_as_of=gate))
        else:
            memories.append(replace(memory, rank_now=rank, gate=gate))
    if earlier and not as_of:
        turn.turn.warnings.append(_NO_PROCESS)
    return replace(turn, memories=memories)


def equal_in_score(trace: Trace, memory_id: str) -> str | None:
    """The id of a memory that came back with the very score with which this one was left out; None for none."""
    at = next((number for number, row in enumerate(trace.pool.rows) if row.id == memory_id), None)
    held = [record.outcome.flow for record in trace.records if at in record.outcome.flow.order]
    if at is None or not held:
        return None
    score, rows = held[-1].score, trace.pool.rows
    returned = {row.id: number for number, row in enumerate(rows) if row.id in trace.returned}
    return next((each for each in trace.returned if score[returned[each]] == score[at]), None)


def turns_since(turn: ReplayedTurn, earlier: Sequence[ReplayedTurn]) -> dict[str, int]:
    """For each memory that an earlier turn of the session got, how many turns ago the last one was."""
    return {
        memory.id: turn.turn.n - each.turn.n
        for each in sorted(earlier, key=lambda each: each.turn.n)
        if each.turn.n < turn.turn.n
        for memory in each.memories or ()
        if memory.id is not None
    }


def _gate(engine: Engine, trace: Trace, memory_id: str) -> str | None:
    return explain.why_not_in(engine, trace, memory_id, changes=False).gate
