"""What the runner recorded, and the trace made of it.

Stages are kept as columns; steps and candidates become plain values when somebody first looks at them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.recall.candidates import CandidatePool, Floats
from memtui.engine.recall.stage import Ranking, StageOutcome
from memtui.engine.recall.trace import (
    SCHEMA,
    Asker,
    Candidate,
    Confidence,
    Failure,
    Proof,
    StageKind,
    StageSummary,
    Step,
    WordsMet,
)

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.recall.io_cache import IoCache
    from memtui.engine.recall.recipes.pro.plan import Plan
    from memtui.engine.recall.request import RecallRequest


@dataclass(frozen=True, eq=False)  # columns have no single truth: a record equals itself alone
class StageRecord:
    """One stage as it ran: what went in, what came out, when."""

    name: str
    title: str
    kind: StageKind
    before: Ranking
    outcome: StageOutcome
    n_in: int
    ms: float

    @cached_property
    def rank_before(self) -> dict[int, int]:
        """1-based rank of each candidate that went in."""
        return {index: rank for rank, index in enumerate(self.before.order.tolist(), 1)}

    @cached_property
    def rank_after(self) -> dict[int, int]:
        """1-based rank of each candidate that came out."""
        return {index: rank for rank, index in enumerate(self.outcome.flow.order.tolist(), 1)}

    def summary(self) -> StageSummary:
        """The stage as one line."""
        counts: dict[str, int] = {}
        for gate in self.outcome.dropped.values():
            counts[gate.reason] = counts.get(gate.reason, 0) + 1
        return StageSummary(
            self.name,
            self.title,
            self.kind,
            self.n_in,
            len(self.outcome.flow.order),
            self.ms,
            counts,
            self.outcome.note,
            plain(self.outcome.params),
        )

    @cached_property
    def steps(self) -> Mapping[int, Step]:
        """What the stage did to each candidate that it saw, by index."""
        outcome = self.outcome
        before, after = self.before.score.tolist(), outcome.flow.score.tolist()
        rules = outcome.rule if isinstance(outcome.rule, str) else outcome.rule.tolist()
        columns = [(name, _column(value)) for name, value in outcome.inputs.items()]
        steps: dict[int, Step] = {}
        for index in dict.fromkeys((*self.rank_after, *outcome.dropped)):
            rank_before, rank_after = self.rank_before.get(index), self.rank_after.get(index)
            gate = outcome.dropped.get(index)
            inputs = {}
            for name, column in columns:
                value = column[index] if type(column) is list else column
                if value is not None:
                    inputs[name] = value
            if gate is not None:
                inputs |= {"gate": gate.reason, "value": gate.value, "limit": gate.limit}
            rule = rules if isinstance(rules, str) else rules[index]
            steps[index] = Step(
                self.name,
                _finite(before[index]) if rank_before is not None else None,
                _finite(after[index]) if rank_after is not None else None,
                rank_before,
                rank_after,
                rule if rank_after is not None or gate is None else "dropped",
                inputs,
            )
        return steps


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _column(value: Any) -> Any:
    """An input of a stage as a list over the pool (an array) or as one plain value."""
    if not isinstance(value, np.ndarray):
        return plain(value)
    if value.ndim == 2:  # several numbers a candidate; none where they are absent
        absent = np.all(np.isnan(value), axis=1)
        return [None if absent[at] else row for at, row in enumerate(value.tolist())]
    if value.dtype.kind == "f":
        return [x if math.isfinite(x) else None for x in value.tolist()]
    return [plain(x) for x in value.tolist()] if value.dtype == object else value.tolist()


def plain(value: Any) -> Any:
    """`value` without arrays, numpy scalars or NaN, for people and JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


