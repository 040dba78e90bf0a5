"""The proof: every recorded step recomputed from its recorded inputs, with formulas and constants of its own.

Nothing here is shared with the stages on purpose. When a constant of a stage changes, the numbers recorded no
longer follow from these formulas, and the proof fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.trace import Candidate, Proof, Step

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace

TOLERANCE = 1e-9
MOST_FAILURES = 20
Inputs = Mapping[str, Any]


def _clamp(x: float) -> float:
    return min(1.0, max(0.0, x))


def _weighted(before: float, i: Inputs) -> float:
    v, b = i.get("vector") or 0.0, i.get("bm25") or 0.0
    floor = 0.92 * b if b >= 0.75 else 0.0
    return _clamp(max(v * i["vector_weight"] + b * i["bm25_weight"], floor))


def _rerank_floor(i: Inputs, strong: float, good: float, plain: float, b: float) -> float:
    return strong if b >= 0.75 else good if b >= 0.60 else plain


def _blend(before: float, i: Inputs) -> float:
    return max(_clamp(before * i["keep"]), _clamp(0.6 * i["reranked"] + 0.4 * before))


def _unreturned(before: float, i: Inputs) -> float:
    return max(_clamp(before * i["keep"]), _clamp(0.8 * before))


def _length(before: float, i: Inputs) -> float:
    return _clamp(before / (1 + 0.5 * math.log2(max(i["length"] / i["anchor"], 1))))


def _multiplier(i: Inputs, d: Inputs) -> float:
    """The search boost from the memory's own fields (Weibull recency, frequency, intrinsic value)."""
    tier = str(i["tier"])
    beta = {"core": d["beta_core"], "working": d["beta_working"], "peripheral": d["beta_peripheral"]}[tier]
    floor = {
        "core": d["core_decay_floor"],
        "working": d["working_decay_floor"],
        "peripheral": d["peripheral_decay_floor"],
    }[tier]
    count = i["access_count"]
    last = i["last_accessed_ms"] if count > 0 else i["created_ms"]
    days = max(0.0, i["now_ms"] - last) / 86_400_000
    half_life = (
        d["recency_half_life_days"]
        / (3 if i["dynamic"] else 1)
        * math.exp(d["importance_modulation"] * i["importance"])
    )
    recency = math.exp(-(math.log(2) / half_life) * days**beta)
    frequency = 1 - math.exp(-count / 5)
    if count > 1:
        gap = max(1.0, (last - i["created_ms"]) / 86_400_000) / max(count - 1, 1)
        frequency *= 0.5 + 0.5 * math.exp(-gap / 30)
    composite = (
        d["recency_weight"] * recency
        + d["frequency_weight"] * frequency
        + d["intrinsic_weight"] * i["importance"] * i["confidence"]
    )
    low = d["search_boost_min"]
    return float(min(1.0, max(low, low + (1 - low) * max(floor, composite, recency))))


_SCORES: dict[str, Callable[[float, Inputs], float]] = {
    "inverse_distance": lambda _, i: 1 / (1 + i["distance"]),
    "inverse_squared_l2": lambda _, i: 1 / (1 + i["distance"]),
    "bm25_logistic": lambda _, i: 1 / (1 + math.exp(-i["raw_bm25"] / 5)) if i["raw_bm25"] > 0 else 0.5,
    "substring": lambda _, i: (
        min(0.95, 0.72 + 0.02 * i["characters"])
        * {"text": 1.0, "l2_content": 0.96, "l0_abstract": 0.98, "l1_overview": 0.92}[i["field"]]
    ),
    "recorded": lambda _, i: i["recorded"],
    "weighted_sum": _weighted,
    "exact_match_floor": _weighted,
    "keyword_only": lambda _, i: _clamp(i["bm25"]),
    "vector_only": lambda _, i: _clamp(i["vector"]),
    "keyword_bump": lambda _, i: _clamp(1.15 * i["vector"]),
    "rerank_blend": _blend,
    "rerank_unreturned": _unreturned,
    "cosine_blend": lambda b, i: _clamp(0.7 * b + 0.3 * i["cosine"]),
    "recency": lambda b, i: _clamp(b + i["weight"] * math.exp(-i["age_days"] / i["e_folding_days"])),
    "importance": lambda b, i: _clamp(b * (0.7 + 0.3 * i["importance"])),
    "length": _length,
    "time_decay": lambda b, i: _clamp(b * (0.5 + 0.5 * math.exp(-i["age_days"] / i["e_folding_days"]))),
    "exempt": lambda b, _: b,
    "unchanged": lambda b, _: b,
    "deferred": lambda b, _: b,
}
_KEEP = {
    "rerank_blend": (0.95, 0.90, 0.50),
    "rerank_unreturned": (1.0, 0.95, 0.80),
}
_AT_LEAST = ("min_score", "hard_cutoff")
"""Gates that keep `value >= limit`."""
_AT_MOST = ("limit", "rerank_window")
"""Gates that keep `value <= limit`."""


