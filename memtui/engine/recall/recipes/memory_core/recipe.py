"""The recall of OpenClaw's memory-core over a store: two searches merged by weight, age, variety, a least score."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from memtui.engine.core.errors import ConfigError, MemtuiError, UsageError
from memtui.engine.core.javascript import trim
from memtui.engine.core.progress import CancelToken
from memtui.engine.notes.keywords import keywords
from memtui.engine.notes.ranking import (
    age_factor,
    importance_factor,
    rank_score,
    varied,
    word_share,
)
from memtui.engine.recall.candidates import CandidatePool, DroppedHit, Floats, Hit
from memtui.engine.recall.context import RecallContext
from memtui.engine.recall.io_cache import IoCache
from memtui.engine.recall.knob import LIMIT, Knob
from memtui.engine.recall.lanes import Lane, ranked
from memtui.engine.recall.pipeline import pool_of
from memtui.engine.recall.proof_account import with_account
from memtui.engine.recall.proof_rules import StepsProof
from memtui.engine.recall.recipe import Resolved
from memtui.engine.recall.recipes.memtui.searches import MemtuiSearch, by_meaning, by_words
from memtui.engine.recall.recipes.memtui.searches import recorded as recorded_lane
from memtui.engine.recall.recipes.pro.settings import SettingsBlock, resolve_block
from memtui.engine.recall.record import Trace
from memtui.engine.recall.request import RecallRequest
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome
from memtui.engine.recall.staged_run import StagedRun
from memtui.engine.recall.stages.gates import limit_cut
from memtui.engine.recall.trace import Candidate, OnStage, Proof, StageKind, Step

if TYPE_CHECKING:
    pass

NAME, BLOCK = "memory-core", "memoryCore"

DEFAULT_LIMIT, MOST = 6, 200

DAY_MS = 86_400_000


class CoreSettings(SettingsBlock):
    """What memory-core's `memorySearch.query` holds, flat; its defaults."""

    min_score: float = Field(default=0.35, ge=0, le=1)
    vector_weight: float = Field(default=0.7, ge=0, le=1)
    text_weight: float = Field(default=0.3, ge=0, le=1)
    candidate_multiplier: int = Field(default=4, ge=1, le=20)
    temporal_decay: bool = False
    half_life_days: float = Field(default=30, ge=1, le=3650)
    mmr: bool = False
    mmr_lambda: float = Field(default=0.7, ge=0, le=1)

    def as_block(self) -> dict[str, Any]:
        """The resolved block under its key names."""
        block: dict[str, Any] = self.model_dump(by_alias=True)
        return block

    def weights(self, *, words_only: bool) -> tuple[float, float]:
        """The shares of meaning and words, which add up to 1; all for the words where nothing has a vector."""
        total = self.vector_weight + self.text_weight
        if words_only:
            return 0.0, 1.0
        return (self.vector_weight / total, self.text_weight / total) if total else (0.7, 0.3)


def resolve_core(config: Mapping[str, Any] | None) -> tuple[CoreSettings, tuple[str, ...]]:
    """The settings of `config` ({"memoryCore": {...}}), and findings. ConfigError with the path of the first fault."""
    config = config or {}
    unknown = [key for key in config if key not in (BLOCK, "retrieval", "decay")]
    if unknown:
        raise ConfigError(f"{unknown[0]} is not a known block.", path=unknown[0], fix=f"Use {BLOCK}.")
    found: CoreSettings = resolve_block(BLOCK, CoreSettings, config.get(BLOCK, {}), None)
    return found, tuple(
        f"{key} has no effect: those are another plugin's settings, this recipe reads the block {BLOCK}."
        for key in ("retrieval", "decay")
        if config.get(key)
    )


# ------------------------------------------------------------------ the words

