"""Where the panels of Lifecycle stand at which size: pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from memtui.tui.layout import SHORT_HEIGHT, Arrangement, Box, size_class

HEAD_ROWS = {"narrow": 2, "normal": 1, "wide": 1}
"""What is asked; on a narrow screen the names of the panels below it."""
TALL_BODY = 34
"""Rows above the sliders in which scores and flow are shown whole, and a calendar still below them."""


@dataclass(frozen=True, slots=True)
class LifecycleShape:
    """What decides the arrangement beside the size."""

    panel: str = "curves"
    """The panel that is shown where there is room for one."""
    aside: str = "flow"
    """Which of the smaller panels, where there is room for one of them."""
    zoom: str = ""
    reviewing: bool = False
    said: bool = False
    """There is nothing to show but words: why, and the ways out."""


def lifecycle(width: int, height: int, shape: LifecycleShape = LifecycleShape()) -> Arrangement:
    """One panel; two by two with the sliders below; or three columns with the sliders below."""
    kind = size_class(width)
    top = 1 if shape.reviewing else min(HEAD_ROWS[kind], max(1, height - 4))
    rest = height - top
    head = {"head": Box(0, 0, width, top)}
    if shape.said:
        return {"state": Box(0, 0, width, height)}
    if shape.reviewing:
        return head | _review(width, top, rest, narrow=kind == "narrow")
    if shape.zoom:
        return head | {shape.zoom: Box(0, top, width, rest)}
    if kind == "narrow":
        return head | {shape.panel: Box(0, top, width, rest)}
    if kind == "normal":
        return head | _normal(width, top, rest, shape)
    return head | _wide(width, top, rest)


def _review(width: int, top: int, rest: int, *, narrow: bool) -> Arrangement:
    if narrow:
        upper = max(5, rest // 2)
        return {
            "review": Box(0, top, width, upper),
            "card": Box(0, top + upper, width, rest - upper),
        }
    left = width * 52 // 100
    return {"review": Box(0, top, left, rest), "card": Box(left, top, width - left, rest)}


def _normal(width: int, top: int, rest: int, shape: LifecycleShape) -> Arrangement:
    sliders = 9 if rest >= SHORT_HEIGHT - 2 else 0
    left = width // 2
    upper = (rest - sliders) // 2 + 1
    lower = rest - sliders - upper
    second = top + upper
    boxes = {
        "curves": Box(0, top, left, upper),
        "scores": Box(left, top, width - left, upper),
        shape.aside: Box(0, second, left, lower),
        "next": Box(left, second, width - left, lower),
    }
    if sliders:
        boxes["whatif"] = Box(0, second + lower, width, sliders)
    elif shape.panel == "whatif":
        del boxes[shape.aside], boxes["next"]
        boxes["whatif"] = Box(0, second, width, lower)
    return boxes


def _wide(width: int, top: int, rest: int) -> Arrangement:
    sliders = min(12, max(9, rest // 5))
    body = rest - sliders
    first, second = width * 36 // 100, width * 30 // 100
    third = width - first - second
    curves = body * 56 // 100
    scores, flow = (max(13, body * 36 // 100), 12) if body >= TALL_BODY else (body * 42 // 100, 8)
    following = body * 64 // 100
    return {
        "curves": Box(0, top, first, curves),
        "numbers": Box(0, top + curves, first, body - curves),
        "scores": Box(first, top, second, scores),
        "flow": Box(first, top + scores, second, flow),
        "history": Box(first, top + scores + flow, second, body - scores - flow),
        "next": Box(first + second, top, third, following),
        "findings": Box(first + second, top + following, third, body - following),
        "whatif": Box(0, top + body, width, sliders),
    }
