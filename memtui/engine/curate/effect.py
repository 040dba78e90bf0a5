"""What a change set does to recall: questions asked before it and after it, on a trial copy of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.curate.materialise import materialise
from memtui.engine.errors import MemtuiError, RefusedError
from memtui.engine.progress import CancelToken, OnProgress, Progress
from memtui.engine.recall.request import RecallRequest
from memtui.engine.store.trial import trial_copy

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.curate.changes import ChangeSet
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.run import Bench
    from memtui.engine.store.table import Store

LAST = 20
"""How many of the questions that were asked last are asked again."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One question to ask before and after; `expected` are the memories that a saved case wants to see."""

    query: str
    request: RecallRequest
    expected: tuple[str, ...] = ()
    saved: bool = False
    """Whether it is a saved case, not one of the questions asked last."""


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """One question whose answer is another one afterwards."""

    query: str
    saved: bool
    before: tuple[str, ...]
    """Ids in the order that they come back."""
    after: tuple[str, ...]
    lost: tuple[str, ...]
    """Expected by the case, and no longer coming back."""

    @property
    def left(self) -> tuple[str, ...]:
        """No longer coming back."""
        return tuple(each for each in self.before if each not in self.after)

    @property
    def entered(self) -> tuple[str, ...]:
        """Coming back instead."""
        return tuple(each for each in self.after if each not in self.before)


@dataclass(frozen=True, slots=True)
class RecallEffect:
    """What a change set does to the saved cases and the last questions."""

    asked: int
    changed: tuple[AnswerChange, ...]
    failed: int
    """Questions that could not be asked, for want of an embedder for one."""
    texts: Mapping[str, str]
    """The memories named in `changed`, as far as they are known: id to text."""

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        return {
            "asked": self.asked,
            "failed": self.failed,
            "changed": [
                {
                    "query": each.query,
                    "saved": each.saved,
                    "before": list(each.before),
                    "after": list(each.after),
                    "lost": list(each.lost),
                }
                for each in self.changed
            ],
        }


def of_cases(cases: Sequence[Case]) -> list[Asking]:
    """The saved cases as questions."""
    return [
        Asking(
            each.query,
            RecallRequest(
                each.query,
                scopes=each.scopes,
                category=each.category,
                agent=each.agent,
                query_vector=each.query_vector,
            ),
            each.expected,
            saved=True,
        )
        for each in cases
    ]


def recall_effect(
    planned: ChangeSet,
    questions: Sequence[Asking],
    store: Store,
    bench: Bench,
    recipe: str,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> RecallEffect:
    """Ask `questions` of the table as it was planned on, and of a trial copy with the change in it.

    The copy is written as the change would be, so that searches by vector and by words find what they would find
    then. Questions without a recipe take `recipe`; both times the clock of `bench`, and no remote reranker, which
    costs money and could answer differently twice. Nothing of the store is written. Raises RefusedError where the
    plan cannot be tried: conflicts, a remote store.
    """
    cancel = cancel or CancelToken()
    if not questions:
        return RecallEffect(0, (), 0, {})
    asked = list(dict.fromkeys(_key(each) for each in questions))
    chosen = {_key(each): each for each in reversed(questions)}
    with trial_copy(store, planned.version) as trial:
        _write(planned, trial)
        changed: list[AnswerChange] = []
        texts: dict[str, str] = {}
        failed = 0
        after_bench = replace(bench, store=trial)
        for number, key in enumerate(asked):
            cancel.check()
            asking = chosen[key]
            found = _both(asking, planned.version, bench, after_bench, recipe, cancel)
            if found is None:
                failed += 1
            elif (change := _changed(asking, *found)) is not None:
                changed.append(change)
                for trace in found:
                    texts |= {row.id: row.text for row in trace.pool.rows}
            if on_progress is not None:
                on_progress(Progress("asking the questions again", number + 1, len(asked), "questions"))
    named = {each for change in changed for each in (*change.before, *change.after)}
    return RecallEffect(len(asked), tuple(changed), failed, {key: texts[key] for key in named & texts.keys()})


def _key(asking: Asking) -> tuple[Any, ...]:
    request = asking.request
    scopes = None if request.scopes is None else tuple(request.scopes)
    return (asking.query, request.recipe, scopes, request.category, request.agent, request.limit)


def _write(planned: ChangeSet, trial: Store) -> None:
    """Commit the change set to the trial copy."""
    writer = trial.writer()
    writer.newest()
    current = writer.rows(planned.ids)
    material = materialise(planned, current, writer.dialect, trusted=False)
    if planned.conflicts or material.conflicts:
        raise RefusedError("A change set with conflicts cannot be tried out.", fix="Leave them out first.")
    if not material.empty:
        writer.commit(material.updates, material.adds, material.deletes)
        trial.refresh()


def _both(
    asking: Asking, version: int, before: Bench, after: Bench, recipe: str, cancel: CancelToken
) -> tuple[Trace, Trace] | None:
    from memtui.engine.recall.run import recall

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


def _changed(asking: Asking, before: Trace, after: Trace) -> AnswerChange | None:
    old, new = tuple(before.returned), tuple(after.returned)
    if old == new:
        return None
    lost = tuple(each for each in asking.expected if each in old and each not in new)
    return AnswerChange(asking.query, asking.saved, old, new, lost)
