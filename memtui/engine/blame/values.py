"""The values that texts state, and how much two of them are the same.

A value is compared by what it is, not by how it is written: three weeks are 21 days, a quarter to one is 12:45, and
WB 4471 902 K is WB4471902K.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal

from memtui.engine.blame.lexicon import folded, lexicon

Kind = Literal["amount", "clock", "weekday", "date", "identifier"]

EXACT = 0.012
"""Relative difference of two amounts that are the same: 200 minutes and 3.33 hours."""

NEAR = 0.07
"""Relative difference of an amount that is said to be about so much, or written as words."""

BARE = 0.75
"""Likeness of an amount to the same number without a unit."""

FEW = 3
"""Up to this a whole number without a unit stands in everything."""

HALF_DAY = 720
"""Minutes after which a clock without "am" or "pm" shows the same."""

SAME_FAMILY = 0.6
"""Likeness of two different identifiers from which one is a slip of the other."""


_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class StatedValue:
    """One value of a text, where it stands there (`start` to `end`), and what it is."""

    kind: Kind
    shown: str
    start: int
    end: int
    amount: float = 0.0
    """Of an amount in the own unit of its dimension; of a clock in minutes after midnight."""
    other: float | None = None
    """A second reading of the digits: 2,400 is a thousand in one country and a decimal in another."""
    dimension: str = ""
    """Of an amount; empty for a bare number."""
    unit: str = ""
    loose: bool = False
    """Whether the text says that it is about so much; of a clock, whether it may be twelve hours later."""
    date: tuple[int, int, int] = (0, 0, 0)
    """(year, month, day), 0 for what is not told; of a weekday (0, 0, its number)."""
    key: str = ""
    """Of an identifier: its letters and digits alone."""


@dataclass(frozen=True, slots=True)
class Values:
    """All values of one text."""

    text: str
    values: tuple[StatedValue, ...]
    squeezed: str = field(repr=False, default="")
    """The text's letters and digits alone: an identifier is found in it however it is spaced."""

    def of(self, kind: Kind) -> list[StatedValue]:
        """Those of one kind, in their order."""
        return [value for value in self.values if value.kind == kind]


def squeezed(text: str) -> str:
    """The letters and digits of a text alone, in lower case."""
    return _NO_LETTER.sub("", folded(text))


def likeness(said: StatedValue, stated: Values) -> float:
    """How well a text states the value that another one said: 0 not at all, 1 the same value."""
    if said.kind == "identifier":
        if len(said.key) >= 4 and said.key in stated.squeezed:
            return 1.0
        return 1.0 if any(value.key == said.key for value in stated.of("identifier")) else 0.0
    best = max((_alike(said, value) for value in stated.values), default=0.0)
    if said.kind == "amount" and not said.dimension and best < 0.9:
        digits = squeezed(said.shown)
        best = 0.9 if digits.isdecimal() and len(digits) >= 4 and digits in stated.squeezed else best
    if said.kind == "amount" and best < 0.9:
        best = max(best, _as_product(said, stated.of("amount")))
    return best


def conflict(said: StatedValue, stated: Values) -> float:
    """How clearly a text states another value in the place of the one that was said, 0 to 1."""
    if likeness(said, stated) >= 0.5:
        return 0.0
    if said.kind == "identifier":
        keys = [value.key for value in stated.of("identifier")]
        near = max((SequenceMatcher(None, said.key, key).ratio() for key in keys), default=0.0)
        return near if near >= SAME_FAMILY and len(said.key) >= 4 else 0.0
    if said.kind == "amount":
        if not said.dimension:
            return 0.0
        return 1.0 if any(value.dimension == said.dimension for value in stated.of("amount")) else 0.0
    if said.kind == "date":
        others = [value for value in stated.of("date") if value.date[1]]
        return 1.0 if said.date[1] and others else 0.0
    return 1.0 if stated.of(said.kind) else 0.0


def _alike(said: StatedValue, stated: StatedValue) -> float:
    if said.kind == stated.kind == "weekday":
        return float(said.date == stated.date)
    if said.kind == stated.kind == "clock":
        away = abs(said.amount - stated.amount)
        if away < 1:
            return 1.0
        return 0.95 if (said.loose or stated.loose) and abs(away - HALF_DAY) < 1 else 0.0
    if said.kind == stated.kind == "date":
        return _same_date(said.date, stated.date)
    if {said.kind, stated.kind} == {"clock", "amount"}:
        clock, amount = (said, stated) if said.kind == "clock" else (stated, said)
        return (
            0.5 if not amount.dimension and clock.amount / 60 in (amount.amount, amount.amount + 12) else 0.0
        )
    if said.kind == "amount" and stated.kind == "identifier":
        return 0.0
    if said.kind != "amount" or stated.kind != "amount":
        return 0.0
    if said.dimension and stated.dimension and said.dimension != stated.dimension:
        return 0.0
    loose = said.loose or stated.loose
    best = 0.0
    for one in _readings(said):
        for two in _readings(stated):
            if (
                said.dimension != stated.dimension
            ):  # one of them bare: its number counts, not what it is worth
                one, two = _bare(said, one), _bare(stated, two)
            top = max(abs(one), abs(two))
            away = abs(one - two) / top if top else 0.0
            sure = 1.0 if said.dimension == stated.dimension else BARE if top > FEW or top % 1 else 0.0
            if away <= EXACT:
                best = max(best, sure)
            elif loose and away <= NEAR:
                best = max(best, 0.8 * sure)
            elif (
                said.dimension
                and said.dimension == stated.dimension
                and said.unit != stated.unit
                and away <= NEAR
            ):
                best = max(best, 0.65)
    return best


def _readings(value: StatedValue) -> tuple[float, ...]:
    return (value.amount,) if value.other is None else (value.amount, value.other)


def _bare(value: StatedValue, amount: float) -> float:
    if not value.dimension:
        return amount
    factor = lexicon().units.get(value.unit, ("", 1.0))[1]
    return amount / factor


def _as_product(said: StatedValue, stated: Sequence[StatedValue]) -> float:
    """Whether a count times an amount makes it: two flasks of 500 ml are one litre."""
    if not said.dimension or len(stated) > 6:
        return 0.0
    for count in stated:
        for each in stated:
            if (
                count is each
                or count.dimension
                or each.dimension != said.dimension
                or not 2 <= count.amount <= 50
            ):
                continue
            made = count.amount * each.amount
            if made and abs(made - said.amount) / max(made, said.amount) <= EXACT:
                return 0.7
    return 0.0


def _same_date(one: tuple[int, int, int], two: tuple[int, int, int]) -> float:
    if one[0] and two[0] and one[0] != two[0]:
        return 0.0
    if one[1] and two[1]:
        if one[1] != two[1]:
            return 0.0
        if one[2] and two[2]:
            return float(one[2] == two[2])
        return 0.6
    return 0.4 if one[0] and one[0] == two[0] else 0.0
