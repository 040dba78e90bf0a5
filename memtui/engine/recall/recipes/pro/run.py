"""The runner: a question to lanes, to candidates, through the stages of a recipe, to a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken
from memtui.engine.recall import lanes
from memtui.engine.recall.candidates import CandidatePool, Floats
from memtui.engine.recall.context import RecallContext, Route, StageContext
from memtui.engine.recall.far_rows import whole_rows
from memtui.engine.recall.io_cache import (
    IoCache,
    RerankAnswer,
    ask_reranker,
    check_dims,
    question_vector,
)
from memtui.engine.recall.neighbours import attach_neighbors
from memtui.engine.recall.pipeline import pool_of, run_stages
from memtui.engine.recall.proof import prove, prove_builtin
from memtui.engine.recall.recipes.pro.plan import Plan, make_plan
from memtui.engine.recall.recipes.pro.stages import StagedRecipe
from memtui.engine.recall.record import StageRecord, Trace
from memtui.engine.recall.request import RecallRequest, filters_of
from memtui.engine.recall.rows import unread_rows
from memtui.engine.recall.trace import Failure, OnStage, StageSummary
from memtui.engine.recall.word_matches import words_met_in

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory
    from memtui.engine.recall.recipe import Resolved


HYBRID_LANE_MIN = 0.1
"""The vector lane of a hybrid recall delivers nothing below this score (spec/retrieval 3)."""

ANY_QUESTION = "?"
"""Asked where only the settings are wanted."""


def run(
    recipe: StagedRecipe,
    request: RecallRequest,
    context: RecallContext,
    outside: IoCache,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request`, whose scopes are decided, by the stages of `recipe`."""
    return Run(plan_of(recipe, request, context), outside, on_stage, cancel).trace()


def resolve(recipe: StagedRecipe, request: RecallRequest, context: RecallContext) -> Resolved:
    """What `request` resolves to over the store's own settings; the question may still be empty.

    Raises UsageError or ConfigError for a source or setting that does not exist.
    """
    plan = plan_of(
        recipe, request if request.query.strip() else replace(request, query=ANY_QUESTION), context
    )
    return plan.config_block(), plan.findings()


def plan_of(recipe: StagedRecipe, request: RecallRequest, context: RecallContext) -> Plan:
    """`request` resolved over the store's own configuration."""
    return make_plan(
        recipe,
        request,
        now_ms=context.now_ms,
        base_retrieval=context.base_retrieval,
        base_decay=context.base_decay,
        auto_recall=context.auto_recall,
    )


