"""What a change set does to recall: questions asked before it and after it, on a trial copy of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.materialize import materialise
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.text import counted
from memtui.engine.recall.request import RecallRequest, scopes_key
from memtui.engine.store.create import trial_copy

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.recall.context import RecallContext
    from memtui.engine.recall.record import Trace
    from memtui.engine.store.table import Store


LAST = 20
"""How many of the questions that were asked last are asked again."""


@dataclass(frozen=True, slots=True)
class EffectQuestion:
    """One question to ask before and after; `expected` are the memories that a saved case wants to see."""

    query: str
    request: RecallRequest
    expected: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    saved: bool = False
    """Whether it is a saved case, not one of the questions asked last."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One memory of an answer, before the change and after it."""

    id: str
    rank_before: int | None
    """1-based; None where it does not come back."""
    rank_after: int | None
    before: str
    """What is read of it: its text, or its line in the prompt where only that differs; "" where it is not there."""
    after: str
    in_prompt_before: bool = True
    """Whether it reaches the prompt; true for all that comes back where the recipe has no prompt of its own."""
    in_prompt_after: bool = True
    score_before: float | None = None
    """Its score in the answer; None where it does not come back."""
    score_after: float | None = None

    @property
    def reworded(self) -> bool:
        """Whether it comes back both times and reads differently."""
        return self.rank_before is not None and self.rank_after is not None and self.before != self.after

    @property
    def moved(self) -> int:
        """Places gained; 0 where it does not come back both times."""
        if self.rank_before is None or self.rank_after is None:
            return 0
        return self.rank_before - self.rank_after

    @property
    def same(self) -> bool:
        """Whether it reads the same at the same place, in the prompt or outside it as before."""
        return (
            self.rank_before == self.rank_after
            and self.before == self.after
            and self.in_prompt_before == self.in_prompt_after
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "id": self.id,
            "rank_before": self.rank_before,
            "rank_after": self.rank_after,
            "before": self.before,
            "after": self.after,
            "in_prompt_before": self.rank_before is not None and self.in_prompt_before,
            "in_prompt_after": self.rank_after is not None and self.in_prompt_after,
            "score_before": self.score_before,
            "score_after": self.score_after,
        }


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """One question whose answer is another one afterwards: other memories, places or words."""

    query: str
    saved: bool
    before: tuple[str, ...]
    """Ids in the order that they come back."""
    after: tuple[str, ...]
    lost: tuple[str, ...]
    """Expected by the case, and no longer coming back."""
    gained: tuple[str, ...] = ()
    """Expected by the case, and coming back only afterwards."""
    rows: tuple[AnswerRow, ...] = ()
    """Every memory of either answer: those after it in their order, then those that left."""
    agent: str = ""
    """Who asks; empty for nobody in particular."""

    @property
    def left(self) -> tuple[str, ...]:
        """No longer coming back."""
        return tuple(each for each in self.before if each not in self.after)

    @property
    def entered(self) -> tuple[str, ...]:
        """Coming back instead."""
        return tuple(each for each in self.after if each not in self.before)

    @property
    def reworded(self) -> tuple[AnswerRow, ...]:
        """Coming back both times, with other words."""
        return tuple(row for row in self.rows if row.reworded)

    @property
    def moved(self) -> tuple[AnswerRow, ...]:
        """Coming back both times, at another place."""
        return tuple(row for row in self.rows if row.moved)

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "query": self.query,
            "saved": self.saved,
            "before": list(self.before),
            "after": list(self.after),
            "lost": list(self.lost),
            "gained": list(self.gained),
            "rows": [row.as_json() for row in self.rows],
        }