_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> frozenset[str]:
    """The words of a text as SQLite's index has them: lower case, without accents."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return frozenset(_WORD.findall(plain.lower()))


def holding_all(lane: Lane, wanted: frozenset[str]) -> Lane:
    """The hits of a word search that hold every word, as memory-core asks for, with its score from 0 to 1."""
    hits: list[Hit] = []
    dropped = list(lane.dropped)
    for hit in lane.hits:
        if not wanted <= words_of(hit.row.text):
            dropped.append(DroppedHit(hit.row, "words_missing", hit.score))
            continue
        raw = float(hit.inputs["raw_bm25"]) if hit.rule == "bm25" else None
        score = hit.score if raw is None else rank_score(-raw)
        rule = hit.rule if raw is None else "bm25_share"
        hits.append(Hit(hit.row, len(hits) + 1, score, hit.raw, rule, hit.inputs))
    return replace(lane, hits=tuple(hits), dropped=tuple(dropped))


def best_of(lanes: Sequence[Lane], most: int) -> Lane:
    """Several word searches as one: of each memory the best score."""
    best: dict[str, Hit] = {}
    for lane in lanes:
        for hit in lane.hits:
            known = best.get(hit.row.id)
            if known is None or hit.score > known.score:
                best[hit.row.id] = hit
    order = sorted(best.values(), key=lambda hit: -hit.score)[:most]
    hits = tuple(hit._replace(rank=rank) for rank, hit in enumerate(order, 1))
    dropped = {gone.row.id: gone for lane in lanes for gone in lane.dropped if gone.row.id not in best}
    warning = next((lane.warning for lane in lanes if lane.warning), "")
    via = next((lane.via for lane in lanes if lane.via), "")
    return Lane(hits, tuple(dropped.values()), via, warning, {"limit": most, "found": len(best)})


# ------------------------------------------------------------------ the stages


def fused(pool: CandidatePool, weights: tuple[float, float]) -> StageOutcome:
    """The weighted sum of both scores; a search that did not find a memory gives it 0."""
    score = weights[0] * np.nan_to_num(pool.v) + weights[1] * np.nan_to_num(pool.b)
    found = sorted(pool.vector.keys() | pool.bm25.keys())
    score = np.where(np.isin(np.arange(pool.n), found), score, np.nan)
    inputs = {"vector": pool.v, "bm25": pool.b, "vector_weight": weights[0], "bm25_weight": weights[1]}
    flow = Ranking(np.array(found, np.int64), score).sorted(score)
    return StageOutcome(flow, "merged", inputs, params={"vectorWeight": weights[0], "textWeight": weights[1]})


def aged(flow: Ranking, pool: CandidatePool, half_life_days: float) -> StageOutcome:
    """Half of the score is left after each half-life; an unknown time does not age."""
    known = pool.timestamp > 0
    age = np.where(known, np.maximum(0.0, (pool.now_ms - pool.timestamp) / DAY_MS), 0.0)
    factor = np.array([age_factor(float(days), half_life_days) for days in age])
    inputs = {"created_ms": pool.timestamp, "now_ms": pool.now_ms, "half_life_days": half_life_days}
    return StageOutcome(
        flow.sorted(flow.score * factor), "halved_by_age", inputs, params={"halfLifeDays": half_life_days}
    )


def _variety(flow: Ranking, pool: CandidatePool, lam: float) -> StageOutcome:
    """Another order: what is much like what stands above it comes later. Nothing is left out."""
    items = [(str(index), float(flow.score[index]), pool.rows[index].text) for index in flow.order.tolist()]
    order = np.array([int(each) for each in varied(items, lam)], np.int64)
    return StageOutcome(Ranking(order, flow.score), params={"lambda": lam}, kind="order")


def _admitted(flow: Ranking, pool: CandidatePool, least: float, text_weight: float) -> StageOutcome:
    """What reaches the least score; where nothing does, what the words found and what reaches their weight."""
    order = flow.order.tolist()
    keep = [index for index in order if float(flow.score[index]) >= least]
    if not keep:
        relaxed = min(least, text_weight)
        keep = [index for index in order if index in pool.bm25 and float(flow.score[index]) >= relaxed]
    kept = frozenset(keep)
    dropped = {
        index: Drop("min_score", float(flow.score[index]), least) for index in order if index not in kept
    }
    return StageOutcome(
        Ranking(np.array(keep, np.int64), flow.score),
        dropped=dropped,
        params={"minScore": least},
        kind="filter",
    )


# ------------------------------------------------------------------ the run


@dataclass
class CoreRun(StagedRun):
    """The state of one recall while it is made."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not trim(self.request.query) and not self.request.lanes:
            raise UsageError("The question is empty.", fix="Type what the agent would ask.")
        self.settings, self.findings = resolve_core(self.request.config)
        self.limit = DEFAULT_LIMIT if self.request.limit is None else self.request.limit
        if not 1 <= self.limit <= MOST:
            raise UsageError(f"A limit of {self.limit} makes no sense.", fix=f"Ask for 1 to {MOST} memories.")
        most = min(MOST, max(1, self.limit * self.settings.candidate_multiplier))
        request = self.request
        self.search = MemtuiSearch(self.outside, request.scopes, request.category, most, self.now_ms)
        self.lane_ms: dict[str, float] = {}

    def trace(self) -> Trace:
        """Search both ways, merge, and run what is switched on."""
        settings, vector = self.settings, self._vector()
        recorded = self.request.lanes or {}
        words_only = vector is None and "vector" not in recorded
        by_vector = self._lane(
            "vector", lambda: Lane() if vector is None else by_meaning(self.search, vector)
        )
        words = self._lane("bm25", lambda: self._words(words_only=words_only))
        if not by_vector.via and not words.via:
            raise MemtuiError(
                "Nothing could be searched: " + "; ".join(dict.fromkeys(self.warnings)) + ".",
                fix="Configure an embedder, give a question vector, or build a full-text index.",
            )
        pool = pool_of(by_vector, words, self.now_ms, self.outside.kin)
        place = {row.id: at for at, row in enumerate(pool.rows)}
        for name, title, lane, hits in (
            ("vector_ranked", "vector", by_vector, pool.vector),
            ("bm25_ranked", "words", words, pool.bm25),
        ):
            gone = {place[each.row.id]: Drop(each.reason, each.score, each.limit) for each in lane.dropped}
            self._add(name, title, "search", None, searched(hits, pool, gone, lane))
        flow = self._add(
            "fused", "fusion", "score", None, fused, pool, settings.weights(words_only=words_only)
        )
        if settings.temporal_decay:
            flow = self._add(
                "temporal_decay", "age", "score", flow, aged, flow, pool, settings.half_life_days
            )
        if settings.mmr:
            flow = self._add("variety", "variety", "order", flow, _variety, flow, pool, settings.mmr_lambda)
        least = settings.min_score
        flow = self._add(
            "min_score", "min score", "filter", flow, _admitted, flow, pool, least, settings.text_weight
        )
        hidden = len(self.records[-1].outcome.dropped)
        if hidden:
            self.warnings.append(f"{hidden} found below the minimum score {least:g} are not returned")
        self._add("limit", "limit", "filter", flow, lambda: limit_cut(flow, pool, limit=self.limit))
        return self.make_trace(
            mode="keyword" if words_only else "hybrid",
            recipe=NAME,
            config={BLOCK: settings.as_block()},
            limit=self.limit,
            bm25_query=self.request.query,
            pool=pool,
            query_vector=vector,
            prover=prove_core,
        )

    def _add(
        self,
        name: str,
        title: str,
        kind: StageKind,
        before: Ranking | None,
        run: Callable[..., StageOutcome],
        *given: Any,
    ) -> Ranking:
        ms = self.lane_ms.get(name, 0.0)
        return self.add_stage(name, title, kind, before, lambda: run(*given), ms)

    def _lane(self, name: str, ask: Callable[[], Lane]) -> Lane:
        recorded = self.request.lanes
        self.cancel.check()
        start = self.outside.clock()
        if recorded is not None:
            given = recorded.get(name)
            lane = Lane() if given is None else recorded_lane(self.search, given, lane=name)
        else:
            lane = ask()
        self.lane_ms[f"{name}_ranked"] = (self.outside.clock() - start) * 1000
        if lane.warning:
            self.warnings.append(lane.warning)
        return lane

    def _words(self, *, words_only: bool) -> Lane:
        """All words of the question at once; without vectors each of its keywords by itself, the best counts."""
        question = self.request.query
        named = keywords(question) if words_only else []
        asked = named or [question]
        lanes = [holding_all(by_words(self.search, each), words_of(each)) for each in asked if words_of(each)]
        return best_of(lanes, self.search.pool) if lanes else Lane(via="none")

    def _vector(self) -> Floats | None:
        if self.request.lanes is not None:
            return None
        vector = self.embed_question(needed=False)
        return vector if vector is None or np.any(vector) else None