@dataclass(frozen=True, eq=False)
class Trace:
    """The complete account of one recall."""

    query: str
    recipe: str
    mode: str
    """hybrid, vector, keyword or tag: the route really taken."""
    source: str | None
    config: Mapping[str, Any]
    """{"retrieval": {...}, "decay": {...} or None} as resolved, secrets masked."""
    now_ms: int
    limit: int
    filters: Mapping[str, Any]
    """scopes (None = no filter), category, agent."""
    bm25_query: str | None
    pool: CandidatePool = field(repr=False)
    records: tuple[StageRecord, ...] = field(repr=False)
    prover: Callable[[Trace], Proof] = field(repr=False, compare=False)
    """How the steps of this recipe are proved."""
    matcher: Callable[[Trace, str], WordsMet] = field(repr=False, compare=False)
    """Which word of the question met which word of the candidate with an id."""
    judge: Callable[[Trace], Confidence | None] | None = field(default=None, repr=False, compare=False)
    """How sure it is that the best memory answers; None for recipes that cannot tell."""
    operations: tuple[StageSummary, ...] = ()
    """Work that is no stage: embedding the question, asking the reranker."""
    warnings: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    total_ms: float = 0.0
    neighbors: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """Id of a result to the neighbours attached to it (neighbour enrichment)."""
    load_memories: Callable[[CandidatePool], Mapping[str, Memory]] | None = field(
        default=None, repr=False, compare=False
    )
    table_version: int = 0
    request: RecallRequest | None = field(default=None, repr=False, compare=False)
    """What was asked, as it was asked."""
    query_vector: Floats | None = field(default=None, repr=False, compare=False)
    """The question as a vector, float64 [dims]; None without a vector lane."""
    cleaned: str | None = field(default=None, repr=False)
    """The question as the recipe cleans it before it is embedded; None where it stays as it was asked."""
    plan: Plan | None = field(default=None, repr=False, compare=False)
    """The request resolved; with `outside` it lets the same question be asked under other parameters."""
    outside: IoCache | None = field(default=None, repr=False, compare=False)
    asker: Asker | None = None
    """Whose recall it is and what was searched for them; None only while it is made."""
    failure: Failure | None = None
    """Why the recall failed as a whole; its caller got nothing."""
    gate: str = ""
    """The rule by which the recipe's gate looks nothing up for this text before a prompt; empty where it does."""
    words_alone: Trace | None = field(default=None, repr=False, compare=False)
    """Where it failed for want of a vector: the recall as the words alone would answer it, which nobody got."""
    auto_recall: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The plugin's own settings of what goes into a prompt, as the store's agent is configured."""
    kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was worked out from the trace, kept with it."""
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What else the recipe has to tell in the document: receipts, the block for the prompt."""

    @cached_property
    def stages(self) -> tuple[StageSummary, ...]:
        """The stages in order."""
        return tuple(record.summary() for record in self.records)

    @cached_property
    def returned(self) -> tuple[str, ...]:
        """The ids that came back, in order."""
        if not self.records:
            return ()
        return tuple(self.pool.rows[index].id for index in self.records[-1].outcome.flow.order.tolist())

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Everything any lane found: the returned ones in final order, then the others by the stage they reached."""
        return self.told()

    def told(self) -> tuple[Candidate, ...]:
        """Return the candidates, computed again from the records of the stages."""
        final = (
            {int(i): rank for rank, i in enumerate(self.records[-1].outcome.flow.order, 1)}
            if self.records
            else {}
        )
        made = [self._candidate(index, final) for index in range(self.pool.n)]
        last = {record.name: position for position, record in enumerate(self.records)}
        return tuple(
            sorted(
                made,
                key=lambda c: (c.rank is None, c.rank or 0, -last.get(c.disposition, -1), -(c.score or 0.0)),
            )
        )

    @cached_property
    def results(self) -> tuple[Candidate, ...]:
        """What came back, in final order (after MMR not necessarily by score)."""
        return tuple(c for c in self.candidates if c.rank is not None)

    @cached_property
    def embedded(self) -> str | None:
        """The text that was made into the question's vector; None where the vector was given or there is none."""
        given = self.request is not None and self.request.query_vector is not None
        if self.query_vector is None or given:
            return None
        return self.query if self.cleaned is None else self.cleaned

    @cached_property
    def proof(self) -> Proof:
        """Recompute every step from its recorded inputs with formulas of its own; every number is held to account."""
        return self.prover(self)

    @cached_property
    def confidence(self) -> Confidence | None:
        """How sure it is that the best memory answers; None where that cannot be told."""
        return None if self.judge is None else self.judge(self)

    @cached_property
    def memories(self) -> Mapping[str, Memory]:
        """Every candidate as a memory, by id."""
        return self.load_memories(self.pool) if self.load_memories else {}

    def _candidate(self, index: int, final: Mapping[int, int]) -> Candidate:
        steps = tuple(step for record in self.records if (step := record.steps.get(index)) is not None)
        rank = final.get(index)
        disposition, reason, limit = "returned", "", None
        score = next((s.after for s in reversed(steps) if s.after is not None), None)
        if rank is None:
            for record in self.records:
                gate = record.outcome.dropped.get(index)
                if gate is not None:
                    disposition, reason, limit = record.name, gate.reason, gate.limit
                    if score is None and gate.value is not None:
                        score = gate.value
        return Candidate(
            self.pool.rows[index].id, disposition, reason, score, limit, rank, self._sources(index), steps
        )

    def _sources(self, index: int) -> dict[str, dict[str, float | int | None]]:
        out: dict[str, dict[str, float | int | None]] = {}
        for name, hits in (("vector", self.pool.vector), ("bm25", self.pool.bm25)):
            if index in hits:
                out[name] = {"score": hits[index].score, "rank": hits[index].rank}
        for record in self.records:
            if record.name == "scored_input" and record.kind == "search" and index in record.rank_after:
                # With one lane the plugin numbers what is left of it after expiry and tags (spec/retrieval 4.1).
                for source in out.values():
                    source["rank"] = record.rank_after[index]
            if record.name == "fused" and index in record.rank_after:
                out["fused"] = {
                    "score": _finite(float(record.outcome.flow.score[index])),
                    "rank": record.rank_after[index],
                }
            if record.name == "reranked" and index in record.rank_after:
                raw = record.outcome.inputs.get("reranked", record.outcome.inputs.get("cosine"))
                if isinstance(raw, np.ndarray) and not np.isnan(raw[index]):
                    out["reranked"] = {"score": _finite(float(raw[index])), "rank": record.rank_after[index]}
        return out

    def words_met(self, memory_id: str) -> WordsMet:
        """Which word of the question met which word of a candidate. KeyError for an id that is none."""
        return self.matcher(self, memory_id)

    def results_json(self, *, explain: bool = False, words: bool = False) -> list[dict[str, Any]]:
        """What came back, in the shape that the command-line contract gives results."""
        texts = {row.id: row.text for row in self.pool.rows}
        return [self._result(c, texts, explain, words) for c in self.results]

    def as_json(self, *, explain: bool = True, words: bool = False) -> dict[str, Any]:
        """The document of the command-line contract; without `explain` only what came back.

        With `words` each result tells which of its words met which word of the question.
        """
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "query": self.query,
            "recipe": self.recipe,
            "mode": self.mode,
            "source": self.source,
            "config": self.config,
            "now_ms": self.now_ms,
            "limit": self.limit,
            "filters": dict(self.filters),
            "asked_by": None if self.asker is None else self.asker.as_json(),
            "gate": self.gate or None,
            "bm25_query": self.bm25_query,
            "embedded": self.embedded,
            "stages": [
                {
                    "name": s.name,
                    "in": s.n_in,
                    "out": s.n_out,
                    "ms": round(s.ms, 3),
                    "dropped": dict(s.dropped),
                    "note": s.note,
                }
                for s in self.stages
            ],
            "operations": [{"name": o.name, "ms": round(o.ms, 3), "note": o.note} for o in self.operations],
            "results": self.results_json(explain=explain, words=words),
            "failure": None if self.failure is None else self.failure.as_json(),
            "warnings": list(self.warnings),
            "findings": list(self.findings),
            "total_ms": round(self.total_ms, 3),
            "table_version": self.table_version,
        }
        if explain:
            document["candidates"] = [
                {
                    "id": c.id,
                    "disposition": c.disposition,
                    "reason": c.reason,
                    "score": c.score,
                    "limit": c.limit,
                    "steps": [step.as_json() for step in c.steps],
                }
                for c in self.candidates
            ]
        document["confidence"] = None if self.confidence is None else self.confidence.as_json()
        if self.words_alone is not None:
            document["words_alone"] = self.words_alone.results_json(explain=explain, words=words)
        document |= plain(self.extra)
        document["proof"] = {
            "recomputed": self.proof.recomputed,
            "max_error": self.proof.max_error,
            "checked": self.proof.checked,
            "failures": list(self.proof.failures),
        }
        return document

    def _result(self, c: Candidate, texts: Mapping[str, str], explain: bool, words: bool) -> dict[str, Any]:
        out: dict[str, Any] = {
            "id": c.id,
            "rank": c.rank,
            "score": c.score,
            "sources": {
                name: {k: v for k, v in source.items() if v is not None} for name, source in c.sources.items()
            },
            "text": texts[c.id],
        }
        if c.id in self.neighbors:
            out["neighbors"] = [dict(item) for item in self.neighbors[c.id]]
        if words:
            out["words"] = self.words_met(c.id).as_json()
        if explain:
            out["steps"] = [step.as_json() for step in c.steps]
        return out
