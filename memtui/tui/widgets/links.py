"""What stands between two lists: lines from the rows of one to those of the other, moving along as they scroll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from memtui.tui.host import host
from memtui.tui.paint.links import Link, link_lines
from memtui.tui.widgets.rows import RowList


@dataclass(frozen=True, slots=True)
class Pairing:
    """The same thing in both lists, by its place (0 is the first line), and how its line looks."""

    left: int
    right: int
    style: str


class Links(Widget):
    """Paints the lines; `left` and `right` are the lists beside it."""

    DEFAULT_CSS = """
    Links { width: 20; height: 1fr; background: $background; }
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
