"""Where the panels of the Journal stand: pure arithmetic."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class


def journal(width: int, height: int, *, said: bool, zoom: str) -> Arrangement:
    """Words alone; one panel; one above the other on a narrow screen; side by side."""
    if said:
        return {"state": Box(0, 0, width, height)}
    if zoom:
        return {zoom: Box(0, 0, width, height)}
    if size_class(width) == "narrow":
        upper = max(4, height * 5 // 9)
        return {"entries": Box(0, 0, width, upper), "entry": Box(0, upper, width, height - upper)}
    left = width * 54 // 100
    return {"entries": Box(0, 0, left, height), "entry": Box(left, 0, width - left, height)}
