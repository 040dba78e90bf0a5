"""The stages of the plugin's recipes. A recipe of the plugin is an ordered list of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from memtui.engine.recall.candidates import CandidatePool, Floats, Hit
from memtui.engine.recall.context import WINDOW_FACTOR, StageContext
from memtui.engine.recall.lanes import Lane, LaneSearch
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome
from memtui.engine.recall.stage_spec import StageSpec
from memtui.engine.recall.stages import gates, rerank, scores


@dataclass(frozen=True)
class StagedRecipe:
    """A recipe that is a list of stages over two searches: the plugin's, and the built-in program's."""

    name: str
    stages: tuple[StageSpec, ...]
    source: str | None
    """The caller that it stands for: manual, cli, auto-recall."""
    limit: int
    decay_on: bool
    guarded: bool = False
    """Whether the caller asks the adaptive gate first and withholds by governance afterwards."""
    vector_search: Callable[[LaneSearch, Floats, str], Lane] | None = None
    """The one search of a plain recipe, which reads none of the plugin's settings: by vector, for an agent."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What a plain recipe always asks with."""

    @property
    def plain(self) -> bool:
        """The built-in program: one vector search, a floor, a limit; none of the plugin's settings."""
        return self.vector_search is not None


def _lane_outcome(lane: Lane, hits: dict[int, Hit], pool: CandidatePool) -> StageOutcome:
    score = np.full(pool.n, np.nan)
    for index, hit in hits.items():
        score[index] = hit.score
    order = np.array(sorted(hits, key=lambda index: hits[index].rank), np.int64)
    rule = np.full(pool.n, "unchanged", object)
    inputs: dict[str, np.ndarray[tuple[int], np.dtype[np.object_]]] = {}
    for index, hit in hits.items():
        rule[index] = hit.rule
        for name, value in hit.inputs.items():
            if name not in inputs:
                inputs[name] = np.full(pool.n, None, object)
            inputs[name][index] = value
    place = pool.place
    dropped = {
        place[d.row.id]: Drop(d.reason, d.score, d.limit) for d in lane.dropped if place[d.row.id] not in hits
    }
    return StageOutcome(
        Ranking(order, score),
        rule=rule,
        inputs=inputs,
        dropped=dropped,
        note=lane.warning,
        params={"via": lane.via, **lane.params},
        kind="search",
    )


def vector_ranked(flow: Ranking, pool: CandidatePool, s: StageContext) -> StageOutcome:
    """The hits of the vector search, in its order."""
    return _lane_outcome(s.vector_lane, dict(pool.vector), pool)


def _bm25_ranked(flow: Ranking, pool: CandidatePool, s: StageContext) -> StageOutcome:
    return _lane_outcome(s.bm25_lane, dict(pool.bm25), pool)


def _scored_input(flow: Ranking, pool: CandidatePool, s: StageContext) -> StageOutcome:
    """What the score stages start from when nothing reranks: the fused list, or the only lane there is."""
    if s.route in ("hybrid", "keyword"):
        return gates.admit(flow, pool, min_score=s.retrieval.min_score, window=None)
    found = vector_ranked(flow, pool, s) if s.route == "vector" else _bm25_ranked(flow, pool, s)
    admitted = gates.admit(
        found.flow, pool, min_score=None, window=None, tags=s.tags if s.route == "tag" else ()
    )
    dropped = {**found.dropped, **admitted.dropped}
    return StageOutcome(
        admitted.flow,
        found.rule,
        found.inputs,
        dropped,
        {**found.params, **admitted.params},
        found.note,
        "search",
    )


def _rerank_input(flow: Ranking, pool: CandidatePool, s: StageContext) -> StageOutcome:
    return gates.admit(flow, pool, min_score=s.retrieval.min_score, window=WINDOW_FACTOR * s.limit)


def _reranked(flow: Ranking, pool: CandidatePool, s: StageContext, *, floors: bool = True) -> StageOutcome:
    note = ""
    if s.retrieval.rerank == "cross-encoder":
        top_n = min(len(flow.order), max(1, s.retrieval.candidate_pool_size))
        answer = s.ask_reranker([pool.rows[i].text for i in flow.order.tolist()], top_n)
        if answer.scores is not None:
            return rerank.cross_encoder(flow, pool, scores=answer.scores, top_n=top_n, floors=floors)
        note = answer.note
    outcome = rerank.cosine(flow, pool, query=s.query_vector)
    joined = "; ".join(part for part in (note, outcome.note) if part)
    return StageOutcome(
        outcome.flow, outcome.rule, outcome.inputs, outcome.dropped, outcome.params, joined, outcome.kind
    )


