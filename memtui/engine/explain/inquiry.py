"""Why a memory did not come back: the ladder of all gates for any memory of the store, found or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.access import DEFAULT_AGENT
from memtui.engine.core.errors import UsageError
from memtui.engine.explain import sentences
from memtui.engine.explain.candidate_changes import CandidateChange, added_words, moves, powerless
from memtui.engine.explain.index_loss import with_index
from memtui.engine.explain.ladder import OF_THE_QUESTION, GateEvidence, climb, force
from memtui.engine.explain.ranks import NO_WORDS, Metric, StoreRanking, VectorRank, WordRank
from memtui.engine.explain.recipe_ladder import (
    climb_other,
    other_moves,
    other_powerless,
    searched_scopes,
)
from memtui.engine.explain.variation import Recompute, memory_of, what_if
from memtui.engine.explain.verdict import GateResult, Verdict
from memtui.engine.recall.recipes.registry import recipe_named
from memtui.engine.recall.rows import CandidateRow, decoded, rows_of
from memtui.engine.recall.store_search import read_columns, scope_filter

if TYPE_CHECKING:
    from memtui.engine.recall.context import StageContext
    from memtui.engine.recall.recipes.pro.plan import Plan
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.trace import Candidate, Failure


INDIRECT = frozenset({"rerank", "mmr_diversity"})
"""Gates that stop nothing by themselves: they cost the places or the score that another gate asks for."""

PROMPT_GATES = ("prompt_gate", "governance", "repeat", "prompt_score", "prompt_items", "prompt_chars")
"""Gates between what came back and what an agent's prompt holds."""

RUN_ORDER = (
    "unknown_id",
    "scope",
    "inactive",
    "vector_index",
    "candidate_pool",
    "category",
    "min_score",
    "tag",
    "expired",
    "rerank_window",
    "rerank",
    "hard_cutoff",
    "noise_filter",
    "mmr_diversity",
    "limit",
    "state",
    "suppressed",
    "adaptive_gate",
    *PROMPT_GATES,
)
"""The gates in the order in which a recall runs through them; the ladder tells what a memory is first."""

RankingOf = Callable[[int], StoreRanking]
"""Table version to the ranks in it."""


@dataclass(frozen=True)
class LocatedMemory:
    """The memory asked about, as it is stored."""

    row: CandidateRow
    row_id: int
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class Inquiry:
    """A verdict, and what could be turned to bring the memory back."""

    verdict: Verdict
    moves: Callable[[Sequence[str | None]], Sequence[CandidateChange]] = lambda scopes: ()
    """All scopes of the store to every move."""
    powerless: Mapping[str, str] = field(default_factory=dict)


def inquire(trace: Trace, memory_id: str, ranking_of: RankingOf, ask: Recompute) -> Inquiry:
    """The verdict on `memory_id` for the recall that made `trace`, without its changes.

    Ranks are exact, over the whole table. Recipes that are programs of their own get the gates that their traces
    name. Raises UsageError for a trace that was read from a file.
    """
    found = find(trace, memory_id)
    if found is None:
        return Inquiry(_unknown(trace, memory_id))
    if trace.failure is not None:
        return Inquiry(_failed(trace, trace.failure, found))
    if trace.plan is None:
        return _other(trace, found, ranking_of, ask)
    evidence = _evidence(trace, trace.plan, found, ranking_of, ask)
    judgement = judged(trace, found.row.id, evidence.rank, climb(evidence))
    verdict = _to_the_prompt(trace, with_index(trace, judgement, evidence.by_vector, ask))

    def every(scopes: Sequence[str | None]) -> list[CandidateChange]:
        words = () if evidence.plan.plain else added_words(trace, found.row, evidence.plan.gate_rule)
        return [*moves(trace, evidence, scopes), *words]

    return Inquiry(verdict, every, dict(powerless(trace, evidence)))


def _failed(trace: Trace, failure: Failure, found: LocatedMemory) -> Verdict:
    """No gate was asked: the recall failed before anything was searched."""
    words = f"{failure.words[:1].upper()}{failure.words[1:]}. {failure.reason}"
    ladder = (
        GateResult(
            "unknown_id", True, found.row.id, None, sentences.sentence("unknown_id", True, "", None, {})
        ),
        GateResult("embedding", False, failure.stage, None, words),
    )
    return Verdict(
        found.row.id,
        trace.query,
        trace.recipe,
        False,
        None,
        "embedding",
        failure.stage,
        None,
        words,
        ladder,
        failure=failure,
        words_alone=tuple(trace.words_alone.results_json()) if trace.words_alone is not None else (),
    )