def searched(
    hits: Mapping[int, Hit], pool: CandidatePool, gone: Mapping[int, Drop], lane: Lane
) -> Callable[[], StageOutcome]:
    """The stage of a search: its hits in order, with what it dropped."""
    return lambda: ranked(hits, pool, gone, lane.warning, {"via": lane.via, **lane.params})


def run(
    request: RecallRequest,
    context: RecallContext,
    outside: IoCache,
    on_stage: OnStage | None = None,
    cancel: CancelToken | None = None,
) -> Trace:
    """Answer `request` as memory-core would, were each memory a chunk of its files.

    Raises UsageError for an empty question, a limit outside 1 to 200 and a vector that does not fit, ConfigError for
    a setting, MemtuiError when neither meaning nor words can be searched.
    """
    now_ms = context.now_ms if request.now_ms is None else request.now_ms
    return CoreRun(
        request, outside, now_ms, on_stage or (lambda summary: None), cancel or CancelToken()
    ).trace()


def resolve(request: RecallRequest, context: RecallContext) -> Resolved:
    """The settings as they will be used, and findings. ConfigError for one that does not exist."""
    settings, findings = resolve_core(request.config)
    return {BLOCK: settings.as_block()}, findings


# ------------------------------------------------------------------ the proof: the formulas a second time

MOST_FAILURES = 20


