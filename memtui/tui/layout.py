"""Which panels a screen shows at which size, and where: pure arithmetic, drawn as ASCII art in the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

LIST_FRAME = 19
"""Cells of a list of memories that are not text: frame, cursor, flag, tier, category, age and the gaps between."""

SCOPES_WIDTH, DETAIL_WIDTH = 32, 60
"""What the panels beside a list have where there is so much."""

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


def under_views(
    width: int, height: int, panels: Callable[[int, int], Arrangement], *, said: bool, zoom: str
) -> Arrangement:
    """The line of views on top; below it words alone, one panel, or `panels` of the width and height that is left."""
    line = {"views": Box(0, 0, width, 1)}
    rest = max(1, height - 1)
    if said or zoom:
        return line | {"state" if said else zoom: Box(0, 1, width, rest)}
    return line | {name: box._replace(y=box.y + 1) for name, box in panels(width, rest).items()}


def stacked(x: int, width: int, heights: Mapping[str, int], y: int = 0) -> Arrangement:
    """Panels above each other, from `y` down."""
    boxes = {}
    for name, height in heights.items():
        boxes[name] = Box(x, y, width, height)
        y += height
    return boxes


@dataclass(frozen=True, slots=True)
class BrowseShape:
    """What the person has chosen to see on Browse."""

    zoom: str = ""
    """The panel that fills the body: "scopes", "list", "detail", or none."""
    scopes: bool = True
    """Scopes beside the list on a wide screen; where there is no room for that, `overlay` asks for them."""
    detail: bool = True
    overlay: bool = False
    """Scopes over the list, where they do not stand beside it."""
    filter_rows: int = 1
    nudge: int = 0
    """Columns by which the side panels are wider (or narrower) than their default."""
    tall: bool = False
    """Two lines for each memory of the list."""


NARROWEST = 18
"""Columns of a panel at the side of Browse, at least."""

LEAST_NUDGE, MOST_NUDGE = -12, 30
"""By so many columns they can be made narrower, and wider."""


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
    left, right = _sides(width, shape)
    found = dict(line)
    if left:
        found["scopes"] = Box(0, top, left, rest)
    found["list"] = Box(left, top, width - left - right, rest)
    if right:
        near = NEAR_ROWS if kind == "wide" and rest >= 4 * NEAR_ROWS else 0
        found["detail"] = Box(width - right, top, right, rest - near)
        if near:
            found["near"] = Box(width - right, top + rest - near, right, near)
    if shape.overlay and not left:
        found["scopes"] = Box(0, top, 34, rest)
    return found


def _sides(width: int, shape: BrowseShape) -> tuple[int, int]:
    """The widths of the scopes and of the detail, so that half of the screen is left to the texts of the list.

    Scopes stand beside the list on a wide screen; else they are asked for, and lie over it.
    """
    left, right = _usual_sides(width, shape)
    limit = _widest(width)
    return (
        max(NARROWEST, min(left + shape.nudge, limit)) if left else 0,
        max(NARROWEST, min(right + shape.nudge, limit)) if right else 0,
    )


def _usual_sides(width: int, shape: BrowseShape) -> tuple[int, int]:
    room = width - -(-width // 2) - LIST_FRAME
    wide = size_class(width) == "wide"
    left = min(SCOPES_WIDTH, room * 3 // 8) if wide and shape.scopes else 0
    return left, min(DETAIL_WIDTH, room - left) if shape.detail else 0


def _widest(width: int) -> int:
    """The most columns of a panel at the side."""
    return width // 3 + 6


def nudges(width: int, shape: BrowseShape) -> tuple[int, int]:
    """The least and the greatest nudge that is seen on a screen of `width`; only that of now without side panels."""
    sides = [side for side in _usual_sides(width, shape) if side]
    if size_class(width) == "narrow" or shape.zoom or not sides:
        return shape.nudge, shape.nudge
    least, most = min(NARROWEST - side for side in sides), max(_widest(width) - side for side in sides)
    return max(LEAST_NUDGE, least), min(MOST_NUDGE, most)


def _browse_narrow(width: int, top: int, rest: int, shape: BrowseShape) -> Arrangement:
    below = min(7, max(5, rest // 3)) if shape.detail and rest >= 11 else 0
    found = {"list": Box(0, top, width, rest - below)}
    if below:
        found["detail"] = Box(0, top + rest - below, width, below)
    if shape.overlay:
        found["scopes"] = Box(0, top, min(34, width - 20), rest)
    return found


TALL_HOME = 34
"""Rows of Home from which each panel has as many as it needs, and the newest memories what is left."""


def home(
    width: int, height: int, *, injections: bool = False, needs: Mapping[str, int] | None = None
) -> Arrangement:
    """Home in four sizes: two columns, three, three with categories, four with the journal and the cases.

    `injections` are told of where something is known of them and there is room. `needs` are the rows of the panels
    with their frames, by name: on a wide and tall screen no panel has more, but for those that always have more to
    show (the newest memories, the growth, the scopes).
    """
    tall = size_class(width) == "wide" and height >= TALL_HOME
    if tall:
        return _home_tall(width, height, needs or {}, injections=injections)
    found = _home(width, height)
    beside = "journal" if "journal" in found else "newest"
    if not injections or beside not in found:
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


def home_columns(width: int) -> list[int]:
    """The widths of the columns of Home on a wide and tall screen."""
    return _split(width, (40, 98, 62) if width >= FOUR_COLUMNS else (44, 90, 66))


GROWTH_ROWS = 16
"""More says no more: the rest goes to the memories."""


def _home_tall(width: int, height: int, needs: Mapping[str, int], *, injections: bool) -> Arrangement:
    """Counts at the left; growth, what needs a person, the newest memories; what was done lately at the right.

    Without injections the newest memories have the width below both; on less than four columns what needs a person
    stands at the right.
    """

    def wanted(*names: str) -> dict[str, int]:
        return {name: max(4, needs.get(name, 10)) for name in names}

    columns = home_columns(width)
    aside = columns[0] + columns[1]
    found = stacked(0, columns[0], _filled(wanted("store", "tiers", "categories", "scopes"), height))
    if width < FOUR_COLUMNS:
        found |= stacked(aside, columns[2], _filled(wanted("attention", "start"), height))
        below = (height - GROWTH_ROWS) * 2 // 5 if injections else 0
        middle = {"growth": GROWTH_ROWS, "newest": height - GROWTH_ROWS - below}
        return found | stacked(columns[0], columns[1], middle | ({"injections": below} if below else {}))
    attention, right = wanted("attention")["attention"], wanted("journal", "cases", "start")
    if injections:  # which have as many rows as there are, as the newest memories have
        middle = {"growth": GROWTH_ROWS, "attention": min(attention, height - GROWTH_ROWS - 8)}
        middle["newest"] = height - sum(middle.values())
        right = _filled(right | {"injections": 10}, height)
        return found | stacked(columns[0], columns[1], middle) | stacked(aside, columns[2], right)
    upper = max(14, attention + GROWTH_ROWS * 5 // 8, sum(right.values()))
    upper = min(
        height - 10, upper, attention + GROWTH_ROWS * 5 // 4, sum(right.values()) + right["start"] * 2 // 3
    )
    attention = min(attention, upper - GROWTH_ROWS // 2)
    found |= stacked(columns[0], columns[1], {"growth": upper - attention, "attention": attention})
    found |= stacked(aside, columns[2], _filled(right, upper))
    found["newest"] = Box(columns[0], upper, width - columns[0], height - upper)
    return found


def _filled(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """`room` rows shared out: each panel has what it wants, the last one the rest; the largest give way first."""
    names, heights = list(wanted), list(wanted.values())
    while sum(heights) > room:
        largest = heights.index(max(heights))
        heights[largest] -= 1
    heights[-1] += room - sum(heights)
    return dict(zip(names, heights, strict=True))


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