def _other(trace: Trace, found: LocatedMemory, ranking_of: RankingOf, ask: Recompute) -> Inquiry:
    """A recipe with stages of its own."""
    ranking = ranking_of(trace.table_version).reading(memory_of(trace).pin)
    recipe = recipe_named(trace.recipe)
    scopes = searched_scopes(trace)
    if scopes is not None and found.row.scope is not None and found.row.scope not in scopes:
        # its place if its scope were searched: some search scope after scope, the others all together
        scopes = [found.row.scope] if recipe.scope_by_scope else [*scopes, found.row.scope]
    considered = ranking.considered(scopes, trace.now_ms)
    row = decoded(found.row) if recipe.double_encoded else found.row
    metric: Metric = "l2" if recipe.by_distance else "cosine"
    by_vector = ranking.by_vector(found.row_id, row.vector, trace.query_vector, considered, metric=metric)
    question, alike = trace.bm25_query or trace.query, recipe.counts_alike
    by_words = ranking.by_words(found.row_id, row.text, question, scopes, considered, alike=alike)
    rank = trace.returned.index(row.id) + 1 if row.id in trace.returned else None
    ladder = climb_other(trace, row, by_vector, by_words)
    verdict = with_index(trace, judged(trace, row.id, rank, ladder), by_vector, ask)
    return Inquiry(verdict, lambda scopes: other_moves(trace, row), other_powerless(trace))


def find(trace: Trace, memory_id: str) -> LocatedMemory | None:
    """The stored row with this id in the version that was searched; None where there is none."""
    pin = memory_of(trace).pin
    names = dict.fromkeys((*read_columns(pin.dialect), *pin.row_columns))
    table = pin.rows_by_id([memory_id], list(names))
    if not table.num_rows:
        return None
    first = table.slice(0, 1)
    columns = {name: first.column(name)[0].as_py() for name in pin.row_columns}
    return LocatedMemory(rows_of(first, pin.dialect)[0], int(first.column("_rowid")[0].as_py()), columns)


def _unknown(trace: Trace, memory_id: str) -> Verdict:
    rows = memory_of(trace).pin.rows
    words = sentences.sentence("unknown_id", False, memory_id, rows, {})
    rung = GateResult("unknown_id", False, memory_id, rows, words)
    return Verdict(
        memory_id, trace.query, trace.recipe, False, None, rung.gate, memory_id, rows, words, (rung,)
    )


def _evidence(
    trace: Trace, plan: Plan, found: LocatedMemory, ranking_of: RankingOf, ask: Recompute
) -> GateEvidence:
    recipe = recipe_named(trace.recipe)
    if recipe.rerun is None:
        raise UsageError(
            f"The recipe {trace.recipe} keeps no plan of a recall.", fix="Ask with another recipe."
        )
    run = recipe.rerun(trace, memory_of(trace))
    setting = run.search()
    by_vector, by_words = _ranks(trace, plan, setting, found, ranking_of)
    asker = trace.asker
    by_agent = asker is not None and asker.how == "agent" and bool(asker.agent)
    return GateEvidence(
        plan=plan,
        floor=recipe.floor,
        setting=setting,
        row=found.row,
        columns=found.columns,
        by_vector=by_vector,
        by_words=by_words,
        passage=force(run, setting, found.row, by_vector, by_words),
        rank=trace.returned.index(found.row.id) + 1 if found.row.id in trace.returned else None,
        without_rerank=lambda: (
            found.row.id in what_if(trace, {"retrieval.rerank": "none"}, ask).trace.returned
        ),
        scope_column=run.pin.dialect.columns.scope,
        grant=ask.context.access().reads(asker.agent, found.row.scope)
        if asker is not None and by_agent
        else None,
        agent=asker.agent if asker is not None else "",
    )


def _ranks(
    trace: Trace, plan: Plan, setting: StageContext, found: LocatedMemory, ranking_of: RankingOf
) -> tuple[VectorRank, WordRank]:
    """The memory's true ranks in what each search considers."""
    request = plan.request
    ranking = ranking_of(trace.table_version).reading(memory_of(trace).pin)
    if plan.plain:
        considered = ranking.considered_by_agent(request.agent or DEFAULT_AGENT, request.scopes)
    else:
        considered = ranking.considered(request.scopes, plan.now_ms)
    by_vector = ranking.by_vector(
        found.row_id,
        found.row.vector,
        setting.query_vector,
        considered,
        metric="l2" if plan.plain else "cosine",
    )
    text = plan.bm25_query(setting.route)
    if plan.plain or text is None:
        return by_vector, NO_WORDS
    if setting.bm25_lane.via == "substring":
        return by_vector, _by_substring(trace, plan, found, text)
    words = ranking.by_words(found.row_id, found.row.text, text, request.scopes, considered, agent=True)
    return by_vector, words


def _by_substring(trace: Trace, plan: Plan, found: LocatedMemory, text: str) -> WordRank:
    """The rank among the memories that hold the whole question: what the keyword lane does when no word is found."""
    pin = memory_of(trace).pin
    answer = memory_of(trace).by_substring(text, where=scope_filter(pin.dialect, plan.request.scopes))
    rank, inactive = 0, 0
    for row, score in zip(answer.rows, answer.numbers, strict=True):
        if row.id == found.row.id:
            return WordRank(rank + 1, len(answer.rows), inactive, None, score, (text,), (text,), None)
        rank += row.active(plan.now_ms)
        inactive += not row.active(plan.now_ms)
    why = "it does not hold the whole question, which is what counts when no word is found"
    return WordRank(None, len(answer.rows), 0, None, None, (text,), (), None, why)


