"""Where the panels of Mend stand: the list beside what is selected, or above it."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class

HEAD_ROWS = 2


def mend(width: int, height: int, *, said: bool = False, zoom: str = "") -> Arrangement:
    """The head, then list and detail; only words where there is nothing to list."""
    top = min(HEAD_ROWS, max(1, height - 2))
    rest = max(1, height - top)
    found = {"head": Box(0, 0, width, top)}
    if said:
        return found | {"said": Box(0, top, width, rest)}
    if zoom:
        return found | {zoom: Box(0, top, width, rest)}
    if size_class(width) == "narrow":
        upper = max(4, rest * 9 // 20)
        return found | {"found": Box(0, top, width, upper), "one": Box(0, top + upper, width, rest - upper)}
    left = width * 11 // 20
    return found | {"found": Box(0, top, left, rest), "one": Box(left, top, width - left, rest)}
