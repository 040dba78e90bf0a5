"""What stands between two lists: lines from the rows of one to those of the other, moving along as they scroll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from memtui.tui.host import host
from memtui.tui.paint.braille import Canvas
from memtui.tui.paint.glyphs import UNICODE, Glyphs
from memtui.tui.widgets.row_list import RowList

# Lines between two lists: where each row of the left one stands in the right one.

MIN_CELLS = 6
"""Narrower than this a line says nothing."""


@dataclass(frozen=True, slots=True)
class Link:
    """From row `left` to row `right`, in lines from the top of what is seen; those out of sight may be outside it."""

    left: int
    right: int
    style: str


def link_lines(links: Sequence[Link], width: int, height: int, glyphs: Glyphs = UNICODE) -> list[Content]:
    """`height` lines of `width` cells; later links are drawn over earlier ones.

    A link of which one end is out of sight is not drawn: it would end at another row.
    """
    if width < MIN_CELLS or height < 1:
        return [Content(" " * max(0, width))] * max(0, height)
    seen = [link for link in links if 0 <= link.left < height and 0 <= link.right < height]
    canvas = Canvas(width - 3, height, braille=glyphs.braille)
    dots = canvas.dots_y // max(1, height)
    for index, link in enumerate(seen):
        _curve(canvas, link.left * dots + dots // 2, link.right * dots + dots // 2, index)
    ends = {link.right: link.style for link in seen}
    lines = []
    for y, (text, owners) in enumerate(zip(canvas.rows(), canvas.owners(), strict=True)):
        cells = [
            (char, seen[owner].style) if owner >= 0 else char
            for char, owner in zip(text, owners, strict=True)
        ]
        head = (glyphs.forth, ends[y]) if y in ends else " "
        lines.append(Content.assemble(" ", *cells, head, " "))
    return lines


def _curve(canvas: Canvas, start: int, end: int, series: int) -> None:
    """From the left edge to the right one, flat at both ends and steepest in the middle."""
    last = start
    for x in range(canvas.dots_x):
        t = x / max(1, canvas.dots_x - 1)
        y = round(start + (end - start) * t * t * (3 - 2 * t))
        canvas.line(max(0, x - 1), last, x, y, series)
        last = y


@dataclass(frozen=True, slots=True)
class Pairing:
    """The same thing in both lists, by its place (0 is the first line), and how its line looks."""

    left: int
    right: int
    style: str


class Connectors(Widget):
    """Paints the lines; `left` and `right` are the lists beside it."""

    DEFAULT_CSS = """
    Connectors { width: 20; height: 1fr; padding: 0 1; background: $background; }
    """

    def __init__(self, left: RowList, right: RowList, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left, self._right = left, right
        self._pairs: tuple[Pairing, ...] = ()

    def on_mount(self) -> None:
        for rows in (self._left, self._right):
            self.watch(rows, "scroll_y", self._scrolled, init=False)

    def _scrolled(self, _: float) -> None:
        self.refresh()

    def show(self, pairs: Sequence[Pairing]) -> None:
        """Paint these, the last ones on top."""
        self._pairs = tuple(pairs)
        self.refresh()

    def render(self) -> Content:
        width, height = self.size
        left, right = self._left.scroll_offset.y, self._right.scroll_offset.y
        links = [Link(pair.left - left, pair.right - right, pair.style) for pair in self._pairs]
        return Content("\n").join(link_lines(links, width, height, host(self).glyphs))