def _to_the_prompt(trace: Trace, verdict: Verdict) -> Verdict:
    """The verdict with the gates between an answer and the agent's prompt, which a memory that came back can miss."""
    from memtui.engine.explain.prompt_block import injected, prompt_gates

    gates = prompt_gates(trace)
    if not gates:
        return verdict
    if trace.gate:
        gates = ("prompt_gate", *gates)
    prompt = injected(trace)
    part = next((part for part in prompt.parts if part.id == verdict.id), None)
    rungs = []
    for gate in gates:
        stopped = part is not None and part.gate == gate
        known = None if part is None else not stopped
        value = part.value if part is not None and stopped else None
        limits: dict[str, float | None] = {"prompt_items": prompt.items, "prompt_chars": prompt.budget}
        limit = limits.get(gate)
        if part is not None and stopped and part.limit is not None:
            limit = part.limit if gate == "prompt_score" else int(part.limit)
        facts = {} if part is None else {"why": part.left_out}
        words = sentences.sentence(gate, known, value, limit, facts)
        rungs.append(
            GateResult(gate, known, value, limit, words, hypothetical=not verdict.returned, facts=facts)
        )
    told = replace(verdict, ladder=(*verdict.ladder, *rungs))
    if not verdict.returned or part is None or not part.gate:
        return told
    words = f"It came back, number {verdict.rank}, and does not reach the prompt. "
    stopped_by = next(rung for rung in rungs if rung.gate == part.gate)
    return replace(
        told,
        gate=part.gate,
        value=stopped_by.value,
        limit=stopped_by.limit,
        sentence=words + stopped_by.sentence,
    )


def settled(
    trace: Trace, memory_id: str, ladder: tuple[GateResult, ...]
) -> tuple[tuple[GateResult, ...], GateResult | None]:
    """The ladder with the gate that stopped the memory, and that gate; None where none did.

    For a candidate that is the gate of its trace, value and limit included, and what stands behind it in the order
    of the stages is hypothetical. An indirect loss (the reranker's, a near-duplicate's) is named as the cause of
    the gate that it led to. For a memory that never became a candidate it is the first gate of the ladder.
    """
    first = next((rung for rung in ladder if rung.passed is False), None)
    candidate = next((candidate for candidate in trace.candidates if candidate.id == memory_id), None)
    if candidate is None or candidate.rank is not None:
        return ladder, first
    rungs = [_quoted(trace, rung, candidate) for rung in ladder]
    stopped = next((rung for rung in rungs if rung.gate == candidate.reason), None)
    if stopped is None:
        return ladder, first
    cause = next((rung for rung in rungs if rung.passed is False and rung.gate in INDIRECT), stopped)
    reached = RUN_ORDER.index(stopped.gate) if stopped.gate in RUN_ORDER else len(RUN_ORDER)
    after = {gate for gate in RUN_ORDER[reached + 1 :] if gate != cause.gate}
    asked = {rung.gate for rung in rungs if rung.passed and rung.gate in OF_THE_QUESTION}
    told = tuple(replace(rung, hypothetical=rung.gate in after - asked) for rung in rungs)
    return told, next(rung for rung in told if rung.gate == cause.gate)


def _quoted(trace: Trace, rung: GateResult, candidate: Candidate) -> GateResult:
    """The rung with the verdict, the value and the limit that the trace recorded for this gate, where it did."""
    if rung.gate != candidate.reason:
        return rung
    index = next(at for at, row in enumerate(trace.pool.rows) if row.id == candidate.id)
    gates = [record.outcome.dropped[index] for record in trace.records if index in record.outcome.dropped]
    gate = next((gate for gate in gates if gate.reason == rung.gate), None)
    value = rung.value if gate is None or gate.value is None else gate.value
    limit = rung.limit if gate is None or gate.limit is None else gate.limit
    if (rung.passed, rung.value, rung.limit) == (False, value, limit):
        return rung
    words = rung.sentence
    if trace.plan is not None:
        words = sentences.sentence(rung.gate, False, value, limit, rung.facts)
    return replace(rung, passed=False, value=value, limit=limit, sentence=words)


def judged(trace: Trace, memory_id: str, rank: int | None, ladder: tuple[GateResult, ...]) -> Verdict:
    """The verdict that a ladder gives: its first gate that failed."""
    ladder, failed = settled(trace, memory_id, ladder)
    if rank is not None or failed is None:
        words = f"It came back, number {rank}." if rank is not None else "No gate stopped it."
        gate = value = limit = None
    else:
        words, gate, value, limit = failed.sentence, failed.gate, failed.value, failed.limit
    return Verdict(
        id=memory_id,
        query=trace.query,
        recipe=trace.recipe,
        returned=rank is not None,
        rank=rank,
        gate=gate,
        value=value,
        limit=limit,
        sentence=words,
        ladder=ladder,
        warnings=trace.warnings,
    )
