"""Dates that a question names, as spans of time in which the memories about them were written."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
AFTER_MONTH = timedelta(days=6)
"""What happened in a month is still spoken of in the first days of the next."""
BEFORE_DAY, AFTER_DAY = timedelta(days=1), timedelta(days=10)
"""A day is spoken of the day before, and for a week and a half afterwards."""
DAY_MS = 86_400_000

_NAME = "|".join([*MONTHS, *(f"{m[:3]}\\.?" for m in MONTHS if m != "may"), "sept\\.?"])
_DAY = r"(?P<{0}>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?:of\s+)?(?P<{0}>(?:19|20)\d\d))?\b"
_ISO = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>[01]?\d)(?:-(?P<day>[0-3]?\d))?\b")
_DAY_FIRST = re.compile(
    rf"\b{_DAY.format('day')}(?:\s+of)?\s+(?P<month>{_NAME})\b{_YEAR.format('year')}", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<month>{_NAME})\s+{_DAY.format('day')}\b(?!:){_YEAR.format('year')}", re.IGNORECASE
)
_MONTH = re.compile(rf"\b(?P<month>{_NAME})\b{_YEAR.format('year')}", re.IGNORECASE)
_ALSO_WORDS = ("may", "march", "august")
"""Months that are words too: alone they count after a preposition, or with a capital inside the sentence."""
_LEADS_TO_A_TIME = re.compile(
    r"\b(?:in|during|since|by|until|till|from|of|last|next|this|early|mid|late)[\s-]+$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Span:
    """From `start_ms` up to but not including `end_ms` (UTC), and the words that named it."""

    start_ms: int
    end_ms: int
    phrase: str

    def holds(self, timestamp_ms: float) -> bool:
        """Whether a time lies within."""
        return self.start_ms <= timestamp_ms < self.end_ms


def spans_named(question: str, years: Sequence[int]) -> tuple[Span, ...]:
    """The spans that a question names: a month and six days, or the day before a day to ten days after it.

    A date without a year is tried in each of `years`. Dates that do not exist are left out.
    """
    spans: list[Span] = []
    taken: list[tuple[int, int]] = []
    for pattern in (_ISO, _DAY_FIRST, _MONTH_FIRST, _MONTH):
        for found in pattern.finditer(question):
            if any(found.start() < end and start < found.end() for start, end in taken):
                continue
            if pattern is _MONTH and not _is_month(question, found):
                continue
            taken.append(found.span())
            spans += _spans(found, years)
    return tuple(sorted(spans, key=lambda span: (span.start_ms, span.end_ms)))


def _is_month(question: str, found: re.Match[str]) -> bool:
    """Whether a month's name alone is meant as one."""
    name = found["month"]
    if found["year"]:
        return True
    if name.rstrip(".").lower() not in MONTHS:
        return False  # a short form alone is more often a name: Jan, Mar, Dec
    before = question[: found.start()]
    if name.lower() not in _ALSO_WORDS or _LEADS_TO_A_TIME.search(before):
        return True
    return name[0].isupper() and bool(before.strip())


def _spans(found: re.Match[str], years: Sequence[int]) -> Iterator[Span]:
    groups = found.groupdict()
    month = _month_number(groups["month"])
    day = int(groups["day"]) if groups.get("day") else None
    for year in [int(groups["year"])] if groups.get("year") else years:
        span = _span(year, month, day, found[0])
        if span is not None:
            yield span


def _month_number(name: str) -> int:
    return int(name) if name.isdigit() else [m[:3] for m in MONTHS].index(name[:3].lower()) + 1


def _span(year: int, month: int, day: int | None, phrase: str) -> Span | None:
    try:
        first = date(year, month, day or 1)
        last = date(year, month, day or monthrange(year, month)[1])
        around = (timedelta(0), AFTER_MONTH) if day is None else (BEFORE_DAY, AFTER_DAY)
        return Span(_ms(first - around[0]), _ms(last + around[1]) + DAY_MS, phrase)
    except (ValueError, OverflowError):
        return None


def _ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def years_of(first_ms: float, last_ms: float) -> tuple[int, ...]:
    """The years from one time to another; none when a time is unknown (0) or beyond what dates can hold."""
    try:
        if not 0 < first_ms <= last_ms:
            return ()
        first, last = (datetime.fromtimestamp(ms / 1000, UTC).year for ms in (first_ms, last_ms))
    except (ValueError, OverflowError, OSError):
        return ()
    return tuple(range(first, last + 1))
