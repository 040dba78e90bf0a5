"""Gates before the score stages: minimum score, expiry, tags, and the rerank window."""

from __future__ import annotations

import numpy as np

from memtui.engine.recall.flow import Flow, Gate, Outcome
from memtui.engine.recall.pool import Pool


def admit(
    flow: Flow, pool: Pool, *, min_score: float | None, window: int | None, tags: tuple[str, ...] = ()
) -> Outcome:
    """Drop what is below `min_score`, lacks a tag token, or has expired; then keep the first `window`.

    Everything below the window is discarded, not carried along (spec/retrieval 4.4, 4.5). None switches a
    gate off. Scores are unchanged.
    """
    dropped: dict[int, Gate] = {}
    kept: list[int] = []
    for index in flow.order.tolist():
        score = float(flow.score[index])
        if min_score is not None and not score >= min_score:
            dropped[index] = Gate("min_score", score, min_score)
        elif any(tag.lower() not in pool.rows[index].text.lower() for tag in tags):
            dropped[index] = Gate("tag")
        elif pool.expired[index]:
            dropped[index] = Gate(
                "expired", float(pool.rows[index].metadata.valid_until or 0), float(pool.now_ms)
            )
        else:
            kept.append(index)
    if window is not None:
        for position, index in enumerate(kept[window:], start=window + 1):
            dropped[index] = Gate("rerank_window", float(position), float(window))
        kept = kept[:window]
    params = {key: value for key, value in (("minScore", min_score), ("window", window)) if value is not None}
    if tags:
        params["tags"] = list(tags)  # type: ignore[assignment]
    return Outcome(Flow(np.array(kept, np.int64), flow.score), dropped=dropped, params=params, kind="filter")
