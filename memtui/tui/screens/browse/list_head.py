"""The line of headings above the list; a click on one sorts by it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from memtui.tui.host import host
from memtui.tui.screens.browse.row import columns, heading


class ListHead(Widget):
    """Names of the columns, an arrow at the one that is sorted by."""

    DEFAULT_CSS = """
    ListHead { height: 1; background: $background; }
    """

    @dataclass
    class SortChosen(Message):
        """Sort by this key."""

        key: str

    def __init__(self) -> None:
        super().__init__()
        self.sort = "-timestamp"

    def show(self, sort: str) -> None:
        """The list is sorted like this."""
        self.sort = sort
        self.refresh()

    def render(self) -> Content:
        shown = columns(max(1, self.size.width - 1), self.sort)
        pieces = heading(shown, self.sort, host(self).glyphs)
        parts = [Content.styled(*pieces[0])]
        for column, piece in zip(shown, pieces[1::2], strict=True):
            cell = Content.styled(*piece)
            parts.append(cell.stylize(Style.from_meta({"sort": column.sort})) if column.sort else cell)
            parts.append(Content(" "))
        return Content.assemble(*parts)

    def on_click(self, event: events.Click) -> None:
        key = event.style.meta.get("sort")
        if key:
            self.post_message(self.SortChosen(key))
