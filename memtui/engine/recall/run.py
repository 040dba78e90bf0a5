"""The runner: a question to lanes, to candidates, through the stages of a recipe, to a trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.categories import matches
from memtui.engine.errors import MemtuiError, UsageError
from memtui.engine.js import trim
from memtui.engine.progress import CancelToken
from memtui.engine.recall import builtin, config, lanes
from memtui.engine.recall.ask_reranker import ask_reranker
from memtui.engine.recall.expansion import expand
from memtui.engine.recall.flow import Flow
from memtui.engine.recall.gate import skip_rule
from memtui.engine.recall.neighbors import attach_neighbors
from memtui.engine.recall.pool import Floats, Hit, Pool, Row, rows_of
from memtui.engine.recall.question import Embed, check_dims, question_vector
from memtui.engine.recall.recipes import BUILTIN, Recipe, recipe_named
from memtui.engine.recall.record import StageRecord, Trace
from memtui.engine.recall.request import SOURCES, UNSET, RecallRequest
from memtui.engine.recall.setting import RerankAnswer, Route, Setting
from memtui.engine.recall.tags import tag_tokens
from memtui.engine.recall.trace import StageSummary

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.store.table import Store

HYBRID_LANE_MIN = 0.1
GATE_MIN_LENGTH = 15
"""What the host passes to the adaptive gate (autoRecallMinLength's schema default)."""

OnStage = Callable[[StageSummary], None]


@dataclass(frozen=True)
class Bench:
    """What a recall works with: the store, the embedder, the store's own configuration."""

    store: Store
    now_ms: int
    embed: Embed | None
    """Question to vector; None where there is no embedder."""
    no_embedder: str = ""
    """Why there is none, and what to do."""
    base_retrieval: Mapping[str, Any] | None = None
    base_decay: Mapping[str, Any] | None = None
    clock: Callable[[], float] = time.perf_counter
    """Seconds, for durations only."""


def recall(
    request: RecallRequest,
    bench: Bench,
    *,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request`; the trace is the answer.

    Raises UsageError for an empty question, an unknown recipe, source or setting, a question vector that does not
    fit the table; MemtuiError when no lane could run at all. A single failed lane is a warning in the trace.
    """
    return _Run(request, bench, on_stage or (lambda summary: None), cancel or CancelToken()).trace()


class _Run:
    """The state of one recall while it is made."""

    def __init__(self, request: RecallRequest, bench: Bench, on_stage: OnStage, cancel: CancelToken) -> None:
        self.request, self.bench, self.on_stage, self.cancel = request, bench, on_stage, cancel
        self.recipe: Recipe = recipe_named(request.recipe)
        self.now_ms = bench.now_ms if request.now_ms is None else request.now_ms
        self.source = self.recipe.source if request.source is UNSET else request.source
        if self.source is not None and self.source not in SOURCES:
            raise UsageError(
                f"There is no source {self.source!r}.", fix=f"Known sources: {', '.join(SOURCES)}."
            )
        if not trim(request.query) and not request.lanes:
            raise UsageError("The question is empty.", fix="Type what the agent would ask.")
        self.retrieval, self.decay = config.resolve(
            request.config,
            base_retrieval=bench.base_retrieval,
            base_decay=bench.base_decay,
            decay_on=self.recipe.decay_on,
        )
        wanted = self.recipe.limit if request.limit is None else request.limit
        self.limit = max(1, wanted) if self.recipe is BUILTIN else lanes.clamp_limit(wanted)
        self.warnings: list[str] = []
        self.operations: list[StageSummary] = []
        self.started = bench.clock()

    def trace(self) -> Trace:
        request, started = self.request, self.started
        tags = (
            tuple(tag_tokens(request.query, self.retrieval.tag_prefixes))
            if self.recipe is not BUILTIN
            else ()
        )
        route = self._route(tags)
        vector = self._question_vector(route)
        if vector is None and route == "hybrid":
            route = "keyword"
        pool_size = max(self.retrieval.candidate_pool_size, 2 * self.limit)
        search = lanes.Search(
            self.bench.store,
            request.scopes,
            request.category,
            self.limit if self.recipe is BUILTIN else lanes.clamp_limit(pool_size),
            self.now_ms,
            self._matches,
        )
        bm25_query = self._bm25_query(route)
        timed_vector = self._timed(
            lambda: self._vector_lane(search, vector, route), vector is not None or bool(request.lanes)
        )
        timed_bm25 = self._timed(lambda: self._bm25_lane(search, bm25_query), bm25_query is not None)
        vector_lane, bm25_lane = timed_vector[0], timed_bm25[0]
        if vector_lane is None and bm25_lane is None:
            raise MemtuiError(
                "Both searches failed: " + "; ".join(self.warnings) + ".",
                fix="Run `memtui stats` to see the state of the store.",
            )
        guarded = self.recipe.guarded and request.source is UNSET
        setting = Setting(
            query=request.query,
            retrieval=self.retrieval,
            decay=self.decay,
            route=route,
            limit=self.limit,
            query_vector=vector,
            tags=tags,
            vector_lane=vector_lane or lanes.Lane(),
            bm25_lane=bm25_lane or lanes.Lane(),
            gate_rule=skip_rule(request.query, GATE_MIN_LENGTH) if guarded else None,
            guarded=guarded,
            ask_reranker=self._ask_reranker,
        )
        for lane in (setting.vector_lane, setting.bm25_lane):
            if lane.warning:
                self.warnings.append(lane.warning)
        pool = _pool(setting.vector_lane, setting.bm25_lane, self.now_ms)
        records = self._stages(
            setting,
            pool,
            {
                "vector_ranked": timed_vector[1],
                "bm25_ranked": timed_bm25[1],
                "scored_input": max(timed_vector[1], timed_bm25[1]),
            },
        )
        final = [pool.rows[int(i)] for i in records[-1].outcome.flow.order] if records else []
        neighbors = (
            attach_neighbors(search, final, self.retrieval, route) if self.recipe is not BUILTIN else {}
        )
        if setting.gate_rule:
            rule = setting.gate_rule.replace("_", " ")
            self.warnings.append(
                f"the adaptive gate skips this question ({rule}): the agent recalls nothing by itself"
            )
        return Trace(
            query=request.query,
            recipe=self.recipe.name,
            mode=route,
            source=self.source,
            config=self._config_block(),
            now_ms=self.now_ms,
            limit=self.limit,
            filters={
                "scopes": None if request.scopes is None else list(request.scopes),
                "category": request.category,
                "agent": request.agent or None,
            },
            bm25_query=bm25_query,
            pool=pool,
            records=tuple(records),
            operations=tuple(self.operations),
            warnings=tuple(dict.fromkeys(self.warnings)),
            findings=() if self.recipe is BUILTIN else config.findings(self.retrieval, self.decay),
            total_ms=(self.bench.clock() - started) * 1000,
            neighbors=neighbors,
            load_memories=self._memories,
            table_version=self.bench.store.version,
        )

    def _config_block(self) -> dict[str, Any]:
        if self.recipe is BUILTIN:
            return {"minScore": builtin.MIN_SCORE, "limit": self.limit}
        return {
            "retrieval": self.retrieval.as_block(),
            "decay": self.decay.as_block() if self.decay else None,
        }

    def _route(self, tags: tuple[str, ...]) -> Route:
        if self.recipe is BUILTIN:
            return "vector"
        if tags:
            return "tag"
        recorded = self.request.lanes or {}
        if self.retrieval.mode == "vector":
            return "vector"
        if "bm25" not in recorded and not self.bench.store.fts_status().exists:
            if self.bench.embed is not None or self.request.query_vector is not None or "vector" in recorded:
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
        answer = question_vector(
            self.request,
            self.bench.embed,
            self.bench.no_embedder,
            needed=route == "vector",
            clock=self.bench.clock,
        )
        self.warnings += answer.warnings
        if answer.operation is not None:
            self.operations.append(answer.operation)
            self.on_stage(answer.operation)
        check_dims(answer.vector, self.bench.store.dims)
        return answer.vector

    def _bm25_query(self, route: Route) -> str | None:
        """The text of the keyword lane; None when it does not run."""
        if route == "vector":
            return None
        if (
            route in ("hybrid", "keyword")
            and self.retrieval.query_expansion
            and self.source in ("manual", "cli")
        ):
            return expand(self.request.query)
        return self.request.query

    def _matches(self, row: Row) -> bool:
        category = self.request.category
        return category is None or matches(row.category, category, row.metadata.values)

    def _timed(self, lane: Callable[[], lanes.Lane], wanted: bool) -> tuple[lanes.Lane | None, float]:
        """Run one search; a failure becomes a warning and None."""
        if not wanted:
            return lanes.Lane(), 0.0
        self.cancel.check()
        start = self.bench.clock()
        try:
            return lane(), (self.bench.clock() - start) * 1000
        except UsageError:
            raise
        except MemtuiError as error:
            self.warnings.append(f"a search failed: {error}")
            return None, (self.bench.clock() - start) * 1000

    def _recorded(self, search: lanes.Search, lane: str) -> lanes.Lane:
        items = (self.request.lanes or {})[lane]
        ids = [item[0] for item in items if item and isinstance(item[0], str)]
        table = self.bench.store.rows_by_id(ids, search.columns)
        rows = {row.id: row for row in rows_of(table, self.bench.store.dialect, self.now_ms)}
        return lanes.recorded_lane(search, items, rows, lane=lane)

    def _vector_lane(self, search: lanes.Search, vector: Floats | None, route: Route) -> lanes.Lane:
        recorded = self.request.lanes or {}
        if route in ("tag", "keyword"):
            return lanes.Lane()
        if "vector" in recorded:
            return self._recorded(search, "vector")
        if vector is None or recorded:
            return lanes.Lane()
        if self.recipe is BUILTIN:
            return builtin.l2_lane(search, vector, agent=self.request.agent)
        minimum = self.retrieval.min_score if route == "vector" else HYBRID_LANE_MIN
        return lanes.vector_lane(
            search, vector, min_score=minimum, exact=self.retrieval.disable_native_cosine
        )

    def _bm25_lane(self, search: lanes.Search, text: str | None) -> lanes.Lane:
        recorded = self.request.lanes or {}
        if "bm25" in recorded:
            return self._recorded(search, "bm25")
        if recorded or text is None:
            return lanes.Lane()
        return lanes.bm25_lane(search, text)

    def _stages(self, setting: Setting, pool: Pool, lane_ms: Mapping[str, float]) -> list[StageRecord]:
        blank = Flow(np.array([], np.int64), np.full(pool.n, np.nan))
        flow, records = blank, []
        for spec in self.recipe.stages:
            if not spec.when(setting):
                continue
            self.cancel.check()
            before = blank if spec.fresh else flow
            start = self.bench.clock()
            outcome = spec.run(before, pool, setting)
            ms = (self.bench.clock() - start) * 1000
            searched = spec.kind == "search" or (spec.name == "scored_input" and not before.order.size)
            n_in = self.bench.store.count() if searched else pool_in(spec.name, pool, before)
            ms += lane_ms.get(spec.name, 0.0) if searched else 0.0
            records.append(
                StageRecord(
                    spec.name, spec.title, "search" if searched else spec.kind, before, outcome, n_in, ms
                )
            )
            self.on_stage(records[-1].summary())
            if outcome.note and spec.name == "reranked":
                self.warnings.append(f"rerank: {outcome.note}")
            flow = outcome.flow
        return records

    def _ask_reranker(self, documents: Sequence[str], top_n: int) -> RerankAnswer:
        answer, operation = ask_reranker(
            self.retrieval,
            self.request.query,
            documents,
            top_n,
            self.request.rerank_timeout_ms,
            self.bench.clock,
        )
        if operation is not None:
            self.operations.append(operation)
        return answer

    def _memories(self, pool: Pool) -> dict[str, Memory]:
        table = self.bench.store.rows_by_id([row.id for row in pool.rows], list(self.bench.store.row_columns))
        return {memory.id: memory for memory in self.bench.store.dialect.to_memories(table, self.now_ms)}


def pool_in(name: str, pool: Pool, before: Flow) -> int:
    """How many candidates a stage starts from: fusion starts from both lanes' union."""
    return len(set(pool.vector) | set(pool.bm25)) if name == "fused" else len(before.order)


def _pool(vector: lanes.Lane, bm25: lanes.Lane, now_ms: int) -> Pool:
    """Candidates in order: vector hits by rank, keyword-only hits by rank, then the rows that no lane delivered."""
    rows: list[Row] = []
    place: dict[str, int] = {}

    def index_of(row: Row) -> int:
        if row.id not in place:
            place[row.id] = len(rows)
            rows.append(row)
        return place[row.id]

    by_lane: list[dict[int, Hit]] = []
    for lane in (vector, bm25):
        hits: dict[int, Hit] = {}
        for hit in lane.hits:
            index = index_of(hit.row)
            hits.setdefault(index, replace(hit, row=rows[index]))
        by_lane.append(hits)
    for lane in (vector, bm25):
        for gone in lane.dropped:
            index_of(gone.row)
    return Pool(tuple(rows), by_lane[0], by_lane[1], now_ms)