@dataclass(frozen=True, slots=True)
class CasesKept:
    """The saved cases whose answer is right (every expected memory, no rejected one), before and after."""

    cases: int
    right_before: int
    right_after: int
    worse: tuple[str, ...]
    """Questions of the cases that lose an expected memory or gain a rejected one."""
    down: tuple[tuple[str, int, int], ...]
    """Cases whose first expected memory comes back further down: question, place before and after."""

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "cases": self.cases,
            "right_before": self.right_before,
            "right_after": self.right_after,
            "worse": list(self.worse),
            "down": [{"query": query, "before": old, "after": new} for query, old, new in self.down],
        }


@dataclass(frozen=True, slots=True)
class RecallEffect:
    """What a change set does to the saved cases and the last questions."""

    asked: int
    changed: tuple[AnswerChange, ...]
    failed: int
    """Questions that could not be asked, for want of an embedder for one."""
    texts: Mapping[str, str]
    """The memories named in `changed`, as far as they are known: id to text."""
    cases: CasesKept = CasesKept(0, 0, 0, (), ())
    own_words: bool = False
    """Nobody asked anything yet and no case is saved: the changed memories' own words were asked."""
    not_known: str = ""
    """Why (a part of) the effect is not known: what would have to be sent to a service; empty where all is known."""
    beside: RecallEffect | None = None
    """What it does to questions that were asked only because none of the others is answered differently."""

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "asked": self.asked,
            "failed": self.failed,
            "cases": self.cases.as_json(),
            "changed": [change.as_json() for change in self.changed],
            "not_known": self.not_known,
        }


def of_cases(cases: Sequence[Case]) -> list[EffectQuestion]:
    """The saved cases as questions."""
    return [
        EffectQuestion(
            case.query,
            RecallRequest(
                case.query,
                scopes=case.searched,
                category=case.category,
                agent=case.agent,
                query_vector=case.query_vector,
            ),
            case.expected,
            case.rejected,
            saved=True,
        )
        for case in cases
    ]


