"""Where the panels of What if stand at which size: pure arithmetic."""

from __future__ import annotations

from memtui.tui.layout import Arrangement, Box, size_class

ABOUT = 7


def what_if(width: int, height: int, zoom: str = "") -> Arrangement:
    """Sliders and the list beside, or below each other; what is known of the setting under the cursor below it."""
    kind = size_class(width)
    if zoom:
        return {zoom: Box(0, 0, width, height)}
    if kind == "narrow":
        upper = max(6, height * 55 // 100)
        return {
            "sliders": Box(0, 0, width, upper),
            "list": Box(0, upper, width, height - upper),
        }
    left = width * 56 // 100 if kind == "normal" else width * 44 // 100
    boxes = {
        "sliders": Box(0, 0, left, height - ABOUT),
        "about": Box(0, height - ABOUT, left, ABOUT),
    }
    if kind == "normal":
        return boxes | {"list": Box(left, 0, width - left, height)}
    middle = width - left
    lower = max(14, height * 40 // 100)
    return boxes | {
        "list": Box(left, 0, middle, height - lower),
        "why": Box(left, height - lower, middle, lower),
    }
