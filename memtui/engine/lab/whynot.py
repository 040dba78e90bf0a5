"""Why a memory did not come back: the ladder of all gates for any memory of the store, found or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.errors import UsageError
from memtui.engine.lab import gate_words
from memtui.engine.lab.forced import force
from memtui.engine.lab.ladder import Evidence, climb
from memtui.engine.lab.ranks import NO_WORDS, Ranking, VectorRank, WordRank
from memtui.engine.lab.verdict import Rung, Verdict
from memtui.engine.lab.whatif import Ask, memory_of, what_if
from memtui.engine.recall.builtin import DEFAULT_AGENT
from memtui.engine.recall.rows import Row, rows_of
from memtui.engine.recall.run import Run
from memtui.engine.recall.search import read_columns, scope_filter

if TYPE_CHECKING:
    from memtui.engine.recall.plan import Plan
    from memtui.engine.recall.record import Trace
    from memtui.engine.recall.setting import Setting

RankingOf = Callable[[int], Ranking]
"""Table version to the ranks in it."""


@dataclass(frozen=True)
class Found:
    """The memory asked about, as it is stored."""

    row: Row
    row_id: int
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class Inquiry:
    """A verdict and what it was made of, for the search after the smallest change."""

    verdict: Verdict
    trace: Trace
    found: Found | None = None
    evidence: Evidence | None = None


def why_not(trace: Trace, memory_id: str, ranking_of: RankingOf, ask: Ask) -> Inquiry:
    """The verdict on `memory_id` for the recall that made `trace`, without its changes.

    Ranks are exact, over the whole table. Works for the plugin's recipes and the built-in one; raises UsageError
    for a trace that was read from a file.
    """
    found = find(trace, memory_id)
    if found is None:
        return Inquiry(_unknown(trace, memory_id), trace)
    evidence = _evidence(trace, found, ranking_of, ask)
    ladder = climb(evidence)
    return Inquiry(_verdict(trace, found, evidence, ladder), trace, found, evidence)


def find(trace: Trace, memory_id: str) -> Found | None:
    """The stored row with this id in the version that was searched; None where there is none."""
    pin = memory_of(trace).pin
    names = dict.fromkeys((*read_columns(pin.dialect), *pin.row_columns))
    table = pin.rows_by_id([memory_id], list(names))
    if not table.num_rows:
        return None
    first = table.slice(0, 1)
    columns = {name: first.column(name)[0].as_py() for name in pin.row_columns}
    return Found(rows_of(first, pin.dialect)[0], int(first.column("_rowid")[0].as_py()), columns)


def _unknown(trace: Trace, memory_id: str) -> Verdict:
    rows = memory_of(trace).pin.rows
    words = gate_words.sentence("unknown_id", False, memory_id, rows, {})
    rung = Rung("unknown_id", False, memory_id, rows, words)
    return Verdict(
        memory_id, trace.query, trace.recipe, False, None, rung.gate, memory_id, rows, words, (rung,)
    )


def _evidence(trace: Trace, found: Found, ranking_of: RankingOf, ask: Ask) -> Evidence:
    plan = plan_of(trace)
    run = Run(replace(plan, now_ms=trace.now_ms), memory_of(trace))
    setting = run.search()
    by_vector, by_words = _ranks(trace, plan, setting, found, ranking_of)
    return Evidence(
        plan=plan,
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
    )


def plan_of(trace: Trace) -> Plan:
    """The resolved request; UsageError for recipes that are programs of their own."""
    if trace.plan is None:
        raise UsageError(
            f"The recipe {trace.recipe} has gates of its own.", fix="Ask with pro/agent, pro/tool or pro/cli."
        )
    return trace.plan


def _ranks(
    trace: Trace, plan: Plan, setting: Setting, found: Found, ranking_of: RankingOf
) -> tuple[VectorRank, WordRank]:
    """The memory's true ranks in what each search considers."""
    request, ranking = plan.request, ranking_of(trace.table_version)
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
    words = ranking.by_words(found.row_id, found.row.text, text, request.scopes, considered)
    return by_vector, words


def _by_substring(trace: Trace, plan: Plan, found: Found, text: str) -> WordRank:
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


def _verdict(trace: Trace, found: Found, evidence: Evidence, ladder: tuple[Rung, ...]) -> Verdict:
    failed = next((rung for rung in ladder if rung.passed is False), None)
    returned = evidence.rank is not None
    if returned or failed is None:
        words = f"It came back, number {evidence.rank}." if returned else "No gate stopped it."
        gate = value = limit = None
    else:
        words, gate, value, limit = failed.sentence, failed.gate, failed.value, failed.limit
    return Verdict(
        id=found.row.id,
        query=trace.query,
        recipe=trace.recipe,
        returned=returned,
        rank=evidence.rank,
        gate=gate,
        value=value,
        limit=limit,
        sentence=words,
        ladder=ladder,
        warnings=trace.warnings,
    )
