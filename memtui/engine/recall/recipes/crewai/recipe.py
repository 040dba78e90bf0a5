"""CrewAI's recall: the nearest by squared L2 below a scope, weighted with age and importance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.errors import UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import counted
from memtui.engine.dialects.crewai import NAME
from memtui.engine.recall.asker import by_own_rules, by_whoever, uncounted
from memtui.engine.recall.candidates import CandidatePool, DroppedHit, Floats, Hit
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.knob import LIMIT, Knob
from memtui.engine.recall.lanes import Lane, blank, ranked
from memtui.engine.recall.pipeline import pool_of
from memtui.engine.recall.proof_account import with_account
from memtui.engine.recall.proof_rules import StepsProof
from memtui.engine.recall.recipe import Recipe, Resolved
from memtui.engine.recall.recipes.crewai.searches import (
    MOST_CHILDREN,
    OVERSAMPLE,
    CrewRow,
    ScopeSearch,
    begins,
    children,
    joined,
    recorded,
    search,
    stored_scopes,
)
from memtui.engine.recall.recipes.crewai.settings import (
    MEMORY,
    RECALL,
    MemorySettings,
    resolve_crew,
)
from memtui.engine.recall.record import Trace
from memtui.engine.recall.request import RecallRequest
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome
from memtui.engine.recall.staged_run import StagedRun
from memtui.engine.recall.stages.gates import limit_cut
from memtui.engine.recall.store_search import rows_searched
from memtui.engine.recall.trace import (
    Asker,
    Candidate,
    OnStage,
    Proof,
    Step,
)

if TYPE_CHECKING:
    pass

DEFAULT_LIMIT = 10

LONG_QUESTION = 200
"""From so many characters on a deep recall asks a model to take the question apart."""

HALF = 0.5
"""Above it the freshness, and the importance, are a reason of their own."""

_DAY_US = 86_400 * 1_000_000


@dataclass
class CrewRun(StagedRun):
    """One recall of CrewAI's memory."""

    def __post_init__(self) -> None:
        super().__post_init__()
        request = self.request
        self.memory, self.recall, self.findings = resolve_crew(request.config)
        if request.category is not None:
            self.recall = self.recall.model_copy(update={"categories": [request.category]})
        self.limit = DEFAULT_LIMIT if request.limit is None else request.limit
        if self.limit < 1:
            raise UsageError(f"A limit of {self.limit} makes no sense.", fix="Ask for 1 memory or more.")
        asked = list(request.scopes or ()) or [None]
        self.own = self.outside.pin.dialect.can.visibility == "sources" and not request.own_words
        self.slice = self.own and len(asked) > 1
        self.scopes = [joined(self.memory.root_scope, each) for each in asked]
        self.depth = (self.recall.depth or ("shallow" if self.slice else "deep")) if self.own else "shallow"
        self.rows: dict[str, CrewRow] = {}

    def trace(self) -> Trace:
        """Search each scope, drop what is private, weigh, sort, cut."""
        vector = None if self.request.lanes is not None else self.embed_question()
        start = self.outside.clock()
        found = self._searches(vector)
        lane = self._lane(found)
        pool = pool_of(lane, Lane(), self.now_ms, self.outside.kin)
        gone = {pool.place[each.row.id]: Drop(each.reason, each.score, each.limit) for each in lane.dropped}
        took = (self.outside.clock() - start) * 1000
        flow = blank(pool)
        flow = self.add_stage(
            "vector_ranked",
            "vector",
            "search",
            flow,
            lambda: ranked(pool.vector, pool, gone, "", lane.params),
            took,
        )
        flow = self.add_stage("visible", "visibility", "filter", flow, lambda: self._visible(flow, pool))
        before = flow
        flow = self.add_stage("weighted", "weights", "score", before, lambda: self._weighted(before, pool))
        last = flow
        self.add_stage("limit", "limit", "filter", last, lambda: limit_cut(last, pool, limit=self.limit))
        self._say(lane)
        return self.make_trace(
            recipe=NAME,
            mode="vector",
            config=self._config(),
            limit=self.limit,
            bm25_query=None,
            pool=pool,
            query_vector=vector,
            prover=prove_crew,
            asker=self._asker(found),
            extra={"crewai": {"depth": self.depth, "searched": [each.scope for each in found]}},
        )

    def _asker(self, found: Sequence[ScopeSearch]) -> Asker | None:
        """In its own store: every stored scope that was searched, None for all; elsewhere as it was decided."""
        if not self.own:
            return None
        prefixes = [begins(each.scope) for each in found]
        named = None
        if "" not in prefixes:
            named = tuple(
                sorted(scope for scope in stored_scopes(self.outside) if scope.startswith(tuple(prefixes)))
            )
        where = ", ".join(each.scope for each in found) or "no scope at all"
        asker = Asker(
            "", "own-rules", named, f"searched below {where}; private memories of other sources are left out"
        )
        agent = self.request.agent.strip()
        return uncounted(asker, agent, NO_AGENTS) if agent else asker

    def _config(self) -> dict[str, Any]:
        return {MEMORY: self.memory.as_block(), RECALL: {**self.recall.as_block(), "depth": self.depth}}

    def _searches(self, vector: Floats | None) -> list[ScopeSearch]:
        """What is searched, in order: each scope, or deep the scopes right below it."""
        if self.request.lanes is not None:
            return [recorded(self.outside, self.request.lanes.get("vector", ()))]
        if vector is None or self.request.scopes == []:
            return []
        if not self.own:
            rows = rows_searched(self.outside.pin.dialect, self.request.scopes, self.request.owners)
            return [search(self.outside, vector, None, self.limit, self.recall, only=rows)]
        most = self.limit * OVERSAMPLE if self.slice else self.limit
        found: list[ScopeSearch] = []
        for scope in self.scopes:
            self.cancel.check()
            if self.depth == "shallow":
                found.append(search(self.outside, vector, scope, most, self.recall))
                continue
            below = children(self.outside, scope)[:MOST_CHILDREN] or ((scope or "/").rstrip("/") or "/",)
            found += [search(self.outside, vector, each, most * OVERSAMPLE, self.recall) for each in below]
        return found

    def _lane(self, found: Sequence[ScopeSearch]) -> Lane:
        """All searches as one: the first finding of a memory counts."""
        hits: dict[str, Hit] = {}
        dropped: dict[str, DroppedHit] = {}
        for one in found:
            self.rows |= {each.row.id: each for each, _ in (*one.hits, *one.dropped)}
            for each, hit in one.hits:
                hits.setdefault(each.row.id, hit._replace(rank=len(hits) + 1))
            for each, gone in one.dropped:
                dropped.setdefault(each.row.id, gone)
        limits = {
            int(gone.limit)
            for gone in dropped.values()
            if gone.reason == "lane_limit" and gone.limit is not None
        }
        params: dict[str, Any] = {
            "searches": len(found),
            "fetched": sum(each.fetched for each in found),
            "minScore": self.recall.min_score,
            "found": len(hits),
        }
        if limits:
            params["limit"] = max(limits)
        return Lane(
            tuple(hits.values()),
            tuple(gone for each, gone in dropped.items() if each not in hits),
            "recorded" if self.request.lanes is not None else "native",
            params=params,
        )

    def _visible(self, flow: Ranking, pool: CandidatePool) -> StageOutcome:
        """Without the private rows, unless all are wanted or the one that asks made them."""
        asking = self.recall.source
        kept, dropped = [], {}
        for index in flow.order.tolist():
            row = self.rows[pool.rows[index].id]
            if row.private and not self.recall.include_private and not (asking and row.source == asking):
                dropped[index] = Drop("private")
            else:
                kept.append(index)
        params = {"source": asking, "include_private": self.recall.include_private}
        return StageOutcome(
            Ranking(np.array(kept, np.int64), flow.score), dropped=dropped, params=params, kind="filter"
        )

    def _weighted(self, flow: Ranking, pool: CandidatePool) -> StageOutcome:
        """The weighted sum of likeness, freshness and importance; it is neither scaled nor cut."""
        memory, now_us = self.memory, self.now_ms * 1000
        rows = [self.rows[row.id] for row in pool.rows]
        made = [now_us if row.created_us is None else row.created_us for row in rows]
        fresh = np.array(
            [freshness(now_us - each, memory.recency_half_life_days) for each in made], np.float64
        )
        importance = np.array([row.importance for row in rows], np.float64)
        score = (
            memory.semantic_weight * flow.score
            + memory.recency_weight * fresh
            + memory.importance_weight * importance
        )
        inputs = {
            "semantic": flow.score,
            "recency": fresh,
            "importance": importance,
            "created_ms": np.array(made, np.float64) / 1000,
            "now_ms": self.now_ms,
            "semantic_weight": memory.semantic_weight,
            "recency_weight": memory.recency_weight,
            "importance_weight": memory.importance_weight,
            "half_life_days": memory.recency_half_life_days,
            "reasons": _column(
                [_reasons(a, b) for a, b in zip(fresh.tolist(), importance.tolist(), strict=True)]
            ),
        }
        return StageOutcome(flow.sorted(score), "weighted", inputs, params=memory.as_block())

    def _say(self, lane: Lane) -> None:
        met = [hit.row.id for hit in lane.hits] + [each.row.id for each in lane.dropped]
        zoned = [each for each in met if self.rows[each].zoned]
        if zoned:
            named = f"created_at names a zone in {counted(len(zoned), 'memory', 'memories')}"
            self.warnings.append(f"CrewAI fails on this recall: {named}, first in {zoned[0]}")
        if self.depth == "deep" and len(self.request.query) >= LONG_QUESTION:
            self.warnings.append(
                f"CrewAI asks a model to take a question of {LONG_QUESTION} characters or more apart; "
                "this is the recall of the whole question"
            )


