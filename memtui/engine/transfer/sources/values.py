"""Reading a time from whatever a source writes; a wrong time is worse than none."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from memtui.engine.core.javascript import trim
from memtui.engine.metadata.categories import SMART, STORAGE, resolve_input, smart_of, storage_of
from memtui.engine.transfer.record import Record

DAY_MS = 86_400_000

# ISO 8601 is read by datetime.fromisoformat. Why not dateutil for the rest: it takes "12", "may" and "3pm" for
# moments of the present month and 03/04/2026 for one of the two dates it may be; a wrong time is worse than none
# (tests/engine/test_transfer_text.py, test_a_time_is_right_or_unknown).

FIRST_MS = 1_000_000_000_000
"""2001-09-09: the agents' programs read smaller numbers as seconds, and none remembers anything from before."""

_SECONDS_BELOW, _MS_BELOW, _US_BELOW = 1e12, 1e14, 1e17

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")

_COMPACT = re.compile(r"(?:19|20)\d{6}")

_DOTTED = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})(?:[ T,]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?")

BRACKETED = re.compile(r"\[(?P<date>[^\[\]\n]{1,40})\][ \t]*[-–—:][ \t]*(?P<text>.*)")
"""An entry of a list that a model printed: `[date] - text`. It begins as a JSON array does."""

Time = tuple[int | None, str]
"""Milliseconds since the epoch, or None; and what has to be said about it, empty when nothing."""

ZONELESS = "no time zone in it: read as UTC"


NO_MOMENT = "0, which means no time: its age stays unknown"
"""The remark on a time of 0, whoever wrote it: programs write it where they know none, and no memory is from 1970."""


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
        return None, NO_MOMENT
    if ms < FIRST_MS:
        return None, "before September 2001: left unknown"
    if ms > now_ms + DAY_MS:
        return None, "in the future: left unknown"
    return ms, note


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "an object" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else "this"


# Reading an importance, 0 to 1, from whatever a source writes; unknown stays unknown, never 0.

_WORDS = {
    "must_remember": 0.8,
    "critical": 0.9,
    "high": 0.8,
    "nice_to_have": 0.5,
    "medium": 0.5,
    "normal": 0.5,
    "low": 0.2,
    "trivial": 0.2,
    "ignore": 0.2,
}

_IMPORTANCE_NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?")


def read_importance(value: Any) -> tuple[float | None, str]:
    """(0 to 1 or None, what has to be said about it). Numbers are clamped; "high", "86%" and "0,8" are read."""
    if isinstance(value, str):
        return _importance_of_text(value.strip())
    if value is None:
        return None, ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, "not a number: left unknown"
    return _importance_of_number(value)


def _importance_of_text(text: str) -> tuple[float | None, str]:
    if not text:
        return None, ""
    if _IMPORTANCE_NUMBER.fullmatch(text):
        return _importance_of_number(float(text.replace(",", ".")))
    if text.endswith("%") and _IMPORTANCE_NUMBER.fullmatch(text[:-1].strip()):
        share, note = _importance_of_number(float(text[:-1].strip().replace(",", ".")) / 100)
        return share, note or "a percentage: read as a share"
    word = re.sub(r"[\s-]+", "_", text.lower())
    if word in _WORDS:
        return _WORDS[word], "a word: high reads as 0.8, medium as 0.5, low as 0.2"
    return None, "not a number: left unknown"


def _importance_of_number(value: float) -> tuple[float | None, str]:
    try:
        number = float(value)
    except OverflowError:
        return None, "not a finite number: left unknown"
    if not math.isfinite(number):
        return None, "not a finite number: left unknown"
    if 0 <= number <= 1:
        return number, ""
    return min(1.0, max(0.0, number)), "outside 0 to 1: moved to the nearer end"


# From a source's word for a category to the two vocabularies that agents' programs know.

_HEADINGS = {
    "preferences": "preferences", "preference": "preferences", "likes": "preferences", "style": "preferences",
    "settings": "preferences", "habits": "preferences",
    "decisions": "events", "decision": "events", "events": "events", "history": "events",
    "people": "entities", "contacts": "entities", "team": "entities", "projects": "entities", "places": "entities",
    "profile": "profile", "about me": "profile", "about": "profile", "user": "profile", "me": "profile",
    "facts": "cases", "knowledge": "cases", "notes": "cases",
    "lessons": "patterns", "patterns": "patterns", "learned": "patterns",
    "偏好": "preferences", "设置": "preferences", "決定": "events", "决定": "events", "好み": "preferences",
}  # fmt: skip
"""Headings that say what stands under them, lower case."""

_UNKNOWN = "a word that no agent's program knows: stored as other, kept in metadata"

_CHANGED = "written another way: the usual word is stored, theirs kept in metadata"


@dataclass(frozen=True, slots=True)
class Category:
    """The stored column, the six-word category, and what has to be said. `kept` is theirs, where ours differs."""

    column: str
    smart: str
    note: str = ""
    kept: str | None = None


def category_of(record: Record) -> Category:
    """The category of a record: its own word, else what its heading says, else other."""
    word = record.category
    if word is None:
        hint = _HEADINGS.get(trim(record.heading or "").rstrip(":").lower())
        if hint is None:
            return Category("other", record.memory_category or "patterns")
        return Category(storage_of(hint) or "other", hint, "none in the source: taken from the heading")
    plain = trim(word).lower()
    smart, column = resolve_input(word)
    known = plain in STORAGE or (smart, column) != ("patterns", "other") or plain in ("patterns", "pattern")
    if not known:
        return Category("other", record.memory_category or "patterns", _UNKNOWN, word)
    if plain in STORAGE:
        smart = record.memory_category or smart_of(column, record.text)
        return Category(column, smart, "" if word == column else _CHANGED, None if word == column else word)
    if plain in SMART and word == plain:
        return Category(column, smart, f"{plain} is stored as {column}, its own word in metadata")
    return Category(column, smart, _CHANGED, word)
