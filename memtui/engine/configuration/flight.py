"""The flight simulator: cases and last questions answered under a plan before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.recall_effect import answer_change, once_each
from memtui.engine.configuration.file import REMOVED
from memtui.engine.configuration.trial_vectors import changes_vectors, embedded_again, planned_embedder
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from memtui.engine.changes.recall_effect import AnswerChange, EffectQuestion
    from memtui.engine.configuration.file import Configuration
    from memtui.engine.configuration.plans import SettingChange
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.recall.record import Trace


GRID = tuple(round(0.05 * step, 2) for step in range(12, 3, -1))
"""minScore as tried for the smallest change: .6 down to .2."""

_BLOCKS = ("retrieval", "decay")


@dataclass(frozen=True, slots=True)
class Flown:
    """One question now and under the plan."""

    query: str
    saved: bool
    expected: tuple[str, ...]
    now: tuple[str, ...]
    then: tuple[str, ...]
    change: AnswerChange | None = None
    """Both answers place by place, with texts and scores; None where they read the same."""

    @property
    def places(self) -> tuple[int | None, int | None]:
        """Place of the best expected memory now and then, from 1; None where it does not come."""
        return _place(self.expected, self.now), _place(self.expected, self.then)

    @property
    def changed(self) -> bool:
        """Whether another answer comes, or one of its memories falls out of the prompt or comes into it."""
        return self.change is not None


@dataclass(frozen=True, slots=True)
class SmallerStep:
    """A lower minScore than the plan's with which more cases are right."""

    min_score: float
    right: int
    silent: int


@dataclass(frozen=True, slots=True)
class Flight:
    """What the agent would answer under a plan."""

    questions: tuple[Flown, ...]
    failed: int
    notes: tuple[str, ...]
    """What could not be tried here, in sentences: another model's vectors, a reranker that was not asked."""
    smaller: SmallerStep | None = None

    @property
    def cases(self) -> int:
        """Questions that say which memory is right."""
        return sum(bool(question.expected) for question in self.questions)

    def right(self, then: bool) -> int:
        """Cases whose right memory comes first, now or then."""
        return sum(question.places[then] == 1 for question in self.questions if question.expected)

    def silent(self, then: bool) -> int:
        """Questions that bring nothing, now or then."""
        return sum(not (question.then if then else question.now) for question in self.questions)

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "asked": len(self.questions),
            "failed": self.failed,
            "cases": self.cases,
            "right_now": self.right(False),
            "right_then": self.right(True),
            "silent_now": self.silent(False),
            "silent_then": self.silent(True),
            "changed": [
                {
                    "query": question.query,
                    "saved": question.saved,
                    "before": list(question.now),
                    "after": list(question.then),
                    "rows": [row.as_json() for row in question.change.rows],
                }
                for question in self.questions
                if question.change is not None
            ],
            "smallest_change": None
            if self.smaller is None
            else {
                "minScore": self.smaller.min_score,
                "right": self.smaller.right,
                "silent": self.smaller.silent,
            },
            "notes": list(self.notes),
        }


