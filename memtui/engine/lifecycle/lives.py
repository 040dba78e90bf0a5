"""One memory's life and the model's curves, as plain values to draw and to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memtui.engine.lifecycle.moves import Crossing, Mover

Measure = Literal["composite", "recency", "boost"]
MEASURES: tuple[Measure, ...] = ("composite", "recency", "boost")


@dataclass(frozen=True, slots=True)
class TierCurve:
    """One tier's curve: `values` over the x of its `Curves`."""

    tier: str
    values: tuple[float, ...]
    half_days: float
    """Days since the last use after which recency is 1/2; infinite where it never is."""
    fold_days: float
    """Days after which it is 1/e, which the article (and other programs) call the half-life."""
    floor: float
    """What composite and recency count as at least, in the search boost."""
    floor_boost: float
    """The search boost at that floor."""


@dataclass(frozen=True, slots=True)
class Curves:
    """The model: one curve a tier over `x` days, counted from the memory's last use."""

    measure: Measure
    days: float
    x: tuple[float, ...]
    tiers: tuple[TierCurve, ...]
    stale_line: float


@dataclass(frozen=True, slots=True)
class Line:
    """One number and where it comes from: `formula` has the numbers filled in."""

    symbol: str
    name: str
    formula: str
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something that can be done for one memory, and what it would change."""

    name: str
    title: str
    changes: tuple[tuple[str, object], ...]
    """What becomes other: fields and their new values."""
    edit: tuple[tuple[str, object], ...]
    """The same as `Curator.edit` takes it."""
    curve: tuple[float, ...]
    """The memory's curve after it, over the same moments as its own."""
    stale_at_ms: int | None
    """When it would cross the stale line; None within the horizon never."""
    sinks_at_ms: int | None = None
    """When the rule would move it a tier down; None within the horizon never, and for a pinned one."""
    ends_at_ms: int | None = None
    """When it expires by its own date, whatever is done here; None within the horizon never."""


@dataclass(frozen=True, slots=True)
class Life:
    """One memory on its curve. `at_ms` are the moments of `curve`, from its last use to the horizon."""

    id: str
    tier: str
    next_tier: str
    verdict: str
    """Why the tier manager moves it, or what keeps it where it is."""
    lines: tuple[Line, ...]
    """Every number, in the order in which they build on each other."""
    created_ms: int
    last_used_ms: int
    """Its creation, where it was never used."""
    used: bool
    composite: float
    recency: float
    boost: float
    stale: bool
    model: Curves
    at_ms: tuple[float, ...]
    curve: tuple[float, ...]
    crossings: tuple[Crossing, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    title: str = ""
    """Its text on one line; empty for the model alone."""
    horizon_days: float = 0.0
    """How far ahead `crossings` and `remedies` look."""
    mover: Mover = "unknown"
    """Who would move it between tiers."""
