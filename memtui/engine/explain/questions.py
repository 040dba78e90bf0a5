"""What can be asked of a store about a recall: why not, what if, since when, and what a change would do.

Reads only, but for the history of questions; all of it may take a moment: call from a worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import Cancelled, MemtuiError, UsageError
from memtui.engine.recall.request import RecallRequest

if TYPE_CHECKING:
    from memtui.engine.cases.bisection import Bisection, TableVersion
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.change_set import Change, ChangeSet
    from memtui.engine.changes.recall_effect import EffectQuestion, RecallEffect
    from memtui.engine.core.progress import CancelToken, OnProgress
    from memtui.engine.engine import Engine
    from memtui.engine.explain.question_history import History, PastQuestion
    from memtui.engine.explain.ranks import StoreRanking
    from memtui.engine.explain.receipt_replay import Replay
    from memtui.engine.explain.receipts import Receipt
    from memtui.engine.explain.smallest_change import OnVerdict
    from memtui.engine.explain.variation import Recompute, ValueStrip, WhatIf
    from memtui.engine.explain.verdict import Verdict
    from memtui.engine.recall.recipe import Resolved
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.trace import OnStage

OWN_QUESTIONS = 3
"""Changed memories that are asked for by their own words where nobody asked anything yet."""


def why_not(
    engine: Engine,
    memory_id: str,
    request: RecallRequest,
    *,
    changes: bool = True,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Verdict:
    """Why `memory_id` does not come back for `request`, and (`changes`) what alone would bring it back."""
    ask = _ask(engine, cancel)
    return why_not_in(
        engine,
        ask(_named(engine, request), None),
        memory_id,
        changes=changes,
        on_progress=on_progress,
        cancel=cancel,
    )


def why_not_in(
    engine: Engine,
    trace: Trace,
    memory_id: str,
    *,
    changes: bool = True,
    on_progress: OnProgress | None = None,
    on_verdict: OnVerdict | None = None,
    cancel: CancelToken | None = None,
) -> Verdict:
    """Return why a memory did not come back in a recall that ran already.

    `on_verdict` hears of the ladder first, then of each change.
    """
    from memtui.engine.explain.inquiry import inquire
    from memtui.engine.explain.smallest_change import with_changes

    ask = _ask(engine, cancel)
    inquiry = inquire(
        trace, memory_id, lambda version: _ranking(engine, version).told_by(on_progress, cancel), ask
    )
    if not changes:
        return inquiry.verdict
    if on_verdict is not None:
        on_verdict(inquiry.verdict)
    every = inquiry.moves(engine.catalog.scopes)
    return with_changes(inquiry.verdict, trace, every, inquiry.powerless, ask, on_progress, on_verdict)


def settings(engine: Engine, request: RecallRequest) -> Resolved:
    """What a question would be asked with, before it is asked: configuration and findings."""
    from memtui.engine.explain.effective_settings import settings

    return settings(_named(engine, request), engine.recall_context())


def what_if(
    engine: Engine,
    trace: Trace,
    changes: Mapping[str, Any],
    cancel: CancelToken | None = None,
    on_stage: OnStage | None = None,
) -> WhatIf:
    """`trace` with other parameters; see `variation.what_if`."""
    from memtui.engine.explain.variation import what_if

    return what_if(trace, changes, _ask(engine, cancel, on_stage))


def flips(engine: Engine, trace: Trace, path: str, cancel: CancelToken | None = None) -> ValueStrip:
    """The values of one parameter at which the list changes. UsageError for one that is no number."""
    from memtui.engine.explain.effective_settings import parameters
    from memtui.engine.explain.variation import strip

    for parameter in parameters(trace):
        if parameter.knob.path == path:
            return strip(trace, parameter.knob, parameter.value, _ask(engine, cancel))
    raise UsageError(f"This recall has no parameter {path}.", fix="See its list of parameters.")


def agent_scopes(engine: Engine, agent: str) -> list[str] | None:
    """The scopes that an agent reads, by the plugin's rules; None is no filter at all."""
    scopes = engine.access.searched(agent)
    return None if scopes is None else list(scopes)


