"""From a wrong sentence to its cause: the turn, what it had, which memory it rests on, and what would have been right.

Reads only: no file is written, not even one of memtui's own, and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.blame.evidence import Grounds, PossibleCause, weigh
from memtui.engine.blame.judge import ACCUSED, Asked, rule
from memtui.engine.blame.missing import MOST, Missing, find_missing
from memtui.engine.blame.provenance import ProvenanceStep, provenance_of
from memtui.engine.blame.reasons import reason
from memtui.engine.blame.rows import StoredText, embedded, likely, rarity_of, read_rows, with_cosines
from memtui.engine.blame.turn import TurnEvidence, evidence_of_turn, find_turn
from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import Progress
from memtui.engine.core.secrets import mask

if TYPE_CHECKING:
    from memtui.engine.changes import Journal
    from memtui.engine.core.progress import CancelToken, OnProgress
    from memtui.engine.engine import Engine
    from memtui.engine.recall.record import Trace


Verdict = Literal["memory", "none", "unknown"]

SHOWN = 5
"""Suspects that are named."""

LEAST = 0.02
"""Below this confidence a memory is no suspect."""

_NOT_RECORDED = "it is not recorded what was injected in this turn"

_NOTHING_HERE = "the store holds no memory"


@dataclass(frozen=True, slots=True)
class SuspectedCause:
    """A memory that may have caused the sentence."""

    id: str
    confidence: float
    """The calibrated probability that it did, 0 to 1."""
    shares: tuple[str, ...]
    """What of the sentence it says, as the sentence has it."""
    why: str
    text: str
    grounds: Grounds
    state: str = ""
    """What became of it since the turn; empty without a turn."""
    how: Literal["injected", "recalled", ""] = ""
    """How the turn came by it."""
    came_from: tuple[ProvenanceStep, ...] = ()
    """How it came to be as it is, the first step first."""

    def as_json(self) -> dict[str, Any]:
        """The suspect of the command-line contract."""
        return {
            "id": self.id,
            "confidence": round(self.confidence, 3),
            "shares": [mask(share)[0] for share in self.shares],
            "why": mask(self.why)[0],
        }


@dataclass(frozen=True, slots=True)
class Instead:
    """A memory that the turn would have got without the suspects."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Blame:
    """The answer to: which memory is to blame for this sentence?"""

    sentence: str
    verdict: Verdict
    suspects: tuple[SuspectedCause, ...]
    """The likeliest first."""
    turn: TurnEvidence | None = None
    """None where the whole store was asked."""
    instead: tuple[Instead, ...] = ()
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()
    """What limits the answer, each a sentence without its full stop."""

    @property
    def accused(self) -> tuple[SuspectedCause, ...]:
        """The suspects that are accused."""
        return tuple(suspect for suspect in self.suspects if suspect.confidence >= ACCUSED)

    def as_json(self) -> dict[str, Any]:
        """The document of the command-line contract; secrets are masked."""
        turn = None
        if self.turn is not None:
            told = self.turn.replayed.turn
            turn = {"session": self.turn.file.id, "n": told.n, "question": mask(told.question)[0]}
        return {
            "schema": 1,
            "turn": turn,
            "verdict": self.verdict,
            "suspects": [suspect.as_json() for suspect in self.suspects],
            "instead": [{"id": each.id} for each in self.instead],
            "missing": [{"id": each.id} for each in self.missing],
        }


