"""Reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence

K = 60


def reciprocal_ranks(
    lists: Sequence[Sequence[str]], *, limit: int | None = None, k: int = K
) -> list[tuple[str, float]]:
    """(id, sum of 1 / (k + rank) over the lists, ranks from 1): highest first, equal scores by id."""
    scores: dict[str, float] = {}
    for ids in lists:
        for rank, each in enumerate(dict.fromkeys(ids), 1):
            scores[each] = scores.get(each, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
