"""The simplest recall, made to measure: the rows nearest to a question, a score of the distance, a limit.

Programs that keep memories in LanceDB and do nothing else with them recall so. `nearest_recipe` makes such a recipe,
also for an extension: every score is recomputed by the formula that is written down twice here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.recall.asker import by_whoever
from memtui.engine.recall.candidates import DroppedHit, Hit
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.knob import LIMIT
from memtui.engine.recall.lanes import Lane, LaneSearch, blank, ranked, recorded_lane
from memtui.engine.recall.pipeline import pool_of
from memtui.engine.recall.proof_account import with_account
from memtui.engine.recall.proof_rules import StepsProof
from memtui.engine.recall.recipe import Recipe, Resolved
from memtui.engine.recall.record import Trace
from memtui.engine.recall.request import RecallRequest
from memtui.engine.recall.stage import Drop
from memtui.engine.recall.staged_run import StagedRun
from memtui.engine.recall.stages.gates import limit_cut
from memtui.engine.recall.store_search import rows_searched
from memtui.engine.recall.trace import Candidate, OnStage, Proof, Step
from memtui.engine.store import sql

if TYPE_CHECKING:
    from memtui.engine.recall.candidates import Floats
    from memtui.engine.recall.rows import CandidateRow

Score = Literal["inverse_squared_l2", "half_squared_l2", "cosine_similarity"]
"""How a distance becomes a score: 1 / (1 + d) and 1 - d / 2 of the squared L2 distance, 1 - d of the cosine's."""

SCORES: Mapping[Score, Callable[[float], float]] = {
    "inverse_squared_l2": lambda distance: 1.0 / (1.0 + distance),
    "half_squared_l2": lambda distance: 1.0 - distance / 2.0,
    "cosine_similarity": lambda distance: 1.0 - distance,
}


@dataclass(frozen=True, slots=True)
class NearestKind:
    """What tells one such recall from another."""

    name: str
    limit: int
    score: Score
    digits: int | None
    """Decimal places that the program rounds its score to; None: as computed."""
    min_score: float | None
    """A score below it is dropped; None: none is."""

    @property
    def metric(self) -> Literal["cosine", "l2"]:
        """The distance that is searched by."""
        return "cosine" if self.score == "cosine_similarity" else "l2"

    def scored(self, distance: float) -> float:
        """The score of a distance."""
        score = SCORES[self.score](distance)
        return score if self.digits is None else round(score, self.digits)


def nearest_recipe(
    name: str,
    title: str,
    description: str,
    *,
    limit: int = 10,
    score: Score = "cosine_similarity",
    digits: int | None = None,
    min_score: float | None = None,
) -> Recipe:
    """A recipe: the `limit` rows nearest to the question among those of the scopes and the category asked for.

    Scopes and categories are searched by equal names. `score` decides the distance, too: see `Score`.
    """
    kind = NearestKind(name, limit, score, digits, min_score)
    return Recipe(
        name,
        title,
        description,
        limit,
        run=partial(_run, kind),
        asker=by_whoever,
        resolve=_resolve,
        knobs=(replace(LIMIT, high=200),),
        idle=lambda trace, path: "",
        block="",
        family=name,
        unfiltered="all scopes",
        by_distance=kind.metric == "l2",
        by_meaning=True,
    )


def _resolve(request: RecallRequest, context: RecallContext) -> Resolved:
    return {}, ()


