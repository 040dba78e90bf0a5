"""Where the panels of Capture stand: pure arithmetic."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class
from memtui.tui.screens.capture.state import View


def capture(width: int, height: int, *, view: View, said: bool, listed: bool, zoom: str) -> Arrangement:
    """Words alone; one panel; texts above candidate and trace; with conversations and what is sent beside them."""
    if said:
        return {"state": Box(0, 0, width, height)}
    if zoom:
        return {zoom: Box(0, 0, width, height)}
    if view == "inbox":
        upper = max(5, height * 5 // 9)
        return {"inbox": Box(0, 0, width, upper), "item": Box(0, upper, width, height - upper)}
    if size_class(width) == "narrow":
        if not listed:
            return {"talks": Box(0, 0, width, height)}
        texts = max(5, height * 4 // 9)
        candidate = max(4, (height - texts) // 2)
        return {
            "texts": Box(0, 0, width, texts),
            "candidate": Box(0, texts, width, candidate),
            "trace": Box(0, texts + candidate, width, height - texts - candidate),
        }
    left = max(28, width // 5)
    right = max(40, width // 3)
    middle = width - left - right
    sent = 6
    upper = (height - sent) * 5 // 9
    return {
        "talks": Box(0, 0, left, upper),
        "texts": Box(left, 0, middle, upper),
        "candidate": Box(left + middle, 0, right, height - sent),
        "trace": Box(0, upper, left + middle, height - sent - upper),
        "sent": Box(0, height - sent, width, sent),
    }
