"""The panel with one memory in full."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from memtui.engine import Memory
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.screens.browse.detail_text import detail_lines


class MemoryDetail(VerticalScroll, can_focus=True):
    """Scrolls through one memory; the old one stays, dimmed, while the next is fetched."""

    DEFAULT_CSS = """
    MemoryDetail { height: 1fr; background: $background; padding: 0 1; overflow-x: hidden; }
    MemoryDetail Static { width: 1fr; height: auto; }
    MemoryDetail.-stale Static { opacity: 55%; }
    """
    BINDINGS = bindings("detail")
    auto_links = False

    @dataclass
    class Left(Message):
        """The person wants to go back to the list."""

    @dataclass
    class Moved(Message):
        """The person wants the next (+1) or previous (-1) memory of the list."""

        by: int

    @dataclass
    class LinkFollowed(Message):
        """The person wants to see the memory with this id."""

        id: str

    @dataclass
    class CopyWanted(Message):
        """Copy something of this memory."""

        memory: Memory

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.memory: Memory | None = None
        self._drawn: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(expand=True)

    def show(self, memory: Memory | None, *, waiting: bool = False) -> None:
        """Show a memory; None with `waiting` keeps the old one, dimmed, without it clears the panel."""
        self.set_class(memory is None and waiting, "-stale")
        if memory is None and waiting:
            return
        changed = memory is None or self.memory is None or memory.id != self.memory.id
        self.memory = memory
        self._draw()
        if changed:
            self.scroll_home(animate=False)
        self.refresh_bindings()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        app = host(self)
        state = (self.memory, width, app.now_ms() // 60_000, self.app.theme)
        if state == self._drawn:
            return
        self._drawn = state
        if self.memory is None:
            self.query_one(Static).update(Content.styled("no memory under the cursor", "$dim"))
            return
        lines = detail_lines(self.memory, width, now_ms=app.now_ms(), glyphs=app.glyphs)
        self.query_one(Static).update(Content("\n").join(lines))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        memory = self.memory
        if action == "older":
            return True if memory is not None and memory.supersedes else None
        if action == "newer":
            return True if memory is not None and memory.superseded_by else None
        if action == "copy":
            return True if memory is not None else None
        return True

    def on_click(self, event: events.Click) -> None:
        target = event.style.meta.get("memory")
        if isinstance(target, str):
            self.post_message(self.LinkFollowed(target))

    def action_down(self) -> None:
        self.scroll_down(animate=False)

    def action_up(self) -> None:
        self.scroll_up(animate=False)

    def action_page_down(self) -> None:
        self.scroll_page_down(animate=False)

    def action_page_up(self) -> None:
        self.scroll_page_up(animate=False)

    def action_first(self) -> None:
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        self.scroll_end(animate=False)

    def action_left(self) -> None:
        self.post_message(self.Left())

    def action_next(self) -> None:
        self.post_message(self.Moved(1))

    def action_previous(self) -> None:
        self.post_message(self.Moved(-1))

    def action_older(self) -> None:
        if self.memory is not None and self.memory.supersedes:
            self.post_message(self.LinkFollowed(self.memory.supersedes))

    def action_newer(self) -> None:
        if self.memory is not None and self.memory.superseded_by:
            self.post_message(self.LinkFollowed(self.memory.superseded_by))

    def action_copy(self) -> None:
        if self.memory is not None:
            self.post_message(self.CopyWanted(self.memory))
