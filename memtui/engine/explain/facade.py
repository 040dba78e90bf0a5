"""The lab of one store: why not, what if, flip points, comparisons, what the agent would see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import UsageError
from memtui.engine.recall.request import RecallRequest

if TYPE_CHECKING:
    from memtui.engine.cases.bisection import Bisection, TableVersion
    from memtui.engine.cases.case import Case
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.changes.recall_effect import RecallEffect
    from memtui.engine.core.progress import CancelToken, OnProgress
    from memtui.engine.engine import Engine
    from memtui.engine.explain.comparison import Comparison, Effect, ScoreAccount
    from memtui.engine.explain.effective_settings import Parameter
    from memtui.engine.explain.knobs import Bounds
    from memtui.engine.explain.prompt_block import PromptBlock, PromptBlockSettings
    from memtui.engine.explain.question_history import History, PastQuestion
    from memtui.engine.explain.radar import Disagreement
    from memtui.engine.explain.ranks import StoreRanking
    from memtui.engine.explain.receipt_replay import Replay
    from memtui.engine.explain.receipts import Receipt
    from memtui.engine.explain.remedies import MemoryRemedy
    from memtui.engine.explain.sentences import Explanation
    from memtui.engine.explain.smallest_change import OnVerdict
    from memtui.engine.explain.variation import Recompute, ValueStrip, WhatIf
    from memtui.engine.explain.verdict import SmallestChange, Verdict
    from memtui.engine.recall.recipes.base import Resolved
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.trace import OnStage


class Lab:
    """Everything that explains a recall. Reads only; call from a worker, all of it may take a moment."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def why_not(
        self,
        memory_id: str,
        request: RecallRequest,
        *,
        changes: bool = True,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> Verdict:
        """Why `memory_id` does not come back for `request`, and (`changes`) what alone would bring it back."""
        ask = self._ask(cancel)
        return self.why_not_in(
            ask(self._named(request), None),
            memory_id,
            changes=changes,
            on_progress=on_progress,
            cancel=cancel,
        )

    def why_not_in(
        self,
        trace: Trace,
        memory_id: str,
        *,
        changes: bool = True,
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
        cancel: CancelToken | None = None,
    ) -> Verdict:
        """The same for a recall that ran already; `on_verdict` hears of the ladder first, then of each change."""
        from memtui.engine.explain.inquiry import why_not
        from memtui.engine.explain.smallest_change import with_changes

        ask = self._ask(cancel)
        inquiry = why_not(trace, memory_id, self._ranking, ask)
        if not changes:
            return inquiry.verdict
        if on_verdict is not None:
            on_verdict(inquiry.verdict)
        every = inquiry.moves(self._engine.catalog.scopes)
        return with_changes(inquiry.verdict, trace, every, inquiry.powerless, ask, on_progress, on_verdict)

    def radar(self, trace: Trace) -> tuple[Disagreement, ...]:
        """Newer memories in force that say otherwise than the first results; see `radar.radar`."""
        from memtui.engine.explain.radar import radar

        return radar(trace)

    def remedies(
        self,
        trace: Trace,
        memory_id: str,
        cases: Sequence[Case],
        *,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> tuple[MemoryRemedy, ...]:
        """Changes of memories that bring one back, or keep it away, tried by recall and cases; see `remedies`."""
        from memtui.engine.explain.remedies import remedies

        return remedies(self._engine, trace, memory_id, cases, on_progress=on_progress, cancel=cancel)

    def plan_change(self, memory_id: str, change: SmallestChange) -> ChangeSet:
        """A proposed change on the memory's side, to look at and apply; see `mending.plan_change`."""
        from memtui.engine.changes.suggested import plan_change

        return plan_change(self._engine.curate, memory_id, change)

    def settings(self, request: RecallRequest) -> Resolved:
        """What a question would be asked with, before it is asked: configuration and findings."""
        from memtui.engine.explain.effective_settings import settings

        return settings(self._named(request), self._engine.bench())

    def parameters(self, trace: Trace) -> tuple[Parameter, ...]:
        """Every parameter of the recipe: value, range, what turning it needs, findings beside it."""
        from memtui.engine.explain.effective_settings import parameters

        return parameters(trace)

    def what_if(self, trace: Trace, changes: Mapping[str, Any], cancel: CancelToken | None = None) -> WhatIf:
        """`trace` with other parameters; see `whatif.what_if`. `agent_scopes` turns an agent into scopes."""
        from memtui.engine.explain.variation import what_if

        return what_if(trace, changes, self._ask(cancel))

    def flips(self, trace: Trace, path: str, cancel: CancelToken | None = None) -> ValueStrip:
        """The values of one parameter at which the list changes. UsageError for one that is no number."""
        from memtui.engine.explain.variation import strip

        for parameter in self.parameters(trace):
            if parameter.knob.path == path:
                return strip(trace, parameter.knob, parameter.value, self._ask(cancel))
        raise UsageError(f"This recall has no parameter {path}.", fix="See its list of parameters.")

    def bounds(self) -> Bounds:
        """How far the clock, the table's versions and the agents reach."""
        from memtui.engine.explain.knobs import bounds

        return bounds(self._engine.store, self._engine.catalog)

    def agent_scopes(self, agent: str) -> list[str] | None:
        """The scopes that an agent reads, by the plugin's rules; None is no filter at all."""
        scopes = self._engine.access.searched(agent)
        return None if scopes is None else list(scopes)

    def explain(self, trace: Trace, memory_id: str) -> Explanation:
        """One candidate's story in words; see `sentences.explain`."""
        from memtui.engine.explain.sentences import explain

        return explain(trace, memory_id)

    def pair(
        self,
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

        now_ms, bench = self._engine.now_ms, self._engine.bench()
        if bench.embed is not None:
            bench = replace(bench, embed=lru_cache(2)(bench.embed))

        def ask(request: RecallRequest) -> Trace:
            return recall(_at(self._named(request), now_ms), bench, on_stage=on_stage, cancel=cancel)

        if b.query_vector is None and b.query == a.query:
            b = replace(b, query_vector=a.query_vector)
        first, second = ask(a), ask(b)
        if first.table_version != second.table_version and a.table_version is None is b.table_version:
            first = ask(a)  # the store was read anew between the two
        return first, second

    def versions(self) -> tuple[TableVersion, ...]:
        """The versions of the table that can still be read, oldest first."""
        from memtui.engine.cases.bisection import TableVersion

        return tuple(TableVersion(version, time_ms) for version, time_ms in self._engine.store.versions())

    def bisect(
        self,
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
            self.versions(),
            self._engine.recall,
            now_ms=self._engine.now_ms,
            then_ms=then_ms,
            then_config=then_config,
            held_at=lambda version: held(self._engine.store.pin(version), memory_id),
            on_progress=on_progress,
            cancel=cancel,
        )

    def compare(self, a: ScoreAccount, b: ScoreAccount) -> Comparison:
        """Two recalls side by side; either may be a receipt. Pure: nothing is asked."""
        from memtui.engine.explain.comparison import compare

        return compare(a, b)

    def effects(self, a: ScoreAccount, b: ScoreAccount, memory_id: str) -> tuple[Effect, ...]:
        """What each stage did to one memory in both recalls."""
        from memtui.engine.explain.comparison import effects

        return effects(a, b, memory_id)

    def injected(
        self,
        trace: Trace,
        settings: PromptBlockSettings | None = None,
        *,
        turns_since: Mapping[str, int] | None = None,
    ) -> PromptBlock:
        """The block that the agent would see, and what was cut from it; see `injected.injected`."""
        from memtui.engine.explain.prompt_block import injected

        return injected(trace, settings, turns_since=turns_since)

    def receipt(self, trace: Trace, *, texts: bool = True) -> dict[str, Any]:
        """The document to save of a recall; without `texts` only ids, numbers and settings."""
        from memtui.engine.explain.receipts import receipt_of

        return receipt_of(trace, self._engine.info, saved_ms=self._engine.now_ms, texts=texts)

    def replay(self, receipt: Receipt) -> Replay:
        """A saved recall again on this store, and what is different; see `replay.replay`."""
        from memtui.engine.explain.receipt_replay import replay

        return replay(receipt, self._engine.info, self._engine.recall, self._engine.memories)

    def remember(self, trace: Trace, history: History) -> int:
        """Keep the question of `trace` in the history, with its vector; its number there."""
        engine = self._engine
        return history.add(trace, store=engine.store.uri, asked_ms=engine.now_ms, model=engine.info.embedder)

    def effect(
        self,
        planned: ChangeSet,
        cases: Sequence[Case],
        history: History,
        *,
        on_progress: OnProgress | None = None,
        cancel: CancelToken | None = None,
    ) -> RecallEffect:
        """What a change set does to the saved cases and the last questions; see `curate.effect.recall_effect`."""
        from memtui.engine.changes.recall_effect import LAST, EffectQuestion, of_cases, recall_effect

        engine = self._engine
        last = [
            EffectQuestion(each.query, self.again(each, history))
            for each in history.search(store=engine.store.uri, limit=LAST)
        ]
        return recall_effect(
            planned,
            [*of_cases(cases), *last],
            engine.store,
            engine.bench(),
            engine.default_recipe,
            on_progress=on_progress,
            cancel=cancel,
        )

    def again(self, question: PastQuestion, history: History) -> RecallRequest:
        """A past question as a request, with the vector it had then."""
        return replace(question.as_request(), query_vector=history.vector(question.number))

    def resolve(self, id_or_prefix: str) -> str:
        """The id that `id_or_prefix` means; itself where the store has no such memory.

        Raises UsageError for a beginning that several memories share.
        """
        catalog = self._engine.catalog
        positions = catalog.find(id_or_prefix)
        ids = {text for text in catalog.ids.texts(positions) if text is not None}
        if len(ids) <= 1:
            return next(iter(ids), id_or_prefix)
        return self._engine.get(id_or_prefix).id

    def with_kept_vector(self, request: RecallRequest, history: History) -> RecallRequest:
        """`request` with the vector that its question had when it was last asked, where nothing here embeds.

        Itself where it has a vector, where there is an embedder, and where no vector was kept.
        """
        engine = self._engine
        if request.query_vector is not None or engine.bench().embed is not None:
            return request
        for kept in history.search(request.query, store=engine.store.uri):
            if kept.query == request.query and kept.dims == engine.store.dims:
                return replace(request, query_vector=history.vector(kept.number))
        return request

    def more_like(self, memory_id: str, request: RecallRequest) -> RecallRequest:
        """`request` with a memory as the question: its abstract as the words, its own vector as the vector.

        Raises UsageError when there is no such memory, or it has no vector.
        """
        from memtui.engine.recall.rows import rows_of
        from memtui.engine.recall.store_search import read_columns

        pin = self._engine.store.pin(request.table_version)
        rows = rows_of(pin.rows_by_id([memory_id], read_columns(pin.dialect)), pin.dialect)
        if not rows:
            raise UsageError(f"There is no memory {memory_id}.", fix="Take one from the list.")
        if rows[0].vector is None or not rows[0].vector.any():
            raise UsageError("This memory has no vector to ask with.", fix="Ask with its words.")
        return replace(
            request, query=rows[0].metadata.l0_abstract or rows[0].text, query_vector=rows[0].vector.tolist()
        )

    def _ask(self, cancel: CancelToken | None) -> Recompute:
        from memtui.engine.explain.variation import Recompute

        return Recompute(self._engine.bench(), cancel)

    def _named(self, request: RecallRequest) -> RecallRequest:
        return request if request.recipe else replace(request, recipe=self._engine.default_recipe)

    def _ranking(self, version: int) -> StoreRanking:
        from memtui.engine.explain.ranks import ranking_at

        engine = self._engine
        engine.load_metadata()
        return ranking_at(engine.store, version, engine.catalog)


def _at(request: RecallRequest, now_ms: int) -> RecallRequest:
    return request if request.now_ms is not None else replace(request, now_ms=now_ms)
