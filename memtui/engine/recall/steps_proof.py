"""What must hold of every account: scores that follow from their inputs, unbroken chains, descending order."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.trace import Candidate, Step

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace

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
