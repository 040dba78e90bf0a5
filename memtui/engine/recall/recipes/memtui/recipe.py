"""One recall by the recipe `memtui`: survey, searches, evidence, stages, trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.javascript import trim
from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import composed, counted
from memtui.engine.providers.static_embedder import bundled
from memtui.engine.recall.asker import by_whoever
from memtui.engine.recall.candidates import CandidatePool, Floats
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.far_rows import whole_rows
from memtui.engine.recall.io_cache import IoCache, check_dims, question_vector
from memtui.engine.recall.lanes import Lane, blank, ranked
from memtui.engine.recall.recipe import Recipe, Resolved
from memtui.engine.recall.recipes.memtui import searches, stages
from memtui.engine.recall.recipes.memtui.confidence import confidence, judgement
from memtui.engine.recall.recipes.memtui.evidence import FOLLOWING, Evidence
from memtui.engine.recall.recipes.memtui.gather import CandidateGatherer
from memtui.engine.recall.recipes.memtui.knobs import KNOBS, SEARCH_SPACE, idle
from memtui.engine.recall.recipes.memtui.prompt_gate import skip_rule
from memtui.engine.recall.recipes.memtui.proof import prove_own
from memtui.engine.recall.recipes.memtui.question import clean_question, identifiers
from memtui.engine.recall.recipes.memtui.settings import (
    BLOCK,
    PROFILES,
    OwnSettings,
    Profile,
    fitted,
    profile_of,
    resolve_own,
)
from memtui.engine.recall.recipes.memtui.signals import signal_words
from memtui.engine.recall.recipes.memtui.survey import Survey, nothing, survey
from memtui.engine.recall.recipes.memtui.token_vectors import TokenReader
from memtui.engine.recall.recipes.memtui.weights import weight_words
from memtui.engine.recall.recipes.pro.prompt_block import plugin_block
from memtui.engine.recall.record import StageRecord, Trace
from memtui.engine.recall.request import RecallRequest, filters_of
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome
from memtui.engine.recall.stages.gates import limit_cut
from memtui.engine.recall.trace import OnStage, StageKind, StageSummary
from memtui.engine.recall.word_matches import words_met_in

if TYPE_CHECKING:
    from memtui.engine.core.memory import Memory


# The stages of the recipe `memtui` in order, and running them over a pool.


@dataclass(frozen=True)
class Stage:
    """A stage: its name and title, what it does, when it runs, and whether it starts from the searches."""

    name: str
    title: str
    kind: StageKind
    run: Callable[[Ranking, CandidatePool, Evidence], StageOutcome]
    when: Callable[[Evidence], bool] = lambda asked: True
    fresh: bool = False


SEARCHES = {
    "vector_ranked": "vector",
    "bm25_ranked": "bm25",
    "identifier_ranked": "exact match",
    FOLLOWING: "said next",
}
"""The searches by name, with their titles."""

COMPARED, READ = "late_interaction", "token_vectors"

SCORES = (
    Stage("fused", "fusion", "score", stages.fused, fresh=True),
    Stage(COMPARED, "term matching", "score", stages.late_interaction, lambda a: a.met is not None),
    Stage(READ, "token vectors", "score", stages.token_vectors, lambda a: a.read is not None),
    Stage("speaker", "speaker", "score", stages.speaker, lambda a: bool(a.clean.named)),
    Stage("date", "date", "score", stages.date, lambda a: bool(a.spans)),
)
"""What a memory earns by itself."""

REST = (
    Stage("neighbours", "same session", "score", stages.neighbours, lambda a: any(map(any, a.around))),
    Stage("kind", "kind of text", "score", stages.kind),
    Stage("recency", "newer", "score", stages.recency, lambda a: bool(a.newest_wanted)),
    Stage("min_score", "min score", "filter", stages.min_score, lambda a: a.settings.min_score > 0),
    Stage("limit", "limit", "filter", lambda flow, pool, a: limit_cut(flow, pool, limit=a.limit)),
)


def through(
    todo: Sequence[Stage],
    pool: CandidatePool,
    asked: Evidence,
    *,
    clock: Callable[[], float],
    cancel: CancelToken,
    flow: Ranking | None = None,
) -> list[StageRecord]:
    """Run the stages that apply, the first on `flow`, each on what the one before left; the records in order."""
    flow, records = blank(pool) if flow is None else flow, []
    for stage in todo:
        if not stage.when(asked):
            continue
        cancel.check()
        before = blank(pool) if stage.fresh else flow
        start = clock()
        outcome = stage.run(before, pool, asked)
        flow = outcome.flow
        n_in = len(flow.order) if stage.fresh else len(before.order)
        before_ms = {COMPARED: asked.met_ms, READ: asked.read_ms}.get(stage.name, 0.0)
        ms = (clock() - start) * 1000 + before_ms
        records.append(StageRecord(stage.name, stage.title, stage.kind, before, outcome, n_in, ms))
    return records


NAME = "memtui"

DEFAULT_LIMIT = 10

MOST = 1000
"""Results that can be asked for."""

LOOKED_AT = 5
"""The best hits of the keywords whose script is looked at."""


def run(
    request: RecallRequest,
    context: RecallContext,
    outside: IoCache,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request` by the recipe `memtui`.

    Raises UsageError for an empty question, a limit below 1 and a question vector that does not fit the table,
    ConfigError for a setting, MemtuiError when neither meaning nor words can be searched.
    """
    return MemtuiRun(request, outside, context, on_stage, cancel).trace()


