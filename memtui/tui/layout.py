"""Which panels a screen shows at which size, and where: pure arithmetic, drawn as ASCII art in the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

SizeClass = Literal["narrow", "normal", "wide"]

NORMAL_WIDTH = 100
"""Below this many columns panels have a rule instead of a box: two columns of frame a panel are too dear."""

WIDE_WIDTH = 160

FOUR_COLUMNS = 180
"""From here on Home has the journal and the saved questions beside everything else."""

SHORT_HEIGHT = 30
"""Below this many rows hint lines and sub-titles go; the key bar stays."""

NEAR_ROWS = 7
"""Five neighbours of a memory and their frame."""

MIN_WIDTH, MIN_HEIGHT = 60, 15
"""Below this the app says one sentence instead of drawing something unreadable."""


class Box(NamedTuple):
    """A rectangle in cells, from the top left of the screen's body."""

    x: int
    y: int
    width: int
    height: int


Arrangement = dict[str, Box]
"""Panel name to rectangle, in drawing order; a panel that is not named is not shown."""


def size_class(width: int) -> SizeClass:
    """The class that decides boxes, tab names and columns."""
    if width < NORMAL_WIDTH:
        return "narrow"
    return "normal" if width < WIDE_WIDTH else "wide"


@dataclass(frozen=True, slots=True)
class BrowseShape:
    """What the person has chosen to see on Browse."""

    zoom: str = ""
    """The panel that fills the body: "scopes", "list", "detail", or none."""
    scopes: bool = True
    """Scopes beside the list; where there is no room for that, the overlay is asked for with `overlay`."""
    detail: bool = True
    overlay: bool = False
    """Scopes over the list on a narrow screen."""
    filter_rows: int = 1
    nudge: int = 0
    """Columns by which the side panels are wider (or narrower) than their default."""


def browse(width: int, height: int, shape: BrowseShape = BrowseShape()) -> Arrangement:
    """Filter line on top, then scopes, list and detail as the size allows."""
    top = min(shape.filter_rows, max(1, height - 1))
    rest = max(1, height - top)
    line = {"filter": Box(0, 0, width, top)}
    if shape.zoom:
        return line | {shape.zoom: Box(0, top, width, rest)}
    kind = size_class(width)
    if kind == "narrow":
        return line | _browse_narrow(width, top, rest, shape)
    left = _side(27 if kind == "normal" else 32, shape, width) if shape.scopes else 0
    right = _side(36 if kind == "normal" else 60, shape, width) if shape.detail else 0
    found = dict(line)
    if left:
        found["scopes"] = Box(0, top, left, rest)
    found["list"] = Box(left, top, width - left - right, rest)
    if right:
        near = NEAR_ROWS if kind == "wide" and rest >= 4 * NEAR_ROWS else 0
        found["detail"] = Box(width - right, top, right, rest - near)
        if near:
            found["near"] = Box(width - right, top + rest - near, right, near)
    return found


