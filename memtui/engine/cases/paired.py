"""Whether A is really better than B: a paired randomisation test over the cases (Fisher 1935)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

EXACT_UP_TO = 14
"""Up to this many differing cases all sign patterns are tried; beyond it a sample of them."""
SAMPLES = 20_000
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Paired:
    """The comparison of two configurations on the same cases."""

    cases: int
    better: int
    """Cases that B answers better."""
    worse: int
    difference: float
    """Mean of B minus A."""
    p: float
    """Probability of a difference at least as large if A and B were the same."""

    @property
    def distinguishable(self) -> bool:
        """Whether the difference is unlikely to be chance at the 5 % level."""
        return self.p < LEVEL

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.better == self.worse == 0:
            return f"A and B answer all {self.cases} cases alike"
        if not self.distinguishable:
            return f"not distinguishable on {self.cases} cases (p {self.p:.2g})"
        return f"{'B' if self.difference > 0 else 'A'} is better (p {self.p:.2g}, {self.cases} cases)"


def paired(a: Sequence[float], b: Sequence[float], rng: random.Random) -> Paired:
    """Compare per-case values of A and B, larger is better; `rng` draws the sample for many cases."""
    differences = [y - x for x, y in zip(a, b, strict=True)]
    moved = [d for d in differences if d != 0]
    observed = abs(sum(moved))
    if not moved:
        p = 1.0
    elif len(moved) <= EXACT_UP_TO:
        patterns = itertools.product((1, -1), repeat=len(moved))
        extreme = sum(
            abs(sum(s * d for s, d in zip(signs, moved, strict=True))) >= observed - 1e-12
            for signs in patterns
        )
        p = extreme / 2 ** len(moved)
    else:
        extreme = sum(
            abs(sum(d if rng.random() < 0.5 else -d for d in moved)) >= observed - 1e-12
            for _ in range(SAMPLES)
        )
        p = (extreme + 1) / (SAMPLES + 1)
    n = len(differences)
    return Paired(
        n, sum(d > 0 for d in moved), sum(d < 0 for d in moved), sum(differences) / n if n else 0.0, p
    )
