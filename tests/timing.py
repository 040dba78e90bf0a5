"""Time as a ratio: what one thing costs beside another in the same run, never in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

LEAST_S = 0.002
"""What the clock cannot tell apart from nothing."""


def spent(work: Callable[[], object], tries: int = 3) -> float:
    """Processor seconds that `work` takes, the least of some tries, at least what the clock can tell."""
    least = float("inf")
    for _ in range(tries):
        started = time.process_time()
        work()
        least = min(least, time.process_time() - started)
    return max(least, LEAST_S)
