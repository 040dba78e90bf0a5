"""Where the panels of Recall stand at which size: pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from memtui.tui.layout import Arrangement, Box, size_class

ASK_ROWS = {"narrow": 2, "normal": 4, "wide": 4}


@dataclass(frozen=True, slots=True)
class RecallShape:
    """What decides the arrangement beside the size."""

    stages: int = 0
    """Rows that the stages need, notes included."""
    results: int = 6
    """How many came back, two rows each."""
    moves: int = 8
    """Steps of the longest score."""
    dropped: bool = False
    """The dropped memories instead of the results, where there is room for one list."""
    zoom: str = ""
    answered: bool = True
    """Whether there is a score to take apart."""


def recall(width: int, height: int, shape: RecallShape = RecallShape()) -> Arrangement:
    """Question on top; stages and results beside or above each other; the score taken apart below."""
    kind = size_class(width)
    ask = ASK_ROWS[kind]
    body = max(4, height - ask)
    line = {"ask": Box(0, 0, width, ask)}
    found = "dropped" if shape.dropped else "results"
    if shape.zoom:
        return line | {shape.zoom: Box(0, ask, width, body)}
    if kind == "narrow":
        why = 3 if shape.answered and body >= 14 else 0
        stages = min(1 + shape.stages, max(0, body - why - 6)) if shape.stages else 0
        boxes = dict(line)
        if stages > 1:
            boxes["stages"] = Box(0, ask, width, stages)
        else:
            stages = 0
        boxes[found] = Box(0, ask + stages, width, body - stages - why)
        if why:
            boxes["why"] = Box(0, height - why, width, why)
        return boxes
    why = _why_rows(body, shape, wide=kind == "wide") if shape.answered and body >= 20 else 0
    upper = body - why
    if not shape.stages:
        return line | {found: Box(0, ask, width, body)}
    left = 48 if kind == "normal" else 64
    boxes = line | {"stages": Box(0, ask, left, upper)}
    if kind == "normal":
        boxes[found] = Box(left, ask, width - left, upper)
        if why:
            boxes["why"] = Box(0, ask + upper, width, why)
        return boxes
    boxes["results"] = Box(left, ask, width - left, upper)
    if not why:
        return boxes
    lower = body - upper
    third, text = width * 30 // 100, width * 24 // 100
    boxes["why"] = Box(0, ask + upper, width - third - text, lower)
    boxes["dropped"] = Box(width - third - text, ask + upper, third, lower)
    boxes["memory"] = Box(width - text, ask + upper, text, lower)
    return boxes


def _why_rows(body: int, shape: RecallShape, *, wide: bool) -> int:
    """Rows for the account: what it needs; on a wide screen what the lists above leave, for its neighbours' sake."""
    needed = shape.moves + 6
    if wide:
        lists = max(shape.stages + 3, 2 * shape.results + 2, 14)
        return max(needed, min(body - lists, body * 2 // 3))
    return max(6, min(needed, body - 12, body // 2))
