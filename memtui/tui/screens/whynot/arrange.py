"""Where the panels of Why not stand at which size: pure arithmetic."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class


def why_not(width: int, height: int, verdict_rows: int, zoom: str = "") -> Arrangement:
    """The verdict on top; gates and changes beside, or below each other; the memory's text where there is room."""
    kind = size_class(width)
    top = min(verdict_rows, max(3, height - 8))
    rest = height - top
    head = {"verdict": Box(0, 0, width, top)}
    if zoom:
        return head | {zoom: Box(0, top, width, rest)}
    if kind == "narrow":
        upper = rest // 2
        return head | {
            "ladder": Box(0, top, width, upper),
            "changes": Box(0, top + upper, width, rest - upper),
        }
    if kind == "normal":
        left = width * 47 // 100
        return head | {
            "ladder": Box(0, top, left, rest),
            "changes": Box(left, top, width - left, rest),
        }
    left, right = width * 42 // 100, width * 22 // 100
    return head | {
        "ladder": Box(0, top, left, rest),
        "changes": Box(left, top, width - left - right, rest),
        "memory": Box(width - right, top, right, rest),
    }