def pair(
    engine: Engine,
    a: RecallRequest,
    b: RecallRequest,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Trace, Trace]:
    """Both recalls, one after the other, at the same moment and on the same version unless they say otherwise.

    A text that both embed is embedded once; a recipe that cleans the question embeds its own text. A vector
    that is given for A serves B, too.
    """
    from functools import lru_cache

    from memtui.engine.recall.answer import recall

    now_ms, context = engine.now_ms, engine.recall_context()
    if context.embed is not None:
        context = replace(context, embed=lru_cache(2)(context.embed))

    def ask(request: RecallRequest) -> Trace:
        return recall(_at(_named(engine, request), now_ms), context, on_stage=on_stage, cancel=cancel)

    if b.query_vector is None and b.query == a.query:
        b = replace(b, query_vector=a.query_vector)
    first, second = ask(a), ask(b)
    if first.table_version != second.table_version and a.table_version is None is b.table_version:
        first = ask(a)  # the store was read anew between the two
    return first, second


def versions(engine: Engine) -> tuple[TableVersion, ...]:
    """The versions of the table that can still be read, oldest first."""
    from memtui.engine.cases.bisection import TableVersion

    return tuple(TableVersion(version, time_ms) for version, time_ms in engine.store.versions())


def bisect(
    engine: Engine,
    request: RecallRequest,
    memory_id: str,
    *,
    then_ms: int | None = None,
    then_config: RecallRequest | None = None,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Bisection:
    """What changed the rank of one memory: a version, its indexes, the clock, the settings.

    See `cases.bisect.bisect`.
    """
    from memtui.engine.cases.bisection import bisect, held

    return bisect(
        request,
        memory_id,
        versions(engine),
        engine.recall,
        now_ms=engine.now_ms,
        then_ms=then_ms,
        then_config=then_config,
        held_at=lambda version: held(engine.store.pin(version), memory_id),
        on_progress=on_progress,
        cancel=cancel,
    )


def receipt(engine: Engine, trace: Trace, *, texts: bool = True) -> dict[str, Any]:
    """The document to save of a recall; without `texts` only ids, numbers and settings."""
    from memtui.engine.explain.receipts import receipt_of

    return receipt_of(trace, engine.info, saved_ms=engine.now_ms, texts=texts)


def replay(engine: Engine, receipt: Receipt) -> Replay:
    """A saved recall again on this store, and what is different; see `receipt_replay.replay`."""
    from memtui.engine.explain.receipt_replay import replay

    return replay(receipt, engine.info, engine.recall, engine.memories)


def remember(engine: Engine, trace: Trace, history: History) -> int:
    """Keep the question of `trace` in the history, with its vector; its number there."""
    return history.add(trace, store=engine.store.uri, asked_ms=engine.now_ms, model=engine.info.embedder)


def effect_on_recall(
    engine: Engine,
    planned: ChangeSet,
    cases: Sequence[Case],
    history: History,
    *,
    own_words: bool = False,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> RecallEffect:
    """What a change set does to the saved cases and the last questions; see `recall_effect.recall_effect`.

    `own_words`: where there are neither, the first changed memories are asked for by their own words; also where
    no answer is another one, beside the others.
    """
    from memtui.engine.changes.recall_effect import RecallEffect, of_cases, recall_effect

    if unsent := planned.unsent or engine.withheld:  # the plan holds vectors that nobody made
        return RecallEffect(0, (), 0, {}, not_known=unsent)
    questions = [*of_cases(cases), *asked_last(engine, history)]
    own = own_words and not questions

    def by_their_words() -> list[EffectQuestion]:
        return by_own_words(engine, planned.changes)

    if own:
        questions = by_their_words()
    effect = recall_effect(
        planned,
        questions,
        engine.store,
        engine.recall_context(),
        engine.default_recipe,
        beside=by_their_words if own_words and not own else None,
        on_progress=on_progress,
        cancel=cancel,
    )
    return replace(effect, own_words=own, not_known=engine.withheld)


def asked_last(engine: Engine, history: History) -> list[EffectQuestion]:
    """The questions that were asked last of this store, each as it was asked then, newest first."""
    from memtui.engine.changes.recall_effect import LAST, EffectQuestion

    return [
        EffectQuestion(question.query, again(question, history))
        for question in history.search(store=engine.store.uri, limit=LAST)
    ]


def by_own_words(engine: Engine, changes: Iterable[Change]) -> list[EffectQuestion]:
    """The first changed memories as questions, each with its own vector: nothing is embedded for it.

    Where only the vector is changed, the stored one is what is wrong: the question takes the one made anew.
    """
    from memtui.engine.changes.recall_effect import EffectQuestion

    asked: list[RecallRequest] = []
    words = engine.store.dialect.columns.text
    for change in changes:
        edit = change.edit
        anew: Any = getattr(edit, "vector", None)
        with suppress(MemtuiError):
            if change.op == "add" or len(asked) >= OWN_QUESTIONS:
                continue
            if edit is not None and hasattr(anew, "tolist") and words not in edit.columns:
                text = str(edit.expects.get(words) or change.title)
                asked.append(RecallRequest(text, query_vector=anew.tolist()))
            else:
                asked.append(more_like(engine, change.id, RecallRequest("")))
    return [EffectQuestion(request.query, request) for request in asked if request.query]


def again(question: PastQuestion, history: History) -> RecallRequest:
    """A past question as a request, with the vector it had then."""
    return replace(question.as_request(), query_vector=history.vector(question.number))


def resolve(engine: Engine, id_or_prefix: str) -> str:
    """The id that `id_or_prefix` means; itself where the store has no such memory.

    Raises UsageError for a beginning that several memories share.
    """
    catalog = engine.catalog
    positions = catalog.find(id_or_prefix)
    ids = {memory_id for memory_id in catalog.ids.texts(positions) if memory_id is not None}
    if len(ids) <= 1:
        return next(iter(ids), id_or_prefix)
    return engine.get(id_or_prefix).id


@dataclass(frozen=True, slots=True)
class LaterAnswer:
    """A past question asked again: where the memory that came first stands now."""

    question: PastQuestion
    place: int | None
    """1-based; None where it no longer comes back."""


def asked_again(
    engine: Engine, history: History, limit: int = 12, cancel: CancelToken | None = None
) -> tuple[LaterAnswer, ...]:
    """The last questions of this store asked again, newest first.

    No service is asked: only questions whose vector was kept, or that the bundled model embeds in this process, and
    none where a reranker has a key. Left out, too: questions of an older version, and those that nothing answered.
    """
    context = engine.recall_context()
    if (context.base_retrieval or {}).get("rerankApiKey"):
        return ()
    found = []
    for past in history.search(store=engine.store.uri, limit=limit):
        request = again(past, history)
        local = (
            context.bundled
            or context.multilingual
            or context.embed is None
            or request.query_vector is not None
        )
        if not past.returned or request.table_version is not None or not local:
            continue
        try:
            returned = engine.recall(request, None, cancel).returned
        except Cancelled:
            raise
        except MemtuiError:  # the index or the recipe of then: the others can be told all the same
            continue
        first = past.returned[0]
        found.append(LaterAnswer(past, returned.index(first) + 1 if first in returned else None))
    return tuple(found)


def with_kept_vector(engine: Engine, request: RecallRequest, history: History) -> RecallRequest:
    """`request` with the vector that its question had when it was last asked, where nothing here embeds.

    Itself where it has a vector, where there is an embedder, and where no vector was kept.
    """
    if request.query_vector is not None or engine.recall_context().embed is not None:
        return request
    for kept in history.search(request.query, store=engine.store.uri):
        if kept.query == request.query and kept.dims == engine.store.dims:
            return replace(request, query_vector=history.vector(kept.number))
    return request


def more_like(engine: Engine, memory_id: str, request: RecallRequest) -> RecallRequest:
    """`request` with a memory as the question: its abstract as the words, its own vector as the vector.

    Raises UsageError when there is no such memory, or it has no vector.
    """
    from memtui.engine.recall.rows import rows_of
    from memtui.engine.recall.store_search import read_columns

    pin = engine.store.pin(request.table_version)
    rows = rows_of(pin.rows_by_id([memory_id], read_columns(pin.dialect)), pin.dialect)
    if not rows:
        raise UsageError(f"There is no memory {memory_id}.", fix="Take one from the list.")
    if rows[0].vector is None or not rows[0].vector.any():
        raise UsageError("This memory has no vector to ask with.", fix="Ask with its words.")
    return replace(
        request, query=rows[0].metadata.l0_abstract or rows[0].text, query_vector=rows[0].vector.tolist()
    )


def _ask(engine: Engine, cancel: CancelToken | None, on_stage: OnStage | None = None) -> Recompute:
    from memtui.engine.explain.variation import Recompute

    return Recompute(engine.recall_context(), cancel, on_stage)


def _named(engine: Engine, request: RecallRequest) -> RecallRequest:
    return request if request.recipe else replace(request, recipe=engine.default_recipe)


def _ranking(engine: Engine, version: int) -> StoreRanking:
    from memtui.engine.explain.ranks import ranking_at

    engine.load_metadata()
    return ranking_at(engine.store, version, engine.catalog)


def _at(request: RecallRequest, now_ms: int) -> RecallRequest:
    return request if request.now_ms is not None else replace(request, now_ms=now_ms)