def freshness(age_us: int, half_life_days: float) -> float:
    """Half is left after each half-life; what is not older than now is wholly fresh."""
    return float(0.5 ** (max(0.0, age_us / _DAY_US) / half_life_days))


def _reasons(fresh: float, importance: float) -> str:
    """Why the package says that a memory matched, in its words."""
    more = [name for name, value in (("recency", fresh), ("importance", importance)) if value > HALF]
    return ", ".join(["semantic", *more])


def _column(texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.object_]]:
    column = np.full(len(texts), None, object)
    column[:] = texts
    return column


def run(
    request: RecallRequest,
    context: RecallContext,
    outside: IoCache,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request` as CrewAI's memory would.

    Raises UsageError for an empty question, a limit below 1 and a vector that does not fit, ConfigError for a setting,
    MemtuiError where the question has no vector.
    """
    now_ms = context.now_ms if request.now_ms is None else request.now_ms
    told = on_stage or (lambda summary: None)
    return CrewRun(request, outside, now_ms, told, cancel or CancelToken()).trace()


def _resolve(request: RecallRequest, context: RecallContext) -> Resolved:
    memory, recall, findings = resolve_crew(request.config)
    return {MEMORY: memory.as_block(), RECALL: recall.as_block()}, findings


NO_AGENTS = "CrewAI knows sources of private memories, and no agents"


def _asker(request: RecallRequest, context: RecallContext) -> tuple[RecallRequest, Asker]:
    """By its own rules in its own stores; elsewhere as whoever asks there."""
    if context.store.dialect.can.visibility != "sources":
        return by_whoever(request, context)
    request, asker = by_own_rules(
        request, "asked below a scope; private memories of other sources are left out"
    )
    agent = request.agent.strip()
    return request, uncounted(asker, agent, NO_AGENTS) if agent else asker


# ------------------------------------------------------------------ the proof: the formulas a second time

MOST_FAILURES = 20


def prove_crew(trace: Trace) -> Proof:
    """Recompute every score from the stored time and importance, and hold the weights against the settings."""
    steps = StepsProof(trace, _expected, searches=())
    steps.run()
    failures = [*steps.failures, *_not_as_set(trace)]
    proof = Proof(not failures, steps.max_error, steps.checked, tuple(failures[:MOST_FAILURES]))
    return with_account(trace, proof)


def _expected(candidate: Candidate, step: Step) -> float:
    i = step.inputs
    if step.rule == "weighted":
        days = max(0.0, i["now_ms"] - i["created_ms"]) / 86_400_000
        fresh = math.exp2(-days / i["half_life_days"])
        return float(
            i["semantic_weight"] * i["semantic"]
            + i["recency_weight"] * fresh
            + i["importance_weight"] * i["importance"]
        )
    return {
        "inverse_squared_l2": lambda: 1.0 / (1.0 + float(i["distance"])),
        "recorded": lambda: float(i["recorded"]),
        "unchanged": lambda: float(step.before or 0.0),
    }[step.rule]()


def _not_as_set(trace: Trace) -> list[str]:
    """Weights, half-life and clock of a step that are not those of the recall."""
    memory = MemorySettings.model_validate(trace.config[MEMORY])
    known = {
        "semantic_weight": memory.semantic_weight,
        "recency_weight": memory.recency_weight,
        "importance_weight": memory.importance_weight,
        "half_life_days": memory.recency_half_life_days,
        "now_ms": trace.now_ms,
    }
    return [
        f"{candidate.id}, {step.stage}: {name} is {step.inputs.get(name)}, it is {value}"
        for candidate in trace.candidates
        for step in candidate.steps
        if step.rule == "weighted"
        for name, value in known.items()
        if step.inputs.get(name) != value
    ]


# ------------------------------------------------------------------ what can be turned

MOST = 200
"""Of the knob alone: the recall itself has no upper bound."""

KNOBS = (
    replace(LIMIT, high=MOST),
    Knob(f"{MEMORY}.semantic_weight", "number", "of the likeness", 0.0, 1.0, 0.01),
    Knob(f"{MEMORY}.recency_weight", "number", "of the freshness", 0.0, 1.0, 0.01),
    Knob(f"{MEMORY}.importance_weight", "number", "of the importance", 0.0, 1.0, 0.01),
    Knob(
        f"{MEMORY}.recency_half_life_days",
        "number",
        "days after which half of the freshness is left",
        1,
        365,
        1,
    ),
    Knob(
        f"{RECALL}.depth",
        "choice",
        "one search, or one for each scope right below",
        choices=("shallow", "deep"),
    ),
    Knob(f"{RECALL}.include_private", "switch", "whether private memories of other sources come back"),
    Knob(f"{RECALL}.min_score", "number", "a likeness below this is not found", 0.0, 1.0, 0.01),
)


def _idle(trace: Trace, path: str) -> str:
    if path == f"{MEMORY}.recency_half_life_days" and not trace.config[MEMORY]["recency_weight"]:
        return "recency_weight is 0"
    return ""


PROTOCOL = 1

RECIPES = (
    Recipe(
        NAME,
        "CrewAI",
        "The nearest by squared L2 below a scope, weighted with age and importance; deep: in each scope right below.",
        DEFAULT_LIMIT,
        run=run,
        asker=_asker,
        resolve=_resolve,
        knobs=KNOBS,
        idle=_idle,
        block=MEMORY,
        family=NAME,
        unfiltered="its root scope, or all",
        below_scopes=True,
        by_distance=True,
        by_meaning=True,
    ),
)
