"""Line charts on a braille grid: 2 by 4 dots a cell, or asterisks where there is no braille."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class Canvas:
    """A grid of `width` x `height` cells; points are given in dots from the top left.

    Cells remember the last series drawn through them, so that a caller can colour several lines.
    """

    def __init__(self, width: int, height: int, *, braille: bool = True) -> None:
        self.width, self.height, self.braille = max(0, width), max(0, height), braille
        self.dots_x = self.width * (2 if braille else 1)
        self.dots_y = self.height * (4 if braille else 1)
        self._bits = [[0] * self.width for _ in range(self.height)]
        self._owner = [[-1] * self.width for _ in range(self.height)]

    def point(self, x: int, y: int, series: int = 0) -> None:
        """Set one dot; dots outside the grid are ignored."""
        if not (0 <= x < self.dots_x and 0 <= y < self.dots_y):
            return
        if self.braille:
            column, row = x // 2, y // 4
            self._bits[row][column] |= _DOTS[y % 4][x % 2]
        else:
            column, row = x, y
            self._bits[row][column] = 1
        self._owner[row][column] = series

    def line(self, x0: int, y0: int, x1: int, y1: int, series: int = 0) -> None:
        """A straight line between two dots, both ends included."""
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(steps + 1):
            t = step / steps
            self.point(round(x0 + (x1 - x0) * t), round(y0 + (y1 - y0) * t), series)

    def rows(self) -> list[str]:
        """The grid as text, top row first, each row `width` characters."""
        if self.braille:
            return ["".join(chr(0x2800 + bits) if bits else " " for bits in row) for row in self._bits]
        return ["".join("*" if bits else " " for bits in row) for row in self._bits]

    def owners(self) -> list[list[int]]:
        """For each cell the series that drew there last, -1 for none."""
        return self._owner


def line_chart(
    series: Sequence[Sequence[float]],
    width: int,
    height: int,
    *,
    top: float | None = None,
    braille: bool = True,
) -> Canvas:
    """Draw every series from left to right, from 0 at the bottom to `top` (default: the largest value).

    Values that are not finite break the line.
    """
    canvas = Canvas(width, height, braille=braille)
    values = [v for line in series for v in line if isfinite(v)]
    ceiling = top if top is not None else max(values, default=0.0)
    if not canvas.dots_x or not canvas.dots_y:
        return canvas
    for index, line in enumerate(series):
        last: tuple[int, int] | None = None
        for i, value in enumerate(line):
            if not isfinite(value):
                last = None
                continue
            x = round(i / max(1, len(line) - 1) * (canvas.dots_x - 1))
            share = min(1.0, max(0.0, value / ceiling)) if ceiling > 0 else 0.0
            y = round((1 - share) * (canvas.dots_y - 1))
            canvas.line(*(last or (x, y)), x, y, index)
            last = (x, y)
    return canvas