def find_cause(
    engine: Engine,
    sentence: str,
    environ: Mapping[str, str],
    cwd: Path,
    *,
    session: str | None = None,
    number: int | None = None,
    agent: str | None = None,
    journal: Journal | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Blame:
    """Say which memory a wrong sentence rests on.

    `session` (an id or its beginning) and `number` name the turn; else the sessions (of `agent`) are searched for the
    sentence, and where no clear turn says it the whole store is asked, all scopes. `journal` as `provenance_of` takes
    it. Raises UsageError for an empty sentence and for a session or turn that is not there.
    """
    if not sentence.strip():
        raise UsageError("The sentence is empty.", fix='Write what the agent said: memtui blame "..."')

    def tell(step: int, what: str) -> None:
        if on_progress is not None:
            on_progress(Progress(what, step, 3, "step"))

    tell(0, "looking for the turn in the sessions")
    found = find_turn(sentence, environ, cwd, session=session, number=number, agent=agent, cancel=cancel)
    tell(1, "weighing the memories of the store" if found is None else "weighing the memories of the turn")
    if found is None:
        judged = _of_store(engine, sentence, cancel)
    else:
        judged = _of_turn(engine, sentence, evidence_of_turn(engine, found, environ, cancel), cancel)
    tell(2, "reading where the suspects came from")
    known = engine.memories([suspect.id for suspect in judged.suspects])
    came = provenance_of(engine, list(known.values()), environ, cwd, journal=journal, cancel=cancel)
    return replace(
        judged,
        suspects=tuple(replace(suspect, came_from=came.get(suspect.id, ())) for suspect in judged.suspects),
    )


def _of_store(engine: Engine, sentence: str, cancel: CancelToken | None) -> Blame:
    vectors = embedded(engine, [sentence])
    rows = [row for row in read_rows(engine, vectors, cancel=cancel) if row.text.strip()]
    if not rows:
        return Blame(sentence, "unknown", (), notes=(_NOTHING_HERE,))
    candidates = [row.as_candidate() for row in likely(sentence, rows)]
    suspects = _suspects("store", weigh(sentence, candidates, rarity=rarity_of(sentence, rows)))
    accused = [suspect for suspect in suspects if suspect.confidence >= ACCUSED]
    missing = find_missing(engine, sentence, "", accused, rows, got=(), scopes=None) if accused else ()
    return Blame(sentence, "memory" if accused else "none", tuple(suspects), missing=tuple(missing))


def _of_turn(engine: Engine, sentence: str, turn: TurnEvidence, cancel: CancelToken | None) -> Blame:
    told = turn.replayed.turn
    vectors = embedded(engine, [sentence, told.question] if told.question.strip() else [sentence])
    rows = [row for row in read_rows(engine, vectors, cancel=cancel) if row.text.strip()]
    near = {row.id: row.near for row in rows}
    candidates, states, recalled, notes = _given(turn, {row.id: row for row in rows})
    grounds = weigh(
        sentence,
        with_cosines(candidates, near),
        question=told.question,
        told=turn.told,
        rarity=rarity_of(sentence, rows),
    )
    suspects = [
        replace(
            suspect,
            state=states.get(suspect.id, ""),
            how="recalled" if suspect.id in recalled else "injected",
        )
        for suspect in _suspects("turn", grounds)
    ]
    accused = [suspect for suspect in suspects if suspect.confidence >= ACCUSED]
    verdict: Verdict = "memory" if accused else "none"
    if not accused and turn.replayed.memories is None:
        verdict, notes = "unknown", [*notes, _NOT_RECORDED]
    got = {candidate.id for candidate in candidates}
    scopes = engine.access.searched(turn.file.agent)
    missing: Sequence[Missing] = (
        find_missing(engine, sentence, told.question, accused, rows, got=got, scopes=scopes)
        if accused
        else ()
    )
    instead: Sequence[Instead] = ()
    if accused:
        instead, missing, said = _played_again(engine, turn, accused, missing, got, cancel)
        notes += [said] if said else []
    return Blame(
        sentence,
        verdict,
        tuple(suspects),
        turn,
        tuple(instead),
        tuple(missing),
        tuple(notes),
    )


def _given(
    turn: TurnEvidence, rows: Mapping[str, StoredText]
) -> tuple[list[PossibleCause], dict[str, str], set[str], list[str]]:
    """(the memories that the turn got, what became of each, those that a tool brought, what is not known)."""
    out: dict[str, PossibleCause] = {}
    states: dict[str, str] = {}
    notes: list[str] = []
    lost = 0
    for memory in turn.replayed.memories or ():
        named = (
            (memory.id,)
            if memory.id is not None
            else memory.candidates or ((memory.perhaps,) if memory.perhaps else ())
        )
        lost += not named
        for each in named:
            out.setdefault(each, PossibleCause(each, memory.text, _day(rows.get(each))))
            states.setdefault(each, memory.state)
    recalled: set[str] = set()
    for tool in turn.replayed.turn.tools:
        for each in tool.gave:
            if each not in out and each in rows:
                out[each] = PossibleCause(each, rows[each].text, _day(rows[each]))
                recalled.add(each)
            elif each not in out:
                lost += 1
    if lost:
        notes.append(f"{lost} of what the turn got is no memory of this store, so it could not be weighed")
    return list(out.values()), states, recalled, notes


def _day(row: StoredText | None) -> str:
    from datetime import UTC, datetime

    if row is None or not row.timestamp_ms:
        return ""
    try:
        return datetime.fromtimestamp(row.timestamp_ms / 1000, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return ""


def _suspects(asked: Asked, grounds: Sequence[Grounds]) -> list[SuspectedCause]:
    judged = rule(asked)
    made = [
        SuspectedCause(
            ground.candidate.id,
            judged.confidence(ground.evidence),
            ground.shares,
            reason(ground),
            ground.candidate.text,
            ground,
        )
        for ground in grounds
    ]
    made.sort(key=lambda each: (-each.confidence, each.id))
    return [each for each in made if each.confidence >= LEAST][:SHOWN] or made[: 1 if asked == "turn" else 0]


def _played_again(
    engine: Engine,
    turn: TurnEvidence,
    accused: Sequence[SuspectedCause],
    missing: Sequence[Missing],
    got: set[str],
    cancel: CancelToken | None,
) -> tuple[tuple[Instead, ...], Sequence[Missing], str]:
    """(what the turn's recall brings without the accused, the missing with why they stayed out, what is not known)."""
    from memtui.engine import explain
    from memtui.engine.witness.ask_again import turns_since

    if not turn.replayed.turn.question.strip():
        return (), missing, "the turn has no question, so its recall cannot be played again"
    if not engine.embeds_here:
        return (), missing, "playing the recall again would send the question to a service"
    try:
        trace = _recall_of(engine, turn, [each.id for each in accused], cancel)
        told = _recall_of(engine, turn, (), cancel)
        missing = _contradicting(told, accused, got)[:MOST] or missing
        missing = [
            replace(
                each,
                why_not=explain.why_not_in(engine, told, each.id, changes=False, cancel=cancel).sentence,
            )
            for each in missing
        ]
    except MemtuiError as error:
        return (), missing, f"the recall could not be played again: {error.message}"
    ids: Sequence[str] = tuple(trace.returned)
    try:
        block = explain.injected(trace, turns_since=turns_since(turn.replayed, turn.earlier))
        ids = [part.id for part in block.parts if part.line]
    except UsageError:  # a recipe whose block nobody knows
        pass
    texts = {row.id: row.text for row in trace.pool.rows}
    gone = {each.id for each in accused} | got
    return (
        tuple(Instead(memory_id, texts.get(memory_id, "")) for memory_id in ids if memory_id not in gone),
        missing,
        "",
    )


def _contradicting(trace: Trace, accused: Sequence[SuspectedCause], got: Collection[str]) -> list[Missing]:
    """The newer memories that Recall itself warns of: they say another value than an accused one."""
    from memtui.engine.explain import find_disagreements

    wrong = {each.id for each in accused}
    return [
        Missing(disagreement.newer, disagreement.newer_text, 1.0)
        for disagreement in find_disagreements(trace)
        if disagreement.recalled in wrong and disagreement.newer not in got
    ]


def _recall_of(
    engine: Engine, turn: TurnEvidence, without: Sequence[str], cancel: CancelToken | None
) -> Trace:
    """The turn's question again, on the version of its moment where that is still there, without some memories."""
    from memtui.engine.recall.answer import recall
    from memtui.engine.witness.ask_again import request_of_turn

    try:
        request = request_of_turn(engine, turn.replayed, turn.file.agent, as_of=True)
    except UsageError:
        request = request_of_turn(engine, turn.replayed, turn.file.agent, as_of=False)
    context = engine.recall_context()
    outside = context.outside(request.table_version)
    if without:
        outside = outside.with_edits(dict.fromkeys(without))
    return recall(request, context, outside=outside, cancel=cancel)