def _side(default: int, shape: BrowseShape, width: int) -> int:
    return max(18, min(default + shape.nudge, width // 3 + 6))


def _browse_narrow(width: int, top: int, rest: int, shape: BrowseShape) -> Arrangement:
    below = min(7, max(5, rest // 3)) if shape.detail and rest >= 11 else 0
    found = {"list": Box(0, top, width, rest - below)}
    if below:
        found["detail"] = Box(0, top + rest - below, width, below)
    if shape.overlay:
        found["scopes"] = Box(0, top, min(34, width - 20), rest)
    return found


def home(width: int, height: int, *, injections: bool = False) -> Arrangement:
    """Home in four sizes: two columns, three, three with categories, four with the journal and the cases.

    `injections` are told of where something is known of them and there is room.
    """
    found = _home(width, height)
    beside = "journal" if "journal" in found else "newest"
    if not injections or size_class(width) == "narrow" or beside not in found:
        return found
    box = found[beside]
    if beside == "journal":
        below = box.height // 2
        found[beside] = Box(box.x, box.y, box.width, box.height - below)
        return found | {"injections": Box(box.x, box.y + box.height - below, box.width, below)}
    aside = box.width * 9 // 20
    found[beside] = Box(box.x, box.y, box.width - aside, box.height)
    return found | {"injections": Box(box.x + box.width - aside, box.y, aside, box.height)}


def _home(width: int, height: int) -> Arrangement:
    kind = size_class(width)
    if kind == "narrow":
        return _home_narrow(width, height)
    if kind == "normal":
        columns = _split(width, (37, 45, 38))
        heights = _split(height, (12, 10, 12)) if height >= SHORT_HEIGHT - 2 else _split(height, (12, 10, 0))
        upper = _row(("store", "growth", "attention"), columns, 0, heights[0])
        middle = _row(("tiers", "scopes", "start"), columns, heights[0], heights[1])
        lower = {"newest": Box(0, heights[0] + heights[1], width, heights[2])} if heights[2] else {}
        return upper | middle | lower
    more = width >= FOUR_COLUMNS
    columns = _split(width, (40, 74, 40, 46) if more else (44, 90, 66))
    heights = _split(height, (16, 14, 18))
    second, third = columns[0], columns[0] + columns[1]
    fourth = third + columns[2]
    lower_at = heights[0] + heights[1]
    aside = {
        "journal": Box(fourth, 0, columns[-1], lower_at),
        "cases": Box(fourth, lower_at, columns[-1], heights[2]),
    }
    return (aside if more else {}) | {
        "store": Box(0, 0, columns[0], heights[0]),
        "growth": Box(second, 0, columns[1], heights[0]),
        "attention": Box(third, 0, columns[2], lower_at),
        "tiers": Box(0, heights[0], columns[0], heights[1]),
        "scopes": Box(second, heights[0], columns[1], heights[1]),
        "categories": Box(0, lower_at, columns[0], heights[2]),
        "newest": Box(second, lower_at, columns[1], heights[2]),
        "start": Box(third, lower_at, columns[2], heights[2]),
    }


def _home_narrow(width: int, height: int) -> Arrangement:
    halves = [width // 2, width - width // 2]
    row = max(4, min(9, height * 7 // 22))
    found = _row(("store", "tiers"), halves, 0, row) | _row(("attention", "growth"), halves, row, row)
    rest = height - 2 * row
    if rest >= 16:
        found["scopes"] = Box(0, 2 * row, width, 8)
        rest -= 8
    found["newest"] = Box(0, height - rest, width, rest)
    return found


def _row(names: tuple[str, ...], widths: list[int], y: int, height: int) -> Arrangement:
    """Panels side by side."""
    return {name: Box(sum(widths[:i]), y, widths[i], height) for i, name in enumerate(names)}


def _split(width: int, weights: tuple[int, ...]) -> list[int]:
    """`width` shared out by weight; what is left over by rounding goes to the middle."""
    total = sum(weights)
    parts = [width * weight // total for weight in weights]
    parts[len(parts) // 2] += width - sum(parts)
    return parts


def ascii_art(arrangement: Arrangement, width: int, height: int) -> str:
    """The arrangement as boxes of text, for tests and for people."""
    grid = [[" "] * width for _ in range(height)]
    for name, box in arrangement.items():
        right, bottom = box.x + box.width - 1, box.y + box.height - 1
        for y in range(box.y, bottom + 1):
            grid[y][box.x : right + 1] = " " * box.width
        for x in range(box.x, right + 1):
            grid[box.y][x] = grid[bottom][x] = "-"
        for y in range(box.y, bottom + 1):
            grid[y][box.x] = grid[y][right] = "|"
        for x, y in ((box.x, box.y), (right, box.y), (box.x, bottom), (right, bottom)):
            grid[y][x] = "+"
        for i, letter in enumerate(name[: max(0, box.width - 2)]):
            grid[box.y][box.x + 1 + i] = letter
    return "\n".join("".join(row).rstrip() for row in grid)
