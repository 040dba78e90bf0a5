"""Reranking: a cross-encoder's scores blended in, or the cosine blend where there is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtui.engine.recall.candidates import CandidatePool, Floats
from memtui.engine.recall.stage import Ranking, StageOutcome, clamp01, clip01

CROSS_SHARE, PRIOR_SHARE = 0.6, 0.4

COSINE_PRIOR, COSINE_SHARE = 0.7, 0.3

UNRETURNED_SHARE = 0.8

STRONG_BM25, GOOD_BM25 = 0.75, 0.60


KEPT_WHEN_RETURNED = (0.95, 0.90, 0.50)
"""Share of the prior score that stays at least: after a strong, a good, any other keyword match."""

KEPT_OTHERWISE = (1.0, 0.95, 0.80)


def _preservation(pool: CandidatePool, shares: tuple[float, float, float]) -> Floats:
    """Share of its prior score that a candidate keeps at least, by its keyword score."""
    strong, good, plain = shares
    b = np.nan_to_num(pool.b)
    return np.where(b >= STRONG_BM25, strong, np.where(b >= GOOD_BM25, good, plain))


def cross_encoder(
    flow: Ranking,
    pool: CandidatePool,
    *,
    scores: Sequence[tuple[int, float]],
    top_n: int,
    floors: bool = True,
) -> StageOutcome:
    """Blend 0.6 * reranker + 0.4 * prior, not below a share of the prior (spec/retrieval 4.5).

    `top_n`: how many documents the reranker was asked for. `scores`: (position in `flow.order`, score as
    delivered, not normalised) in the provider's order. Positions outside the window and repeated ones are
    ignored. Candidates that were not returned keep 0.8 of their prior, or more when their keywords matched
    well. `floors` False is the article's plain blend.
    """
    prior = flow.score
    raw = np.full(pool.n, np.nan)
    returned: list[int] = []
    for position, delivered in scores:
        if 0 <= position < len(flow.order) and np.isnan(raw[flow.order[position]]):
            raw[flow.order[position]] = delivered
            returned.append(int(flow.order[position]))
    has = ~np.isnan(raw)
    keep = np.where(has, _preservation(pool, KEPT_WHEN_RETURNED), _preservation(pool, KEPT_OTHERWISE))
    if not floors:
        keep = np.zeros(pool.n)
    floor = prior * keep
    blended = np.where(
        has,
        clamp01(np.nan_to_num(raw) * CROSS_SHARE + prior * PRIOR_SHARE, floor),
        clip01(prior * UNRETURNED_SHARE),
    )
    mixed = np.maximum(clip01(floor), blended)
    score = np.where(np.isnan(prior), np.nan, mixed)
    rest = [index for index in flow.order.tolist() if not has[index]]
    rule = np.where(has, "rerank_blend", "rerank_unreturned").astype(object)
    inputs = {"reranked": raw, "keep": keep, "prior": prior}
    return StageOutcome(
        Ranking(np.array(returned + rest, np.int64), prior).sorted(score),
        rule=rule,
        inputs=inputs,
        params={"floors": floors, "top_n": top_n, "answer": tuple(scores)},
    )


def cosine(flow: Ranking, pool: CandidatePool, *, query: Floats | None) -> StageOutcome:
    """The fallback: 0.7 * prior + 0.3 * cosine(question, memory), cosine possibly negative.

    When there is no question vector, or any memory of the window has a vector of another length or none, the
    whole window is returned unchanged (the peer's `cosine_error`).
    """
    vectors = [pool.rows[index].vector for index in flow.order.tolist()]
    if query is None or any(vector is None or len(vector) != len(query) for vector in vectors):
        note = (
            "no question vector"
            if query is None
            else "cosine_error: a memory's vector is missing or of another length"
        )
        return StageOutcome(flow, note=f"order kept: {note}")
    if not len(flow.order):
        return StageOutcome(flow)
    matrix = np.array(vectors, np.float64)
    norms = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
    dots = matrix @ query
    cos = np.full(pool.n, np.nan)
    cos[flow.order] = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
    prior = flow.score
    score = np.where(
        np.isnan(cos), prior, clamp01(prior * COSINE_PRIOR + np.nan_to_num(cos) * COSINE_SHARE, prior)
    )
    inputs = {"cosine": cos, "prior": prior}
    return StageOutcome(flow.sorted(score), rule="cosine_blend", inputs=inputs)