def _run(
    kind: NearestKind,
    request: RecallRequest,
    context: RecallContext,
    outside: IoCache,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request`. Raises UsageError for an empty question, a limit below 1, a vector that does not fit."""
    now_ms = context.now_ms if request.now_ms is None else request.now_ms
    told = on_stage or (lambda summary: None)
    return _NearestRun(request, outside, now_ms, told, cancel or CancelToken(), kind).trace()


@dataclass
class _NearestRun(StagedRun):
    """One such recall."""

    kind: NearestKind

    def __post_init__(self) -> None:
        super().__post_init__()
        self.limit = self.kind.limit if self.request.limit is None else self.request.limit
        if self.limit < 1:
            raise UsageError(f"A limit of {self.limit} makes no sense.", fix="Ask for 1 memory or more.")

    def trace(self) -> Trace:
        """Search, then cut at the limit."""
        vector = None if self.request.lanes is not None else self.embed_question()
        start = self.outside.clock()
        lane = self._lane(vector)
        took = (self.outside.clock() - start) * 1000
        pool = pool_of(lane, Lane(), self.now_ms, self.outside.kin)
        dropped = {pool.place[hit.row.id]: Drop(hit.reason, hit.score, hit.limit) for hit in lane.dropped}
        found = self.add_stage(
            "vector_ranked",
            "vector",
            "search",
            blank(pool),
            lambda: ranked(pool.vector, pool, dropped, "", lane.params),
            took,
        )
        self.add_stage("limit", "limit", "filter", found, lambda: limit_cut(found, pool, limit=self.limit))
        return self.make_trace(
            recipe=self.kind.name,
            mode="vector",
            config={},
            limit=self.limit,
            bm25_query=None,
            pool=pool,
            query_vector=vector,
            prover=partial(prove_nearest, self.kind),
        )

    def _lane(self, vector: Floats | None) -> Lane:
        """The nearest rows of the scopes and the category; recorded ones where the request brings them."""
        request = self.request
        search = LaneSearch(
            self.outside, request.scopes, request.category, self.limit, self.now_ms, self._matches
        )
        if request.lanes is not None:
            return recorded_lane(search, request.lanes.get("vector", ()), lane="vector")
        if vector is None or search.denied:
            return Lane()
        answer = self.outside.nearest(vector, k=self.limit, where=self._where(), metric=self.kind.metric)
        hits: list[Hit] = []
        dropped: list[DroppedHit] = []
        for stored, distance in zip(answer.rows, answer.numbers, strict=True):
            row = self.outside.read(stored)
            if row is None:
                continue
            score, least = self.kind.scored(distance), self.kind.min_score
            if least is not None and score < least:
                dropped.append(DroppedHit(row, "min_score", score, least))
                continue
            inputs = {"distance": distance, "digits": self.kind.digits}
            hits.append(Hit(row, len(hits) + 1, score, distance, self.kind.score, inputs))
        params = {"limit": self.limit, "fetched": self.limit, "found": len(hits)}
        return Lane(tuple(hits), tuple(dropped), "native", params=params)

    def _matches(self, row: CandidateRow) -> bool:
        return self.request.category is None or row.category == self.request.category

    def _where(self) -> str | None:
        """Rows of the scopes and of the category, as SQL; None for all."""
        dialect = self.outside.pin.dialect
        parts = [rows_searched(dialect, self.request.scopes, self.request.owners)]
        if self.request.category is not None and dialect.columns.category is not None:
            parts.append(sql.is_in(dialect.columns.category, [self.request.category]))
        return " AND ".join(f"({part})" for part in parts if part) or None


# ------------------------------------------------------------------ the proof: the formulas a second time


def prove_nearest(kind: NearestKind, trace: Trace) -> Proof:
    """Recompute every score from the recorded distance, and hold rule and rounding against the recipe."""
    steps = StepsProof(trace, partial(_expected, kind), searches=())
    steps.run()
    return with_account(
        trace, Proof(not steps.failures, steps.max_error, steps.checked, tuple(steps.failures))
    )


def _expected(kind: NearestKind, candidate: Candidate, step: Step) -> float:
    given: Mapping[str, Any] = step.inputs
    if step.rule == "unchanged":
        return float(step.before or 0.0)
    if step.rule == "recorded":
        return float(given["recorded"])
    if step.rule != kind.score or given["digits"] != kind.digits:
        raise KeyError(step.rule)
    distance = float(given["distance"])
    exact = {
        "inverse_squared_l2": 1.0 / (1.0 + distance),
        "half_squared_l2": (2.0 - distance) / 2.0,
        "cosine_similarity": 1.0 - distance,
    }[kind.score]
    return exact if kind.digits is None else round(exact, kind.digits)
