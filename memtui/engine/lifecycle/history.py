"""Ages, use, growth and the calendar of a store, from the catalog."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtui.engine.lifecycle.board import Buckets, Series, StoreHistory
from memtui.engine.lifecycle.population import Floats, Places, Traits
from memtui.engine.memory import TIERS
from memtui.engine.store.catalog import Catalog, Codes

DAY_MS = 86_400_000
CALENDAR_DAYS = 53 * 7
WEEKS = 52
GROUPS = 5
"""Lines in a growth chart; the rest is one line together."""

_AGES = (
    (1, "today"),
    (7, "week"),
    (30, "month"),
    (90, "quarter"),
    (180, "half"),
    (365, "year"),
    (np.inf, "older"),
)
_AGE_FILTERS = (
    "age<1d", "age>=1d age<7d", "age>=7d age<30d", "age>=30d age<90d", "age>=90d age<180d", "age>=180d age<365d",
    "age>=365d",
)  # fmt: skip
_USES = ((1, "0"), (2, "1"), (3, "2"), (5, "3-4"), (10, "5-9"), (20, "10-19"), (50, "20-49"), (np.inf, "50+"))
_USE_FILTERS = (
    "used=0", "used=1", "used=2", "used:3..4", "used:5..9", "used:10..19", "used:20..49", "used>=50",
)  # fmt: skip


def history_of(catalog: Catalog, traits: Traits, now_ms: int, chosen: Places) -> StoreHistory:
    """The history of the chosen rows (places in the catalog; `traits` are theirs)."""
    known = traits.created > 0
    days = (now_ms - traits.created) / DAY_MS
    used = np.where(traits.uses > 0, traits.last_used, 0.0)
    return StoreHistory(
        ages=_buckets(days[known], traits.tier[known], _AGES, _AGE_FILTERS),
        uses=_buckets(traits.uses, traits.tier, _USES, _USE_FILTERS),
        by_scope=_growth(catalog.scope_codes[chosen], catalog.scopes, traits.created, now_ms),
        by_category=_growth(catalog.category_codes[chosen], catalog.categories, traits.created, now_ms),
        written=_daily(traits.created, now_ms),
        used=_daily(used, now_ms),
    )


def _buckets(
    values: Floats,
    tier: np.ndarray[tuple[int], np.dtype[np.uint8]],
    ranges: Sequence[tuple[float, str]],
    filters: tuple[str, ...],
) -> Buckets:
    edges = np.array([top for top, _ in ranges[:-1]])
    place = np.searchsorted(edges, values, side="right")
    counts = np.bincount(place * len(TIERS) + tier, minlength=len(ranges) * len(TIERS))
    return Buckets(
        tuple(name for _, name in ranges),
        tuple(tuple(row) for row in counts.reshape(len(ranges), len(TIERS)).tolist()),
        filters,
    )


def _daily(times: Floats, now_ms: int) -> tuple[int, ...]:
    """How many of the times fall on each of the last days (UTC), today last."""
    ago = now_ms // DAY_MS - times // DAY_MS
    recent = ago[(times > 0) & (ago >= 0) & (ago < CALENDAR_DAYS)].astype(np.int64)
    return tuple(np.bincount(CALENDAR_DAYS - 1 - recent, minlength=CALENDAR_DAYS).tolist())


def _growth(codes: Codes, values: Sequence[str | None], created: Floats, now_ms: int) -> Series:
    """Running counts a week of the largest groups; memories without a time are there from the start."""
    totals = np.bincount(codes, minlength=len(values))
    largest = [int(code) for code in np.argsort(-totals, kind="stable")[:GROUPS] if totals[code]]
    ago = np.clip((now_ms - created) // (7 * DAY_MS), 0, WEEKS).astype(np.int64)
    names, lines = [], []
    rest = np.ones(codes.size, np.bool_)
    for code in largest:
        member = codes == code
        rest &= ~member
        names.append(str(values[code]) if values[code] is not None else "(none)")
        lines.append(_running(ago[member]))
    if rest.any():
        names.append("other")
        lines.append(_running(ago[rest]))
    return Series(tuple(names), tuple(lines))


def _running(weeks_ago: Places) -> tuple[int, ...]:
    added = np.bincount(WEEKS - weeks_ago, minlength=WEEKS + 1)
    return tuple(np.cumsum(added).tolist())
