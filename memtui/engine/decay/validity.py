"""What keeps a memory out of auto-recall, and what auto-recall writes when it injects one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memtui.engine.metadata.read import Metadata

BAD_RECALLS = 3
"""Injections in a row without a confirmed use at which a memory is suppressed."""

AUTO_RECALL_LAYERS = ("durable", "working")


@dataclass(frozen=True, slots=True)
class InjectionPolicy:
    """The plugin's auto-recall settings that its governance reads."""

    min_repeated: int = 0
    """Turns before a memory may be injected again; 0 switches suppression off."""
    bad_recall_decay_ms: int = 86_400_000
    """A longer pause between injections forgets the count; 0 never does."""
    suppression_duration_ms: int = 1_800_000


def injection_patch(meta: Metadata, *, at_ms: int, policy: InjectionPolicy) -> dict[str, int]:
    """The metadata keys that an injection at `at_ms` changes.

    Injection alone counts as an access and refreshes recency. It counts as bad recall when the previous
    injection was not followed by a confirmed use.
    """
    previous = meta.last_injected_at
    count = meta.bad_recall_count
    if meta.suppressed_until_ms is None and (count > 0 or meta.suppressed_until_turn > 0):
        count = 0  # counted by an older version, in turns
    pause = at_ms - previous if previous is not None else float("inf")
    if 0 < policy.bad_recall_decay_ms < pause:
        count = 0
    used = meta.last_confirmed_use_at
    if previous is not None and (used is None or used < previous):
        count += 1
    until = meta.suppressed_until_ms or 0
    if count >= BAD_RECALLS and policy.min_repeated > 0:
        until = max(until, at_ms + policy.suppression_duration_ms)
    return {
        "access_count": meta.access_count + 1,
        "last_accessed_at": at_ms,
        "injected_count": meta.injected_count + 1,
        "last_injected_at": at_ms,
        "bad_recall_count": count,
        "suppressed_until_ms": until,
        "suppressed_until_turn": 0,
    }


def auto_recall_barrier(meta: Metadata, now_ms: int) -> str | None:
    """Why auto-recall leaves a memory out: `state(...)`, `layer(...)` or `suppressed`; None when it may go in."""
    if meta.state != "confirmed":
        return f"state({meta.state})"
    if meta.memory_layer not in AUTO_RECALL_LAYERS:
        return f"layer({meta.memory_layer})"
    return "suppressed" if meta.suppressed(now_ms) else None


# Words of time in a memory: whether it will change, and when it stops being true.

HOUR_MS = 3_600_000

DAY_MS = 24 * HOUR_MS

_DYNAMIC = re.compile(
    r"\b(?:today|yesterday|tomorrow|recently|currently|right now|this week|this month|last week|next week"
    r"|this morning|tonight|later)\b"
    r"|今天|昨天|明天|最近|正在|刚才|刚刚|这周|这个月|上周|下周|目前|现在|今晚|今早|稍后|待会",
    re.ASCII | re.IGNORECASE,
)

_DYNAMIC_HINTS = (
    "day",
    "recently",
    "currently",
    "right now",
    "week",
    "month",
    "morning",
    "tonight",
    "later",
    "tomorrow",
)
"""One of them is in every English text that speaks of a passing time: looking for them takes a quarter of the time."""

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
    lower = text.lower()
    for hint in _DYNAMIC_HINTS if lower.isascii() else ("",):
        if hint in lower:
            return "dynamic" if _DYNAMIC.search(text) else "static"
    return "static"


def infer_expiry(text: str, now_ms: int) -> int | None:
    """When the memory silently leaves recall (ms), None when it names no such time.

    Independent of the temporal type: "I always run today" expires, and so does a static text.
    """
    return next((now_ms + span for pattern, span in _EXPIRY if pattern.search(text)), None)
