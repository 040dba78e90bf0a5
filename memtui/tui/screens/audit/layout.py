"""Where the panels of Audit stand: pure arithmetic."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class
from memtui.tui.screens.audit.state import View


def audit(width: int, height: int, *, view: View, said: bool, zoom: str) -> Arrangement:
    """The line of views on top; below it words alone, one panel, or list, what belongs to it, and detail."""
    line = {"views": Box(0, 0, width, 1)}
    rest = max(1, height - 1)
    if said:
        return line | {"state": Box(0, 1, width, rest)}
    if zoom:
        return line | {zoom: Box(0, 1, width, rest)}
    kind = size_class(width)
    if kind == "narrow":
        return line | _narrow(width, rest, view)
    if view == "access":
        upper = rest * 5 // 9
        left = width * 58 // 100
        return line | {
            "list": Box(0, 1, width, upper),
            "aside": Box(0, 1 + upper, left, rest - upper),
            "detail": Box(left, 1 + upper, width - left, rest - upper),
        }
    if kind == "wide":
        first, second = width * 26 // 100, width * 30 // 100
        return line | {
            "list": Box(0, 1, first, rest),
            "aside": Box(first, 1, second, rest),
            "detail": Box(first + second, 1, width - first - second, rest),
        }
    left = width * 42 // 100
    upper = rest * 4 // 9
    return line | {
        "list": Box(0, 1, left, upper),
        "aside": Box(0, 1 + upper, left, rest - upper),
        "detail": Box(left, 1, width - left, rest),
    }


def _narrow(width: int, rest: int, view: View) -> Arrangement:
    """One above the other; the detail of a turn, a leak or a reach takes most of the room."""
    first = max(3, rest * 2 // 9) if view != "access" else max(4, rest * 4 // 9)
    second = max(3, rest * 2 // 9)
    return {
        "list": Box(0, 1, width, first),
        "aside": Box(0, 1 + first, width, second),
        "detail": Box(0, 1 + first + second, width, rest - first - second),
    }
