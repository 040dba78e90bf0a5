"""Moments as words for sentences: a UTC day, a span of days."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from memtui.engine.errors import UsageError

DAY_MS = 86_400_000
_AGE = re.compile(r"(\d+(?:\.\d+)?)(m|h|d|w|mo|y)")
_UNITS = {"m": 60_000, "h": 3_600_000, "d": DAY_MS, "w": 7 * DAY_MS, "mo": 30 * DAY_MS, "y": 365 * DAY_MS}


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


def moment_since(text: str, now_ms: int) -> int:
    """The moment in ms that "7d", "12h", "2026-09-01" or a number of ms means; UsageError for anything else."""
    written = text.strip().lower()
    if (match := _AGE.fullmatch(written)) is not None:
        return int(now_ms - float(match[1]) * _UNITS[match[2]])
    if written.isdigit() and len(written) > 8:
        return int(written)
    try:
        moment = datetime.fromisoformat(text.strip())
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is neither a length of time nor a day.", fix="Write it as 7d, 12h or 2026-09-01."
        ) from None