def recall_effect(
    planned: ChangeSet,
    questions: Sequence[EffectQuestion],
    store: Store,
    context: RecallContext,
    recipe: str,
    *,
    beside: Callable[[], Sequence[EffectQuestion]] | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> RecallEffect:
    """Ask `questions` of the table as it was planned on, and of a trial copy with the change in it.

    The copy is written as the change would be, so that searches by vector and by words find what they would find
    then. Questions without a recipe take `recipe`; both times the clock of `context`, and no remote reranker, which
    costs money and could answer differently twice. Where none is answered differently, the questions of `beside`
    are asked of the same copy. Nothing of the store is written. Raises RefusedError where the plan cannot be
    tried: conflicts, a remote store.
    """
    return trial_effect(
        lambda trial: write_trial(planned, trial),
        questions,
        store,
        context,
        recipe,
        version=planned.version,
        beside=beside,
        on_progress=on_progress,
        cancel=cancel,
    )


def trial_effect(
    change: Callable[[Store], None],
    questions: Sequence[EffectQuestion],
    store: Store,
    context: RecallContext,
    recipe: str,
    *,
    version: int,
    back_to: int | None = None,
    beside: Callable[[], Sequence[EffectQuestion]] | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> RecallEffect:
    """Ask `questions` of the table at `version`, and of a trial copy that `change` was done to.

    `back_to`: the copy is of this older version, as a table that is restored. The rest is as in `recall_effect`.
    """
    if not questions:
        return RecallEffect(0, (), 0, {})
    with trial_copy(store, version if back_to is None else back_to) as trial:
        change(trial)
        trial.refresh()
        after, stop = replace(context, store=trial), cancel or CancelToken()
        found = _asked(questions, version, context, after, recipe, on_progress, stop)
        more = beside() if beside is not None and not found.changed else ()
        return (
            replace(found, beside=_asked(more, version, context, after, recipe, on_progress, stop))
            if more
            else found
        )


def maintenance_effect(
    version: int,
    questions: Sequence[EffectQuestion],
    context: RecallContext,
    recipe: str,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> RecallEffect:
    """Ask `questions` of the table at an older `version` and as `context` sees it now, each with its own indexes.

    So what a fold, an index or a restore did to the answers is known afterwards. The rest is as in `recall_effect`.
    """
    return _asked(questions, version, context, context, recipe, on_progress, cancel or CancelToken())


def _asked(
    questions: Sequence[EffectQuestion],
    version: int,
    before: RecallContext,
    after: RecallContext,
    recipe: str,
    on_progress: OnProgress | None,
    cancel: CancelToken,
) -> RecallEffect:
    asked = once_each(questions, recipe)

    def answered() -> Iterator[Answered]:
        for number, asking in enumerate(asked):
            cancel.check()
            yield asking, _both(asking, version, before, after, recipe, cancel)
            if on_progress is not None:
                on_progress(Progress("asking the questions again", number + 1, len(asked), "questions"))

    return effect_of(answered())


Answered = tuple[EffectQuestion, "tuple[Trace, Trace] | None"]
"""A question with its answers before and after; None where it could not be asked."""


def effect_of(answered: Iterable[Answered]) -> RecallEffect:
    """What became of questions that were asked twice, each with its answers before and after."""
    changed: list[AnswerChange] = []
    texts: dict[str, str] = {}
    judged: list[_Judged] = []
    asked = failed = 0
    for asking, found in answered:
        asked += 1
        if found is None:
            failed += 1
            continue
        if asking.saved:
            judged.append(_Judged(asking, *(trace.returned for trace in found)))
        if (change := answer_change(asking, *found)) is not None:
            changed.append(change)
            for trace in found:
                texts |= {row.id: row.text for row in trace.pool.rows}
    named = {each for change in changed for each in (*change.before, *change.after)}
    known = {key: texts[key] for key in named & texts.keys()}
    return RecallEffect(asked, tuple(changed), failed, known, _kept(judged))


def once_each(questions: Sequence[EffectQuestion], recipe: str) -> list[EffectQuestion]:
    """The questions without those that were asked before in the same way; of two, the first counts.

    `recipe` is the one of those that name none.
    """
    first: dict[tuple[Any, ...], EffectQuestion] = {}
    for question in questions:
        first.setdefault(_key(question, recipe), question)
    return list(first.values())


def _key(asking: EffectQuestion, recipe: str) -> tuple[Any, ...]:
    request = asking.request
    return (
        asking.query,
        request.recipe or recipe,
        scopes_key(request),
        request.category,
        request.agent,
        request.limit,
    )


def write_trial(planned: ChangeSet, trial: Store) -> None:
    """Commit the change set to a trial copy. Raises RefusedError where it has conflicts, or too many memories."""
    if planned.bulk is not None:
        raise RefusedError(
            f"{counted(planned.count, 'memory', 'memories')}: too many to be tried out.",
            fix="Afterwards, run your cases: they show how the answers changed.",
        )
    writer = trial.writer()
    writer.newest()
    current = writer.rows(planned.ids)
    material = materialise(planned, current, writer.dialect, trusted=False)
    if planned.conflicts or material.conflicts:
        raise RefusedError("A change set with conflicts cannot be tried out.", fix="Exclude them first.")
    if not material.empty:
        writer.commit(material.updates, material.adds, material.deletes)
        trial.refresh()


def _both(
    asking: EffectQuestion,
    version: int,
    before: RecallContext,
    after: RecallContext,
    recipe: str,
    cancel: CancelToken,
) -> tuple[Trace, Trace] | None:
    from memtui.engine.recall.answer import recall

    request = replace(
        asking.request,
        recipe=asking.request.recipe or recipe,
        now_ms=before.now_ms,
        rerank_timeout_ms=0,
        table_version=version,
    )
    with suppress(MemtuiError):
        first = recall(request, before, cancel=cancel)
        if request.query_vector is None and first.query_vector is not None:
            request = replace(request, query_vector=first.query_vector.tolist())
        return first, recall(replace(request, table_version=None), after, cancel=cancel)
    return None


@dataclass(frozen=True, slots=True)
class _Judged:
    """A saved case with both answers."""

    case: EffectQuestion
    before: Sequence[str]
    after: Sequence[str]

    def right(self, answer: Sequence[str]) -> bool:
        """Whether an answer has what is expected and nothing that is rejected; of a silent case, nothing at all."""
        if not self.case.expected and not self.case.rejected:
            return not answer
        here = set(answer)
        return here.issuperset(self.case.expected) and here.isdisjoint(self.case.rejected)

    @property
    def worse(self) -> bool:
        """Whether an expected memory is lost or a rejected one came in."""
        before, after = set(self.before), set(self.after)
        lost = any(each in before and each not in after for each in self.case.expected)
        let_in = any(each in after and each not in before for each in self.case.rejected)
        return lost or let_in or (self.right(self.before) and not self.right(self.after))

    @property
    def places(self) -> tuple[int, int] | None:
        """The place of the first expected memory in both answers; None where it is not in both."""
        found = [
            next((place for place, id in enumerate(answer, 1) if id in self.case.expected), 0)
            for answer in (self.before, self.after)
        ]
        return (found[0], found[1]) if all(found) else None


def _kept(judged: Sequence[_Judged]) -> CasesKept:
    down = [(each.case.query, *each.places) for each in judged if each.places and not each.worse]
    return CasesKept(
        len(judged),
        sum(each.right(each.before) for each in judged),
        sum(each.right(each.after) for each in judged),
        tuple(each.case.query for each in judged if each.worse),
        tuple((query, old, new) for query, old, new in down if new > old),
    )


def answer_change(asking: EffectQuestion, before: Trace, after: Trace) -> AnswerChange | None:
    """What is different between two answers to one question, place by place; None where both read the same."""
    old, new = tuple(before.returned), tuple(after.returned)
    rows = _rows(before, after)
    if all(row.same for row in rows):
        return None
    lost = tuple(each for each in asking.expected if each in old and each not in new)
    gained = tuple(each for each in asking.expected if each in new and each not in old)
    return AnswerChange(asking.query, asking.saved, old, new, lost, gained, rows, asking.request.agent or "")


def _rows(before: Trace, after: Trace) -> tuple[AnswerRow, ...]:
    """Both answers row by row, by what is read of each memory."""
    old, new = before.returned, after.returned
    first, second = _read(before), _read(after)
    scores = [{result.id: result.score for result in trace.results} for trace in (before, after)]
    rows = []
    for id in (*new, *(each for each in old if each not in new)):
        was, now = first.get(id), second.get(id)
        # where the text stays and its line in the prompt does not (a tier, a summary), the line is shown
        lines = was is not None and now is not None and was.text == now.text and was.line != now.line
        told = [(each.line if lines else each.text) if each else "" for each in (was, now)]
        rows.append(
            AnswerRow(
                id,
                old.index(id) + 1 if was else None,
                new.index(id) + 1 if now else None,
                told[0],
                told[1],
                was is None or was.in_prompt,
                now is None or now.in_prompt,
                scores[0].get(id),
                scores[1].get(id),
            )
        )
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class _Read:
    """What is read of a memory that came back."""

    text: str
    line: str
    """Its whole line in the prompt, before any cut; its text where the recipe writes into no prompt."""
    in_prompt: bool


def _read(trace: Trace) -> dict[str, _Read]:
    """Each memory of an answer as it is read: as the prompt has it, where the recipe writes into a prompt."""
    from memtui.engine.explain.prompt_block import injected

    texts = {row.id: row.text for row in trace.pool.rows}
    parts = {}
    with suppress(MemtuiError):  # a recipe that writes into no prompt: the text itself is read
        parts = {part.id: part for part in injected(trace).parts}
    return {
        id: _Read(
            texts[id],
            parts[id].full if id in parts else texts[id],
            bool(parts[id].line) if parts else True,
        )
        for id in trace.returned
    }
