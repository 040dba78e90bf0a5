"""A scroll view whose bar always stands where its lines are."""

from __future__ import annotations

from textual.scroll_view import ScrollView


class TrueScroll(ScrollView):
    """Textual moves a bar only while it is shown: one that comes back would stand where it stood when it went."""

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        if shown:
            self.vertical_scrollbar.position = self.scroll_y
