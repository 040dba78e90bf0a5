"""What goes from stage to stage, and what a stage answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from memtui.engine.recall.candidates import Floats, Ints


@dataclass(frozen=True)
class Ranking:
    """The living candidates in order, and everybody's current score.

    `order`: indices into the pool, best first. `score`: one entry a candidate, NaN before its first score.
    """

    order: Ints
    score: Floats

    def sorted(self, score: Floats) -> Ranking:
        """The same candidates by descending `score`; equal scores keep their order (the sorts are stable)."""
        keys = score[self.order]
        return Ranking(self.order[np.argsort(-keys, kind="stable")], score)


class Drop(NamedTuple):
    """Why a candidate went no further: the gate's name, the value tested, the limit it missed."""

    reason: str
    value: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class StageOutcome:
    """What one stage did.

    `rule` names the formula (one for all, or one a candidate, index = pool); `inputs` are its arguments, each a
    scalar or an array over the pool; `dropped` maps a candidate to the gate that it missed.
    """

    flow: Ranking
    rule: str | np.ndarray[Any, Any] = "unchanged"
    inputs: Mapping[str, Any] = field(default_factory=dict)
    dropped: Mapping[int, Drop] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    kind: str = "score"


def clip01(x: Floats) -> Floats:
    """min(1, max(0, x)) where x is known to be finite, or absent (NaN, which stays)."""
    return np.clip(x, 0.0, 1.0)


def clamp01(x: Floats, fallback: Floats | float) -> Floats:
    """min(1, max(0, x)); where x is not finite the fallback, 0 where that is not finite either."""
    safe = np.where(np.isfinite(x), np.clip(x, 0.0, 1.0), fallback)
    return np.where(np.isfinite(safe), np.clip(safe, 0.0, 1.0), 0.0)
