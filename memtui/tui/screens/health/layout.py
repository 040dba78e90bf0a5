"""Where the panels of Health stand: pure arithmetic."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class


def health(width: int, height: int, *, said: bool, zoom: str) -> Arrangement:
    """The line of views on top; below it words alone, one panel, or list and detail."""
    line = {"views": Box(0, 0, width, 1)}
    rest = max(1, height - 1)
    if said:
        return line | {"state": Box(0, 1, width, rest)}
    if zoom:
        return line | {zoom: Box(0, 1, width, rest)}
    if size_class(width) == "narrow":
        upper = max(4, rest * 5 // 9)
        return line | {"list": Box(0, 1, width, upper), "detail": Box(0, 1 + upper, width, rest - upper)}
    left = width * 54 // 100
    return line | {"list": Box(0, 1, left, rest), "detail": Box(left, 1, width - left, rest)}
