"""Words of time in a memory: whether it will change, and when it stops being true."""

from __future__ import annotations

import re

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

_DYNAMIC = re.compile(
    r"\b(?:today|yesterday|tomorrow|recently|currently|right now|this week|this month|last week|next week"
    r"|this morning|tonight|later)\b"
    r"|今天|昨天|明天|最近|正在|刚才|刚刚|这周|这个月|上周|下周|目前|现在|今晚|今早|稍后|待会",
    re.ASCII | re.IGNORECASE,
)
_EXPIRY = tuple(
    (re.compile(pattern, re.ASCII | re.IGNORECASE), span)
    for pattern, span in (
        (r"后天|day after tomorrow", 48 * HOUR_MS),
        (r"明天|\btomorrow\b", 24 * HOUR_MS),
        (r"下周|\bnext week\b", 7 * DAY_MS),
        (r"这周|\bthis week\b", 3 * DAY_MS),
        (r"下个月|\bnext month\b", 30 * DAY_MS),
        (r"这个月|\bthis month\b", 15 * DAY_MS),
        (r"今晚|\btonight\b", 12 * HOUR_MS),
        (r"今天|\btoday\b", 18 * HOUR_MS),
    )
)
"""The first that matches wins, wherever it stands in the text."""


def temporal_type(text: str) -> str:
    """`dynamic` for a text that speaks of a passing time, else `static`."""
    return "dynamic" if _DYNAMIC.search(text) else "static"


def infer_expiry(text: str, now_ms: int) -> int | None:
    """When the memory silently leaves recall (ms), None when it names no such time.

    Independent of the temporal type: "I always run today" expires, and so does a static text.
    """
    return next((now_ms + span for pattern, span in _EXPIRY if pattern.search(text)), None)
