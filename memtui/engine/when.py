"""Moments as words for sentences: a UTC day, a span of days."""

from __future__ import annotations

import math
from datetime import UTC, datetime

DAY_MS = 86_400_000


def day(ms: float) -> str:
    """The UTC day of `ms`: "2026-09-01"; "an unknown day" for what is no date."""
    if not math.isfinite(ms) or ms <= 0:
        return "an unknown day"
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):
        return "a day beyond the calendar"


def days_between(from_ms: float, to_ms: float) -> str:
    """From one moment to a later one: "today", "in 1 day", "in 12 days"; "3 days ago" to an earlier one."""
    days = math.floor(to_ms / DAY_MS) - math.floor(from_ms / DAY_MS)
    if days == 0:
        return "today"
    count = f"{abs(days):,} day{'' if abs(days) == 1 else 's'}"
    return f"in {count}" if days > 0 else f"{count} ago"
