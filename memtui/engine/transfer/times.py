"""Reading a time from whatever a source writes; a wrong time is worse than none."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

DAY_MS = 86_400_000
FIRST_MS = 1_000_000_000_000
"""2001-09-09: the agents' programs read smaller numbers as seconds, and none remembers anything from before."""
_SECONDS_BELOW, _MS_BELOW, _US_BELOW = 1e12, 1e14, 1e17
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_COMPACT = re.compile(r"(?:19|20)\d{6}")
_DOTTED = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?")

Time = tuple[int | None, str]
"""Milliseconds since the epoch, or None; and what has to be said about it, empty when nothing."""

ZONELESS = "no time zone in it: read as UTC"


def read_time(value: Any, now_ms: int) -> Time:
    """The moment that `value` means.

    Numbers are seconds, milli-, micro- or nanoseconds by magnitude; texts are ISO 8601 (without a zone: UTC),
    numbers, or day.month.year; {"$date": ...} is unwrapped. None with a reason for what is no time, for
    0 and times before September 2001, and for times more than a day after `now_ms`.
    """
    if isinstance(value, Mapping) and len(value) == 1 and "$date" in value:
        return read_time(value["$date"], now_ms)
    if value is None or value == "":
        return None, ""
    if isinstance(value, datetime):
        return _checked(*_of_datetime(value), now_ms)
    if isinstance(value, str):
        return _of_text(value.strip(), now_ms)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_number(value, now_ms)
    return None, f"{_kind(value)} is no time: left unknown"


def read_date(text: str) -> int | None:
    """UTC midnight of a calendar date YYYY-MM-DD; None when there is no such day."""
    try:
        return _ms(datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC))
    except ValueError:
        return None


def _of_number(value: int | float, now_ms: int) -> Time:
    if isinstance(value, float) and not math.isfinite(value):
        return None, "not a finite number: left unknown"
    size = abs(value)
    note = ""
    if size < _SECONDS_BELOW:
        ms = math.floor(value * 1000)
        note = "in seconds: read as such"
    elif size < _MS_BELOW:
        ms = math.floor(value)
    elif size < _US_BELOW:
        ms = math.floor(value) // 1000
        note = "in microseconds: rounded down to milliseconds"
    elif size < _US_BELOW * 1000:
        ms = int(value) // 1_000_000
        note = "in nanoseconds: rounded down to milliseconds"
    else:
        return None, "far beyond any calendar: left unknown"
    return _checked(ms, note, now_ms)


def _of_text(text: str, now_ms: int) -> Time:
    if not text:
        return None, ""
    if _COMPACT.fullmatch(text) and (day := read_date(f"{text[:4]}-{text[4:6]}-{text[6:]}")) is not None:
        return _checked(day, ZONELESS, now_ms)
    if _NUMBER.fullmatch(text):
        return _of_number(float(text) if "." in text or len(text) > 40 else int(text), now_ms)
    if match := _DOTTED.fullmatch(text):
        return _of_dotted(match, now_ms)
    try:
        return _checked(*_of_datetime(datetime.fromisoformat(text)), now_ms)
    except (ValueError, OverflowError):
        return None, "not a date that is understood: left unknown"


def _of_dotted(match: re.Match[str], now_ms: int) -> Time:
    first, second, year, hour, minute, second_of_minute = match.groups()
    day, month = int(first), int(second)
    if "/" in match[0]:
        if day <= 12 and month <= 12 and day != month:
            return None, "a date that can be read in two ways (day or month first): left unknown"
        if month > 12:
            day, month = month, day
    try:
        found = datetime(
            int(year), month, day, int(hour or 0), int(minute or 0), int(second_of_minute or 0), tzinfo=UTC
        )
    except ValueError:
        return None, "not a date that is understood: left unknown"
    return _checked(_ms(found), ZONELESS, now_ms)


def _of_datetime(value: datetime) -> tuple[int, str]:
    if value.tzinfo is None:
        return _ms(value.replace(tzinfo=UTC)), ZONELESS
    return _ms(value), ""


def _ms(value: datetime) -> int:
    return (value - _EPOCH) // timedelta(milliseconds=1)


def _checked(ms: int, note: str, now_ms: int) -> Time:
    if ms == 0:
        return None, "0, which means no time: left unknown"
    if ms < FIRST_MS:
        return None, "before September 2001: left unknown"
    if ms > now_ms + DAY_MS:
        return None, "in the future: left unknown"
    return ms, note


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "an object" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else "this"