AHEAD = 20_000
"""Memories of a store that is read ahead: of a larger one it would take seconds that nobody asked for."""


def read_ahead(request: RecallRequest, context: RecallContext, outside: IoCache, cancel: CancelToken) -> None:
    """Make ready what the first question would wait for: model, survey of its scopes, words and vectors in memory.

    Nothing is asked of an embedder. What cannot be read is left to the question, which says so.
    """
    search = searches.MemtuiSearch(
        outside, request.scopes, request.category, 1, context.now_ms, request.owners
    )
    pin = outside.pin
    if search.denied or pin.rows > AHEAD or pin.folder is None:
        return
    word = "ready"
    for profile in PROFILES:
        fitted(profile)
        judgement(profile)
    with suppress(MemtuiError):
        context.tokens()
    with suppress(MemtuiError):
        bundled().piece_ids([word])
    cancel.check()
    with suppress(MemtuiError):
        survey(pin, search.scope_where, check=cancel.check)
    cancel.check()
    with suppress(MemtuiError):
        pin.words_in_memory(word, k=1)
    cancel.check()
    if pin.vectors_in_memory and pin.dims:
        with suppress(MemtuiError):
            pin.nearest([1.0] * pin.dims, k=1)


def resolve(request: RecallRequest, context: RecallContext) -> Resolved:
    """The settings for a question, which may still be empty. ConfigError for one that does not exist."""
    reader: TokenReader | None = None
    with suppress(MemtuiError):
        reader = context.tokens()
    model = None if reader is None else reader.model
    own, findings = resolve_own(
        request.config,
        bundled=context.bundled,
        multilingual=context.multilingual,
        question=request.query,
        reader=model,
    )
    return {BLOCK: own.as_block()}, findings


