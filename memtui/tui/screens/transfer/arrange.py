"""Where the panels of Transfer stand at which size: pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memtui.tui.layout import Arrangement, Box, size_class

Layout = Literal["one", "two", "review"]
"""one: `b` alone. two: `a` and `b`. review: `a` and `b` above the record `c`, beside it `d` where there is room."""
SIDE = 40
SETTINGS = 46
"""The same where it holds names and values."""
FOOT_ROWS = 2


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides the arrangement beside the size."""

    layout: Layout = "two"
    line: bool = False
    """A line to type into, above the panels."""
    said: bool = False
    """Words in place of `b`: what it waits for, or why it is empty."""
    side_rows: int = 8
    """How many rows `a` needs where it stands above `b`."""
    record: bool = True
    """A record below, in the review; without it the panels have the room."""
    mirrored: bool = False
    """`b` is the narrow one: a list of choices beside a wide text."""
    even: bool = False
    """Both are alike."""


def transfer(width: int, height: int, shape: Shape = Shape()) -> Arrangement:
    """Stepper on top, what is missing at the bottom, the panels of the step between them."""
    narrow = size_class(width) == "narrow"
    head = min(2 if narrow and shape.layout == "review" else 1, max(1, height - 6))
    foot = FOOT_ROWS if height >= 20 else 1
    found = {"head": Box(0, 0, width, head)}
    top, rest = head, height - head - foot
    if shape.line:
        rows = 2 if narrow else 3
        found["line"] = Box(0, top, width, rows)
        top, rest = top + rows, rest - rows
    main = "state" if shape.said else "b"
    if shape.layout == "one":
        found[main] = Box(0, top, width, rest)
    elif shape.layout == "review":
        found |= _review(width, top, rest, main, record=shape.record)
    elif narrow:
        upper = max(3, min(shape.side_rows + 1, rest - 6, rest * 3 // 5))
        found["a"] = Box(0, top, width, upper)
        found[main] = Box(0, top + upper, width, rest - upper)
    else:
        side = width // 2 if shape.even else SETTINGS if size_class(width) != "wide" else _side(width)
        left = side if not shape.mirrored else width - side
        found["a"] = Box(0, top, left, rest)
        found[main] = Box(left, top, width - left, rest)
    found["foot"] = Box(0, height - foot, width, foot)
    return found


def _side(width: int) -> int:
    return SIDE if size_class(width) != "wide" else 58


def _review(width: int, top: int, rest: int, main: str, *, record: bool) -> Arrangement:
    kind = size_class(width)
    if not record:
        left = 0 if kind == "narrow" else _side(width)
        side = {"a": Box(0, top, left, rest)} if left else {}
        return {**side, main: Box(left, top, width - left, rest)}
    if kind == "narrow":
        lower = max(4, min(8, rest * 2 // 5))
        return {
            main: Box(0, top, width, rest - lower),
            "c": Box(0, top + rest - lower, width, lower),
        }
    lower = max(6, min(18 if kind == "normal" else 22, rest * 52 // 100))
    upper = rest - lower
    left = _side(width)
    found = {
        "a": Box(0, top, left, upper),
        main: Box(left, top, width - left, upper),
    }
    third = width - 136 if kind == "wide" else 0
    found["c"] = Box(0, top + upper, width - third, lower)
    if third:
        found["d"] = Box(width - third, top + upper, third, lower)
    return found
