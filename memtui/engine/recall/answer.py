"""A question to its answer: the recipe is looked up, the asker decided, the recipe run."""

from __future__ import annotations

from dataclasses import replace

from memtui.engine.core.progress import CancelToken, Progress
from memtui.engine.recall.candidates import CandidatePool
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.lanes import blank
from memtui.engine.recall.recipes.registry import recipe_named
from memtui.engine.recall.record import StageRecord, Trace
from memtui.engine.recall.request import UNSET, RecallRequest, filters_of
from memtui.engine.recall.stage import StageOutcome
from memtui.engine.recall.store_search import rows_searched
from memtui.engine.recall.trace import FETCH, OnStage, Proof, StageSummary, WordsMet
from memtui.engine.store import far_vectors
from memtui.engine.store.far_vectors import all_vectors, fetched_words, vectors_words


def recall(
    request: RecallRequest,
    context: RecallContext,
    *,
    outside: IoCache | None = None,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request`; the trace is the answer.

    `outside`: where the answers of an earlier recall are remembered; without it everything is asked anew.
    Raises UsageError for an empty question, an unknown recipe, source or setting, a question vector that does not
    fit the table; MemtuiError when no lane could run at all. A single failed lane is a warning in the trace.
    """
    recipe = recipe_named(request.recipe)
    request, asker = recipe.asker(request, context)
    gate = "" if request.lanes else prompt_gate(request, context)
    if gate and request.before_prompt and not recipe.hook:
        return replace(_skipped(request, context, gate), asker=asker)
    outside = _counting(request, outside or context.outside(request.table_version))
    if waits := _waits_for(request, context, outside) if outside.asks else "":
        fetching = StageSummary(FETCH, "fetch vectors", "operation", outside.pin.rows, 0, 0.0, note=waits)

        def fetched(progress: Progress) -> None:
            if on_stage is not None:
                on_stage(replace(fetching, n_in=progress.total, n_out=progress.done))

        if on_stage is not None:
            on_stage(fetching)
        if recipe.searches_held_vectors and outside.pin.vectors_in_memory:
            all_vectors(outside.pin, fetched, cancel)
    with outside.stopped_by(cancel):
        trace = recipe.run(request, context, outside, on_stage, cancel)
    warnings = (*trace.warnings, *_far_search(outside, fetched=bool(waits)))
    return replace(
        trace,
        asker=trace.asker or asker,
        auto_recall=context.auto_recall,
        kept={},
        warnings=warnings,
        gate=gate,
    )


def prompt_gate(request: RecallRequest, context: RecallContext) -> str:
    """The rule by which nothing is looked up for a message before a prompt; empty where something is.

    The recipe's own rules, by the text alone: nothing is searched or embedded, and the store is not read.
    """
    return recipe_named(request.recipe).prompt_gate(request, context)


def _skipped(request: RecallRequest, context: RecallContext, gate: str) -> Trace:
    """The account of a message for which nothing is looked up: no search, no embedding, the rule that decided."""
    recipe = recipe_named(request.recipe)
    now_ms = context.now_ms if request.now_ms is None else request.now_ms
    config, findings = recipe.resolve(request, context)
    pool = CandidatePool((), {}, {}, now_ms)
    nothing = blank(pool)
    outcome = StageOutcome(nothing, note=f"skipped: {gate.replace('_', ' ')}", kind="filter")
    return Trace(
        query=request.query,
        recipe=recipe.name,
        mode="none",
        source=recipe.source if request.source is UNSET else request.source,
        config=config,
        now_ms=now_ms,
        limit=recipe.limit if request.limit is None else request.limit,
        filters=filters_of(request),
        bm25_query=None,
        pool=pool,
        records=(StageRecord("prompt_gate", "gate", "filter", nothing, outcome, 0, 0.0),),
        prover=lambda trace: Proof(True, 0.0, 0, ()),
        matcher=_none_met,
        findings=findings,
        table_version=context.store.pin(request.table_version).version,
        request=request,
        auto_recall=context.auto_recall,
        gate=gate,
    )


def _none_met(trace: Trace, memory_id: str) -> WordsMet:
    raise KeyError(memory_id)


def read_ahead(request: RecallRequest, context: RecallContext, cancel: CancelToken) -> None:
    """Make ready what the first question like `request` would wait for; its question may still be empty."""
    recipe = recipe_named(request.recipe)
    request, _ = recipe.asker(request, context)
    if recipe.read_ahead is not None:
        outside = _counting(request, context.outside(request.table_version))
        recipe.read_ahead(request, context, outside, cancel)


def _counting(request: RecallRequest, outside: IoCache) -> IoCache:
    """For whoever may not read all rows, the same with keyword scores of the rows that are searched alone."""
    if not request.own_words:
        return outside
    return outside.counting(rows_searched(outside.pin.dialect, request.scopes, request.owners))


def _waits_for(request: RecallRequest, context: RecallContext, outside: IoCache) -> str:
    """What a question has to fetch over the network before it is answered, in words; empty where that is little."""
    by_meaning = request.query_vector is not None or (context.embed is not None and not context.no_embedder)
    pin = outside.pin
    words = "" if request.lanes or not by_meaning else fetched_words(pin)
    if not words:
        return ""
    often = f"once ({pin.vectors_stay})" if pin.vectors_in_memory else "for each question"
    return f"{words} from object storage, {often}: no index leads the search"


def _far_search(outside: IoCache, *, fetched: bool) -> tuple[str, ...]:
    """A word where a search by meaning fetched many vectors over the network."""
    rows, pin = outside.far_vectors_read(), outside.pin
    if rows <= far_vectors.FAR_VECTORS or (pin.vectors_in_memory and not fetched):
        return ()
    what = vectors_words(rows, pin.dims or 0)
    if pin.vectors_in_memory:
        how = f"{what} were fetched from object storage, and are {pin.vectors_stay}"
    else:
        how = f"each question fetches {what} from object storage"
    return (f"No index leads the search by meaning: {how}. Health, Indexes says what one would gain.",)
