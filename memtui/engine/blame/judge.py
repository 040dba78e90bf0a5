"""From evidence to a probability: a logistic rule whose weights stand in `weights.toml`.

`tests/quality/blame` fits them on planted sessions and says what each is worth: one set for the memories of a turn,
one for a sentence that is asked of the whole store.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import Literal

from memtui.engine.blame.evidence import NAMES, BlameEvidence

WEIGHTS = Path(__file__).with_name("weights.toml")

ACCUSED = 0.5
"""Confidence from which a memory is accused."""

Asked = Literal["turn", "store"]


@dataclass(frozen=True, slots=True)
class CauseRule:
    """One logistic rule: 1 / (1 + e^-(bias + weight * evidence + ...))."""

    bias: float
    weights: Mapping[str, float]

    def confidence(self, evidence: BlameEvidence) -> float:
        """The probability that a memory with this evidence caused the sentence, 0 to 1."""
        exponent = self.bias + sum(self.weights[name] * getattr(evidence, name) for name in NAMES)
        return 1 / (1 + exp(-max(-60.0, min(60.0, exponent))))


@cache
def rule(asked: Asked) -> CauseRule:
    """The rule for the memories of a turn, or for a whole store."""
    told = tomllib.loads(WEIGHTS.read_text(encoding="utf-8"))[asked]
    return CauseRule(float(told["bias"]), {name: float(told[name]) for name in NAMES})
