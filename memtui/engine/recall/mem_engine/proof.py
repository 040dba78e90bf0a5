"""The proof of the recipe `mem-engine`: rank fusion a second time, and what must hold of tiers and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from memtui.engine.recall.steps_proof import StepsProof
from memtui.engine.recall.trace import Candidate, Proof, Step

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace

MOST_FAILURES = 20
SEARCHES = ("vector_ranked", "bm25_ranked")
_LADDER = ("must", "nice", "unknown", "ignore")
Inputs = Mapping[str, Any]


def _reciprocal(_: float, i: Inputs) -> float:
    return sum(
        1.0 / (60.0 + float(i[name])) for name in ("bm25_rank", "vector_rank") if i.get(name) is not None
    )


_SCORES: dict[str, Callable[[float, Inputs], float]] = {
    "inverse_squared_l2": lambda _, i: 1 / (1 + i["distance"]),
    "bm25": lambda _, i: i["raw_bm25"],
    "recorded": lambda _, i: i["recorded"],
    "reciprocal_ranks": _reciprocal,
    "unchanged": lambda before, _: before,
}


def prove_engine(trace: Trace) -> Proof:
    """Recompute a trace of the recipe `mem-engine`."""
    steps = StepsProof(trace, _expected, searches=SEARCHES)
    steps.run()
    failures = [*steps.failures, *_ranks(trace), *_order(trace)]
    return Proof(not failures, steps.max_error, steps.checked, tuple(failures[:MOST_FAILURES]))


def _expected(candidate: Candidate, step: Step) -> float:
    return _SCORES[step.rule](step.before or 0.0, step.inputs)


def _ranks(trace: Trace) -> list[str]:
    """The ranks that were fused are those of the searches: better scores stand before worse ones in a tier."""
    failures = []
    for lane in ("vector", "bm25"):
        tiers: dict[str, list[tuple[float, float]]] = {}
        for candidate in trace.candidates:
            for step in candidate.steps:
                rank = step.inputs.get(f"{lane}_rank")
                score = (candidate.sources.get(lane) or {}).get("score")
                if step.stage == "fused" and step.after is not None and rank and score is not None:
                    tiers.setdefault(str(step.inputs["tier"]), []).append((rank, score))
        for tier, found in tiers.items():
            found.sort()
            recorded = "recorded" in {
                step.rule for c in trace.candidates for step in c.steps if step.stage == f"{lane}_ranked"
            }
            falling = all(a[1] >= b[1] for a, b in pairwise(found))
            if not recorded and not falling:
                failures.append(f"{lane}_ranked: ranks of the tier {tier} do not follow its scores")
    return failures


def _order(trace: Trace) -> list[str]:
    """Tier by tier the memories stand in the order of the ladder and of their scores; no more than asked for."""
    failures = []
    if len(trace.results) > trace.limit:
        failures.append(f"policy_tiers: {len(trace.results)} came back, {trace.limit} were asked for")
    mode = trace.config["memEngine"]["hook"]["mode"]
    if trace.source == "auto-recall" and mode == "tier_quota_v1":
        return failures
    places: dict[str, list[tuple[int, int, float]]] = {}
    for candidate in trace.results:
        for step in candidate.steps:
            if step.stage == "policy_tiers" and step.rank_after is not None and step.after is not None:
                tier = _LADDER.index(str(step.inputs["tier"]))
                places.setdefault(str(step.inputs["scope"]), []).append((step.rank_after, tier, -step.after))
    for scope, found in places.items():
        found.sort()
        if [each[1:] for each in found] != sorted(each[1:] for each in found):
            failures.append(f"policy_tiers: {scope} does not follow the ladder")
    return failures
