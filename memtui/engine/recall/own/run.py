"""One recall by the recipe `memtui`: survey, searches, evidence, stages, trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.embed.static import bundled
from memtui.engine.errors import MemtuiError, UsageError
from memtui.engine.js import trim
from memtui.engine.progress import CancelToken
from memtui.engine.recall.flow import Gate
from memtui.engine.recall.lanes import Lane
from memtui.engine.recall.outside import Outside
from memtui.engine.recall.own import lanes, recipe
from memtui.engine.recall.own.clean_question import clean_question
from memtui.engine.recall.own.evidence import Asked
from memtui.engine.recall.own.gather import Gathering
from memtui.engine.recall.own.identifiers import identifiers
from memtui.engine.recall.own.proof import prove_own
from memtui.engine.recall.own.settings import BLOCK, resolve_own
from memtui.engine.recall.own.survey import Survey, nothing, survey
from memtui.engine.recall.pool import Floats, Pool
from memtui.engine.recall.question import check_dims, question_vector
from memtui.engine.recall.record import StageRecord, Trace
from memtui.engine.recall.request import RecallRequest, filters_of
from memtui.engine.recall.rows import Row
from memtui.engine.recall.searched import blank, ranked
from memtui.engine.recall.trace import StageSummary

if TYPE_CHECKING:
    from memtui.engine.memory import Memory

NAME = "memtui"
DEFAULT_LIMIT = 10
MOST = 1000
"""Results that can be asked for."""
OnStage = Callable[[StageSummary], None]


def recall_own(
    request: RecallRequest,
    outside: Outside,
    *,
    now_ms: int,
    bundled_vectors: bool,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request` by the recipe `memtui`; `bundled_vectors`: the store's vectors are the bundled model's.

    Raises UsageError for an empty question, a limit below 1 and a question vector that does not fit the table,
    ConfigError for a setting, MemtuiError when neither meaning nor words can be searched.
    """
    return _Own(request, outside, now_ms, bundled_vectors, on_stage, cancel).trace()