def _recency(flow: Ranking, pool: CandidatePool, s: StageContext) -> StageOutcome:
    r = s.retrieval
    return scores.recency(flow, pool, half_life_days=r.recency_half_life_days, weight=r.recency_weight)


def _time_decay(flow: Ranking, pool: CandidatePool, s: StageContext) -> StageOutcome:
    r = s.retrieval
    return scores.time_decay(
        flow,
        pool,
        half_life_days=r.time_decay_half_life_days,
        reinforcement=r.reinforcement_factor,
        max_multiplier=r.max_half_life_multiplier,
    )


def _decay_boost(flow: Ranking, pool: CandidatePool, s: StageContext) -> StageOutcome:
    assert s.decay is not None  # the stage runs only with a decay engine
    return scores.decay_boost(flow, pool, params=s.decay.params())


def _fused(flow: Ranking, pool: CandidatePool, s: StageContext) -> StageOutcome:
    return scores.weighted(pool, vector_weight=s.retrieval.vector_weight, bm25_weight=s.retrieval.bm25_weight)


def _both(s: StageContext) -> bool:
    return s.route in ("hybrid", "keyword")


def _reranks(s: StageContext) -> bool:
    return _both(s) and s.retrieval.rerank != "none"


def _no_rerank(s: StageContext) -> bool:
    return not _reranks(s)


def _without_decay(s: StageContext) -> bool:
    return s.decay is None


def _with_decay(s: StageContext) -> bool:
    return s.decay is not None


_LANES = (
    StageSpec("vector_ranked", "vector", "search", vector_ranked, _both, fresh=True),
    StageSpec("bm25_ranked", "bm25", "search", _bm25_ranked, _both, fresh=True),
)

_ADMIT = (
    StageSpec("rerank_input", "min score, window", "filter", _rerank_input, _reranks),
    StageSpec("scored_input", "min score, expiry", "filter", _scored_input, _no_rerank),
)

_LENGTH = StageSpec(
    "length_normalization",
    "length",
    "score",
    lambda f, p, s: scores.length_normalization(f, p, anchor=s.retrieval.length_norm_anchor),
)

_RECENCY = StageSpec("recency_boost", "recency", "score", _recency, _without_decay)

_IMPORTANCE = StageSpec(
    "importance_weight", "importance", "score", lambda f, p, s: scores.importance(f, p), _without_decay
)

_TIME_DECAY = StageSpec("time_decay", "time decay", "score", _time_decay, _without_decay)

_DECAY = StageSpec("decay_boost", "decay", "score", _decay_boost, _with_decay)

_CUTOFF = StageSpec(
    "hard_cutoff",
    "hard cutoff",
    "filter",
    lambda f, p, s: gates.hard_cutoff(f, p, limit=s.retrieval.hard_min_score),
)

_NOISE = StageSpec(
    "noise_filter",
    "noise",
    "filter",
    lambda f, p, s: gates.noise_filter(f, p, enabled=s.retrieval.filter_noise),
)

_MMR = StageSpec("mmr_diversity", "mmr", "order", lambda f, p, s: gates.mmr_diversity(f, p))

LIMIT_CUT = StageSpec("limit", "limit", "filter", lambda f, p, s: gates.limit_cut(f, p, limit=s.limit))

_CALLER = (
    StageSpec(
        "governance", "governance", "filter", lambda f, p, s: gates.governance(f, p), lambda s: s.guarded
    ),
    StageSpec(
        "adaptive_gate",
        "adaptive gate",
        "filter",
        lambda f, p, s: gates.adaptive_gate(f, p, rule=s.gate_rule, min_length=s.gate_min_length),
        lambda s: s.guarded,
    ),
)

PRO_STAGES = (
    *_LANES,
    StageSpec("fused", "fusion", "score", _fused, _both, fresh=True),
    *_ADMIT,
    StageSpec("reranked", "rerank", "score", _reranked, _reranks),
    _RECENCY,
    _IMPORTANCE,
    _LENGTH,
    _TIME_DECAY,
    _DECAY,
    _CUTOFF,
    _NOISE,
    _MMR,
    LIMIT_CUT,
    *_CALLER,
)

ARTICLE_STAGES = (
    *_LANES,
    StageSpec("fused", "fusion +15 %", "score", lambda f, p, s: scores.bump(p), _both, fresh=True),
    *_ADMIT,
    StageSpec("reranked", "rerank", "score", partial(_reranked, floors=False), _reranks),
    _RECENCY,
    _IMPORTANCE,
    _LENGTH,
    _TIME_DECAY,
    _CUTOFF,
    StageSpec("mmr_diversity", "mmr", "order", lambda f, p, s: gates.mmr_diversity(f, p, drop=True)),
    LIMIT_CUT,
)
