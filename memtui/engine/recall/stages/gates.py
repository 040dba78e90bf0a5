"""Gates before the score stages: minimum score, expiry, tags, and the rerank window."""

from __future__ import annotations

import numpy as np

from memtui.engine.recall.candidates import CandidatePool, Floats
from memtui.engine.recall.stage import Drop, Ranking, StageOutcome


def admit(
    flow: Ranking,
    pool: CandidatePool,
    *,
    min_score: float | None,
    window: int | None,
    tags: tuple[str, ...] = (),
) -> StageOutcome:
    """Drop what is below `min_score`, lacks a tag token, or has expired; then keep the first `window`.

    Everything below the window is discarded, not carried along (spec/retrieval 4.4, 4.5). None switches a
    gate off. Scores are unchanged.
    """
    dropped: dict[int, Drop] = {}
    kept: list[int] = []
    for index in flow.order.tolist():
        score = float(flow.score[index])
        if min_score is not None and not score >= min_score:
            dropped[index] = Drop("min_score", score, min_score)
        elif any(tag.lower() not in pool.rows[index].text.lower() for tag in tags):
            dropped[index] = Drop("tag")
        elif pool.expired[index]:
            dropped[index] = Drop(
                "expired", float(pool.rows[index].metadata.valid_until or 0), float(pool.now_ms)
            )
        else:
            kept.append(index)
    if window is not None:
        for position, index in enumerate(kept[window:], start=window + 1):
            dropped[index] = Drop("rerank_window", float(position), float(window))
        kept = kept[:window]
    params = {key: value for key, value in (("minScore", min_score), ("window", window)) if value is not None}
    if tags:
        params["tags"] = list(tags)  # type: ignore[assignment]
    return StageOutcome(
        Ranking(np.array(kept, np.int64), flow.score), dropped=dropped, params=params, kind="filter"
    )


# The last gates: hard cutoff, noise, MMR diversity, governance, limit. None of them changes a score.

NEAR_DUPLICATE = 0.85
"""Cosine above which (strictly) a memory counts as saying the same as one already chosen."""


