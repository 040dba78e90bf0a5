"""A scroll view whose bar always stands where its lines are."""

from __future__ import annotations

from typing import ClassVar

from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBarRender

from memtui.tui.host import host


class WholeCells(ScrollBarRender):
    """A bar that begins and ends with a cell: the blocks of a finer one are no ASCII."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


class SyncedScroll(ScrollView):
    """Textual moves a bar only while it is shown: one that comes back would stand where it stood when it went."""

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        if shown:
            self.vertical_scrollbar.position = self.scroll_y
            if not host(self).glyphs.braille:
                self.vertical_scrollbar.renderer = WholeCells  # type: ignore[misc]
