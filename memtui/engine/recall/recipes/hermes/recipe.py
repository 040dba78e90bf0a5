"""The recall of Hermes: nearest by squared L2, by words, or both lists fused; by its tool, or before a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.javascript import utf16_len
from memtui.engine.core.progress import CancelToken
from memtui.engine.dialects.hermes import NAME
from memtui.engine.recall.asker import by_own_rules, by_whoever, uncounted
from memtui.engine.recall.candidates import CandidatePool, Floats, Hit
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.lanes import blank, ranked
from memtui.engine.recall.prompt_block import BlockPart, PromptBlock, estimated_tokens, nothing_injected
from memtui.engine.recall.proof_account import with_account
from memtui.engine.recall.proof_rules import StepsProof
from memtui.engine.recall.recipe import Recipe, Resolved
from memtui.engine.recall.recipes.hermes import fusion, row_rules
from memtui.engine.recall.recipes.hermes.searches import (
    Found,
    HermesRow,
    RowFilter,
    by_vector,
    by_words,
    recorded,
    where_of,
)
from memtui.engine.recall.recipes.hermes.settings import (
    CROSS,
    KNOBS,
    LINEAR,
    PREFETCH,
    RECALL,
    RETRIEVAL,
    RRF,
    TOOL,
    kind_of,
    limit_of,
    mode_of,
    resolve_hermes,
)
from memtui.engine.recall.record import Trace
from memtui.engine.recall.request import RecallRequest
from memtui.engine.recall.stage import Ranking, StageOutcome
from memtui.engine.recall.staged_run import StagedRun
from memtui.engine.recall.stages.gates import limit_cut
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

MOST_ITEMS = 5
"""Memories in a block before a prompt."""

TURNS = 3
"""So many turns stand in for facts before a prompt where no fact comes."""

NO_MODEL = (
    "The plugin lets a model order these where torch is there: that is not done here; this is the order that it "
    "falls back to without."
)


@dataclass(frozen=True, slots=True)
class Way:
    """How one search of the table is made."""

    mode: str
    rows: RowFilter
    limit: int


@dataclass
class HermesRun(StagedRun):
    """One recall of Hermes."""

    context: RecallContext

    def __post_init__(self) -> None:
        super().__post_init__()
        request, context = self.request, self.context
        self.query = request.query.strip()
        self.retrieval, self.recall, self.findings = resolve_hermes(
            request.config, stored_block(request, context)
        )
        self.own = is_own(context) and not request.own_words
        self.prefetch = self.recall.via == PREFETCH or (request.before_prompt and request.limit is None)
        if self.prefetch:
            self._refuse_what_prefetch_ignores()
        self.vector: Floats | None = None
        self.embedded = False
        reranker = self.retrieval.reranker.type
        self.fuses = reranker if reranker in (LINEAR, CROSS) else RRF
        if reranker not in (RRF, LINEAR, CROSS):
            self.findings += (f"reranker.type {reranker!r} is none that the plugin knows: it is rrf there.",)

    def _refuse_what_prefetch_ignores(self) -> None:
        given = {
            "mode": self.recall.mode,
            "kind": self.recall.kind,
            "category": self.request.category,
            "limit": self.request.limit,
        }
        for name, value in given.items():
            if value is not None:
                raise UsageError(
                    f"Automatic injection takes no {name}: the plugin sets it itself.",
                    fix=f"Leave {name} out, or ask as the tool: recall.via={TOOL}.",
                )

    @property
    def first(self) -> Way:
        """The search that is asked for."""
        retrieval, recall, request = self.retrieval, self.recall, self.request
        scopes = request.scopes if self.own else None
        rows = RowFilter(
            kind_of(recall.kind),
            next(iter(scopes or ()), ""),
            recall.user_id or "",
            request.category or "",
        )
        if self.prefetch:
            most = min(10 if retrieval.top_k is None else retrieval.top_k, MOST_ITEMS)
            return Way(mode_of(None, retrieval.mode), rows, limit_of(most, retrieval.top_k))
        return Way(mode_of(recall.mode, retrieval.mode), rows, limit_of(request.limit, retrieval.top_k))

    def trace(self) -> Trace:
        """Search, fuse, cut; before a prompt once more for turns where no fact came."""
        way = self.first
        pool, stored, mode = self._answered(way)
        if self.prefetch and not pool.n and self.failure is None:
            self.records.clear()
            way = Way("hybrid", replace(way.rows, kind="turn"), TURNS)
            pool, stored, mode = self._answered(way)
        if self.fuses == CROSS and pool.n:
            self.warnings.append(NO_MODEL)
        return self.make_trace(
            recipe=NAME,
            mode=mode,
            config=self._config(),
            limit=way.limit,
            bm25_query=self.query if mode in ("keyword", "hybrid") else None,
            pool=pool,
            query_vector=self.vector,
            prover=prove_hermes,
            asker=self._asker(way, mode),
            extra=self._extra(way, stored),
        )

    def _config(self) -> dict[str, Any]:
        return {RETRIEVAL: self.retrieval.as_block(), RECALL: self.recall.as_block()}

    def _extra(self, way: Way, stored: Sequence[HermesRow]) -> dict[str, Any]:
        """What was searched, and before a prompt the block that the plugin makes of it."""
        rows = way.rows
        told = {
            "via": PREFETCH if self.prefetch else TOOL,
            "mode": way.mode,
            "kind": rows.kind,
            "workspace": rows.workspace,
            "user_id": rows.user,
            "category": rows.category,
        }
        if not self.prefetch or self.failure is not None:
            return {NAME: told}
        order = self.records[-1].outcome.flow.order.tolist() if self.records else []
        kept = [stored[at] for at in order][:MOST_ITEMS]
        lines = [line_of(each) for each in kept]
        parts = [
            [each.row.id, line, line_of(each, whole=True)] for each, line in zip(kept, lines, strict=True)
        ]
        return {NAME: told, "prefetched": {"text": block_of(lines), "parts": parts}}

    def _asker(self, way: Way, mode: str) -> Asker | None:
        if not self.own:
            return None
        rows = way.rows
        where = f"workspace {rows.workspace}" if rows.workspace else "all workspaces"
        whose = f", {rows.user} and nobody in particular" if rows.user else ", all users"
        named = None if not rows.workspace else (rows.workspace,)
        told = "; the score is a distance: smaller is better" if mode == "vector" else ""
        asker = Asker("", "own-rules", named, f"searched in {where}{whose}{told}")
        agent = self.request.agent.strip()
        return uncounted(asker, agent, NO_AGENTS) if agent else asker

    # ---------------------------------------------------------------- one search of the table

    def _answered(self, way: Way) -> tuple[CandidatePool, Sequence[HermesRow], str]:
        """The candidates of a search with its stages recorded, and the way that was really taken."""
        near, told, mode = self._lists(way)
        pool, stored = self._pool(near, told)
        flow = blank(pool)
        for name, title, hits, left_out in (
            ("vector_ranked", "vector", pool.vector, "keyword"),
            ("bm25_ranked", "words", pool.bm25, "vector"),
        ):
            if mode != left_out:
                flow = self.add_stage(name, title, "search", blank(pool), partial(_listed, hits, pool, way))
        if mode == "hybrid":
            before = Ranking(np.arange(pool.n, dtype=np.int64), np.full(pool.n, np.nan))
            flow = self.add_stage("fused", self._fusion(), "score", before, lambda: self._fused(before, pool))
        last = flow
        self.add_stage("limit", "limit", "filter", last, lambda: limit_cut(last, pool, limit=way.limit))
        return pool, stored, mode

    def _fusion(self) -> str:
        return "weighted sum" if self.fuses == LINEAR else "reciprocal ranks"

    def _lists(self, way: Way) -> tuple[list[Found], list[Found], str]:
        """The list by vector, that by words, and the mode: hybrid falls back to the vectors where words fail."""
        request, mode = self.request, way.mode
        if request.lanes is not None:
            near, told = (recorded(self.outside, request.lanes.get(name, ())) for name in ("vector", "bm25"))
            return near, told, {"fts": "keyword"}.get(mode, mode)
        if request.scopes == []:
            return [], [], {"fts": "keyword"}.get(mode, mode)
        where = where_of(self.outside, way.rows, request.scopes, own=self.own)
        top_n = self.retrieval.reranker.rerank_top_n
        most = max(top_n, way.limit) if self.fuses == CROSS and mode == "hybrid" else way.limit
        if mode == "fts":
            return [], by_words(self.outside, self.query, where, most), "keyword"
        vector = self._vector()
        if vector is None:
            return [], [], mode
        self.cancel.check()
        if mode == "hybrid":
            try:
                told = by_words(self.outside, self.query, where, most)
            except MemtuiError as error:
                self.warnings.append(f"Keyword search failed ({error.message}): by meaning alone.")
                mode, most = "vector", way.limit
            else:
                return by_vector(self.outside, vector, where, most), told, mode
        return by_vector(self.outside, vector, where, most), [], mode

    def _pool(
        self, near: Sequence[Found], told: Sequence[Found]
    ) -> tuple[CandidatePool, tuple[HermesRow, ...]]:
        """Every row of both lists once, by its row id: one id may stand twice."""
        place: dict[int, int] = {}
        stored: list[HermesRow] = []
        lanes: list[dict[int, Hit]] = []
        for rule, name, found in (("squared_l2", "distance", near), ("bm25", "raw_bm25", told)):
            hits: dict[int, Hit] = {}
            for each in found:
                at = place.setdefault(each.stored.row_id, len(stored))
                if at == len(stored):
                    stored.append(each.stored)
                row, number = stored[at].row, each.number
                hits.setdefault(at, Hit(row, len(hits) + 1, number, number, rule, {name: number}))
            lanes.append(hits)
        rows = tuple(each.row for each in stored)
        pool = CandidatePool(rows, lanes[0], lanes[1], self.now_ms, self.outside.kin)
        return pool, tuple(stored)

    def _fused(self, before: Ranking, pool: CandidatePool) -> StageOutcome:
        """Both lists as one, the highest first; equal ones stay in the order vectors, then words."""
        ranks = [
            np.array([float(hits[at].rank) if at in hits else np.nan for at in range(pool.n)])
            for hits in (pool.vector, pool.bm25)
        ]
        vector, words = pool.v, pool.b
        inputs: dict[str, Any] = {
            "vector": vector,
            "bm25": words,
            "vector_rank": ranks[0],
            "bm25_rank": ranks[1],
        }
        if self.fuses != LINEAR:
            score = [fusion.reciprocal(a, b) for a, b in zip(*map(np.ndarray.tolist, ranks), strict=True)]
            inputs["rank_offset"] = fusion.RANK_OFFSET
            rule = "reciprocal_ranks"
            params: dict[str, float] = {"rank_offset": fusion.RANK_OFFSET}
        else:
            weight = self.retrieval.reranker.weight
            lists = tuple(
                fusion.stretch_of(numbers) if hits else None
                for numbers, hits in ((vector, pool.vector), (words, pool.bm25))
            )
            pairs = zip(_absent(vector), _absent(words), strict=True)
            score = [fusion.linear(a, b, weight, (lists[0], lists[1])) for a, b in pairs]
            for name, stretch in (("vector", lists[0]), ("bm25", lists[1])):
                inputs[f"{name}_low"] = None if stretch is None else stretch.low
                inputs[f"{name}_high"] = None if stretch is None else stretch.high
            inputs["weight"] = weight
            rule, params = "stretched_sum", {"weight": weight}
        return StageOutcome(before.sorted(np.array(score, np.float64)), rule, inputs, params=params)

    def _vector(self) -> Floats | None:
        if not self.embedded:
            self.embedded, self.vector = True, self.embed_question()
        return self.vector


def _listed(hits: Mapping[int, Hit], pool: CandidatePool, way: Way) -> StageOutcome:
    return ranked(hits, pool, {}, "", {"kind": way.rows.kind, "limit": way.limit, "found": len(hits)})


def _absent(numbers: Floats) -> list[float | None]:
    return [None if value != value else value for value in numbers.tolist()]


def is_own(context: RecallContext) -> bool:
    """Whether the store is one of the plugin's."""
    return context.store.dialect.can.visibility == "users"


