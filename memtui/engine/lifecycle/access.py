"""How use stretches a memory's half-life: access reinforcement (spec/retrieval 8.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtui.engine.js import number
from memtui.engine.metadata import parse_object

DAY_MS = 86_400_000
FRESHNESS_DAYS = 30.0
"""Half-life of an access itself: old uses count less."""
MOST_ACCESSES = 10_000


def access_metadata(raw: str | None) -> tuple[int, float]:
    """(count, last access in ms) as the time-decay stage reads them: the camelCase keys before the snake_case ones."""
    return access_of(parse_object(raw)[0])


def access_of(values: Mapping[str, Any]) -> tuple[int, float]:
    """The same from a parsed metadata object."""
    count = _first(values, "accessCount", "access_count")
    last = _first(values, "lastAccessedAt", "last_accessed_at")
    n, t = number(count), number(last)
    return (
        math.floor(min(MOST_ACCESSES, max(0.0, n))) if math.isfinite(n) else 0,
        t if math.isfinite(t) and t >= 0 else 0.0,
    )


def _first(values: Mapping[str, Any], *keys: str) -> Any:
    return next((values[key] for key in keys if values.get(key) is not None), 0)


def effective_half_life(
    base: ArrayLike,
    access_count: ArrayLike,
    last_accessed_ms: ArrayLike,
    *,
    now_ms: int,
    factor: float,
    max_multiplier: float,
) -> NDArray[np.float64]:
    """min(H + H*f*ln(1 + a * 2^(-d/30)), H*M), d days since the last access; H where f is 0 or a is 0."""
    base, count = np.asarray(base, np.float64), np.asarray(access_count, np.float64)
    idle = np.maximum(0.0, (now_ms - np.asarray(last_accessed_ms, np.float64)) / DAY_MS)
    effective = count * np.exp(-idle * np.log(2) / FRESHNESS_DAYS)
    stretched = np.minimum(base + base * factor * np.log1p(effective), base * max_multiplier)
    return np.where((factor > 0) & (count > 0), stretched, base)