class MemtuiRun:
    """The state of one recall while it is made."""

    def __init__(
        self,
        request: RecallRequest,
        outside: IoCache,
        context: RecallContext,
        on_stage: OnStage | None,
        cancel: CancelToken | None,
    ) -> None:
        if not trim(request.query) and not request.lanes:
            raise UsageError("The question is empty.", fix="Type what the agent would ask.")
        self.limit = DEFAULT_LIMIT if request.limit is None else request.limit
        if not 1 <= self.limit <= MOST:
            raise UsageError(f"A limit of {self.limit} makes no sense.", fix=f"Ask for 1 to {MOST} memories.")
        self.request = replace(request, query=composed(request.query))
        self.outside, self.pin = outside, outside.pin
        self.now_ms = context.now_ms if request.now_ms is None else request.now_ms
        self.on_stage = on_stage or (lambda summary: None)
        self.cancel = cancel or CancelToken()
        self.bundled, self.multilingual = context.bundled, context.multilingual
        self.token_reader = context.tokens
        self.settings, self.findings = self._resolved("notes", "")
        pool = max(self.settings.pool, self.limit)
        self.search = searches.MemtuiSearch(
            outside, request.scopes, request.category, pool, self.now_ms, request.owners
        )
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
            matcher=words_met_in,
            judge=confidence,
        )

    @staticmethod
    def _twice(rows: int) -> tuple[str, ...]:
        """What is to be known of metadata that was encoded twice."""
        if not rows:
            return ()
        count = counted(rows, "row")
        return (
            f"metadata is encoded twice in {count}: read here as what it holds, by the plugin not at all.",
        )

    def _resolved(
        self, profile: Profile, found: str, reader: TokenReader | None = None
    ) -> tuple[OwnSettings, tuple[str, ...]]:
        """The settings for rows of a profile, for the texts `found` by the keywords, and for token vectors."""
        request = self.request
        return resolve_own(
            request.config,
            bundled=self.bundled,
            multilingual=self.multilingual,
            question=request.query,
            profile=profile,
            found=found,
            reader=None if reader is None else reader.model,
        )

    def _gather(self) -> CandidateGatherer:
        """Search; then settle the weights, which hang on the rows and on what was found."""
        request, known = self.request, self._survey()
        clean = clean_question(request.query, share=known.share, speakers=known.speakers)
        vector = self._vector(clean.text)
        names = () if request.lanes else identifiers(request.query)
        found = {
            "vector_ranked": self._lane("vector", lambda: self._by_meaning(vector)),
            "bm25_ranked": self._lane("bm25", lambda: searches.by_words(self.search, request.query)),
        }
        if names:
            found["identifier_ranked"] = self._lane("", lambda: searches.by_identifier(self.search, names))
        if all(lane.via == "" for lane in found.values()):
            raise MemtuiError(
                "Nothing could be searched: " + "; ".join(dict.fromkeys(self.warnings)) + ".",
                fix="Configure an embedder, give a question vector, or build a full-text index.",
            )
        best = [hit.row.text for hit in found["bm25_ranked"].hits[:LOOKED_AT]]
        profile, texts = profile_of(known.spoken), " ".join(best)
        self.settings, self.findings = self._resolved(profile, texts)
        reader = self._tokens()
        if reader is not None:
            self.settings, self.findings = self._resolved(profile, texts, reader)
        return CandidateGatherer(
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
            token_reader=reader if self.settings.token_weight else None,
            check=self.cancel.check,
        )

    def _tokens(self) -> TokenReader | None:
        """The store's token vectors; a table or model that cannot be read is a warning."""
        if self.request.lanes or not self.settings.token_weight:
            return None
        try:
            return self.token_reader()
        except MemtuiError as error:
            self.warnings.append(f"token vectors were not compared: {error}")
            return None

    def _run(self, gathering: CandidateGatherer) -> tuple[CandidatePool, list[StageRecord]]:
        """What each memory earns by itself, then everything over that and what was said after the best."""
        clock, cancel, start = self.outside.clock, self.cancel, self.outside.clock()
        pool, asked, warned, first = self._scored(gathering)
        wider = gathering.with_following(pool, asked, first[-1])
        if wider is not gathering:
            gathering, self.lane_ms[FOLLOWING] = wider, (clock() - start) * 1000
            pool, asked, warned, first = self._scored(gathering)
        self.warnings += warned
        records = [self._searched(gathering, name, pool) for name in gathering.lanes]
        records += first
        records += through(REST, pool, asked, clock=clock, cancel=cancel, flow=first[-1].outcome.flow)
        for record in records:
            self.on_stage(record.summary())
        return pool, records

    def _scored(
        self, gathering: CandidateGatherer
    ) -> tuple[CandidatePool, Evidence, Sequence[str], list[StageRecord]]:
        """What was found with what each memory earns by itself; and what of the words was not compared."""
        pool = gathering.pool()
        asked, warned = gathering.asked(pool)
        records = through(SCORES, pool, asked, clock=self.outside.clock, cancel=self.cancel)
        return pool, asked, warned, records

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
        self._operation(StageSummary("survey", "prepare", "operation", self.pin.rows, known.sampled, ms))
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
        return Lane() if vector is None else searches.by_meaning(self.search, vector)

    def _lane(self, name: str, run: Callable[[], Lane]) -> Lane:
        """One search; recorded hits replace it, a failure is a warning."""
        self.cancel.check()
        start = self.outside.clock()
        recorded = self.request.lanes
        try:
            if not recorded:
                lane = run()
            elif name in recorded:
                lane = searches.recorded(self.search, recorded[name], lane=name)
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

    def _searched(self, gathering: CandidateGatherer, name: str, pool: CandidatePool) -> StageRecord:
        """A search as a stage."""
        lane = gathering.lanes[name]
        place = pool.place
        gates = {place[gone.row.id]: Drop(gone.reason, gone.score, gone.limit) for gone in lane.dropped}
        params: dict[str, Any] = {"via": lane.via}
        if name == "identifier_ranked":
            params["identifiers"] = list(gathering.identifiers)
        outcome = ranked(gathering.hits(name, place), pool, gates, lane.warning, params)
        ms = self.lane_ms[
            {"vector_ranked": "vector", "bm25_ranked": "bm25", "identifier_ranked": ""}.get(name, name)
        ]
        title = SEARCHES[name]
        return StageRecord(name, title, "search", blank(pool), outcome, self.pin.rows, ms)

    def _memories(self, pool: CandidatePool) -> dict[str, Memory]:
        table = whole_rows(self.pin, [row.id for row in pool.rows])
        return {memory.id: memory for memory in self.pin.dialect.to_memories(table, self.now_ms)}


PROTOCOL = 1

RECIPES = (
    Recipe(
        NAME,
        "memtui's own best",
        "Meaning and words, then term matching; speaker, date and neighbours. No decay unless asked for.",
        DEFAULT_LIMIT,
        run=run,
        asker=by_whoever,
        resolve=resolve,
        read_ahead=read_ahead,
        prompt_gate=lambda request, context: skip_rule(request.query),
        knobs=KNOBS,
        idle=idle,
        block=BLOCK,
        search_space=SEARCH_SPACE,
        own_scale=True,
        family=NAME,
        prompt="as the plugin",
        prompt_block=partial(plugin_block, borrowed=True),
        signal_words=signal_words,
        weight_words=weight_words,
        finding=frozenset({"memtui.pool", "memtui.following", "memtui.profile"}),
        guards=("inactive", "expired", "state"),
        searches_held_vectors=True,
        double_encoded=True,
        counts_alike=True,
    ),
)
