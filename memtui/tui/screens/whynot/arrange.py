"""Where the panels of Why not stand at which size: pure arithmetic."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class


def why_not(width: int, height: int, verdict_rows: int, remedy_rows: int, zoom: str = "") -> Arrangement:
    """The verdict on top; gates beside changes and remedies, or all below each other; the text where there is room."""
    kind = size_class(width)
    top = min(verdict_rows, max(3, height - 8))
    rest = height - top
    head = {"verdict": Box(0, 0, width, top)}
    if zoom:
        return head | {zoom: Box(0, top, width, rest)}
    if kind == "narrow":
        lower = min(remedy_rows, rest // 3)
        upper = (rest - lower) // 2
        return head | {
            "ladder": Box(0, top, width, upper),
            "changes": Box(0, top + upper, width, rest - upper - lower),
            "remedies": Box(0, top + rest - lower, width, lower),
        }
    lower = min(remedy_rows, rest // 2)
    if kind == "normal":
        left = width * 47 // 100
        return head | {
            "ladder": Box(0, top, left, rest),
            "changes": Box(left, top, width - left, rest - lower),
            "remedies": Box(left, top + rest - lower, width - left, lower),
        }
    left, right = width * 42 // 100, width * 22 // 100
    return head | {
        "ladder": Box(0, top, left, rest),
        "changes": Box(left, top, width - left - right, rest - lower),
        "remedies": Box(left, top + rest - lower, width - left - right, lower),
        "memory": Box(width - right, top, right, rest),
    }
