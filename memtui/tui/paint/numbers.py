"""Numbers, ages and dates as short text: four significant characters, right-aligned by the caller."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from math import isfinite

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def score(value: float | None) -> str:
    """A share or score in at most four characters: `.914`, `1.00`, `-.08`, `12.4`; `-` for none."""
    if value is None or not isfinite(value):
        return "-"
    value += 0.0  # minus zero is zero
    if abs(value) < 0.9995:
        digits = 3 if value >= 0 else 2
        text = f"{value:.{digits}f}"
        if text.lstrip("-").startswith("0."):
            return ("-" if text.startswith("-") else "") + text.lstrip("-")[1:]
        return text[:4]
    if abs(value) < 10:
        return f"{value:.2f}" if value > 0 else f"{value:.1f}"
    if abs(value) < 100:
        return f"{value:.1f}" if value > 0 else f"{value:.0f}"
    return short(value)


def short(value: float | None) -> str:
    """A count in at most four characters: `312`, `9.1k`, `48k`, `1.2M`; `-` for none."""
    if value is None or not isfinite(value):
        return "-"
    size = abs(value)
    for unit, letter in _UNITS:
        if size >= unit * 0.99995:
            scaled = value / unit
            return f"{scaled:.1f}{letter}" if abs(scaled) < 9.95 else f"{scaled:.0f}{letter}"
    return f"{value:.0f}"


def full(value: int | None) -> str:
    """A count with its thousands apart: `48,213`; `-` for none."""
    return "-" if value is None else f"{value:,}"


def size(count: int | None) -> str:
    """Bytes for people: `214 MB`, `9.1 kB`, `730 B`."""
    if count is None:
        return "-"
    value = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 999.5 or unit == "TB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 9.95 else f"{value:.1f} {unit}"
        value /= 1000
    return "-"


def so_far(done: int, total: int, unit: str) -> str:
    """How much of a piece of work is done: `12 MB of 62 MB`, `48k of 1.2M rows`."""
    if unit == "bytes":
        return f"{size(done)} of {size(total)}"
    return f"{short(done)} of {short(total)} {unit}"


def age(ms: float | None, now_ms: int) -> str:
    """Time since `ms` in at most four characters: `now`, `42m`, `9h`, `3d`, `21w`, `4y`; `-` where unknown.

    A time to come is shown with a leading `+`.
    """
    if ms is None or not isfinite(ms) or ms <= 0:
        return "-"
    gap = now_ms - ms
    sign = "+" if gap <= -MINUTE else ""
    gap = abs(gap)
    if gap < MINUTE:
        return "now"
    if gap < HOUR:
        return f"{sign}{gap // MINUTE:.0f}m"
    if gap < DAY:
        return f"{sign}{gap // HOUR:.0f}h"
    days = gap // DAY
    if days < 100:
        return f"{sign}{days:.0f}d"
    if days < 365 * 2:
        return f"{sign}{days // 7:.0f}w"
    return f"{sign}{min(999, days // 365):.0f}y"


def ago(ms: float | None, now_ms: int) -> str:
    """`age` as words: "9 h ago", "38 days ago", "in 3 days", "never" where unknown."""
    if ms is None or not isfinite(ms) or ms <= 0:
        return "never"
    gap = now_ms - ms
    past = gap >= 0
    gap = abs(gap)
    if gap < MINUTE:
        return "just now"
    for unit, name in ((DAY, "day"), (HOUR, "h"), (MINUTE, "min")):
        if gap >= unit:
            count = int(gap // unit)
            word = f"{name}s" if name == "day" and count != 1 else name
            return f"{count:,} {word} ago" if past else f"in {count:,} {word}"
    return "just now"


def date(ms: float | None, zone: tzinfo | None = UTC) -> str:
    """Day and time of `ms` in `zone` (None: local time): "2026-09-01 12:00"; "-" where unknown or no date."""
    if ms is None or not isfinite(ms) or ms <= 0:
        return "-"
    try:
        return datetime.fromtimestamp(ms / 1000, zone).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return "-"
