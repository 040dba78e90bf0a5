"""The question without what is in every memory: the text that is embedded and compared word by word."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memtui.engine.core.text import composed

COMMON_SHARE = 0.3
"""A word that more than this share of the rows contain says nothing about which row is meant."""

_WORD = re.compile(r"\w+(?:[-_./:@=+]+\w+)*")

QUESTION_WORDS = frozenset(("what", "when", "where", "which", "who", "whom", "whose", "why", "how"))

AUXILIARIES = frozenset(
    _WORD.findall("did does do is are was were has have had can could will would should might may must")
)

FUNCTION_WORDS = frozenset(
    _WORD.findall(
        """a about after again all also am an and any as at be because been before being but by could do does
        doing down each else for from get got had has have having he her here hers him his how i if in into is
        it its just like me more most much my no not now of off on once one only or other our out over own
        really she should so some such than that the their them then there these they this those to too under
        until up us very was we were what when where which while who whom whose why will with would yes you
        your yours"""
    )
)
"""Common in every text: they are no sign of a common subject, and the model gives them little weight anyway."""

_ALSO_WORDS = FUNCTION_WORDS | AUXILIARIES | QUESTION_WORDS

_POSSESSIVE = re.compile(r"['’]s\b")

_AS_NAME = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CleanQuestion:
    """`text` is what is left, the question itself when nothing would be; `removed` the words with the reason."""

    text: str
    removed: tuple[tuple[str, str], ...]
    named: tuple[str, ...]
    """The known speakers that the question names, as they are stored, in alphabetical order."""


def words_of(text: str) -> set[str]:
    """The different words of a text, lower case, identifiers whole and in parts."""
    found: set[str] = set()
    for word in _WORD.findall(composed(text).lower()):
        found.add(word)
        if not word.isalnum():
            found.update(_AS_NAME.findall(word))
    return found


def clean_question(
    question: str, *, share: Callable[[str], float], speakers: Sequence[str] = ()
) -> CleanQuestion:
    """Drop the question word, the auxiliary after it, names of speakers, and words that the rows have in common.

    `share` tells which part of the rows contains a word (lower case; a row's speaker counts as said by it).
    `speakers` are the names known in the scope.
    """
    named = named_speakers(question, speakers)
    names = {word for name in named for word in words_of(name)}
    cuts: list[tuple[int, int]] = []
    removed: list[tuple[str, str]] = []
    words = list(_WORD.finditer(question))

    def cut(match: re.Match[str], why: str) -> None:
        end = match.end()
        tail = _POSSESSIVE.match(question, end)
        cuts.append((match.start(), tail.end() if tail else end))
        removed.append((question[match.start() : cuts[-1][1]], why))

    asked = 0
    if words and words[0][0].lower() in QUESTION_WORDS:
        cut(words[0], "question word")
        asked = 1
        if len(words) > 1 and words[1][0].lower() in AUXILIARIES:
            cut(words[1], "auxiliary")
            asked = 2
    for match in words[asked:]:
        word = match[0].lower()
        if word in names:
            cut(match, "name of a speaker")
        elif word not in FUNCTION_WORDS and (part := share(word)) > COMMON_SHARE:
            cut(match, f"in {part:.0%} of the memories")
    text = question
    for start, end in reversed(cuts):
        text = f"{text[:start]} {text[end:]}"
    text = " ".join(text.split())
    kept = any(word[0].lower() not in FUNCTION_WORDS for word in _WORD.finditer(text))
    if not kept:
        text, removed = question, []
    return CleanQuestion(text, tuple(removed), named)


def named_speakers(question: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """The speakers whose whole name, or whose first name when it is nobody else's, stands in the question.

    A name that is a common word too (Will, May) needs its capital, and not at the beginning.
    """
    asked = [
        "" if word.lower() in _ALSO_WORDS and (at == 0 or not word[0].isupper()) else word.lower()
        for at, word in enumerate(_AS_NAME.findall(question))
    ]
    firsts = [name.split()[0].lower() if name.split() else "" for name in speakers]
    named = []
    for name, first in zip(speakers, firsts, strict=True):
        whole = [word.lower() for word in _AS_NAME.findall(name)]
        if not whole:
            continue
        spans = (asked[at : at + len(whole)] for at in range(len(asked) - len(whole) + 1))
        if any(span == whole for span in spans) or (firsts.count(first) == 1 and first in asked):
            named.append(name)
    return tuple(sorted(named))


# Words that must be met to the letter: ports, hosts, paths, hashes, settings, camelCase names.

_TOKEN = re.compile(r"[^\s\"'`“”‘’()\[\]{}<>,;!?]+")

_EDGE = ".:-/="

_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")

_JOINED = re.compile(r"\w[_./:@=+]\w")

_YEAR = re.compile(r"(?:19|20)\d\d")

_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)", re.IGNORECASE)

_CLOCK = re.compile(r"\d{1,2}[:.]\d\d(?:am|pm)?", re.IGNORECASE)

_AND_OR = re.compile(r"[A-Za-z]{1,12}(?:/[A-Za-z]{1,12}){1,2}")
"""`and/or`, `him/her`: two words, no path."""

SHORTEST = 3


def identifiers(question: str) -> tuple[str, ...]:
    """The identifiers in a question, in its order, without repetition.

    A token counts when it has a digit, an inner capital, or `_ . / : @ = +` between word characters. Years,
    ordinals, clock times and numbers of one or two digits do not.
    """
    found = (token.strip(_EDGE) for token in _TOKEN.findall(question))
    return tuple(dict.fromkeys(token for token in found if is_identifier(token)))


def is_identifier(token: str) -> bool:
    """Whether a token without spaces is an identifier by its shape."""
    if len(token) < SHORTEST or any(p.fullmatch(token) for p in (_YEAR, _ORDINAL, _CLOCK, _AND_OR)):
        return False
    has_digit = any(character.isdigit() for character in token)
    return has_digit or bool(_INNER_CAPITAL.search(token) or _JOINED.search(token))


# Dates that a question names, as spans of time in which the memories about them were written.

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

_DATES_YEAR = r"(?:,?\s+(?:of\s+)?(?P<{0}>(?:19|20)\d\d))?\b"

_ISO = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>[01]?\d)(?:-(?P<day>[0-3]?\d))?\b")

_DAY_FIRST = re.compile(
    rf"\b{_DAY.format('day')}(?:\s+of)?\s+(?P<month>{_NAME})\b{_DATES_YEAR.format('year')}", re.IGNORECASE
)

_MONTH_FIRST = re.compile(
    rf"\b(?P<month>{_NAME})\s+{_DAY.format('day')}\b(?!:){_DATES_YEAR.format('year')}", re.IGNORECASE
)

_MONTH = re.compile(rf"\b(?P<month>{_NAME})\b{_DATES_YEAR.format('year')}", re.IGNORECASE)

_DATES_ALSO_WORDS = ("may", "march", "august")
"""Months that are words too: alone they count after a preposition, or with a capital inside the sentence."""

_LEADS_TO_A_TIME = re.compile(
    r"\b(?:in|during|since|by|until|till|from|of|last|next|this|early|mid|late)[\s-]+$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class DateSpan:
    """From `start_ms` up to but not including `end_ms` (UTC), and the words that named it."""

    start_ms: int
    end_ms: int
    phrase: str

    def holds(self, timestamp_ms: float) -> bool:
        """Whether a time lies within."""
        return self.start_ms <= timestamp_ms < self.end_ms


def spans_named(question: str, years: Sequence[int]) -> tuple[DateSpan, ...]:
    """The spans that a question names: a month and six days, or the day before a day to ten days after it.

    A date without a year is tried in each of `years`. Dates that do not exist are left out.
    """
    spans: list[DateSpan] = []
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
    if name.lower() not in _DATES_ALSO_WORDS or _LEADS_TO_A_TIME.search(before):
        return True
    return name[0].isupper() and bool(before.strip())


def _spans(found: re.Match[str], years: Sequence[int]) -> Iterator[DateSpan]:
    groups = found.groupdict()
    month = _month_number(groups["month"])
    day = int(groups["day"]) if groups.get("day") else None
    for year in [int(groups["year"])] if groups.get("year") else years:
        span = _span(year, month, day, found[0])
        if span is not None:
            yield span


def _month_number(name: str) -> int:
    return int(name) if name.isdigit() else [m[:3] for m in MONTHS].index(name[:3].lower()) + 1


def _span(year: int, month: int, day: int | None, phrase: str) -> DateSpan | None:
    try:
        first = date(year, month, day or 1)
        last = date(year, month, day or monthrange(year, month)[1])
        around = (timedelta(0), AFTER_MONTH) if day is None else (BEFORE_DAY, AFTER_DAY)
        return DateSpan(_ms(first - around[0]), _ms(last + around[1]) + DAY_MS, phrase)
    except (ValueError, OverflowError):
        return None


def _ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


# Whether a question asks for what is new, as against any time in the past.

_ASKS = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|currently|right now|at the moment|as of (?:now|today)|these days"
    r"|nowadays|up[- ]to[- ]date|the current|current(?= \w+\??$))\b",
    re.IGNORECASE,
)
"""`recently` and `last` are left out: in questions about the past they point at any time."""


def newest_wanted(question: str) -> str:
    """The words by which the question asks for what is new; empty when it does not."""
    found = _ASKS.search(question)
    return found[0] if found else ""