def prove(trace: Trace) -> Proof:
    """Recompute `trace`: every score, every gate, every chain of scores, and the order after each score stage."""
    check = _Check(trace)
    for candidate in trace.candidates:
        check.candidate(candidate)
    check.orders()
    return Proof(not check.failures, check.max_error, check.checked, tuple(check.failures[:MOST_FAILURES]))


class _Check:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.failures: list[str] = []
        self.max_error = 0.0
        self.checked = 0
        self.params = {stage.name: stage.params for stage in trace.stages}

    def fail(self, candidate: Candidate, step: Step, why: str) -> None:
        self.failures.append(f"{candidate.id}, {step.stage}: {why}")

    def candidate(self, candidate: Candidate) -> None:
        previous: float | None = None
        for step in candidate.steps:
            self.checked += 1
            if step.rank_before is not None and previous is not None and step.before != previous:
                self.fail(candidate, step, f"starts from {step.before}, the stage before ended at {previous}")
            if step.after is None:
                self._gate(candidate, step)
                continue
            expected = self._expected(candidate, step)
            error = abs(expected - step.after) if expected is not None else math.inf
            self.max_error = max(self.max_error, error if math.isfinite(error) else 1.0)
            if error > TOLERANCE:
                self.fail(candidate, step, f"{step.rule} gives {expected}, recorded is {step.after}")
            self._kept(candidate, step)
            if step.rank_before is not None or step.stage in ("fused", "scored_input", "vector_ranked"):
                previous = step.after
        if candidate.rank is not None and candidate.score != previous:
            self.failures.append(f"{candidate.id}: final score {candidate.score}, last step {previous}")

    def _expected(self, candidate: Candidate, step: Step) -> float | None:
        before = step.before if step.before is not None else 0.0
        inputs = dict(step.inputs)
        try:
            if step.rule == "decay_boost":
                inputs["now_ms"] = self.trace.now_ms
                return _clamp(before * _multiplier(inputs, self.params["decay_boost"]["decay"]))
            if step.rule == "time_decay":
                inputs["e_folding_days"] = self._stretched(inputs)
            if step.rule in _KEEP:
                b = candidate.sources.get("bm25", {}).get("score") or 0.0
                plain = not self.params[step.stage].get("floors", True)
                inputs["keep"] = 0.0 if plain else _rerank_floor(inputs, *_KEEP[step.rule], float(b))
            return _SCORES[step.rule](before, inputs)
        except (KeyError, TypeError, ZeroDivisionError, OverflowError):
            return None

    def _stretched(self, i: Inputs) -> float:
        """The e-folding time with reinforcement: min(H + H*f*ln(1 + a*2^(-d/30)), H*M)."""
        p = self.params["time_decay"]
        base = p["timeDecayHalfLifeDays"] / (3 if i["dynamic"] else 1)
        count, last, factor = i["access_count"], i["last_accessed_ms"], p["reinforcementFactor"]
        if factor <= 0 or count <= 0:
            return float(base)
        idle = max(0.0, self.trace.now_ms - last) / 86_400_000
        effective = count * math.exp(-idle * math.log(2) / 30)
        return float(min(base + base * factor * math.log1p(effective), base * p["maxHalfLifeMultiplier"]))

    def _gate(self, candidate: Candidate, step: Step) -> None:
        gate, value, limit = step.inputs.get("gate"), step.inputs.get("value"), step.inputs.get("limit")
        if gate in _AT_LEAST and not (value is not None and limit is not None and value < limit):
            self.fail(candidate, step, f"dropped by {gate} though {value} is not below {limit}")
        if gate in _AT_MOST and not (value is not None and limit is not None and value > limit):
            self.fail(candidate, step, f"dropped by {gate} though {value} is within {limit}")
        if gate == "rerank_window" and limit != 2 * self.trace.limit:
            self.fail(candidate, step, f"the window is {limit}, twice the limit is {2 * self.trace.limit}")
        if gate == "mmr_diversity" and not (value is not None and value > 0.85):
            self.fail(candidate, step, f"dropped as a near-duplicate at cosine {value}")

    def _kept(self, candidate: Candidate, step: Step) -> None:
        limits = {"hard_cutoff": "hardMinScore", "min_score": "minScore"}
        if step.stage in limits and step.after is not None:
            limit = self.params[step.stage][limits[step.stage]]
            if step.after < limit:
                self.fail(candidate, step, f"kept at {step.after}, below {limit}")
        cosine = step.inputs.get("cosine")
        if (
            step.stage == "mmr_diversity"
            and cosine is not None
            and (cosine > 0.85) != (step.rule == "deferred")
        ):
            self.fail(candidate, step, f"{step.rule} at cosine {cosine}")

    def orders(self) -> None:
        """After a score stage the candidates must stand by descending score."""
        for record in self.trace.records:
            if record.kind != "score":
                continue
            scores = record.outcome.flow.score[record.outcome.flow.order].tolist()
            if any(a < b for a, b in pairwise(scores)):
                self.failures.append(f"{record.name}: not in descending order")
