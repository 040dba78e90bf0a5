"""How sure it is that the best memory answers at all: a probability, calibrated on questions with and without answer.

The recipe stretches its pool, so its best hit always reaches the top, answer or not. Looked at here is what is not
stretched: how well each word of the question is met by one of the memory's own words, rare words counting more.
`tests/quality/confidence.py` fits it on questions whose answer is in the table and on questions whose answer is not,
half of each. Cosine and literal words were tried beside it and recognise no unanswered question more.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from memtui.engine.recall.trace import Confidence

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


BIAS, MET_WEIGHT = -3.35, 4.97
"""The probability is 1 / (1 + e^-(BIAS + MET_WEIGHT * met))."""

LOOKED_AT = 3
"""The best of so many counts: a score that is lent may put the memory beside the answer first."""


def confidence(trace: Trace) -> Confidence | None:
    """How sure it is that a recall by `memtui` answers; None where that cannot be told.

    Not told: without results, and of questions of which the bundled model knows no word.
    """
    found = [(met, id) for id in trace.returned[:LOOKED_AT] if (met := own_words_met(trace, id)) is not None]
    if not found:
        return None
    met, memory = max(found, key=lambda each: each[0])
    return Confidence(memory, probability(met), met)


def own_words_met(trace: Trace, memory: str) -> float | None:
    """How well a memory's own words meet the question's: the weighted mean of their best cosines.

    What the memory before lends is left out. None where it was not compared word by word.
    """
    candidate = next((each for each in trace.candidates if each.id == memory), None)
    stage = next((each for each in trace.stages if each.name == "late_interaction"), None)
    if candidate is None or stage is None:
        return None
    step = next((each for each in candidate.steps if each.stage == stage.name), None)
    cosines = step.inputs.get("cosines") if step is not None else None
    weights = stage.params.get("weights")
    if not cosines or not weights or not sum(weights) > 0:
        return None
    return float(sum(w * c for w, c in zip(weights, cosines, strict=True)) / sum(weights))


def probability(met: float) -> float:
    """That a memory which meets the words so well answers."""
    return 1 / (1 + exp(-(BIAS + MET_WEIGHT * met)))
