"""A finished selection as stages: searches, fusion, trust, tiers, guard, budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.recall.candidates import CandidatePool, Hit
from memtui.engine.recall.lanes import Column, blank, ranked
from memtui.engine.recall.proof_account import with_account
from memtui.engine.recall.proof_rules import StepsProof
from memtui.engine.recall.recipes.mem_engine import trust
from memtui.engine.recall.recipes.mem_engine.prompt_block import PackedBlock
from memtui.engine.recall.recipes.mem_engine.searches import TierLanes, TierRow
from memtui.engine.recall.recipes.mem_engine.selection import TierSelection
from memtui.engine.recall.record import StageRecord
from memtui.engine.recall.rows import CandidateRow
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome
from memtui.engine.recall.trace import Candidate, Proof, StageKind, Step

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


# Reciprocal rank fusion.

K = 60


def reciprocal_ranks(
    lists: Sequence[Sequence[str]], *, limit: int | None = None, k: int = K
) -> list[tuple[str, float]]:
    """(id, sum of 1 / (k + rank) over the lists, ranks from 1): highest first, equal scores by id."""
    scores: dict[str, float] = {}
    for ids in lists:
        for rank, memory_id in enumerate(dict.fromkeys(ids), 1):
            scores[memory_id] = scores.get(memory_id, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


@dataclass(frozen=True)
class StageRecorder:
    """Everything that happened, before it is told as stages."""

    tiers: Sequence[tuple[TierLanes, Sequence[tuple[str, float]]]]
    """Each searched tier with its fused hits, (id, score), in the order of the searches."""
    selection: TierSelection
    trust_mode: trust.Mode
    admitted: frozenset[str]
    """Ids that the trust mode lets through."""
    guarded: Mapping[str, str]
    """For the hook: id to the reason why it is left out of the prompt; empty for the tool."""
    packed: PackedBlock | None
    limit: int
    lane_limit: int

    @property
    def stored(self) -> dict[str, TierRow]:
        """Every row that a search delivered, by id."""
        found: dict[str, TierRow] = {}
        for lanes, _ in self.tiers:
            found = {**lanes.stored, **found}
        return found


class StageAccount:
    """The stages of one recall over one pool."""

    def __init__(
        self, told: StageRecorder, *, now_ms: int, table_rows: int, lane_ms: float, clock: Callable[[], float]
    ) -> None:
        self.told = told
        self.table_rows, self.lane_ms, self.clock = table_rows, lane_ms, clock
        rows: list[CandidateRow] = [row.row for row in told.stored.values()]
        self.place = {row.id: at for at, row in enumerate(rows)}
        self.tier_of = {each: at for at, (_, fused) in enumerate(told.tiers) for each, _ in fused}
        self.hits = {name: self._hits(name) for name in ("vector", "words")}
        self.pool = CandidatePool(rows, self.hits["vector"], self.hits["words"], now_ms)
        self.records: list[StageRecord] = []

    def stages(self) -> list[StageRecord]:
        """All stages in order."""
        self._searched("vector_ranked", "vector", self.hits["vector"])
        self._searched("bm25_ranked", "words", self.hits["words"])
        flow = self._add("fused", "rank fusion", "score", blank(self.pool), self._fused)
        if self.told.trust_mode != "off":
            flow = self._add("trust", "trust", "filter", flow, self._trust)
        flow = self._add("policy_tiers", "tiers", "order", flow, self._tiers)
        if self.told.packed is not None:
            flow = self._add("injection_guard", "guard", "filter", flow, self._guard)
            self._add("context_budget", "budget", "filter", flow, self._budget)
        return self.records

    def _hits(self, name: str) -> dict[int, Hit]:
        found: dict[int, Hit] = {}
        for lanes, _ in self.told.tiers:
            for hit in getattr(lanes, name):
                found.setdefault(self.place[hit.row.id], hit)
        return found

    def _searched(self, name: str, title: str, hits: Mapping[int, Hit]) -> None:
        """A search of all tiers; ranks are those within the tier."""
        notes = list(dict.fromkeys(why for lanes, _ in self.told.tiers for why in lanes.failed))
        params: dict[str, Any] = {"limit": self.told.lane_limit, "searches": len(self.told.tiers)}
        if name == "vector_ranked" and all(lanes.by_words_only for lanes, _ in self.told.tiers):
            params["via"] = ""  # nothing was asked by meaning
        outcome = ranked(hits, self.pool, {}, "; ".join(notes), params)
        record = StageRecord(
            name, title, "search", blank(self.pool), outcome, self.table_rows, self.lane_ms / 2
        )
        self.records.append(record)

    def _add(
        self, name: str, title: str, kind: StageKind, before: Ranking, run: Callable[[Ranking], StageOutcome]
    ) -> Ranking:
        start = self.clock()
        outcome = run(before)
        n_in = len(before.order) or len(outcome.flow.order) + len(outcome.dropped)
        ms = (self.clock() - start) * 1000
        self.records.append(StageRecord(name, title, kind, before, outcome, n_in, ms))
        return outcome.flow

    def _column(self, values: Mapping[str, Any]) -> Column:
        column: Column = np.full(self.pool.n, None, object)
        for each, value in values.items():
            if each in self.place:
                column[self.place[each]] = value
        return column

    def _fused(self, flow: Ranking) -> StageOutcome:
        """1 / (60 + rank) from each search of the tier; what comes after the tier's limit is left out."""
        score = np.full(self.pool.n, np.nan)
        for _, fused in self.told.tiers:
            for each, value in fused:
                score[self.place[each]] = value
        found = np.flatnonzero(~np.isnan(score))
        ids = np.array([self.pool.rows[at].id for at in found.tolist()], object)
        by_id = found[np.argsort(ids, kind="stable")] if found.size else found
        left_out = np.flatnonzero(np.isnan(score)).tolist()
        inputs = {
            "bm25_rank": self._ranks("words"),
            "vector_rank": self._ranks("vector"),
            "tier": self._column({each: self._tier_name(at) for each, at in self.tier_of.items()}),
        }
        gate = Drop("lane_limit", None, float(self.told.lane_limit))
        return StageOutcome(
            Ranking(by_id, score).sorted(score),
            "reciprocal_ranks",
            inputs,
            dict.fromkeys(left_out, gate),
            {"k": K},
        )

    def _ranks(self, name: str) -> Column:
        return self._column({self.pool.rows[at].id: float(hit.rank) for at, hit in self.hits[name].items()})

    def _tier_name(self, at: int) -> str:
        return self.told.selection.counts[at].tier

    def _trust(self, flow: Ranking) -> StageOutcome:
        tiers = {each: trust.tier_of(stored.trust) for each, stored in self.told.stored.items()}
        keep, dropped = [], {}
        for index in flow.order.tolist():
            each = self.pool.rows[index].id
            if each in self.told.admitted:
                keep.append(index)
            else:
                dropped[index] = Drop("quarantined" if tiers[each] == trust.QUARANTINED else "not_trusted")
        return self._filtered(
            flow, keep, dropped, {"trust": self._column(tiers)}, {"mode": self.told.trust_mode}
        )

    def _tiers(self, flow: Ranking) -> StageOutcome:
        """The memories taken, in the order in which tiers, quotas and scopes were filled."""
        selection = self.told.selection
        taken = [tier for tier in selection.taken if tier.hit.id in self.place]
        order = [self.place[tier.hit.id] for tier in taken]
        rest = [index for index in flow.order.tolist() if index not in set(order)]
        dropped = {
            index: Drop("limit", float(at), float(self.told.limit))
            for at, index in enumerate(rest, len(order) + 1)
        }
        inputs = {
            "tier": self._column({tier.hit.id: tier.tier for tier in taken}),
            "scope": self._column({tier.hit.id: tier.scope for tier in taken}),
            "wildcard": self._column({tier.hit.id: True for tier in taken if tier.wildcard}),
        }
        params = {
            "ladder": selection.policy_tier,
            "tiers": [count.as_json() for count in selection.counts],
            "rejected": list(selection.rejected),
            "fallback": selection.fallback.as_json(),
            "wildcards": selection.wildcards,
        }
        return self._filtered(flow, order, dropped, inputs, params)

    def _guard(self, flow: Ranking) -> StageOutcome:
        why = {index: self.told.guarded.get(self.pool.rows[index].id, "") for index in flow.order.tolist()}
        keep = [index for index, reason in why.items() if not reason]
        return self._filtered(
            flow, keep, {index: Drop(reason) for index, reason in why.items() if reason}, {}, {}
        )

    def _budget(self, flow: Ranking) -> StageOutcome:
        packed = self.told.packed
        assert packed is not None  # the stage runs only for the hook
        inside = {slot.id for slot in packed.kept}
        keep = [index for index in flow.order.tolist() if self.pool.rows[index].id in inside]
        gate = Drop("budget", float(packed.receipt["beforeChars"]), float(packed.receipt["maxChars"]))
        dropped = {index: gate for index in flow.order.tolist() if index not in set(keep)}
        return self._filtered(flow, keep, dropped, {}, dict(packed.receipt))

    @staticmethod
    def _filtered(
        flow: Ranking,
        keep: Sequence[int],
        dropped: Mapping[int, Drop],
        inputs: Mapping[str, Any],
        params: Mapping[str, Any],
    ) -> StageOutcome:
        after = Ranking(np.array(keep, np.int64), flow.score)
        return StageOutcome(after, "unchanged", inputs, dropped, params, kind="filter")


# Memories that are returned to the tool but never put into a prompt by themselves.

DAY_MS = 86_400_000

TODO_DAYS = 7

WORKING_SET = "working_set:"
"""How the ids of working sets begin."""


def stale_todo(created_ms: float, *, now_ms: float, ttl_days: float = TODO_DAYS) -> bool:
    """Whether a to-do is older than its time; exactly as old is still fresh, an unknown time is never stale."""
    return created_ms > 0 and created_ms < now_ms - ttl_days * DAY_MS


def guard(memory_id: str, category: str | None, created_ms: float, *, now_ms: float, ttl_days: float) -> str:
    """Why auto-recall leaves a memory out: working_set, stale_todo; empty when it does not."""
    if memory_id.startswith(WORKING_SET):
        return "working_set"
    stale = category == "todo" and stale_todo(created_ms, now_ms=now_ms, ttl_days=ttl_days)
    return "stale_todo" if stale else ""


# The proof of the recipe `mem-engine`: rank fusion a second time, and what must hold of tiers and limits.

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
    proof = Proof(not failures, steps.max_error, steps.checked, tuple(failures[:MOST_FAILURES]))
    return with_account(trace, proof)


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
