"""The stages of the recipe `memtui`: each adds one signal to the score and says what it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memtui.engine.recall.candidates import CandidatePool
from memtui.engine.recall.recipes.memtui.evidence import MILLISECONDS_A_DAY, Evidence, stretch
from memtui.engine.recall.recipes.memtui.signals import ASKS, of_stage
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome


def fused(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """wv * stretched cosine + wb * BM25 / best BM25 + wi * share of identifiers, over all that was found."""
    settings = asked.settings
    inside = np.zeros(pool.n, np.bool_)
    for hits in (pool.vector, pool.bm25, asked.by_identifier, asked.following):
        inside[list(hits)] = True
    found = np.flatnonzero(inside)
    cosine = stretch(np.where(inside, asked.cosines, np.nan))
    best = float(np.nanmax(pool.b)) if pool.bm25 else 0.0
    words = np.nan_to_num(pool.b) / best if best > 0 else np.zeros(pool.n)
    share = np.zeros(pool.n)
    for index, hit in asked.by_identifier.items():
        share[index] = hit.score
    score = (
        settings.vector_weight * cosine.value
        + settings.bm25_weight * words
        + settings.identifier_weight * share
    )
    score = np.where(inside, score, np.nan)
    inputs = {
        "cosine": cosine.raw,
        "lowest_cosine": cosine.low,
        "highest_cosine": cosine.high,
        "vector_weight": settings.vector_weight,
        "bm25": pool.b,
        "highest_bm25": best,
        "bm25_weight": settings.bm25_weight,
    }
    if asked.identifiers:
        inputs |= {"identifiers": share, "identifier_weight": settings.identifier_weight}
    params = {"question": asked.question, "removed": dict(asked.clean.removed)}
    return StageOutcome(Ranking(found, score).sorted(score), "stretched_sum", inputs, params=params)


def late_interaction(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """score + wm * stretched m; m says how well each word of the clean question is met, here or just before."""
    assert asked.met is not None  # the stage runs only with the model
    met, weight, context = asked.met, asked.settings.late_weight, asked.settings.context_weight
    inside = np.zeros(pool.n, np.bool_)
    inside[flow.order] = True
    m = stretch(np.where(inside, met.score(context), np.nan))
    inputs: dict[str, Any] = {
        "met": m.raw,
        "lowest_met": m.low,
        "highest_met": m.high,
        "late_weight": weight,
        "cosines": met.cosines,
    }
    if not np.isnan(met.before).all():
        inputs |= {"before": met.before, "context_weight": context}
    params = {
        "question": asked.clean.text,
        "pieces": list(met.question.tokens),
        "lengths": list(met.lengths),
        "rarity": list(met.rarity),
        "weights": list(met.weights),
    }
    return _plus(flow, weight * m.value, inside, "late_interaction", inputs, params)


def token_vectors(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """score + wt * stretched m of the token vectors: the words as they stand in their sentence and its turn."""
    assert asked.read is not None  # the stage runs only where there are any
    inside = np.zeros(pool.n, np.bool_)
    inside[flow.order] = True
    m = stretch(np.where(inside, asked.read.score(), np.nan))
    inputs = {
        "read": m.raw,
        "lowest_read": m.low,
        "highest_read": m.high,
        "token_weight": asked.settings.token_weight,
        "cosines": asked.read.cosines,
    }
    params = {
        "question": asked.clean.text,
        "pieces": list(asked.read.tokens),
        "rarity": list(asked.read.rarity),
        "fresh": asked.read.fresh,
    }
    return _plus(flow, asked.settings.token_weight * m.value, inside, "token_vectors", inputs, params)


def speaker(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """score + ws for what the only speaker that the question names has said."""
    named = asked.speaker
    said = np.array([bool(named) and name == named for name in asked.speakers], np.bool_)
    inputs = {
        "speaker": np.array([name or None for name in asked.speakers], object),
        "speaker_weight": asked.settings.speaker_weight,
    }
    params = {"named": list(asked.clean.named)}
    return _plus(flow, asked.settings.speaker_weight * said, said, "speaker_named", inputs, params)


def date(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """score + wd for memories of a time that the question names."""
    within = np.array([any(span.holds(at) for span in asked.spans) for at in pool.timestamp], np.bool_)
    inputs = {"timestamp_ms": pool.timestamp, "date_weight": asked.settings.date_weight}
    params = {"spans": [(span.start_ms, span.end_ms, span.phrase) for span in asked.spans]}
    return _plus(flow, asked.settings.date_weight * within, within, "date_named", inputs, params)


def neighbours(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """score + weight * signal for what the memory's place in its session says."""
    inside = np.array([any(ids) for ids in asked.around], np.bool_)
    beside = {
        "previous": np.array([first for first, _ in asked.around], object),
        "next": np.array([second for _, second in asked.around], object),
    }
    return _signals(flow, asked, "neighbours", inside, beside, {})


def kind(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """score + weight * signal for what kind of text the memory is."""
    params = {name: wanted.holds(asked.question) for name, wanted in ASKS.items()}
    return _signals(flow, asked, "kind", np.ones(pool.n, np.bool_), {}, params)


def _signals(
    flow: Ranking,
    asked: Evidence,
    stage: str,
    applies: np.ndarray[tuple[int], np.dtype[np.bool_]],
    more: Mapping[str, Any],
    params: Mapping[str, Any],
) -> StageOutcome:
    inputs = dict(more)
    gain = np.zeros(len(flow.score))
    for signal in of_stage(stage):
        weight = getattr(asked.settings.signals, signal.name)
        inputs |= {signal.name: asked.signals[signal.name], f"{signal.name}_weight": weight}
        gain = gain + weight * asked.signals[signal.name]
    return _plus(flow, gain, applies, stage, inputs, params)


def recency(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """score + wr * 2^(-age / half-life), where newer memories are asked for; ages count from the newest one."""
    settings = asked.settings
    known = pool.timestamp > 0
    age = np.maximum(0.0, (asked.newest_ms - pool.timestamp) / MILLISECONDS_A_DAY)
    fresh = settings.recency_weight * np.exp2(-age / settings.recency_half_life_days)
    inputs = {
        "age_days": np.where(known, age, np.nan),
        "half_life_days": settings.recency_half_life_days,
        "recency_weight": settings.recency_weight,
    }
    params = {"asked_by": asked.newest_wanted, "newest_ms": asked.newest_ms}
    return _plus(flow, np.where(known, fresh, 0.0), known, "newer", inputs, params)


def min_score(flow: Ranking, pool: CandidatePool, asked: Evidence) -> StageOutcome:
    """Keep score >= the minimum."""
    limit = asked.settings.min_score
    keep = flow.score[flow.order] >= limit
    dropped = {int(i): Drop("min_score", float(flow.score[i]), limit) for i in flow.order[~keep]}
    params = {"minScore": limit}
    return StageOutcome(Ranking(flow.order[keep], flow.score), dropped=dropped, params=params, kind="filter")


def _plus(
    flow: Ranking,
    gain: np.ndarray[Any, np.dtype[np.floating[Any]]],
    applies: np.ndarray[tuple[int], np.dtype[np.bool_]],
    rule: str,
    inputs: Mapping[str, Any],
    params: Mapping[str, Any],
) -> StageOutcome:
    """The score and `gain` where it applies, in the new order."""
    score = flow.score + np.where(applies, gain, 0.0)
    rules = np.where(applies, rule, "unchanged").astype(object)
    return StageOutcome(flow.sorted(score), rules, inputs, params=params)
