"""How large a benchmark is: small enough for every run, or what is promised (MEMTUI_BENCHMARKS=full, ten-million)."""

from __future__ import annotations

import os

FULL = os.environ.get("MEMTUI_BENCHMARKS") == "full"

TEN_MILLION = os.environ.get("MEMTUI_BENCHMARKS") == "ten-million"
"""Five minutes and 5 GB on the disk for one store."""


def sized(quick: int, full: int) -> int:
    """The size for this run."""
    return full if FULL else quick
