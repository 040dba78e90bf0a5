"""What a benchmark found beside its limit: a line for the table of `.ci/benchmarks`, and the failure of a miss."""

from __future__ import annotations

import json

MARK = "measured: "
"""What the line begins with."""


class LimitMissedError(AssertionError):
    """A figure is over its limit; any other failure of a benchmark says nothing of what it measures."""


def within(found: float, limit: float, what: str = "", *, spread: float | None = None) -> None:
    """Print the figure, and fail where it is over `limit`.

    `what` tells several figures of one benchmark apart. `spread` is how far its tries lie apart, as a share of the
    middle one; None where there was one try.
    """
    told = {"what": what, "found": found, "limit": limit, "spread": spread}
    print(f"\n{MARK}{json.dumps(told)}")
    if not found <= limit:
        raise LimitMissedError(f"{what + ': ' if what else ''}{found:.4g} is over the limit of {limit:.4g}")


def spread_of(tries: list[float]) -> float | None:
    """How far tries lie apart, as a share of the middle one; None for fewer than two."""
    ordered = sorted(tries)
    middle = ordered[len(ordered) // 2] if ordered else 0.0
    return (ordered[-1] - ordered[0]) / middle if len(ordered) > 1 and middle else None
