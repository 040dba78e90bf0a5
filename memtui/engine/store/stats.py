"""A store in numbers: mix, growth and findings, all from the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memtui.engine.listing import Stats
from memtui.engine.memory import TIERS
from memtui.engine.store.catalog import Catalog
from memtui.engine.store.findings import find
from memtui.engine.store.select import counts, facets

if TYPE_CHECKING:
    from memtui.engine.store.table import Store

DAYS = 90
_DAY_MS = 86_400_000
PENDING = "tiers, states and access counts are still being read"


def make_stats(store: Store, catalog: Catalog, *, now_ms: int) -> Stats:
    """The numbers of `catalog` as of `now_ms`; days are UTC days, the last one is today."""
    mix, meta = facets(catalog, None), catalog.meta
    known = catalog.timestamp[(catalog.timestamp > 0) & (catalog.timestamp <= now_ms)]
    by_tier = (
        tuple((tier, _daily(catalog.timestamp[meta.tier == code], now_ms)) for code, tier in enumerate(TIERS))
        if meta
        else ()
    )
    return Stats(
        rows=catalog.n,
        scopes=mix.scopes,
        categories=mix.categories,
        memory_categories=counts(meta.memory_category, meta.memory_categories, None) if meta else (),
        tiers=mix.tiers,
        states=mix.states,
        added_7d=int(np.count_nonzero(known > now_ms - 7 * _DAY_MS)),
        daily=_daily(catalog.timestamp, now_ms),
        daily_by_tier=by_tier,
        oldest_ms=int(known.min()) if known.size else None,
        newest_ms=int(known.max()) if known.size else None,
        findings=find(store, catalog, now_ms),
        pending=PENDING if catalog.metadata_pending else "",
    )


def _daily(times: NDArray[np.float64], now_ms: int) -> tuple[int, ...]:
    days_ago = now_ms // _DAY_MS - times // _DAY_MS
    recent = days_ago[(days_ago >= 0) & (days_ago < DAYS) & (times > 0)].astype(np.int64)
    return tuple(np.bincount(DAYS - 1 - recent, minlength=DAYS).tolist())
