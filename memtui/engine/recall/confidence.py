"""How sure it is that the best memory answers at all: a probability, calibrated on questions with and without answer.

Two things are looked at. How well the words of the question are met by one of the first memories, or just before it,
rare words counting more: it is not stretched over the pool, whose best always reaches the top, answer or not. And how
much of all the weight that there is the best memory gathers: where meaning, words, speaker and time speak for one
and the same memory it is more likely the answer than where each speaks for another. In notes the length of the question
counts too: a long message seldom has one note that answers it. `tests/quality/confidence.py` fits it, for dialogues and
notes apart, and writes it into `weights.toml` beside the recipe, with errors and with what each part is worth.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.recall.trace import Confidence

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


WEIGHTS = Path(__file__).parent / "recipes" / "memtui" / "weights.toml"

LONG_FROM, LONG_TO = 12, 40
"""Words from which a question begins to be long, and from which it is."""

LOOKED_AT = 3
"""The best met of so many counts: the memory beside the answer may stand first."""

UNKNOWN = 0.5
"""From this share of words in a script that the bundled model never learned nothing can be told."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the probability is made of: 1 / (1 + e^-(bias + met * met + gathered * gathered + long * long))."""

    bias: float
    met: float
    gathered: float
    long: float
    line: float
    """Below this exponent no memory answers well: one question in twenty that has an answer is wrongly said to
    have none."""
    long_line: float
    """What a long question adds to it."""

    def of(self, met: float, gathered: float, long: float) -> tuple[float, float]:
        """(the probability, the line below which nothing answers); `long` as `longness` says."""
        exponent = self.bias + self.met * met + self.gathered * gathered + self.long * long
        return 1 / (1 + exp(-exponent)), 1 / (1 + exp(-(self.line + self.long_line * long)))


def longness(question: str) -> float:
    """0 for a short question, 1 for a long one."""
    return min(1.0, max(0.0, (len(question.split()) - LONG_FROM) / (LONG_TO - LONG_FROM)))


@lru_cache(maxsize=2)
def judgement(profile: str) -> Judgement:
    """What is fitted for a profile, `dialogue` or `notes`."""
    told = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))[profile]["confidence"]
    return Judgement(**{name: float(told[name]["weight"]) for name in Judgement.__dataclass_fields__})


def confidence(trace: Trace) -> Confidence | None:
    """How sure it is that a recall by `memtui` answers; None where that cannot be told.

    Not told: without results, and of questions of which the bundled model knows too little.
    """
    late = next((each for each in trace.records if each.name == "late_interaction"), None)
    if late is None or not trace.returned or _unknown(trace.query):
        return None
    weights = np.array(late.outcome.params["weights"], np.float64)
    if not weights.sum() > 0:
        return None
    settings = trace.config["memtui"]
    inputs = late.outcome.inputs
    pieces = inputs["cosines"]
    if "before" in inputs:
        pieces = np.fmax(pieces, settings["contextWeight"] * inputs["before"])
    place = {row.id: at for at, row in enumerate(trace.pool.rows)}
    met = {each: float(pieces[place[each]] @ weights / weights.sum()) for each in trace.returned[:LOOKED_AT]}
    memory = max(met, key=lambda each: met[each])
    last = trace.records[-1].outcome.flow
    gathered = float(last.score[last.order[0]]) / most(settings, {each.name for each in trace.records})
    probability, line = judgement(settings["profile"]).of(met[memory], gathered, longness(trace.query))
    return Confidence(memory, probability, met[memory], gathered, line)


def most(settings: Mapping[str, Any], ran: set[str]) -> float:
    """The weight that a memory has which everything speaks for; 1 where nothing has any."""
    counted = ["vectorWeight", "lateWeight", "bm25Weight", "dateWeight"]
    counted += ["speakerWeight"] if settings["profile"] == "dialogue" else []
    counted += ["tokenWeight"] if "token_vectors" in ran else []
    return sum(float(settings[key]) for key in counted) or 1.0


def _unknown(question: str) -> bool:
    from memtui.engine.recall.recipes.memtui.settings import covered_by_model

    return covered_by_model(question).uncovered >= UNKNOWN
