"""The population as single memories beside the curves: some of each tier, evenly chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.lifecycle.board import Cloud
from memtui.engine.lifecycle.curve import DAY_MS
from memtui.engine.memory import TIERS

if TYPE_CHECKING:
    from memtui.engine.lifecycle.population import Scored, Traits

OF_EACH_TIER = 200
"""Memories shown of a tier: more would fill the plot."""


def cloud_of(traits: Traits, scored: Scored, at_ms: int) -> Cloud:
    """Up to `OF_EACH_TIER` memories of each tier at equal steps through the list, scored at `at_ms`.

    Days count from the last use, of a memory that was never used from its creation, as decay counts them.
    Rows without a time, and of the future, are left out.
    """
    last = np.where(traits.uses > 0, traits.last_used, traits.created)
    known = (last > 0) & (last <= at_ms)
    each = [np.flatnonzero(known & (traits.tier == code)) for code in range(len(TIERS))]
    some = [
        rows[np.unique(np.linspace(0, rows.size - 1, OF_EACH_TIER).astype(np.int64))]
        for rows in each
        if rows.size
    ]
    at = np.concatenate([*some, np.empty(0, np.int64)]).astype(np.int64)
    return Cloud(
        tuple(TIERS[code] for code in traits.tier[at].tolist()),
        tuple(((at_ms - last[at]) / DAY_MS).tolist()),
        tuple(scored.composite[at].tolist()),
        tuple(scored.recency[at].tolist()),
        tuple(scored.boost[at].tolist()),
    )
