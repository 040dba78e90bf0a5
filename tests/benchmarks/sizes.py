"""How large a benchmark is: small enough for every run, or the figures that are promised (MEMTUI_BENCHMARKS=full)."""

from __future__ import annotations

import os

FULL = os.environ.get("MEMTUI_BENCHMARKS") == "full"


def sized(quick: int, full: int) -> int:
    """The size for this run."""
    return full if FULL else quick
