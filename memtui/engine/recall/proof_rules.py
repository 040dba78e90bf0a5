"""What must hold of a stage as a whole: its parameters, its order, and that nobody comes or goes unseen."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.trace import Candidate, Step

if TYPE_CHECKING:
    from memtui.engine.recall.record import StageRecord, Trace


LANE_HITS = 20

FETCHED_A_HIT, MOST_FETCHED = 20, 200

WINDOW = 2

HYBRID_FLOOR = 0.1

NEAR_DUPLICATE = 0.85

GATE_LENGTH = 15

AGENT_ROWS_MORE = 10

BUILTIN_FLOOR = 0.1


def stage_failures(trace: Trace, checks: StageChecks) -> Iterator[str]:
    """One sentence for each thing that does not hold."""
    if checks.clamped and not 1 <= trace.limit <= LANE_HITS:
        yield f"the limit {trace.limit} is not within 1 and {LANE_HITS}"
    config = trace.config.get("retrieval") or {}
    if trace.plan is not None and checks.clamped:
        asked = trace.plan.request.limit
        wanted = trace.plan.recipe.limit if asked is None else asked if math.isfinite(asked) else 1
        if trace.limit != min(LANE_HITS, max(1, math.floor(wanted))):
            yield f"the limit is {trace.limit}, asked for were {asked}"
    for hits in (trace.pool.vector, trace.pool.bm25):
        if sorted(hit.rank for hit in hits.values()) != list(range(1, len(hits) + 1)):
            yield "the hits of a lane are not numbered from 1"
    for record in trace.records:
        for why in (*_order(record), *_settings(record, config), *_rules(trace, record, checks)):
            yield f"{record.name}: {why}"


def _order(record: StageRecord) -> Iterator[str]:
    before, after = record.before.order.tolist(), record.outcome.flow.order.tolist()
    if len(set(after)) != len(after):
        yield "a candidate stands twice"
    if record.kind == "score":
        scores = record.outcome.flow.score[record.outcome.flow.order].tolist()
        if any(a < b for a, b in pairwise(scores)):
            yield "not in descending order"
    if record.kind not in ("filter", "order"):
        return
    gone = record.outcome.dropped
    if set(before) != set(after) | set(gone) or set(after) & set(gone):
        yield "candidates came or went without a reason"
    if record.kind == "filter" and [index for index in before if index in record.rank_after] != after:
        yield "a filter changed the order"
    if record.kind == "order":
        rules = record.outcome.rule
        deferred = [index for index in before if rules[index] == "deferred"]
        kept = [index for index in before if rules[index] != "deferred" and index not in gone]
        if after != kept + [index for index in deferred if index not in gone]:
            yield "not the selected ones before the deferred ones"


def _settings(record: StageRecord, config: dict[str, Any]) -> Iterator[str]:
    for name, value in record.outcome.params.items():
        if name in config and value != config[name]:
            yield f"ran with {name} = {value}, set is {config[name]}"


def _rules(trace: Trace, record: StageRecord, checks: StageChecks) -> Iterator[str]:
    check = checks.of_stage.get(record.name)
    for name, value, expected in check(trace, record) if check else ():
        if value != expected:
            yield f"{name} is {value}, it must be {expected}"


Facts = Iterator[tuple[str, Any, Any]]
"""(what, its value, what it must be)."""


def _lane(trace: Trace, record: StageRecord) -> Facts:
    params = record.outcome.params
    if "limit" not in params:
        return
    config = trace.config["retrieval"]
    limit = int(min(LANE_HITS, max(1, config["candidatePoolSize"], WINDOW * trace.limit)))
    yield "the lane's limit", params["limit"], limit
    yield "too many hits", max(0, params["found"] - limit), 0
    if params.get("fetched") is not None:
        yield "the number of rows asked for", params["fetched"], min(limit * FETCHED_A_HIT, MOST_FETCHED)
    if "min_score" in params:
        least = config["minScore"] if trace.mode == "vector" else HYBRID_FLOOR
        yield "the lane's floor", params["min_score"], least


def _admitted(trace: Trace, record: StageRecord) -> Facts:
    if record.name == "rerank_input":
        yield "the window", record.outcome.params.get("window"), WINDOW * trace.limit
        yield "survivors beyond the window", max(0, len(record.rank_after) - WINDOW * trace.limit), 0
        beyond = [g.value for g in record.outcome.dropped.values() if g.reason == "rerank_window"]
        places = range(WINDOW * trace.limit + 1, WINDOW * trace.limit + 1 + len(beyond))
        yield (
            "the places beyond the window",
            sorted(map(float, filter(None, beyond))),
            list(map(float, places)),
        )
    if trace.mode in ("vector", "tag"):
        yield from _lane(trace, record)
    else:
        yield from _at_least(record, trace.config["retrieval"]["minScore"])


def _at_least(record: StageRecord, limit: float) -> Facts:
    scores = record.outcome.flow.score[record.outcome.flow.order]
    yield f"survivors below {limit}", int((~(scores >= limit)).sum()), 0


def _cutoff(trace: Trace, record: StageRecord) -> Facts:
    yield from _at_least(record, trace.config["retrieval"]["hardMinScore"])


def _reranked(trace: Trace, record: StageRecord) -> Facts:
    if "top_n" in record.outcome.params:
        most = min(len(record.before.order), max(1, trace.config["retrieval"]["candidatePoolSize"]))
        yield "the number of documents asked for", record.outcome.params["top_n"], most

    if "answer" in record.outcome.params:
        order = record.before.order.tolist()
        said: dict[int, float] = {}
        for position, score in record.outcome.params["answer"]:
            if 0 <= position < len(order):
                said.setdefault(order[position], score)
        raw = record.outcome.inputs["reranked"]
        yield "what the reranker said", {i: raw[i] for i in order if raw[i] == raw[i]}, said


def _switch(setting: str) -> Callable[[Trace, StageRecord], Facts]:
    """A stage that is off exactly when its setting is 0 or less."""

    def check(trace: Trace, record: StageRecord) -> Facts:
        names = setting.split()
        off = any(trace.config["retrieval"][name] <= 0 for name in names)
        yield "off", record.outcome.note == "off", off

    return check


def _decay(trace: Trace, record: StageRecord) -> Facts:
    params = record.outcome.params["decay"]
    for name, expected in trace.config["decay"].items():
        own = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
        yield name, getattr(params, own), expected


def _diversity(trace: Trace, record: StageRecord) -> Facts:
    yield "the likeness limit", record.outcome.params["threshold"], NEAR_DUPLICATE


def _limit(trace: Trace, record: StageRecord) -> Facts:
    yield "the limit", record.outcome.params["limit"], trace.limit
    yield "results", len(record.rank_after), min(len(record.before.order), trace.limit)


def _gate(trace: Trace, record: StageRecord) -> Facts:
    yield "the least length", record.outcome.params["minLength"], GATE_LENGTH


def _builtin_lane(trace: Trace, record: StageRecord) -> Facts:
    params = record.outcome.params
    if "limit" in params:
        more = AGENT_ROWS_MORE if params.get("by_agent") else 0
        yield "the number of rows asked for", params["fetched"], trace.limit + more


def _builtin_floor(trace: Trace, record: StageRecord) -> Facts:
    yield "the floor", record.outcome.params["minScore"], BUILTIN_FLOOR
    yield from _at_least(record, BUILTIN_FLOOR)


@dataclass(frozen=True)
class StageChecks:
    """What must hold of the stages of one program."""

    of_stage: Mapping[str, Callable[[Trace, StageRecord], Facts]]
    clamped: bool
    """Whether the limit is clamped to what one search delivers."""


PRO = StageChecks(
    {
        "vector_ranked": _lane,
        "bm25_ranked": _lane,
        "rerank_input": _admitted,
        "scored_input": _admitted,
        "reranked": _reranked,
        "decay_boost": _decay,
        "length_normalization": _switch("lengthNormAnchor"),
        "recency_boost": _switch("recencyHalfLifeDays recencyWeight"),
        "time_decay": _switch("timeDecayHalfLifeDays"),
        "hard_cutoff": _cutoff,
        "mmr_diversity": _diversity,
        "limit": _limit,
        "adaptive_gate": _gate,
    },
    clamped=True,
)

BUILTIN = StageChecks(
    {
        "vector_ranked": _builtin_lane,
        "min_score": _builtin_floor,
        "limit": _limit,
    },
    clamped=False,
)


# What must hold of every account: scores that follow from their inputs, unbroken chains, descending order.

TOLERANCE = 1e-9

Inputs = Mapping[str, Any]

Expected = Callable[[Candidate, Step], float]
"""The score after a step, from its inputs; raises KeyError, TypeError or ArithmeticError when they do not say."""


class StepsProof:
    """Recomputes the steps of `trace`; `failures` are sentences, `max_error` the largest difference found."""

    def __init__(self, trace: Trace, expected: Expected, *, searches: Collection[str]) -> None:
        """`searches`: the stages that only look things up; the chain of scores begins after them."""
        self.trace = trace
        self.expected = expected
        self.searches = searches
        self.failures: list[str] = []
        self.max_error = 0.0
        self.checked = 0

    def run(self) -> None:
        """Check every step of every candidate, every gate, and the order after each stage."""
        for candidate in self.trace.candidates:
            self._candidate(candidate)
        for record in self.trace.records:
            if record.kind == "score":
                scores = record.outcome.flow.score[record.outcome.flow.order].tolist()
                if any(a < b for a, b in pairwise(scores)):
                    self.failures.append(f"{record.name}: not in descending order")

    def fail(self, candidate: Candidate, step: Step, why: str) -> None:
        """Record that a step does not hold."""
        self.failures.append(f"{candidate.id}, {step.stage}: {why}")

    def _candidate(self, candidate: Candidate) -> None:
        last: float | None = None
        for step in candidate.steps:
            self.checked += 1
            searched = step.stage in self.searches
            if step.rank_before is not None and step.before != last:
                self.fail(candidate, step, f"starts from {step.before}, the stage before ended at {last}")
            if step.after is None:
                self._gate(candidate, step)
                continue
            try:
                expected = self.expected(candidate, step)
            except (KeyError, TypeError, ArithmeticError):
                expected = math.nan
            error = abs(expected - step.after)
            self.max_error = max(self.max_error, error if math.isfinite(error) else 1.0)
            if not error <= TOLERANCE:
                self.fail(candidate, step, f"{step.rule} gives {expected}, recorded is {step.after}")
            if not searched:
                last = step.after
        if candidate.rank is not None and candidate.score != last:
            self.failures.append(f"{candidate.id}: final score {candidate.score}, last step {last}")

    def _gate(self, candidate: Candidate, step: Step) -> None:
        gate, value, limit = step.inputs.get("gate"), step.inputs.get("value"), step.inputs.get("limit")
        if gate == "min_score" and not (value is not None and limit is not None and value < limit):
            self.fail(candidate, step, f"dropped by {gate} though {value} is not below {limit}")
        if gate == "limit" and not (value is not None and limit == self.trace.limit and value > limit):
            self.fail(candidate, step, f"dropped as number {value} of {limit}")
