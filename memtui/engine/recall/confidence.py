"""How sure it is that the best memory answers at all: a probability, calibrated on questions with and without answer.

The recipe stretches its pool, so its best hit always reaches the top, answer or not. Looked at here is what is not
stretched: how well the words of the question are met by the memory's own words, and how well by any candidate's,
rare words counting more; and how long the question is, for a long one seldom has one memory that answers it.
`tests/quality/confidence.py` fits it on questions whose answer is in the table and on questions whose answer is not,
half of each. Score, lead over the next ones, cosine, keywords, speaker and the rarest word were tried beside these:
they tell apart no more once questions without an answer among the best three count as answerable too.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.recall.trace import Confidence

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


BIAS, MET, COVERED, LONG = -4.22, 4.03, 1.65, -1.67
"""The probability is 1 / (1 + e^-(BIAS + MET * met + COVERED * covered + LONG * long))."""

LINE, LONG_LINE = -1.70, -0.9
"""Below LINE + LONG_LINE * long, as the exponent, no memory answers well: one question in twenty that has an answer
is wrongly said to have none."""

LONG_FROM, LONG_TO = 12, 40
"""Words from which a question begins to be long, and from which it is."""

LOOKED_AT = 3
"""The best of so many counts: the memory beside the answer may stand first."""

UNKNOWN = 0.5
"""From this share of words in a script that the bundled model never learned nothing can be told."""


def confidence(trace: Trace) -> Confidence | None:
    """How sure it is that a recall by `memtui` answers; None where that cannot be told.

    Not told: without results, and of questions of which the bundled model knows too little.
    """
    record = next((each for each in trace.records if each.name == "late_interaction"), None)
    if record is None or not trace.returned or _unknown(trace.query):
        return None
    weights = np.array(record.outcome.params["weights"], np.float64)
    if not weights.sum() > 0:
        return None
    cosines = record.outcome.inputs["cosines"]
    place = {row.id: at for at, row in enumerate(trace.pool.rows)}
    met = {each: float(cosines[place[each]] @ weights / weights.sum()) for each in trace.returned[:LOOKED_AT]}
    memory = max(met, key=lambda each: met[each])
    covered = float(cosines[record.outcome.flow.order].max(axis=0) @ weights / weights.sum())
    probability, line = judged(met[memory], covered, len(trace.query.split()))
    return Confidence(memory, probability, met[memory], covered, line)


def judged(met: float, covered: float, words: int) -> tuple[float, float]:
    """(the probability, the line below which nothing answers) for a question of so many words."""
    long = min(1.0, max(0.0, (words - LONG_FROM) / (LONG_TO - LONG_FROM)))
    return (
        1 / (1 + exp(-(BIAS + MET * met + COVERED * covered + LONG * long))),
        1 / (1 + exp(-(LINE + LONG_LINE * long))),
    )


def _unknown(question: str) -> bool:
    from memtui.engine.recall.recipes.memtui.settings import covered_by_model

    return covered_by_model(question).uncovered >= UNKNOWN