class _Own:
    """The state of one recall while it is made."""

    def __init__(
        self,
        request: RecallRequest,
        outside: Outside,
        now_ms: int,
        bundled_vectors: bool,
        on_stage: OnStage | None,
        cancel: CancelToken | None,
    ) -> None:
        if not trim(request.query) and not request.lanes:
            raise UsageError("The question is empty.", fix="Type what the agent would ask.")
        self.limit = DEFAULT_LIMIT if request.limit is None else request.limit
        if not 1 <= self.limit <= MOST:
            raise UsageError(f"A limit of {self.limit} makes no sense.", fix=f"Ask for 1 to {MOST} memories.")
        self.request, self.outside, self.pin = request, outside, outside.pin
        self.now_ms = now_ms if request.now_ms is None else request.now_ms
        self.on_stage = on_stage or (lambda summary: None)
        self.cancel = cancel or CancelToken()
        self.settings, self.findings = resolve_own(
            request.config, bundled=bundled_vectors, question=request.query
        )
        pool = max(self.settings.pool, self.limit)
        self.search = lanes.Search(outside, request.scopes, request.category, pool, self.now_ms)
        self.warnings: list[str] = []
        self.operations: list[StageSummary] = []
        self.lane_ms: dict[str, float] = {}
        self.started = outside.clock()

    def trace(self) -> Trace:
        """Survey the scope, search, gather the evidence, run the stages."""
        gathering = self._gather()
        pool, records = self._run(gathering)
        has_vectors = gathering.vector is not None or "vector" in (self.request.lanes or {})
        return Trace(
            query=self.request.query,
            recipe=NAME,
            mode="hybrid" if has_vectors else "keyword",
            source=None,
            config={BLOCK: self.settings.as_block()},
            now_ms=self.now_ms,
            limit=self.limit,
            filters=filters_of(self.request),
            bm25_query=self.request.query,
            pool=pool,
            records=tuple(records),
            operations=tuple(self.operations),
            warnings=tuple(dict.fromkeys(self.warnings)),
            findings=self.findings + self._twice(gathering.known.twice),
            total_ms=(self.outside.clock() - self.started) * 1000,
            load_memories=self._memories,
            table_version=self.pin.version,
            request=self.request,
            query_vector=gathering.vector,
            cleaned=gathering.clean.text,
            outside=self.outside.live(),
            prover=prove_own,
        )

    @staticmethod
    def _twice(rows: int) -> tuple[str, ...]:
        """What is to be known of metadata that was encoded twice."""
        if not rows:
            return ()
        count = "1 row" if rows == 1 else f"{rows:,} rows"
        return (
            f"metadata is encoded twice in {count}: read here as what it holds, by the plugin not at all.",
        )

    def _gather(self) -> Gathering:
        request, known = self.request, self._survey()
        clean = clean_question(request.query, share=known.share, speakers=known.speakers)
        vector = self._vector(clean.text)
        names = () if request.lanes else identifiers(request.query)
        found = {
            "vector_ranked": self._lane("vector", lambda: self._by_meaning(vector)),
            "bm25_ranked": self._lane("bm25", lambda: lanes.by_words(self.search, request.query)),
        }
        if names:
            found["identifier_ranked"] = self._lane("", lambda: lanes.by_identifier(self.search, names))
        if all(lane.via == "" for lane in found.values()):
            raise MemtuiError(
                "Nothing could be searched: " + "; ".join(dict.fromkeys(self.warnings)) + ".",
                fix="Configure an embedder, give a question vector, or build a full-text index.",
            )
        return Gathering(
            question=request.query,
            clean=clean,
            identifiers=names,
            vector=vector,
            known=known,
            settings=self.settings,
            limit=self.limit,
            search=self.search,
            lanes=found,
            model=bundled(),
        )

    def _run(self, gathering: Gathering) -> tuple[Pool, list[StageRecord]]:
        """The score stages over what was found, then everything over that and the neighbours it draws in."""
        clock, cancel, start = self.outside.clock, self.cancel, self.outside.clock()
        rows, pool, asked, warning, first = self._scored(gathering)
        wider = gathering.with_following(pool, asked, first[-1])
        if wider is not gathering:
            gathering, self.lane_ms[recipe.FOLLOWING] = wider, (clock() - start) * 1000
            rows, pool, asked, warning, first = self._scored(gathering)
        entering = gathering.entering(pool, asked, first[-1])
        if entering:
            pool = gathering.pool([*rows, *entering])
            asked, warning = gathering.asked(pool)
        if warning:
            self.warnings.append(warning)
        records = [self._searched(gathering, name, pool) for name in gathering.lanes]
        todo = (*recipe.SCORES, *recipe.REST)
        records += recipe.through(todo, pool, asked, clock=clock, cancel=cancel)
        for record in records:
            self.on_stage(record.summary())
        return pool, records

    def _scored(self, gathering: Gathering) -> tuple[list[Row], Pool, Asked, str, list[StageRecord]]:
        """What was found with what each memory earns by itself; and why words were not compared, if so."""
        rows = gathering.rows()
        pool = gathering.pool(rows)
        asked, warning = gathering.asked(pool)
        return (
            rows,
            pool,
            asked,
            warning,
            recipe.through(recipe.SCORES, pool, asked, clock=self.outside.clock, cancel=self.cancel),
        )

    def _survey(self) -> Survey:
        """What the scope has in common; nothing where every scope is denied."""
        if self.search.denied:
            return nothing()
        where = self.search.scope_where
        start = self.outside.clock()
        known = self.outside.asked(
            ("survey", where),
            "the scope has to be surveyed",
            lambda: survey(self.pin, where, check=self.cancel.check),
        )
        ms = (self.outside.clock() - start) * 1000
        self._operation(StageSummary("survey", "survey", "operation", self.pin.rows, known.sampled, ms))
        return known

    def _operation(self, summary: StageSummary) -> None:
        self.operations.append(summary)
        self.on_stage(summary)

    def _vector(self, clean: str) -> Floats | None:
        """The given vector, else that of the clean question; None when this recall has no vectors."""
        if self.request.lanes:
            return None
        if self.pin.dims is None:
            self.warnings.append("keyword only: the table has no vectors")
            return None
        answer = question_vector(replace(self.request, query=clean), self.outside, needed=False)
        self.warnings += answer.warnings
        if answer.operation is not None:
            self._operation(answer.operation)
        check_dims(answer.vector, self.pin.dims)
        return answer.vector

    def _by_meaning(self, vector: Floats | None) -> Lane:
        return Lane() if vector is None else lanes.by_meaning(self.search, vector)

    def _lane(self, name: str, run: Callable[[], Lane]) -> Lane:
        """One search; recorded hits replace it, a failure is a warning."""
        self.cancel.check()
        start = self.outside.clock()
        recorded = self.request.lanes
        try:
            if not recorded:
                lane = run()
            elif name in recorded:
                lane = lanes.recorded(self.search, recorded[name], lane=name)
            else:
                lane = Lane()
        except UsageError:
            raise
        except MemtuiError as error:
            lane = Lane(warning=f"a search failed: {error}")
        if lane.warning:
            self.warnings.append(lane.warning)
        self.lane_ms[name] = (self.outside.clock() - start) * 1000
        return lane

    def _searched(self, gathering: Gathering, name: str, pool: Pool) -> StageRecord:
        """A search as a stage."""
        lane = gathering.lanes[name]
        place = {row.id: at for at, row in enumerate(pool.rows)}
        gates = {place[gone.row.id]: Gate(gone.reason, gone.score, gone.limit) for gone in lane.dropped}
        params: dict[str, Any] = {"via": lane.via}
        if name == "identifier_ranked":
            params["identifiers"] = list(gathering.identifiers)
        outcome = ranked(gathering.hits(name, pool.rows), pool, gates, lane.warning, params)
        ms = self.lane_ms[
            {"vector_ranked": "vector", "bm25_ranked": "bm25", "identifier_ranked": ""}.get(name, name)
        ]
        title = recipe.SEARCHES[name]
        return StageRecord(name, title, "search", blank(pool), outcome, self.pin.rows, ms)

    def _memories(self, pool: Pool) -> dict[str, Memory]:
        table = self.pin.rows_by_id([row.id for row in pool.rows], list(self.pin.row_columns))
        return {memory.id: memory for memory in self.pin.dialect.to_memories(table, self.now_ms)}
