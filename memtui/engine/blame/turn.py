"""Which turn a sentence was said in, and what that turn had: its memories, and what was no memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.blame.lexicon import folded
from memtui.engine.blame.statement import best_likeness
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.witness.find import find_session, find_sessions
from memtui.engine.witness.formats.events import read_events
from memtui.engine.witness.injections import read_injections
from memtui.engine.witness.replay import ReplayedTurn, join_events, read_turns, replay_turns
from memtui.engine.witness.session import is_memory_tool, text_of

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine
    from memtui.engine.witness.session import SessionFile
    from memtui.engine.witness.turns import Turn


ALIKE = 0.8
"""Share of a sentence's words that an answer has in order, from which it was probably said there."""

CLEAR = 0.15
"""How far one turn must be ahead of the next to be the one."""

LEAST_WORDS = 3
"""A sentence of fewer words is found to the letter alone."""

LONGEST_RESULT = 20_000
"""Characters of a tool's result that are looked at."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn of a session, read from its files alone."""

    file: SessionFile
    turn: Turn


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """What one turn had."""

    file: SessionFile
    replayed: ReplayedTurn
    earlier: tuple[ReplayedTurn, ...]
    """The turns of the session before it."""
    told: tuple[str, ...]
    """What stood before the model and is no memory of the store: results of tools, lines of files."""


def find_turn(
    sentence: str,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    session: str | None = None,
    number: int | None = None,
    agent: str | None = None,
    cancel: CancelToken | None = None,
) -> FoundTurn | None:
    """The turn that is named, else the one clear turn whose answer says the sentence; None for several or none.

    Raises UsageError for a session or a turn that is not there.
    """
    files = find_sessions(environ, cwd, agent)
    if session is not None:
        files = [find_session(files if agent is None else find_sessions(environ, cwd), session)]
    found: list[tuple[float, FoundTurn]] = []
    for file in files:
        if cancel is not None:
            cancel.check()
        try:
            turns = [turn for turn in read_turns(file, environ, cancel)[0] if not turn.machine]
        except MemtuiError:
            if session is not None:
                raise
            continue
        if number is not None:
            turns = [turn for turn in turns if turn.n == number]
            if session is not None:
                if not turns:
                    raise UsageError(
                        f"The session has no turn {number}.", fix=f"See its turns: memtui replay {file.id}"
                    )
                return FoundTurn(file, turns[0])
        found += [(said_in(sentence, turn.answer), FoundTurn(file, turn)) for turn in turns]
    found.sort(key=lambda each: -each[0])
    if not found or found[0][0] < ALIKE:
        return None
    if len(found) > 1 and found[1][0] > found[0][0] - CLEAR:
        return None
    return found[0][1]


def said_in(sentence: str, answer: str) -> float:
    """How surely an answer says a sentence: 2 to the letter, to 1 for its words in their order, 0 not at all."""
    wanted, words = _WORD.findall(folded(sentence)), _WORD.findall(folded(answer))
    if not wanted or not words:
        return 0.0
    if _runs(wanted, words):
        return 2.0
    if len(wanted) < LEAST_WORDS:
        return 0.0
    return _in_order(wanted, words) / len(wanted)


def evidence_of_turn(
    engine: Engine, found: FoundTurn, environ: Mapping[str, str], cancel: CancelToken | None = None
) -> TurnEvidence:
    """What the turn had: its memories as they were, and the texts that are none. Nothing is written."""
    turns = [turn for turn in read_turns(found.file, environ, cancel)[0] if not turn.machine]
    events: Sequence[Any] = ()
    wanted = next(turn for turn in turns if turn.n == found.turn.n)
    if not wanted.recorded or wanted.open_end:
        history = read_injections(engine.store, cancel=cancel).events()
        events = history if join_events(turns, history) else ()
    replayed = replay_turns(found.file, turns, engine.store, events, now_ms=engine.now_ms, cancel=cancel)
    of_turn = next(turn for turn in replayed if turn.turn.n == found.turn.n)
    earlier = tuple(turn for turn in replayed if turn.turn.n < found.turn.n)
    turn = of_turn.turn
    told = [*(line.text for line in (*turn.active, *turn.intents)), *turn.rules, *turn.focus]
    told += _results(found.file, wanted)
    return TurnEvidence(found.file, of_turn, earlier, tuple(text for text in told if text.strip()))


def _results(file: SessionFile, turn: Turn) -> list[str]:
    """The results of the tools of a turn that are no memory tool's, from its message to the next person's."""
    out: list[str] = []
    inside = False
    for value in read_events(file, []):
        message = value.get("message")
        if not isinstance(message, Mapping):
            continue
        role = message.get("role")
        if role == "user":
            if inside:
                break
            inside = value.get("id") == turn.entry
        elif (
            inside
            and role in ("toolResult", "tool")
            and not is_memory_tool(str(message.get("toolName") or ""))
        ):
            out.append(text_of(message.get("content"))[:LONGEST_RESULT])
    return out


def _runs(wanted: Sequence[str], words: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(words[at : at + size]) == list(wanted) for at in range(len(words) - size + 1))


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> float:
    """How many of the words stand in the text one behind the other, slips allowed (a longest common subsequence)."""
    row = [0.0] * (len(words) + 1)
    for one in wanted:
        before = row[:]
        for at, two in enumerate(words, 1):
            same = 1.0 if one == two else 0.9 if len(one) > 3 and best_likeness(one, (two,)) >= 0.8 else 0.0
            row[at] = max(before[at], row[at - 1], before[at - 1] + same if same else 0.0)
    return row[-1]
