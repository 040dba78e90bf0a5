"""The values that a text states, read out of it: moments first, then identifiers, then amounts with their units."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from memtui.engine.blame.lexicon import folded, lexicon
from memtui.engine.blame.moments import clocks_in, dates_in, weekdays_in
from memtui.engine.blame.numbers import NUMBER, read_number, with_words_behind
from memtui.engine.blame.values import StatedValue, Values, squeezed

LEAST_DIGITS = 5
"""Digits of a number in groups from which it is an identifier: a shorter one may be an amount."""

_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"[A-Za-z0-9]+(?:[-_./:@+][A-Za-z0-9]+)+"  # joined
    r"|(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{3,}"  # letters and digits
    r"|[A-Z]\d"
    r"|\d{5,}"
    r")(?![A-Za-z0-9_])"
)

_SPACED = re.compile(
    r"(?<![A-Za-z0-9_.,:])(?:(?:[A-Z]{1,4} ?)?\d[\dA-Z]*(?:[ \-./][\dA-Z]+)+)(?![A-Za-z0-9_,])"
)


@lru_cache(maxsize=4096)
def values_of(text: str) -> Values:
    """Return the values that `text` states, in their order."""
    low = folded(text)
    taken: list[tuple[int, int]] = []
    found: list[StatedValue] = []

    def add(values: Iterable[StatedValue]) -> None:
        for value in values:
            if not any(value.start < end and start < value.end for start, end in taken):
                taken.append((value.start, value.end))
                found.append(value)

    add(dates_in(text, low))
    add(clocks_in(text, low))
    add(list(_identifiers(_blanked(text, taken))))
    add(weekdays_in(text, low))
    add(list(_amounts(text, _blanked(low, taken))))
    found = _ranges(text, found)
    found += _summed(found)
    found.sort(key=lambda value: (value.start, value.end))
    return Values(text, tuple(found), squeezed(text))


def _identifiers(free: str) -> Iterator[StatedValue]:
    units = lexicon().units
    for pattern in (_SPACED, _IDENTIFIER):
        for match in pattern.finditer(free):
            shown = match[0]
            key = squeezed(shown)
            digits = sum(letter.isdigit() for letter in key)
            letters = len(key) - digits
            if pattern is _SPACED and digits < LEAST_DIGITS - bool(letters):
                continue
            if (
                digits
                and not letters
                and re.fullmatch(r"\d{1,3}(?:[.,' ]\d{3})+|\d+[.,/]\d{1,2}|\d+-\d+", shown)
            ) and (digits < 6 or "." in shown or "," in shown):
                continue
            if not digits and not re.search(r"[_/@.:]", shown):
                continue  # words with a hyphen
            if not digits and re.fullmatch(r"[A-Za-z]+(?:/[A-Za-z]+)+", shown):
                continue
            if re.fullmatch(r"(\d+(?:[.,]\d+)?)[-]?([a-z°%]+)", shown.lower()) and (
                re.sub(r"[\d.,\-]", "", shown.lower()) in units
                or re.sub(r"[\d.,\-]", "", shown.lower()) in ("st", "nd", "rd", "th", "er", "x")
            ):
                continue
            if re.fullmatch(r"(?:19|20)\d\d(?:[-/.]\d+)*", shown) and digits < 7:
                continue
            yield StatedValue("identifier", shown, match.start(), match.end(), key=key)


_EVERY_OTHER = re.compile(
    r"(?<!\w)(?:every (?:second|other)|jede[nrs]? zweite[nrs]?|un jour sur deux|隔)(?= ?(?P<unit>[^\W\d_]+))"
)
"""Every other day: the same as every two days."""


def _amounts(text: str, free: str) -> Iterator[StatedValue]:
    for other in _EVERY_OTHER.finditer(free):
        unit, dimension, factor, stop = _unit_behind(free, other.end())
        if dimension == "time":
            start = other.start()
            yield StatedValue("amount", text[start:stop], start, stop, 2 * factor, None, dimension, unit)
            free = _blanked(free, [(start, stop)])
    at = 0
    while (match := NUMBER.search(free, at)) is not None:
        at = match.end()
        read = read_number(match)
        if read is None or (
            free.startswith("十分", match.start()) and not free.startswith("十分钟", match.start())
        ):
            continue  # 十分 is "very", too
        amount, second, spoken = read
        end = match.end()
        amount, second, end = with_words_behind(free, amount, second, end, spoken)
        unit, dimension, factor, stop = _unit_behind(free, end)
        if not dimension and match.start() and free[match.start() - 1] in "€$£":
            unit, dimension, factor = free[match.start() - 1], "money", 1.0
        if (match["zh"] is not None) and not dimension and not _counts(free, match, end):
            continue
        if spoken and not dimension and amount == 1:
            continue
        hedged = _hedged(free, match.start(), stop)
        at = max(at, end)
        if dimension == "temperature" and unit == "°f":
            amount, second = (amount - 32) / 1.8, None
        yield StatedValue(
            "amount",
            text[match.start() : stop].strip(),
            match.start(),
            stop,
            amount * factor,
            None if second is None else second * factor,
            dimension,
            unit,
            hedged,
        )
        at = max(at, stop)


def _unit_behind(free: str, end: int) -> tuple[str, str, float, int]:
    """(unit, dimension, factor, where it ends) of the unit behind a number; empty ones where there is none."""
    units = lexicon().units
    match = re.compile(r"[ -]?(?:per cent|pour cent|por ciento|[°%€$£][cf]?(?![a-z])|[a-z]+)").match(
        free, end
    )
    if match is not None:
        word = match[0].strip(" -")
        if word in units and not (
            word in ("a", "an", "in", "h", "t", "l") and match[0].startswith(" ") and word in ("a", "an")
        ):
            return word, *units[word], match.end()
        return "", "", 1.0, end
    if free[end : end + 1] in ("个", "個"):  # 四个星期
        end += 1
    for size in (3, 2, 1):
        word = free[end : end + size].strip()
        if word and not word.isascii() and word in units:
            return word, *units[word], end + size
    return "", "", 1.0, end


def _counts(free: str, match: re.Match[str], end: int) -> bool:
    """Whether a Chinese numeral counts something: not the one of 一起 or 一般."""
    numeral = match["zh"]
    if len(numeral) >= 2 and numeral != "十万":
        return True
    behind = free[end : end + 1]
    return (behind in lexicon().measures and numeral != "一") or (
        numeral in ("半", "一") and behind in ("粒", "片", "杯", "瓶", "个", "次")
    )


def _hedged(free: str, start: int, stop: int) -> bool:
    before = free[max(0, start - 14) : start].split()
    told = lexicon()
    if any(word in told.hedges for word in before[-2:]):
        return True
    around = free[max(0, start - 2) : start] + free[stop : stop + 2]
    return any(sign in around for sign in told.hedge_signs)


def _blanked(text: str, taken: Sequence[tuple[int, int]]) -> str:
    letters = list(text)
    for start, end in taken:
        letters[start:end] = "\0" * (end - start)
    return "".join(letters)


_TO = re.compile(r" ?(?:-|–|to|bis|à|a|and|und|et|y|到|至|~|〜) ?")


def _ranges(text: str, found: Sequence[StatedValue]) -> list[StatedValue]:
    """The values, where a bare number that begins a range has the unit behind it: 2 to 8 degrees."""
    units = lexicon().units
    behind = {value.start: value for value in found if value.kind == "amount" and value.dimension}
    out = []
    for value in found:
        if (
            value.kind == "amount"
            and not value.dimension
            and (match := _TO.match(text, value.end)) is not None
        ):
            after = behind.get(match.end())
            if after is not None:
                factor = units.get(after.unit, ("", 1.0))[1]
                value = replace(
                    value, dimension=after.dimension, unit=after.unit, amount=value.amount * factor
                )
        out.append(value)
    return out


def _summed(found: Sequence[StatedValue]) -> list[StatedValue]:
    """Durations that are told in two units as one: 3 hours 20 minutes."""
    times = sorted(
        (value for value in found if value.kind == "amount" and value.dimension == "time"),
        key=lambda value: value.start,
    )
    out = []
    for one, two in itertools.pairwise(times):
        if 0 <= two.start - one.end <= 5 and two.amount < one.amount and one.unit != two.unit:
            shown = one.shown + " " + two.shown
            out.append(
                StatedValue(
                    "amount", shown, one.start, two.end, one.amount + two.amount, None, "time", two.unit
                )
            )
    return out
