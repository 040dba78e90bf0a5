"""How the two lists of a hybrid search become one, with LanceDB's own arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memtui.engine.recall.candidates import Floats

RANK_OFFSET = 60
"""Of reciprocal ranks: the first of a list counts 1 / 61."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The least and the greatest number of a list, by which it is stretched to 0 ... 1."""

    low: float
    high: float

    def of(self, value: float) -> float:
        """A number of the list stretched, in the 32 bits of the list: all equal ones become 0."""
        low, high, given = (np.float32(each) for each in (self.low, self.high, value))
        return float((given - low) / (high - low)) if high != low else float(given - low)


def stretch_of(numbers: Floats) -> Stretch:
    """The stretch of a list, NaN left out."""
    there = numbers[~np.isnan(numbers)]
    return Stretch(float(there.min()), float(there.max())) if len(there) else Stretch(0.0, 0.0)


def reciprocal(vector_rank: float | None, words_rank: float | None) -> float:
    """The sum of 1 / (60 + rank) over the lists that a row stands in."""
    ranks = [each for each in (vector_rank, words_rank) if each is not None and not np.isnan(each)]
    return narrow(sum(1 / (RANK_OFFSET + rank) for rank in ranks))


def linear(
    distance: float | None, words: float | None, weight: float, lists: tuple[Stretch | None, Stretch | None]
) -> float:
    """The weighted sum of both stretched numbers; None where the row is not in a list, or the list is empty.

    Where one list is empty the other counts alone and unweighted.
    """
    vector, text = lists
    near = None if distance is None or vector is None else 1 - vector.of(distance)
    told = None if words is None or text is None else text.of(words)
    if vector is None:
        return narrow(told or 0.0)
    if text is None:
        return narrow(near or 0.0)
    return narrow(weight * (near or 0.0) + (1 - weight) * (told or 0.0))


def narrow(value: float) -> float:
    """In 32 bits, as the scores are kept and sorted."""
    return float(np.float32(value))
