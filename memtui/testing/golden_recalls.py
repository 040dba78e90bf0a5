"""Recorded recalls of the real program, compared with what a recipe answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.engine import Engine

TOLERANCE = 1e-6
"""Scores that differ by no more are equal, and memories with equal scores may stand in either order."""


@dataclass(frozen=True, slots=True)
class GoldenRecall:
    """One recorded recall: what was asked, and (id, score) in the program's order."""

    question: str
    vector: Sequence[float]
    results: Sequence[tuple[str, float]]
    limit: int | None = None
    scopes: Sequence[str] | None = None
    category: str | None = None


def check_recalls(
    engine: Engine, recalls: Sequence[GoldenRecall], recipe: str = "", tolerance: float = TOLERANCE
) -> list[str]:
    """What differs from the recordings, a sentence for each recall that does; empty where all are equal.

    Every score must be the recorded one at its rank. Memories of equal score may change places, and at the end
    of a full answer one of them may stand for another.
    """
    from memtui.engine import RecallRequest

    wrong = []
    for golden in recalls:
        request = RecallRequest(
            golden.question,
            recipe=recipe,
            query_vector=list(golden.vector),
            limit=golden.limit,
            scopes=golden.scopes,
            category=golden.category,
        )
        trace = engine.recall(request)
        found = [
            (candidate.id, float(candidate.score))
            for candidate in sorted(
                (one for one in trace.candidates if one.rank is not None), key=lambda one: one.rank or 0
            )
            if candidate.score is not None
        ]
        if not trace.proof.recomputed:
            wrong.append(
                f"{golden.question!r}: the scores do not prove: {'; '.join(trace.proof.failures[:2])}"
            )
        if difference := _difference(golden.results, found, tolerance):
            wrong.append(f"{golden.question!r}: {difference}")
    return wrong


def _difference(
    recorded: Sequence[tuple[str, float]], found: Sequence[tuple[str, float]], tolerance: float
) -> str:
    if len(recorded) != len(found):
        return f"{len(found)} results, recorded are {len(recorded)}"
    for rank, ((wanted, score), (given, own)) in enumerate(zip(recorded, found, strict=True), 1):
        if abs(score - own) > tolerance:
            return f"rank {rank} ({given}) has the score {own}, recorded is {score} ({wanted})"
    last = recorded[-1][1] if recorded else 0.0
    above = {row for row, score in recorded if score - last > tolerance}
    missing = above - {row for row, score in found if score - last > tolerance}
    if missing:
        return f"not found though recorded: {', '.join(sorted(missing))}"
    for rank, ((wanted, score), (given, _)) in enumerate(zip(recorded, found, strict=True), 1):
        tied = [row for row, other in recorded if abs(other - score) <= tolerance]
        if given != wanted and given not in tied and abs(score - last) > tolerance:
            return f"rank {rank} is {given}, recorded is {wanted}"
    return ""
