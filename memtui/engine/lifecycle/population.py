"""Every memory of a store as decay and the tier manager see it, and their verdict on all of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtui.engine.catalog.catalog import DYNAMIC
from memtui.engine.catalog.select import positions_of
from memtui.engine.core.memory import STATES
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.decay.decay import DecayParams, DecayScores, decay_scores, search_multiplier
from memtui.engine.decay.tiers import TierParams, next_tier
from memtui.engine.metadata.read import count, parse_object, positive, text_or

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.catalog.catalog import Catalog, MetadataColumns
    from memtui.engine.store.table import Store


Floats = NDArray[np.float64]

Codes = NDArray[np.uint8]

Mask = NDArray[np.bool_]

Places = NDArray[np.int64]

BLOCK = 32_768
"""Rows scored at a time: their columns stay in the processor's cache, which halves the time of a million."""

_ARCHIVED = STATES.index("archived")


@dataclass(frozen=True, slots=True, eq=False)
class MemoryTraits:
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

    def take(self, at: Places | Mask | slice) -> MemoryTraits:
        """The same of some of them."""
        return MemoryTraits(*(getattr(self, name)[at] for name in self.__slots__))


def traits_of(catalog: Catalog, now_ms: int) -> MemoryTraits:
    """The traits of every row of a catalog whose metadata is read (`catalog.meta` is there)."""
    meta = catalog.meta
    assert meta is not None
    return MemoryTraits(
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


def recalled_at(meta: MetadataColumns, at_ms: int) -> Mask:
    """Rows that recall can return at a moment: active, not expired, not archived."""
    return np.asarray(meta.active(at_ms) & ~meta.expired(at_ms) & (meta.state != _ARCHIVED))


def _double(column: NDArray[np.floating]) -> Floats:
    """A column in double precision; one kept in single gives back the decimal number that was stored."""
    doubled = column.astype(np.float64)
    return doubled if column.dtype == np.float64 else np.round(doubled, 7)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPopulation:
    """Decay and verdict of n memories at one moment, each an array [n]; `stale` is composite < stale line."""

    recency: Floats
    frequency: Floats
    intrinsic: Floats
    composite: Floats
    boost: Floats
    stale: Mask
    next_tier: Codes

    def take(self, at: Places | Mask | slice) -> ScoredPopulation:
        """The same of some of them."""
        return ScoredPopulation(*(getattr(self, name)[at] for name in self.__slots__))


def score(traits: MemoryTraits, *, now_ms: int, decay: DecayParams, tier: TierParams) -> ScoredPopulation:
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
    return ScoredPopulation(recency, frequency, intrinsic, composite, boost, stale, after)


def score_at(traits: MemoryTraits, at_ms: ArrayLike, decay: DecayParams) -> DecayScores:
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


def verdict_at(traits: MemoryTraits, composite: Floats, at_ms: ArrayLike, tier: TierParams) -> Codes:
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


# What the metadata of rows says about how they were used: read only where there is something to read.

_TELLING = (
    r'"(?:injected_count|bad_recall_count|last_confirmed_use_at)"\s*:\s*"?[1-9]'
    r'|"superse(?:des|ded_by)"|contradict|"importance"\s*:|"pinned"\s*:'
)
"""Rows without any of these have nothing that this module looks for."""


@dataclass(frozen=True, slots=True, eq=False)
class PopulationEvidence:
    """Arrays [n] in the order of the catalog; times in ms, NaN where there is none.

    `rival` is the place of a memory that says otherwise, `replaced_by` of one that claims to replace this one
    while this one is still recalled; -1 for none. `own_importance` marks rows with an importance key in their
    metadata, the value that usage feedback writes into the column; `pinned` those that a person protects.
    """

    injected: NDArray[np.uint32]
    bad_recalls: NDArray[np.uint32]
    last_injected: NDArray[np.float64]
    confirmed: NDArray[np.float64]
    rival: NDArray[np.int32]
    replaced_by: NDArray[np.int32]
    own_importance: NDArray[np.bool_]
    pinned: NDArray[np.bool_]


def no_evidence(n: int) -> PopulationEvidence:
    """Of n memories that nothing is known of."""
    return PopulationEvidence(
        np.zeros(n, np.uint32),
        np.zeros(n, np.uint32),
        np.full(n, np.nan),
        np.full(n, np.nan),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(n, np.bool_),
        np.zeros(n, np.bool_),
    )


def read_evidence(
    store: Store, catalog: Catalog, on_progress: OnProgress | None = None, cancel: CancelToken | None = None
) -> PopulationEvidence:
    """Read the metadata once, in windows; parse the rows that have something to say."""
    found = no_evidence(catalog.n)
    pin = store.pin(catalog.version)
    column = pin.dialect.columns.metadata
    if column is None:
        return found
    links: list[tuple[int, str, str]] = []
    done = 0
    for batch in pin.read_through([column]):
        if cancel:
            cancel.check()
        at = positions_of(catalog, batch.column("_rowid").to_numpy())
        raw = batch.column(column)
        telling = _telling(raw)
        for place, text in zip(at[telling].tolist(), raw.filter(telling).to_pylist(), strict=True):
            links += [(place, kind, target) for kind, target in _take(found, place, parse_object(text)[0])]
        done += batch.num_rows
        if on_progress:
            on_progress(Progress("reading how memories were used", done, catalog.n))
    _link(found, catalog, links)
    return found


def _telling(raw: pa.Array) -> NDArray[np.bool_]:
    import pyarrow.compute as pc

    found: NDArray[np.bool_] = (
        pc.match_substring_regex(raw, _TELLING).fill_null(False).to_numpy(zero_copy_only=False)
    )
    return found


def _take(found: PopulationEvidence, place: int, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Note one row's counters; its links to other memories are returned."""
    most = np.iinfo(np.uint32).max
    found.injected[place] = min(count(values.get("injected_count", 0), 0), most)
    found.bad_recalls[place] = min(count(values.get("bad_recall_count", 0), 0), most)
    found.last_injected[place] = positive(values.get("last_injected_at"), np.nan)
    found.confirmed[place] = positive(values.get("last_confirmed_use_at"), np.nan)
    found.own_importance[place] = "importance" in values
    found.pinned[place] = values.get("pinned") is True
    links = [
        (kind, target)
        for kind in ("supersedes", "superseded_by")
        if (target := text_or(values.get(kind), None))
    ]
    relations = values.get("relations")
    for relation in relations if isinstance(relations, list) else ():
        if not isinstance(relation, Mapping) or "contradict" not in str(relation.get("type")):
            continue
        if target := text_or(relation.get("targetId"), None):
            links.append(("contradicts", target))
    return links


def _link(found: PopulationEvidence, catalog: Catalog, links: list[tuple[int, str, str]]) -> None:
    for place, kind, target in links:
        others = catalog.ids.find(target) if len(target) >= 8 else np.zeros(0, np.int64)
        if others.size != 1:
            continue
        other = int(others[0])
        if kind == "contradicts":
            found.rival[place], found.rival[other] = other, place
        elif kind == "supersedes":
            found.replaced_by[other] = place
        else:
            found.replaced_by[place] = other