def stored_block(request: RecallRequest, context: RecallContext) -> Mapping[str, Any] | None:
    """The `retrieval` block of the store's own configuration; None elsewhere, and where a file was given instead."""
    block = context.auto_recall.get(RETRIEVAL) if is_own(context) and not request.whole_config else None
    return block if isinstance(block, Mapping) else None


def run(
    request: RecallRequest,
    context: RecallContext,
    outside: IoCache,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request` as LanceDB's plugin for Hermes would.

    Raises UsageError for an empty question, several scopes, what a recall before a prompt does not take and a vector
    that does not fit, ConfigError for a setting, MemtuiError where the question has no vector or words cannot be
    searched.
    """
    now_ms = context.now_ms if request.now_ms is None else request.now_ms
    told = on_stage or (lambda summary: None)
    return HermesRun(request, outside, now_ms, told, cancel or CancelToken(), context).trace()


def _resolve(request: RecallRequest, context: RecallContext) -> Resolved:
    retrieval, recall, findings = resolve_hermes(request.config, stored_block(request, context))
    return {RETRIEVAL: retrieval.as_block(), RECALL: recall.as_block()}, findings


NO_AGENTS = "the plugin knows workspaces and users, and no agents"


def _asker(request: RecallRequest, context: RecallContext) -> tuple[RecallRequest, Asker]:
    """By its own rules in its own stores; elsewhere as whoever asks there."""
    if not is_own(context):
        return by_whoever(request, context)
    request, asker = by_own_rules(request, "asked in a workspace, as the plugin does")
    if request.scopes is not None and not request.own_words:
        named = [str(scope) for scope in request.scopes]
        if len(named) > 1:
            raise UsageError(
                f"{len(named)} workspaces are named: the plugin asks in one, or in all.",
                fix="Name one with --scope, or none.",
            )
        if named == [""]:  # an asker without a workspace is not filtered by any
            request, asker = replace(request, scopes=None), replace(asker, scopes=None)
    agent = request.agent.strip()
    return request, uncounted(asker, agent, NO_AGENTS) if agent else asker


# ------------------------------------------------------------------ the block before a prompt

HEADING = "## LanceDB Memory"

MOST_CHARS, ELLIPSIS = 500, "..."


def line_of(stored: HermesRow, *, whole: bool = False) -> str:
    """The line of one memory: its category or kind, its id, its abstract or text; `whole` without the cut."""
    text = " ".join((stored.abstract or stored.row.text).split())
    if len(text) > MOST_CHARS and not whole:
        text = text[: MOST_CHARS - len(ELLIPSIS)] + ELLIPSIS
    return f"- ({stored.row.category or stored.kind or 'memory'}, id={stored.row.id}) {text}"


def block_of(lines: Sequence[str]) -> str:
    """The block as the plugin hands it to its host, which wraps it; empty for no memory."""
    return "\n".join([HEADING, *lines]) if lines else ""


# ------------------------------------------------------------------ the proof: the formulas a second time

MOST_FAILURES = 20


def prove_hermes(trace: Trace) -> Proof:
    """Recompute every score from ranks, distances and BM25, and hold what decides against the settings."""
    steps = StepsProof(trace, _expected, searches=() if trace.mode != "hybrid" else _SEARCHES)
    steps.run()
    failures = [*steps.failures, *_not_as_set(trace)]
    proof = Proof(not failures, steps.max_error, steps.checked, tuple(failures[:MOST_FAILURES]))
    return with_account(trace, proof)


_SEARCHES = ("vector_ranked", "bm25_ranked")


def _expected(candidate: Candidate, step: Step) -> float:
    i = step.inputs
    if step.rule == "reciprocal_ranks":
        ranks = [i[name] for name in ("vector_rank", "bm25_rank") if i.get(name) is not None]
        return float(np.float32(sum(1.0 / (i["rank_offset"] + rank) for rank in ranks)))
    if step.rule == "stretched_sum":
        return _weighed(i)
    return {
        "squared_l2": lambda: float(i["distance"]),
        "bm25": lambda: float(i["raw_bm25"]),
        "unchanged": lambda: float(step.before or 0.0),
    }[step.rule]()


def _weighed(i: Mapping[str, Any]) -> float:
    def share(name: str) -> np.float32 | None:
        value, low, high = (
            None if i.get(each) is None else np.float32(i[each])
            for each in (name, f"{name}_low", f"{name}_high")
        )
        if value is None or low is None or high is None:
            return None
        return np.float32(0) if low == high else np.float32((value - low) / (high - low))

    near, told = share("vector"), share("bm25")
    vector = 0.0 if near is None else 1.0 - float(near)
    words = 0.0 if told is None else float(told)
    if i.get("vector_low") is None:
        return float(np.float32(words))
    if i.get("bm25_low") is None:
        return float(np.float32(vector))
    return float(np.float32(i["weight"] * vector + (1.0 - i["weight"]) * words))


def _not_as_set(trace: Trace) -> list[str]:
    """A weight of a step that is not that of the recall, and a list's ends that are not those of its numbers."""
    known: dict[str, float | None] = {"weight": trace.config[RETRIEVAL]["reranker"]["weight"]}
    for name, hits in (("vector", trace.pool.vector), ("bm25", trace.pool.bm25)):
        numbers = [hit.score for hit in hits.values()]
        known[f"{name}_low"] = min(numbers, default=None)
        known[f"{name}_high"] = max(numbers, default=None)
    return [
        f"{candidate.id}, {step.stage}: {name} is {step.inputs.get(name)}, it is {value}"
        for candidate in trace.candidates
        for step in candidate.steps
        if step.rule == "stretched_sum"
        for name, value in known.items()
        if step.inputs.get(name) != value
    ]


def _idle(trace: Trace, path: str) -> str:
    told = trace.extra.get(NAME, {})
    reranker = trace.config[RETRIEVAL]["reranker"]["type"]
    if path in ("limit", f"{RECALL}.kind") and told.get("via") == PREFETCH:
        return "automatic injection sets it itself"
    if path.startswith(f"{RETRIEVAL}.reranker") and told.get("mode") != "hybrid":
        return f"the mode is {told.get('mode')}"
    if path.endswith(".weight") and reranker != LINEAR:
        return "the two lists are fused by ranks"
    if path.endswith(".rerank_top_n") and reranker != CROSS:
        return "no model orders the rows"
    return ""


_NEXT = "Hermes hands this block out with the next message, whatever that one asks."


def _prefetched(trace: Trace, *_: Any) -> PromptBlock:
    """The block that Hermes hands out with the next message, as its plugin made it."""
    told = trace.extra.get("prefetched")
    if told is None:
        return nothing_injected((), "this asks as the tool; set recall.via to prefetch")
    parts = tuple(BlockPart(*part) for part in told["parts"])
    if not parts:
        return nothing_injected((), "no memory came back")
    text = told["text"]
    shown = utf16_len(text)
    return PromptBlock(text, parts, shown, None, estimated_tokens(text), note=_NEXT, items=len(parts))


RECIPES = (
    Recipe(
        NAME,
        "Hermes",
        "Facts of a workspace and a user, nearest by squared L2; or by keywords, or both fused by rank or weight.",
        DEFAULT_LIMIT,
        run=run,
        asker=_asker,
        resolve=_resolve,
        knobs=KNOBS,
        idle=_idle,
        block=RETRIEVAL,
        family=NAME,
        unfiltered="all workspaces",
        by_distance=True,
        own_scale=True,
        prompt="prefetched",
        prompt_block=_prefetched,
        prompt_gates=(),
        row_rules=row_rules.of_row,
    ),
)
