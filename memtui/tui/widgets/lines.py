"""A few painted lines without a cursor."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget


class Lines(Widget):
    """Paints what it is given, cut to its width."""

    DEFAULT_CSS = """
    Lines { height: 1fr; background: $background; }
    """
    auto_links = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Content, ...] = ()

    def show(self, lines: Sequence[Content]) -> None:
        """Paint these lines."""
        self._lines = tuple(lines)
        self.refresh()

    def render(self) -> Content:
        return Content("\n").join(line.truncate(max(1, self.size.width)) for line in self._lines)
