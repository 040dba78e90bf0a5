"""Comparing one recorded recall with ours: ids, order and scores of every stage, ties as sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Item = tuple[str, float]
TIE = "a tie at a cut: equal scores on both sides, so either row may stay"


def differences(ours: Sequence[Item], theirs: Sequence[Item], tolerance: float, *, ties: float = 0.0) -> str:
    """Empty when both lists hold the same ids with the same scores in the same order; else what differs.

    Rows whose recorded scores lie within `ties` of each other may stand in any order.
    """
    if {i for i, _ in ours} != {i for i, _ in theirs} or len(ours) != len(theirs):
        mine, other = sorted(s for _, s in ours), sorted(s for _, s in theirs)
        close = all(abs(a - b) <= tolerance for a, b in zip(mine, other, strict=False))
        if ties and len(mine) == len(other) and close:
            return TIE
        return f"{len(ours)} ids against {len(theirs)}, {len({i for i, _ in ours} ^ {i for i, _ in theirs})} not shared"
    recorded = dict(theirs)
    worst = max((abs(score - recorded[i]) for i, score in ours), default=0.0)
    if worst > tolerance:
        return f"scores differ by {worst:.2g}"
    for (mine, _), (other, score) in zip(ours, theirs, strict=True):
        if mine != other and abs(recorded[mine] - score) > ties:
            return "order differs"
    return ""


def stage_items(document: dict[str, Any], stage: str) -> list[Item]:
    """(id, score) of every candidate that came out of `stage`, in order, from the JSON of a trace."""
    found = [
        (step["rank_after"], candidate["id"], step["after"])
        for candidate in document["candidates"]
        for step in candidate["steps"]
        if step["stage"] == stage and step["after"] is not None
    ]
    return [(i, score) for _, i, score in sorted(found)]
