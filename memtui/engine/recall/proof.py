"""The proof: every recorded step recomputed from its recorded inputs, and those inputs held against the rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memtui.engine.recall import proof_formulas
from memtui.engine.recall.proof_account import with_account
from memtui.engine.recall.proof_formulas import Inputs
from memtui.engine.recall.proof_rules import BUILTIN, NEAR_DUPLICATE, PRO, StageChecks, stage_failures
from memtui.engine.recall.rows import CandidateRow, Wide
from memtui.engine.recall.trace import Candidate, Proof, Step

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


TOLERANCE = 1e-9

MOST_FAILURES = 20

MOST_ACCESSES = 10_000

SHORTEST = 5

_AT_LEAST = ("min_score", "hard_cutoff")
"""Gates that keep `value >= limit`."""

_AT_MOST = ("limit", "rerank_window")
"""Gates that keep `value <= limit`."""


def prove(trace: Trace) -> Proof:
    """Recompute a recall of the plugin: every score, gate and chain of scores, and what must hold of each stage."""
    return _proved(trace, PRO)


def prove_builtin(trace: Trace) -> Proof:
    """Recompute a recall of the built-in program."""
    return _proved(trace, BUILTIN)


def _proved(trace: Trace, checks: StageChecks) -> Proof:
    check = _Check(trace)
    for candidate in trace.candidates:
        check.candidate(candidate)
    check.failures += stage_failures(trace, checks)
    failures = tuple(check.failures[:MOST_FAILURES])
    return with_account(trace, Proof(not failures, check.max_error, check.checked, failures))


class _Check:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.failures: list[str] = []
        self.max_error = 0.0
        self.checked = 0
        self.params = {stage.name: stage.params for stage in trace.stages}
        self.rows = {row.id: row for row in trace.pool.rows}
        self.ranks_after = {
            record.name: {
                trace.pool.rows[index].id: rank
                for rank, index in enumerate(record.outcome.flow.order.tolist(), 1)
            }
            for record in trace.records
        }
        self.first_with_vector = _first_with_vector(trace)

    def fail(self, candidate: Candidate, step: Step, why: str) -> None:
        self.failures.append(f"{candidate.id}, {step.stage}: {why}")

    def candidate(self, candidate: Candidate) -> None:
        previous: float | None = None
        row = self.rows[candidate.id]
        for step in candidate.steps:
            self.checked += 1
            if step.rank_after != self.ranks_after[step.stage].get(candidate.id):
                self.fail(candidate, step, f"number {step.rank_after} after it, its order says otherwise")
            if step.rank_before is not None and previous is not None and step.before != previous:
                self.fail(candidate, step, f"starts from {step.before}, the stage before ended at {previous}")
            if step.after is None:
                self._gate(candidate, step)
                continue
            expected = self._expected(candidate, step)
            error = abs(expected - step.after) if expected is not None else math.inf
            self.max_error = max(self.max_error, error if math.isfinite(error) else 1.0)
            if not error <= TOLERANCE:  # also where it is no number
                self.fail(candidate, step, f"{step.rule} gives {expected}, recorded is {step.after}")
            self._stored(candidate, step, row)
            if step.rank_before is not None or step.stage in ("fused", "scored_input", "vector_ranked"):
                previous = step.after
        if candidate.rank is not None and candidate.score != previous:
            self.failures.append(f"{candidate.id}: final score {candidate.score}, last step {previous}")
        last = next((step.after for step in reversed(candidate.steps) if step.after is not None), None)
        if candidate.rank is None and last is not None and candidate.score != last:
            self.failures.append(
                f"{candidate.id}: dropped at {candidate.score}, its last step ended at {last}"
            )

    def _expected(self, candidate: Candidate, step: Step) -> float | None:
        """The score after the step by our own formulas; None where its inputs do not even suffice for that."""
        before = step.before if step.before is not None else 0.0
        inputs = {**step.inputs, "now_ms": self.trace.now_ms, "before": before}
        try:
            own = self._derived(candidate, step, inputs)
            for name, value in own.items():
                told = step.inputs.get(name)
                if not math.isfinite(value) and told is None:
                    continue  # what is infinite is told as absent
                if (
                    told is None
                    or not math.isfinite(value)
                    or not abs(value - told) <= TOLERANCE * max(1.0, abs(value))
                ):
                    self.fail(candidate, step, f"{name} is {told}, its own inputs give {value}")
            return proof_formulas.SCORES[step.rule](before, inputs | own)
        except (KeyError, TypeError, ZeroDivisionError, OverflowError):
            return None

    def _derived(self, candidate: Candidate, step: Step, inputs: Inputs) -> dict[str, float]:
        """What a rule uses that is itself worked out from other inputs."""
        params = self.params[step.stage]
        exempt = step.rule == "exempt"
        if step.rule == "decay_boost" or (exempt and step.stage == "decay_boost"):
            return proof_formulas.lifecycle(inputs, params["decay"])
        if step.rule == "recency":
            return {"age_days": proof_formulas.age_days(inputs)}
        if step.rule == "time_decay" or (exempt and step.stage == "time_decay"):
            days = proof_formulas.stretched_days(inputs, params)
            return {"age_days": proof_formulas.age_days(inputs), "e_folding_days": days}
        if step.rule in ("rerank_blend", "rerank_unreturned"):
            b = float(candidate.sources.get("bm25", {}).get("score") or 0.0)
            share = proof_formulas.kept_share(b, returned=step.rule == "rerank_blend")
            return {"keep": share if params["floors"] else 0.0, "prior": inputs["before"]}
        return {"prior": inputs["before"]} if step.rule == "cosine_blend" else {}

    def _gate(self, candidate: Candidate, step: Step) -> None:
        gate, value, limit = step.inputs.get("gate"), step.inputs.get("value"), step.inputs.get("limit")
        if gate in _AT_LEAST and not (value is not None and limit is not None and value < limit):
            self.fail(candidate, step, f"dropped by {gate} though {value} is not below {limit}")
        if gate in _AT_MOST and not (value is not None and limit is not None and value > limit):
            self.fail(candidate, step, f"dropped by {gate} though {value} is within {limit}")
        if gate == "limit" and value != step.rank_before:
            self.fail(candidate, step, f"dropped as number {value}, it was number {step.rank_before}")
        if gate == "expired" and (value, limit) != (self._valid_until(candidate), self.trace.now_ms):
            self.fail(candidate, step, f"expired at {value}, the row says {self._valid_until(candidate)}")
        if gate == "mmr_diversity" and not (value is not None and value > NEAR_DUPLICATE):
            self.fail(candidate, step, f"dropped as a near-duplicate at cosine {value}")

    def _valid_until(self, candidate: Candidate) -> int | None:
        return self.rows[candidate.id].metadata.valid_until

    def _stored(self, candidate: Candidate, step: Step, row: CandidateRow) -> None:
        """Hold what a stage read of a row against the row, and its judgement against that."""
        for name, read in _STORED.get(step.stage, {}).items() if step.inputs else ():
            value = step.inputs.get(name)
            if (stored := read(row)) is not None and stored != value:
                self.fail(candidate, step, f"{name} is {value}, the row has {stored}")
        if step.stage == "mmr_diversity":
            self._diversity(candidate, step, row)
        if step.rule == "cosine_blend" and self.trace.query_vector is not None:
            self._cosine(candidate, step, row, self.trace.query_vector)

    def _diversity(self, candidate: Candidate, step: Step, row: CandidateRow) -> None:
        cosine, nearest = step.inputs.get("cosine"), step.inputs.get("nearest")
        if (cosine is not None and cosine > NEAR_DUPLICATE) != (step.rule == "deferred"):
            self.fail(candidate, step, f"{step.rule} at cosine {cosine}")
        if row.wide is not None and (nearest is None) != (step.rank_before == self.first_with_vector):
            self.fail(candidate, step, f"compared with {nearest}")
        if nearest is not None:
            self._cosine(candidate, step, row, self.rows[nearest].wide)

    def _cosine(self, candidate: Candidate, step: Step, row: CandidateRow, other: Wide | None) -> None:
        cosine = step.inputs.get("cosine")
        own = None if row.wide is None or other is None else _cosine_of(row.wide, other)
        if own is None or cosine is None or not abs(own - cosine) <= TOLERANCE:
            self.fail(candidate, step, f"the cosine is {cosine}, the vectors give {own}")


def _first_with_vector(trace: Trace) -> int | None:
    """The rank at which the first candidate with a vector reaches the diversity stage: it has no rival."""
    record = next((record for record in trace.records if record.name == "mmr_diversity"), None)
    order = record.before.order.tolist() if record else []
    return next((rank for rank, i in enumerate(order, 1) if trace.pool.rows[i].wide is not None), None)


def _cosine_of(a: Wide, b: Wide) -> float:
    lengths = math.sqrt(float(a @ a)) * math.sqrt(float(b @ b))
    return float(a @ b) / lengths if lengths > 0 else 0.0


def _characters(row: CandidateRow) -> int:
    return len(row.text.encode("utf-16-le", "surrogatepass")) // 2


def _whole(row: CandidateRow, *names: str) -> int | None:
    """The first of these metadata keys that is there, when it is a plain whole number; None leaves it unchecked."""
    values = row.metadata.values
    found = next((values[name] for name in names if values.get(name) is not None), None)
    if found is None or (isinstance(found, str) and found.isalpha() and found != "Infinity"):
        return 0  # nothing, or a word in place of a number
    return found if type(found) is int and 0 <= found < 2**53 else None


def _accesses(row: CandidateRow) -> int | None:
    count = _whole(row, "accessCount", "access_count")
    return None if count is None else min(MOST_ACCESSES, count)


def _created(row: CandidateRow) -> float:
    return float(row.timestamp_ms)


def _last_used(row: CandidateRow) -> float | None:
    """For the lifecycle: the last access, else the creation."""
    last = _whole(row, "last_accessed_at")
    return last if last is None else float(last or row.timestamp_ms)


_STORED: dict[str, dict[str, Callable[[CandidateRow], Any]]] = {
    "length_normalization": {"length": _characters},
    "recency_boost": {"created_ms": _created},
    "time_decay": {
        "created_ms": _created,
        "access_count": _accesses,
        "last_accessed_ms": lambda row: _whole(row, "lastAccessedAt", "last_accessed_at"),
    },
    "importance_weight": {"importance": lambda row: row.importance},
    "decay_boost": {
        "created_ms": _created,
        "importance": lambda row: row.importance,
        "access_count": lambda row: _whole(row, "access_count"),
        "last_accessed_ms": _last_used,
    },
}
"""Stage -> input -> the same from the row; None where the stored value has no plain reading."""