def _indices(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def hard_cutoff(flow: Ranking, pool: CandidatePool, *, limit: float) -> StageOutcome:
    """Keep score >= limit (spec/retrieval 4.11)."""
    keep = flow.score[flow.order] >= limit
    dropped = {int(i): Drop("hard_cutoff", float(flow.score[i]), limit) for i in flow.order[~keep]}
    return StageOutcome(
        Ranking(flow.order[keep], flow.score), dropped=dropped, params={"hardMinScore": limit}, kind="filter"
    )


def noise_filter(flow: Ranking, pool: CandidatePool, *, enabled: bool) -> StageOutcome:
    """Drop memories whose text the regex noise filter matches, however relevant (spec/retrieval 4.12, 9.1)."""
    dropped: dict[int, Drop] = {}
    fired = np.full(pool.n, None, object)
    if enabled:
        for index in flow.order.tolist():
            fired[index] = pool.rows[index].noise
            if fired[index] is not None:
                dropped[index] = Drop("noise_filter")
    kept = _indices([i for i in flow.order.tolist() if i not in dropped])
    return StageOutcome(
        Ranking(kept, flow.score),
        inputs={"noise_rule": fired},
        dropped=dropped,
        params={"filterNoise": enabled},
        note="" if enabled else "off",
        kind="filter",
    )


class _Nearest:
    """For each of n memories the selected one that it is most like, so far."""

    def __init__(self, cosines: Floats) -> None:
        self.cosines = cosines
        self.cosine = np.full(len(cosines), -np.inf)
        self.who = np.full(len(cosines), -1, np.int64)

    def select(self, at: int) -> None:
        nearer = self.cosines[at] > self.cosine
        self.cosine[nearer] = self.cosines[at][nearer]
        self.who[nearer] = at


def mmr_diversity(flow: Ranking, pool: CandidatePool, *, drop: bool = False) -> StageOutcome:
    """Move near-duplicates of already selected memories to the end, in order (spec/retrieval 4.13).

    Scores are unchanged, so the list is no longer sorted by score. `drop` True removes them instead (the
    article's sample code). Memories without a vector are always selected; unequal lengths are never compared.
    """
    order = flow.order.tolist()
    partner = np.full(pool.n, None, object)
    similarity = np.full(pool.n, np.nan)
    selected: list[int] = []
    deferred: list[int] = []
    lengths: dict[int, list[int]] = {}
    for index in order:
        wide = pool.rows[index].wide
        if wide is not None:
            lengths.setdefault(len(wide), []).append(index)
    nearest = {n: _Nearest(pool.alike(n, members)) for n, members in lengths.items()}
    places = {index: at for members in lengths.values() for at, index in enumerate(members)}
    for index in order:
        wide = pool.rows[index].wide
        if wide is None:
            selected.append(index)
            continue
        found = nearest[len(wide)]  # vectors of another length are never compared
        at = places[index]
        if found.who[at] >= 0:
            similarity[index] = found.cosine[at]
            partner[index] = pool.rows[lengths[len(wide)][found.who[at]]].id
            if similarity[index] > NEAR_DUPLICATE:
                deferred.append(index)
                continue
        selected.append(index)
        found.select(at)
    late = set(deferred)
    dropped = (
        {i: Drop("mmr_diversity", float(similarity[i]), NEAR_DUPLICATE) for i in deferred} if drop else {}
    )
    return StageOutcome(
        Ranking(_indices(selected + ([] if drop else deferred)), flow.score),
        inputs={"nearest": partner, "cosine": similarity, "threshold": NEAR_DUPLICATE},
        rule=np.array(["deferred" if i in late else "unchanged" for i in range(pool.n)], object),
        dropped=dropped,
        params={"threshold": NEAR_DUPLICATE},
        kind="order",
    )


def limit_cut(flow: Ranking, pool: CandidatePool, *, limit: int) -> StageOutcome:
    """Keep the first `limit`."""
    dropped = {
        int(i): Drop("limit", float(p), float(limit)) for p, i in enumerate(flow.order[limit:], limit + 1)
    }
    return StageOutcome(
        Ranking(flow.order[:limit], flow.score), dropped=dropped, params={"limit": limit}, kind="filter"
    )


def governance(flow: Ranking, pool: CandidatePool) -> StageOutcome:
    """What auto-recall withholds: not confirmed, archive or reflection layer, suppressed (spec/retrieval 6)."""
    dropped: dict[int, Drop] = {}
    for index in flow.order.tolist():
        meta = pool.rows[index].metadata
        if meta.state != "confirmed" or meta.memory_layer in ("archive", "reflection"):
            dropped[index] = Drop("state")
        elif meta.suppressed_until_ms and pool.now_ms < meta.suppressed_until_ms:
            dropped[index] = Drop("suppressed", float(pool.now_ms), float(meta.suppressed_until_ms))
    states = np.array([f"{row.metadata.state}, {row.metadata.memory_layer}" for row in pool.rows], object)
    kept = _indices([i for i in flow.order.tolist() if i not in dropped])
    return StageOutcome(Ranking(kept, flow.score), inputs={"state": states}, dropped=dropped, kind="filter")


def adaptive_gate(flow: Ranking, pool: CandidatePool, *, rule: str | None, min_length: int) -> StageOutcome:
    """When the gate skips the question, the agent recalls nothing: all that was found stops here."""
    params = {"minLength": min_length}
    if rule is None:
        return StageOutcome(flow, params=params, kind="filter")
    dropped = {int(i): Drop("adaptive_gate") for i in flow.order}
    nothing = Ranking(_indices([]), flow.score)
    return StageOutcome(nothing, dropped=dropped, params=params, note=f"skipped: {rule}", kind="filter")
