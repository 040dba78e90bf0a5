"""Comparing texts by their vectors within one run: noise that was learned, and candidates that say the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memtui.engine.core.javascript import utf16_len

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NOISE_AT = 0.82

KNOWN_NOISE_AT = 0.90

BROKEN_ABOVE = 0.98
"""Two unlike prototypes nearer than this mean that the embedder tells nothing apart."""

MOST_LEARNED = 200

SHORTEST, LONGEST = 9, 300

DUPLICATE_ABOVE = 0.85


def cosine(left: Any, right: Any) -> float:
    """The cosine of two vectors; 0 where one is empty, of another length or all zeros."""
    import numpy as np

    a, b = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if a.shape != b.shape or not a.size:
        return 0.0
    norms = math.sqrt(float(np.dot(a, a))) * math.sqrt(float(np.dot(b, b)))
    return float(np.dot(a, b)) / norms if norms else 0.0


@dataclass(slots=True)
class NoiseBank:
    """Sentences that are noise, as vectors: given ones, and ones learned while the process lives."""

    prototypes: Sequence[NDArray[np.float32]] = ()
    learned: list[NDArray[np.float32]] = field(default_factory=list)

    @property
    def working(self) -> bool:
        """Whether the bank judges at all: an embedder that finds two unlike sentences alike switches it off."""
        given = self.prototypes
        return bool(given) and not (len(given) > 1 and cosine(given[0], given[1]) > BROKEN_ABOVE)

    def nearest(self, vector: Any) -> float:
        """The cosine to the nearest sentence of the bank, 0 in an empty one."""
        return max(
            (cosine(vector, prototype) for prototype in (*self.prototypes, *self.learned)), default=0.0
        )

    def is_noise(self, vector: Any) -> bool:
        """Whether a text of this vector is noise."""
        return self.working and self.nearest(vector) >= NOISE_AT

    def learn(self, vector: Any) -> bool:
        """Learn a sentence as noise unless the bank knows one like it; whether it grew."""
        if not self.working or self.nearest(vector) >= KNOWN_NOISE_AT:
            return False
        self.learned.append(vector)
        del self.learned[: max(0, len(self.learned) - MOST_LEARNED)]
        return True


def bank_reads(text: str) -> bool:
    """Whether a text is of a length that the bank judges, 9 to 300 UTF-16 units."""
    return SHORTEST <= utf16_len(text) <= LONGEST


def batch_dedup(vectors: Sequence[Any]) -> tuple[list[int], list[int]]:
    """(surviving, duplicate) places: a later vector is a duplicate of an earlier survivor above cosine 0.85."""
    surviving: list[int] = []
    duplicate: list[int] = []
    for at, vector in enumerate(vectors):
        near = any(cosine(vectors[kept], vector) > DUPLICATE_ABOVE for kept in surviving)
        (duplicate if near else surviving).append(at)
    return surviving, duplicate
