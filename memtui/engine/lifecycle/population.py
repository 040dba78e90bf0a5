"""Every memory of a store as decay and the tier manager see it, and their verdict on all of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtui.engine.lifecycle.decay import DecayParams, DecayScores, decay_scores, search_multiplier
from memtui.engine.lifecycle.tiers import TierParams, next_tier
from memtui.engine.memory import STATES
from memtui.engine.store.catalog import DYNAMIC

if TYPE_CHECKING:
    from memtui.engine.store.catalog import Catalog, Meta

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]
BLOCK = 32_768
"""Rows scored at a time: their columns stay in the processor's cache, which halves the time of a million."""
_ARCHIVED = STATES.index("archived")


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """What decay and tiers read of n memories, each an array [n].

    `created` and `last_used` are milliseconds; `last_used` falls back to `created` where no use is recorded.
    `valid_until` is NaN where a memory does not expire. `recalled` marks memories that recall can still return:
    active, not expired, not archived at the time they were read.
    """

    importance: Floats
    confidence: Floats
    tier: Codes
    uses: Floats
    created: Floats
    last_used: Floats
    dynamic: Mask
    valid_until: Floats
    recalled: Mask

    @property
    def n(self) -> int:
        """How many memories."""
        return int(self.tier.size)

    def take(self, at: Places | Mask | slice) -> Traits:
        """The same of some of them."""
        return Traits(*(getattr(self, name)[at] for name in self.__slots__))


def traits_of(catalog: Catalog, now_ms: int) -> Traits:
    """The traits of every row of a catalog whose metadata is read (`catalog.meta` is there)."""
    meta = catalog.meta
    assert meta is not None
    return Traits(
        importance=_double(catalog.importance),
        confidence=_double(meta.confidence),
        tier=meta.tier,
        uses=meta.access_count.astype(np.float64),
        created=catalog.timestamp,
        last_used=np.where(meta.last_accessed > 0, meta.last_accessed, catalog.timestamp),
        dynamic=(meta.flags & DYNAMIC) != 0,
        valid_until=meta.valid_until,
        recalled=recalled_at(meta, now_ms),
    )


def recalled_at(meta: Meta, at_ms: int) -> Mask:
    """Rows that recall can return at a moment: active, not expired, not archived."""
    return np.asarray(meta.active(at_ms) & ~meta.expired(at_ms) & (meta.state != _ARCHIVED))


def _double(column: NDArray[np.floating]) -> Floats:
    """A column in double precision; one kept in single gives back the decimal number that was stored."""
    doubled = column.astype(np.float64)
    return doubled if column.dtype == np.float64 else np.round(doubled, 7)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Decay and verdict of n memories at one moment, each an array [n]; `stale` is composite < stale line."""

    recency: Floats
    frequency: Floats
    intrinsic: Floats
    composite: Floats
    boost: Floats
    stale: Mask
    next_tier: Codes


def score(traits: Traits, *, now_ms: int, decay: DecayParams, tier: TierParams) -> Scored:
    """All components, the search boost and the tier manager's verdict for every memory."""
    n = traits.n
    recency, frequency, intrinsic, composite, boost = (np.empty(n) for _ in range(5))
    stale, after = np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.uint8)
    for start in range(0, n, BLOCK):
        part = slice(start, min(n, start + BLOCK))
        some = traits.take(part)
        scores = score_at(some, now_ms, decay)
        recency[part], frequency[part] = scores.recency, scores.frequency
        intrinsic[part], composite[part] = scores.intrinsic, scores.composite
        boost[part] = search_multiplier(scores, some.tier, decay)
        stale[part] = scores.stale(decay)
        after[part] = verdict_at(some, scores.composite, now_ms, tier)
    return Scored(recency, frequency, intrinsic, composite, boost, stale, after)


def score_at(traits: Traits, at_ms: ArrayLike, decay: DecayParams) -> DecayScores:
    """The decay of n memories at one moment, or each at its own."""
    return decay_scores(
        traits.importance,
        traits.confidence,
        traits.tier,
        traits.uses,
        traits.created,
        traits.last_used,
        traits.dynamic,
        now_ms=at_ms,
        params=decay,
    )


def verdict_at(traits: Traits, composite: Floats, at_ms: ArrayLike, tier: TierParams) -> Codes:
    """Where the tier manager would put n memories at one moment, or each at its own."""
    return next_tier(
        traits.tier,
        access_count=traits.uses,
        composite=composite,
        importance=traits.importance,
        created_ms=traits.created,
        now_ms=at_ms,
        params=tier,
    )