def prove_core(trace: Trace) -> Proof:
    """Recompute every score, the order after variety, and who reaches the least score."""
    steps = StepsProof(trace, expected_score, searches=("vector_ranked", "bm25_ranked"))
    steps.run()
    failures = [*steps.failures, *stored_failures(trace), *_gates(trace)]
    proof = Proof(not failures, steps.max_error, steps.checked, tuple(failures[:MOST_FAILURES]))
    return with_account(trace, proof)


def _number(value: Any) -> float:
    return 0.0 if value is None or math.isnan(value) else float(value)


def expected_score(candidate: Candidate, step: Step) -> float:
    i, before = step.inputs, step.before or 0.0
    if step.rule == "merged":
        return float(
            _number(i.get("vector")) * i["vector_weight"] + _number(i.get("bm25")) * i["bm25_weight"]
        )
    if step.rule == "halved_by_age":
        days = (i["now_ms"] - i["created_ms"]) / 86_400_000 if i["created_ms"] > 0 else 0.0
        return float(before * 2 ** (-max(0.0, days) / i["half_life_days"]))
    return {
        "cosine": lambda: 1.0 - float(i["distance"]),
        "bm25_share": lambda: float(i["raw_bm25"]) / (1.0 + float(i["raw_bm25"])),
        "word_bonus": lambda: word_share(i["raw_bm25"], i),
        "path_match": lambda: float(i["path_score"]),
        "by_importance": lambda: before * importance_factor(i.get("importance")),
        "recorded": lambda: float(i["recorded"]),
        "unchanged": lambda: before,
    }[step.rule]()


def stored_failures(trace: Trace) -> list[str]:
    """Weights and half-life are those that are set, the times those of the rows."""
    rows = {row.id: row for row in trace.pool.rows}
    params = {record.name: record.outcome.params for record in trace.records}
    settings = trace.config[BLOCK]
    failures = []
    for candidate in trace.candidates:
        for step in candidate.steps:
            i = step.inputs
            known: dict[str, Any] = {}
            if step.rule == "merged":
                known = {
                    "vector_weight": params["fused"]["vectorWeight"],
                    "bm25_weight": params["fused"]["textWeight"],
                }
            elif step.rule == "halved_by_age":
                known = {
                    "created_ms": float(rows[candidate.id].timestamp_ms),
                    "half_life_days": settings["halfLifeDays"],
                    "now_ms": trace.now_ms,
                }
            failures += [
                f"{candidate.id}, {step.stage}: {name} is {i.get(name)}, it is {value}"
                for name, value in known.items()
                if i.get(name) != value
            ]
    return failures


def _gates(trace: Trace) -> list[str]:
    """The order after variety, and whom the least score lets through, made again from the stage before."""
    failures = []
    settings = trace.config[BLOCK]
    for record in trace.records:
        before, after = record.before, record.outcome.flow.order.tolist()
        came = before.order.tolist()
        if record.name == "variety":
            items = [(str(at), float(before.score[at]), trace.pool.rows[at].text) for at in came]
            if [int(each) for each in varied(items, settings["mmrLambda"])] != after:
                failures.append("variety: the texts give another order")
        if record.name == "min_score":
            least = settings["minScore"]
            good = [at for at in came if before.score[at] >= least]
            relaxed = min(least, settings["textWeight"])
            backed = [at for at in came if at in trace.pool.bm25 and before.score[at] >= relaxed]
            if (good or backed) != after:
                failures.append("min_score: the scores let others through")
    return failures


# ------------------------------------------------------------------ what can be turned


def _number_knob(key: str, meaning: str, low: float = 0.0, high: float = 1.0, step: float = 0.01) -> Knob:
    return Knob(f"{BLOCK}.{key}", "number", meaning, low, high, step)


KNOBS = (
    replace(LIMIT, high=MOST),
    Knob(f"{BLOCK}.candidateMultiplier", "whole", "hits of each search for one wanted", 1, 20, 1),
    _number_knob("vectorWeight", "of the cosine"),
    _number_knob("textWeight", "of the keyword score"),
    Knob(f"{BLOCK}.temporalDecay", "switch", "whether scores fade with age"),
    _number_knob("halfLifeDays", "days after which half of a score is left", 1, 365, 1),
    Knob(f"{BLOCK}.mmr", "switch", "whether alike ones stand apart"),
    _number_knob("mmrLambda", "of the score against variety"),
    _number_knob("minScore", "a score below this is not returned"),
)


def idle(trace: Trace, path: str) -> str:
    """Why turning the knob at a path cannot change this recall; empty where it can."""
    settings = trace.config[BLOCK]
    key = path.removeprefix(f"{BLOCK}.")
    if key in ("halfLifeDays", "mmrLambda"):
        needs = {"halfLifeDays": "temporalDecay", "mmrLambda": "mmr"}[key]
        return "" if settings[needs] else f"{needs} is off"
    if key == "vectorWeight" and trace.mode == "keyword":
        return "no question vector: the words count alone"
    return ""