def fly(
    config: Configuration,
    changes: Sequence[SettingChange],
    questions: Sequence[EffectQuestion],
    context: RecallContext,
    recipe: str,
    *,
    ask_provider: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Flight:
    """Ask every question with the settings as they are and as the plan has them; nothing is written.

    Nothing is sent without `ask_provider`: then the reranker is asked, and where the plan names another embedding
    model, it embeds questions and memories for a copy that is gone afterwards. Where that cannot be done, a note says
    that the answers are those of the vectors of today.
    """
    now_block, then_block = blocks(config, ()), blocks(config, changes)
    notes = list(_notes(then_block, ask_provider))
    with ExitStack() as trial:
        later, said = context, ""
        if changes_vectors(changes):
            later, said = _later(trial, config, changes, context, ask_provider, on_progress, cancel)
            notes.insert(0, said)
        flown, failed = _flown(
            questions, (now_block, context), (then_block, later), recipe, ask_provider, on_progress, cancel
        )
        found = Flight(tuple(flown), failed, tuple(notes))
        if found.cases and found.right(True) < found.cases:
            asked = questions if later is context else [_of_another_model(question) for question in questions]
            smaller = _smaller(found, then_block, asked, later, recipe, ask_provider, cancel)
            found = replace(found, smaller=smaller)
    return found


def _later(
    trial: ExitStack,
    config: Configuration,
    changes: Sequence[SettingChange],
    context: RecallContext,
    ask_provider: bool,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> tuple[RecallContext, str]:
    """What the plan's recalls work with, and what is to be said of its vectors."""
    model = next(
        (change.after for change in changes if change.path[-2:] == ("embedding", "model")), "the plan's model"
    )
    today = f"answered with the vectors of today: those of {model} are not made yet"
    if not ask_provider:
        return context, today
    try:
        embedder = planned_embedder(config, changes)
        again = embedded_again(context, embedder, on_progress=on_progress, cancel=cancel)
        return (
            trial.enter_context(again),
            f"{counted(context.store.count(), 'memory was', 'memories were')} embedded by {embedder.name} for this",
        )
    except MemtuiError as error:
        return context, f"{today} ({error.message.rstrip('.')})"


def _flown(
    questions: Sequence[EffectQuestion],
    now: tuple[Mapping[str, Any], RecallContext],
    then: tuple[Mapping[str, Any], RecallContext],
    recipe: str,
    ask_provider: bool,
    on_progress: OnProgress | None,
    cancel: CancelToken | None,
) -> tuple[list[Flown], int]:
    """Every question both ways, and how many could not be asked."""
    flown: list[Flown] = []
    failed = 0
    questions = once_each(questions, recipe)
    for number, asking in enumerate(questions):
        if cancel is not None:
            cancel.check()
        if on_progress is not None:
            on_progress(Progress("answering under the plan", number, len(questions), "questions"))
        first = _ask(asking, *now, recipe, ask_provider, cancel)
        changed = asking if then[1] is now[1] else _of_another_model(asking)
        second = _ask(changed, *then, recipe, ask_provider, cancel)
        if first is None or second is None:
            failed += 1
            continue
        answers = tuple(first.returned), tuple(second.returned)
        change = answer_change(asking, first, second)
        flown.append(Flown(asking.query, asking.saved, asking.expected, *answers, change))
    return flown, failed


def _of_another_model(asking: EffectQuestion) -> EffectQuestion:
    """The question without the vector that today's model made of it."""
    return replace(asking, request=replace(asking.request, query_vector=None, table_version=None))


def blocks(config: Configuration, changes: Sequence[SettingChange]) -> dict[str, Any]:
    """The `retrieval` and `decay` blocks of the configuration once `changes` are made, without keys."""
    out: dict[str, Any] = {}
    for name in _BLOCKS:
        block = dict(config.loaded.mapping(*config.config_path, name))
        for change in changes:
            if change.path[:-1] == (*config.config_path, name):
                if change.after is REMOVED:
                    block.pop(change.path[-1], None)
                else:
                    block[change.path[-1]] = change.after
        block.pop("rerankApiKey", None)
        if block:
            out[name] = block
    return out


def _notes(block: Mapping[str, Any], ask_provider: bool) -> Iterator[str]:
    if block.get("retrieval", {}).get("rerank") == "cross-encoder" and not ask_provider:
        yield "the reranker was not asked: scores are blended as when it is late"


def _ask(
    asking: EffectQuestion,
    block: Mapping[str, Any],
    context: RecallContext,
    recipe: str,
    provider: bool,
    cancel: CancelToken | None,
) -> Trace | None:
    from memtui.engine.recall.answer import recall

    request = replace(
        asking.request,
        recipe=recipe,
        config=block or None,
        now_ms=context.now_ms,
        rerank_timeout_ms=None if provider else 0,
    )
    with suppress(MemtuiError):
        return recall(request, context, cancel=cancel)
    return None


def _smaller(
    flight: Flight,
    block: Mapping[str, Any],
    questions: Sequence[EffectQuestion],
    context: RecallContext,
    recipe: str,
    provider: bool,
    cancel: CancelToken | None,
) -> SmallerStep | None:
    """The highest minScore below the plan's with which most cases are right; None where none does better."""
    planned = block.get("retrieval", {}).get("minScore", 0.3)
    hard = block.get("retrieval", {}).get("hardMinScore", 0.35)
    best: SmallerStep | None = None
    cases = [question for question in questions if question.expected]
    for score in GRID:
        if not isinstance(planned, int | float) or score >= planned:
            continue
        lower = min(hard, score + 0.02) if isinstance(hard, int | float) else score
        tried = {
            **block,
            "retrieval": {**block.get("retrieval", {}), "minScore": score, "hardMinScore": lower},
        }
        answers = [(case, _ask(case, tried, context, recipe, provider, cancel)) for case in cases]
        right = sum(
            trace is not None and _place(question.expected, tuple(trace.returned)) == 1
            for question, trace in answers
        )
        silent = sum(trace is not None and not trace.returned for _, trace in answers)
        if right > max(flight.right(True), best.right if best is not None else -1):
            best = SmallerStep(score, right, silent)
    return best


def _place(expected: Sequence[str], ids: Sequence[str]) -> int | None:
    return next((place for place, memory_id in enumerate(ids, 1) if memory_id in expected), None)
