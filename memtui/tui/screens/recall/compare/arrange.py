"""Where the panels of a comparison stand at which size: pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from memtui.tui.layout import Arrangement, Box, size_class

HEAD_ROWS = {"narrow": 2, "normal": 4, "wide": 4}
STAGE_CELLS = 52
LEAST_LOWER = 8


@dataclass(frozen=True, slots=True)
class CompareShape:
    """What decides the arrangement beside the size."""

    flows: int = 0
    """Memories in either list."""
    stages: int = 0
    shown: str = "differs"
    zoom: str = ""
    answered: bool = False


def compare(width: int, height: int, shape: CompareShape = CompareShape()) -> Arrangement:
    """The question on top, the two lists with the flow between them, below what differs and why.

    Wide: the stages beside the lists, both accounts below. Normal: what differs beside one account.
    Narrow: one merged list, and one panel below.
    """
    kind = size_class(width)
    head = HEAD_ROWS[kind]
    body = max(4, height - head)
    found = {"head": Box(0, 0, width, head)}
    if shape.zoom:
        return found | {shape.zoom: Box(0, head, width, body)}
    if not shape.answered:
        return found | {"flow": Box(0, head, width, body)}
    if kind == "narrow":
        lower = min(9, body // 2) if body >= 12 else 0
        found["merged"] = Box(0, head, width, body - lower)
        if lower:
            found[_panel(shape.shown)] = Box(0, height - lower, width, lower)
        return found
    wanted = max(shape.flows, shape.stages if kind == "wide" else 0) + 3
    upper = max(min(wanted, body - LEAST_LOWER), body // 3)
    lower, below = body - upper, head + upper
    if kind == "normal":
        half = width * 52 // 100
        found["flow"] = Box(0, head, width, upper)
        found["differs"] = Box(0, below, half, lower)
        beside = _panel(shape.shown) if shape.shown != "differs" else "why-b"
        found[beside] = Box(half, below, width - half, lower)
        return found
    third = width * 30 // 100
    found["stages"] = Box(0, head, STAGE_CELLS, upper)
    found["flow"] = Box(STAGE_CELLS, head, width - STAGE_CELLS, upper)
    found["why-a"] = Box(0, below, third, lower)
    found["why-b"] = Box(third, below, third, lower)
    found["differs"] = Box(2 * third, below, width - 2 * third, lower)
    return found


def _panel(shown: str) -> str:
    return "differs" if shown == "differs" else f"why-{shown}"
