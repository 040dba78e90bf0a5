"""The tree of a parsed filter. Spans tell where a node was written and take no part in equality."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Op = Literal[":", "=", "!=", ">", ">=", "<", "<="]

UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000, "y": 31_536_000_000}
"""Milliseconds of the units of an age; a year is 365 days."""


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Characters `start` up to, not including, `end` of the filter text."""

    start: int
    end: int

    def __or__(self, other: TextSpan) -> TextSpan:
        return TextSpan(min(self.start, other.start), max(self.end, other.end))


NOWHERE = TextSpan(0, 0)


@dataclass(frozen=True, slots=True)
class Text:
    """A word as a value; with `glob`, `*` stands for any characters and `?` for one."""

    text: str
    glob: bool = False
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as a value."""

    value: float
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Age:
    """A length of time as a value: `amount` of `unit` (a key of `UNIT_MS`)."""

    amount: float
    unit: str
    span: TextSpan = field(default=NOWHERE, compare=False)

    @property
    def ms(self) -> float:
        """The length in milliseconds."""
        return self.amount * UNIT_MS[self.unit]


@dataclass(frozen=True, slots=True)
class Range:
    """From `low` to `high`, both included; None is an open end. Both ends are of one kind."""

    low: Number | Age | None
    high: Number | Age | None
    span: TextSpan = field(default=NOWHERE, compare=False)


Value: TypeAlias = Text | Number | Age | Range


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """`name op values`: a row matches when one of the values does (`!=`: when none does)."""

    name: str
    op: Op
    values: tuple[Value, ...]
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word, searched in the text."""

    text: str
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Characters in double quotes, searched in the text as they are."""

    text: str
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Semantic:
    """`~words`: searched by meaning."""

    text: str
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Regex:
    """`/pattern/`: a regular expression over the text."""

    pattern: str
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The rows that `term` leaves out."""

    term: Node
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """The rows that match all of two or more terms."""

    terms: tuple[Node, ...]
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """The rows that match one of two or more terms."""

    terms: tuple[Node, ...]
    span: TextSpan = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Everything:
    """The empty filter: all rows."""

    span: TextSpan = field(default=NOWHERE, compare=False)


Node: TypeAlias = FieldTerm | Word | Phrase | Semantic | Regex | Not | And | Or | Everything


def walk(node: Node) -> Iterator[Node]:
    """`node` and all nodes below it, in the order they were written."""
    yield node
    if isinstance(node, Not):
        yield from walk(node.term)
    elif isinstance(node, And | Or):
        for term in node.terms:
            yield from walk(term)
