"""Remedies on the memories: what could be written so that one comes back, or another one does not, the mildest first.

Each is a change set, tried on a copy of the table: the whole recall is asked again, and every saved case. What does
not do what it is for is left out; of the rest those that worsen a case come last, whatever they write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from memtui.engine.catalog.text_search import words_by_token
from memtui.engine.changes.forgetting import plan_forget
from memtui.engine.changes.merging import plan_merge
from memtui.engine.changes.plan import plan_edit, plan_texts
from memtui.engine.changes.recall_effect import EffectQuestion, RecallEffect, of_cases, recall_effect
from memtui.engine.core.errors import Cancelled, MemtuiError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.explain.radar import find_disagreements

if TYPE_CHECKING:
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.engine import Engine
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.rows import CandidateRow


MOST_WORDS = 6
"""Words of the question that are added to a memory at the most."""

DEMOTED = 0.2
"""The importance of a memory that is demoted."""


@dataclass(frozen=True)
class MemoryRemedy:
    """One change of memories that does what it is for."""

    name: str
    title: str
    """What it does, in words."""
    harm: int
    """How much it takes: 0 says what is so, 4 takes a memory out of the prompt."""
    planned: ChangeSet
    effect: RecallEffect
    rank: int | None
    """The place of the memory afterwards; None where it does not come back."""
    in_prompt: bool
    """Whether the agent reads it afterwards: a memory can come back and be left out of the prompt."""

    @property
    def place(self) -> str:
        """Where the memory stands afterwards, in words."""
        if self.rank is None:
            return "no longer recalled"
        return f"to number {self.rank}" if self.in_prompt else f"number {self.rank}, outside the prompt"

    @property
    def worse(self) -> int:
        """Saved cases that get worse."""
        return len(self.effect.cases.worse)

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "name": self.name,
            "title": self.title,
            "harm": self.harm,
            "rank": self.rank,
            "in_prompt": self.in_prompt,
            "rows": [change.id for change in self.planned.changes],
            "cases": self.effect.cases.as_json(),
            "confirmed": True,
        }


def find_remedies(
    engine: Engine,
    trace: Trace,
    memory: str,
    cases: Sequence[Case],
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[MemoryRemedy, ...]:
    """What brings `memory` back for the question of `trace`; of one that came back, what keeps it away.

    Every remedy is confirmed by a whole recall and by all `cases`. Empty where nothing helps, and where the store is
    not in a folder of this machine.
    """
    if trace.request is None:
        return ()
    wanted = memory not in trace.returned
    plans = list(_to_return(engine, trace, memory) if wanted else _to_leave(engine, trace, memory))
    asking = EffectQuestion(trace.query, trace.request)
    found = []
    for number, (name, title, harm, plan) in enumerate(plans):
        with suppress(MemtuiError):
            planned = plan()
            if planned.conflicts or not planned.changes:
                continue
            effect = recall_effect(
                planned,
                [asking, *of_cases(cases)],
                engine.store,
                engine.recall_context(),
                trace.recipe,
                cancel=cancel,
            )
            change = next(
                (change for change in effect.changed if change.query == trace.query and not change.saved),
                None,
            )
            row = next((row for row in change.rows if row.id == memory), None) if change else None
            rank = row.rank_after if row is not None else None
            read = row is not None and rank is not None and row.in_prompt_after
            if row is not None and read is wanted:
                found.append(MemoryRemedy(name, title, harm, planned, effect, rank, read))
        if cancel is not None and cancel.cancelled:
            raise Cancelled
        if on_progress is not None:
            on_progress(Progress("trying remedies", number + 1, len(plans), "remedies"))
    return tuple(sorted(found, key=lambda each: (each.worse, each.harm)))


Plan = tuple[str, str, int, Callable[[], "ChangeSet"]]


def _to_return(engine: Engine, trace: Trace, memory: str) -> Iterator[Plan]:
    row = _row(trace, memory)
    if row is None:
        return
    meta, now = row.metadata, trace.now_ms
    if meta.state == "pending":
        yield "confirm", "confirm it", 0, lambda: plan_edit(engine, [memory], {"state": "confirmed"})
    if meta.state == "archived":
        yield (
            "restore",
            "take it out of the archive",
            1,
            lambda: plan_edit(engine, [memory], {"state": "confirmed", "layer": "working"}),
        )
    if meta.expired(now):
        yield (
            "lift-expiry",
            "lift its expiry",
            1,
            lambda: plan_edit(engine, [memory], {"valid_until": "never"}),
        )
    words = lacking(trace, row)
    if words:
        text = f"{row.text.rstrip()} ({' '.join(words)})"
        title = f"add to it the words {', '.join(words)}"
        yield "words", title, 2, lambda: plan_texts(engine, {memory: text}, in_place=True)
    for disagreement in find_disagreements(trace):
        if disagreement.newer == memory:
            title = f"let it replace number {disagreement.rank}, which says {disagreement.kind} {disagreement.value}"
            yield "supersede", title, 2, partial(_replace, engine, memory, disagreement.recalled)
    above = trace.results[-1].id if trace.results else ""
    if above:
        yield from _overtaker(engine, trace, above)


def _overtaker(engine: Engine, trace: Trace, other: str) -> Iterator[Plan]:
    place = trace.returned.index(other) + 1
    yield (
        "demote",
        f"demote number {place}, the last before it",
        3,
        lambda: plan_edit(engine, [other], {"importance": str(DEMOTED), "tier": "peripheral"}),
    )
    yield "archive", f"archive number {place}, the last before it", 4, lambda: plan_forget(engine, [other])


def _to_leave(engine: Engine, trace: Trace, memory: str) -> Iterator[Plan]:
    for disagreement in find_disagreements(trace):
        if disagreement.recalled == memory:
            title = f"let the newer one replace it, which says {disagreement.kind} {disagreement.newer_value}"
            yield "supersede", title, 1, partial(_replace, engine, disagreement.newer, memory)
    yield (
        "demote",
        "demote it",
        3,
        lambda: plan_edit(engine, [memory], {"importance": str(DEMOTED), "tier": "peripheral"}),
    )
    yield "archive", "archive it", 4, lambda: plan_forget(engine, [memory])


def _replace(engine: Engine, newer: str, older: str) -> ChangeSet:
    return plan_merge(engine, [newer, older], survivor=newer)


def lacking(trace: Trace, row: CandidateRow) -> list[str]:
    """Words of the question that a memory lacks, by the index's own tokens, as they are written there."""
    if trace.outside is None:
        return []
    pin = trace.outside.pin
    own = words_by_token(pin, row.text)
    asked = words_by_token(pin, trace.query)
    words = [word for token, word in asked.items() if token not in own and len(word) > 2]
    return list(dict.fromkeys(words))[:MOST_WORDS]


def _row(trace: Trace, memory: str) -> CandidateRow | None:
    from memtui.engine.recall.rows import rows_of
    from memtui.engine.recall.store_search import read_columns

    known = next((row for row in trace.pool.rows if row.id == memory), None)
    if known is not None or trace.outside is None:
        return known
    pin = trace.outside.pin
    found = rows_of(pin.rows_by_id([memory], read_columns(pin.dialect)), pin.dialect)
    return found[0] if found else None
