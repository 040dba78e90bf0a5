"""A list of lines of which some are links: the building block of Home."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from memtui.tui.actions.table import bindings
from memtui.tui.jump import JumpTarget


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One line; `go` makes the message that following it posts, None for a line that leads nowhere."""

    content: Content
    go: Callable[[], Message] | None = None


Build = Callable[[int, int], list[LinkRow]]
"""Width and height in cells to the lines that fit."""


class LinkList(Widget, can_focus=True):
    """Draws what `build` gives for its size; the cursor stops at links only."""

    DEFAULT_CSS = """
    LinkList { height: 1fr; background: $background; padding: 0 1; }
    """
    BINDINGS = bindings("links")
    auto_links = False

    cursor: reactive[int] = reactive(0)

    def __init__(self, build: Build, id: str | None = None) -> None:
        super().__init__(id=id)
        self._build = build
        self.rows: list[LinkRow] = []
        self._filled = Size()

    def rebuild(self) -> None:
        """Ask `build` again: the size or what it draws from has changed."""
        if self.size.width:
            self._fill()
            self.refresh()

    def _fill(self) -> None:
        self._filled = self.size
        self.rows = self._build(self.size.width, self.size.height)
        links = self._links()
        if self.cursor not in links:
            self.set_reactive(LinkList.cursor, links[0] if links else 0)
        self.can_focus = bool(links)

    def on_resize(self) -> None:
        self.rebuild()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _links(self) -> list[int]:
        return [i for i, row in enumerate(self.rows) if row.go is not None]

    def render(self) -> Content:
        if self._filled != self.size:  # drawn at a new size before its message came
            self._fill()
        lines = []
        for i, row in enumerate(self.rows):
            line = row.content
            if row.go is not None:
                line = line.stylize(Style.from_meta({"link": i}))
                if i == self.cursor and self.has_focus:
                    line = line.extend_right(max(0, self.size.width - line.cell_length))
                    line = line.stylize_before("bold on $cursor")
            lines.append(line)
        return Content("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        row = event.style.meta.get("link")
        if isinstance(row, int):
            self.cursor = row
            self.action_follow()

    def _step(self, by: int) -> None:
        links = self._links()
        if not links:
            return
        if self.cursor not in links:
            self.cursor = links[0]
            return
        at = links.index(self.cursor) + by
        if 0 <= at < len(links):
            self.cursor = links[at]
        else:
            # Past the end of one panel the cursor goes on in the next: Home is one list of links.
            target = self.screen.focus_next(LinkList) if by > 0 else self.screen.focus_previous(LinkList)
            if isinstance(target, LinkList):
                inside = target._links()
                target.cursor = (inside[0] if by > 0 else inside[-1]) if inside else 0

    def jump_spots(self) -> Iterable[JumpTarget]:
        """Every link."""
        return (JumpTarget(0, i, partial(setattr, self, "cursor", i)) for i in self._links())

    def action_down(self) -> None:
        self._step(1)

    def action_up(self) -> None:
        self._step(-1)

    def action_follow(self) -> None:
        if self.cursor < len(self.rows):
            go = self.rows[self.cursor].go
            if go is not None:
                self.post_message(go())