class Run:
    """The state of one recall while it is made."""

    def __init__(
        self,
        plan: Plan,
        outside: IoCache,
        on_stage: OnStage | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        self.plan, self.outside, self.pin = plan, outside, outside.pin
        self.on_stage = on_stage
        self.cancel = cancel or CancelToken()
        self.warnings: list[str] = []
        self.operations: list[StageSummary] = []
        self.lane_ms: dict[str, float] = {}
        self.started = outside.clock()
        self.failure: Failure | None = None

    def trace(self) -> Trace:
        """Search, then run the stages."""
        setting = self.search()
        pool = pool_of(setting.vector_lane, setting.bm25_lane, self.plan.now_ms, self.outside.kin)
        found = self.finish(setting, pool, self.stages(setting, pool))
        return found if self.failure is None else _failed(found, self.failure)

    def search(self) -> StageContext:
        """Decide the route, run the lanes; raises MemtuiError when all of them failed."""
        plan, request = self.plan, self.plan.request
        route = self._route()
        vector = self._question_vector(route)
        if vector is None and route == "hybrid" and "vector" not in (request.lanes or {}):
            route = "keyword"
        text = plan.bm25_query(route)
        search = self._search()
        vector_lane, vector_ms = self._timed(
            lambda: self._vector_lane(search, vector, route), vector is not None or bool(request.lanes)
        )
        bm25_lane, bm25_ms = self._timed(lambda: self._bm25_lane(search, text), text is not None)
        if vector_lane is None and bm25_lane is None:
            raise MemtuiError(
                "Both searches failed: " + "; ".join(self.warnings) + ".",
                fix="Run `memtui stats` to see the state of the store.",
            )
        self.lane_ms = {
            "vector_ranked": vector_ms,
            "bm25_ranked": bm25_ms,
            "scored_input": max(vector_ms, bm25_ms),
        }
        for lane in (vector_lane, bm25_lane):
            if lane is not None and lane.warning:
                self.warnings.append(lane.warning)
        return StageContext(
            query=request.query,
            retrieval=plan.retrieval,
            decay=plan.decay,
            route=route,
            limit=plan.limit,
            query_vector=vector,
            tags=plan.tags,
            vector_lane=vector_lane or lanes.Lane(),
            bm25_lane=bm25_lane or lanes.Lane(),
            gate_rule=plan.gate_rule,
            gate_min_length=plan.gate_min_length,
            guarded=plan.guarded,
            ask_reranker=self._ask_reranker,
        )

    def stages(
        self, setting: StageContext, pool: CandidatePool, *, keep: int | None = None
    ) -> list[StageRecord]:
        """The recipe's stages over `pool`; see `run_stages` for `keep`."""
        records = run_stages(
            self.plan.recipe.stages,
            setting,
            pool,
            clock=self.outside.clock,
            table_rows=self.pin.rows,
            lane_ms=self.lane_ms,
            on_stage=self.on_stage,
            cancel=self.cancel,
            keep=keep,
        )
        for record in records:
            if record.outcome.note and record.name == "reranked":
                self.warnings.append(f"rerank: {record.outcome.note}")
        return records

    def finish(self, setting: StageContext, pool: CandidatePool, records: Sequence[StageRecord]) -> Trace:
        """The trace of what ran."""
        plan, request = self.plan, self.plan.request
        final = [pool.rows[int(i)] for i in records[-1].outcome.flow.order] if records else []
        neighbors = (
            {} if plan.plain else attach_neighbors(self._search(), final, plan.retrieval, setting.route)
        )
        self.warnings += plan.notes()
        if request.now_ms is not None and pool.n and not final and _before_all(pool):
            self.warnings.append("at that time none of these memories was there yet")
        if plan.gate_rule:
            rule = plan.gate_rule.replace("_", " ")
            self.warnings.append(
                f"the adaptive gate skips this question ({rule}): nothing is injected automatically"
            )
        return Trace(
            query=request.query,
            recipe=plan.recipe.name,
            mode=setting.route,
            source=plan.source,
            config=plan.config_block(),
            now_ms=plan.now_ms,
            limit=plan.limit,
            filters=filters_of(request),
            bm25_query=plan.bm25_query(setting.route),
            pool=pool,
            records=tuple(records),
            prover=prove_builtin if plan.plain else prove,
            matcher=words_met_in,
            operations=tuple(self.operations),
            warnings=tuple(dict.fromkeys(self.warnings)),
            findings=plan.findings() + (() if plan.plain else unread_rows(pool.rows)),
            total_ms=(self.outside.clock() - self.started) * 1000,
            neighbors=neighbors,
            load_memories=self._memories,
            table_version=self.pin.version,
            request=request,
            query_vector=setting.query_vector,
            plan=plan,
            outside=self.outside.live(),
        )

    def _search(self) -> lanes.LaneSearch:
        plan, request = self.plan, self.plan.request
        return lanes.LaneSearch(
            self.outside, request.scopes, request.category, plan.lane_limit, plan.now_ms, plan.matches
        )

    def _route(self) -> Route:
        plan, recorded = self.plan, self.plan.request.lanes or {}
        if plan.plain:
            return "vector"
        if plan.tags:
            return "tag"
        if plan.retrieval.mode == "vector":
            return "vector"
        if "bm25" not in recorded and not self.pin.fts.exists:
            given = plan.request.query_vector is not None or "vector" in recorded
            if self.outside.embed_text is not None or given:
                self.warnings.append(
                    "no full-text index: the plugin falls back to vector mode, and so does this recall"
                )
                return "vector"
            return "keyword"
        return "hybrid"

    def _question_vector(self, route: Route) -> Floats | None:
        """The question as a vector, float64 [dims]; None when this recall has no vector lane."""
        if route == "tag":
            return None
        answer = question_vector(self.plan.request, self.outside, needed=route == "vector")
        if (
            answer.failed
        ):  # the whole call fails, with the plugin as with the built-in program (spec/retrieval 3)
            leg = "hybrid" if route == "hybrid" else "vector"
            self.failure = Failure(f"{leg}.embedQuery", answer.failed)
        else:
            self.warnings += answer.warnings
        if answer.operation is not None:
            self.operations.append(answer.operation)
            if self.on_stage is not None:
                self.on_stage(answer.operation)
        check_dims(answer.vector, self.pin.dims)
        return answer.vector

    def _timed(self, lane: Callable[[], lanes.Lane], wanted: bool) -> tuple[lanes.Lane | None, float]:
        """Run one search; a failure becomes a warning and None."""
        if not wanted:
            return lanes.Lane(), 0.0
        self.cancel.check()
        start = self.outside.clock()
        try:
            return lane(), (self.outside.clock() - start) * 1000
        except UsageError:
            raise
        except MemtuiError as error:
            self.warnings.append(f"a search failed: {error}")
            return None, (self.outside.clock() - start) * 1000

    def _vector_lane(self, search: lanes.LaneSearch, vector: Floats | None, route: Route) -> lanes.Lane:
        plan, recorded = self.plan, self.plan.request.lanes or {}
        if route in ("tag", "keyword"):
            return lanes.Lane()
        if "vector" in recorded:
            return lanes.recorded_lane(search, recorded["vector"], lane="vector")
        if vector is None or recorded:
            return lanes.Lane()
        if plan.recipe.vector_search is not None:
            return plan.recipe.vector_search(search, vector, plan.request.agent)
        minimum = plan.retrieval.min_score if route == "vector" else HYBRID_LANE_MIN
        return lanes.vector_lane(
            search, vector, min_score=minimum, exact=plan.retrieval.disable_native_cosine
        )

    def _bm25_lane(self, search: lanes.LaneSearch, text: str | None) -> lanes.Lane:
        recorded = self.plan.request.lanes or {}
        if "bm25" in recorded:
            return lanes.recorded_lane(search, recorded["bm25"], lane="bm25")
        if recorded or text is None:
            return lanes.Lane()
        return lanes.bm25_lane(search, text)

    def _ask_reranker(self, documents: Sequence[str], top_n: int) -> RerankAnswer:
        request = self.plan.request
        answer, operation = ask_reranker(
            self.outside,
            self.plan.retrieval,
            request.query,
            documents,
            top_n,
            request.rerank_timeout_ms,
        )
        if operation is not None:
            self.operations.append(operation)
        return answer

    def _memories(self, pool: CandidatePool) -> dict[str, Memory]:
        table = whole_rows(self.pin, [row.id for row in pool.rows])
        return {memory.id: memory for memory in self.pin.dialect.to_memories(table, self.plan.now_ms)}


def rerun(trace: Trace, outside: IoCache) -> Run:
    """The run of a trace that has a plan once more, at its own time, nothing of it done yet."""
    if trace.plan is None:
        raise UsageError("The trace was read from a file.", fix="Ask the question again.")
    return Run(replace(trace.plan, now_ms=trace.now_ms), outside)


def _failed(found: Trace, failure: Failure) -> Trace:
    """The trace of a recall that failed; what the words alone would find goes with it."""
    nothing = CandidatePool((), {}, {}, found.now_ms)
    return replace(
        found,
        pool=nothing,
        records=(),
        failure=failure,
        words_alone=found,
        neighbors={},
        mode="failed",
        warnings=tuple(warning for warning in found.warnings if not warning.startswith("rerank:")),
    )


def _before_all(pool: CandidatePool) -> bool:
    """Whether the clock stands before every candidate's first day."""
    return all(row.metadata.valid_from > pool.now_ms for row in pool.rows)
