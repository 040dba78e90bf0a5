"""The list of memories: a line-API widget that holds a few pages of a list of any length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.style import Style

from memtui.engine import Memory
from memtui.tui.host import host
from memtui.tui.jump import Spot
from memtui.tui.keys import bindings
from memtui.tui.messages import MemoryChosen
from memtui.tui.screens.browse.marks import Marks
from memtui.tui.screens.browse.pages import PAGE_ROWS, Fetch, Page, PageCache, PageLoader
from memtui.tui.screens.browse.row import Piece, columns, row, skeleton
from memtui.tui.widgets.true_scroll import TrueScroll

if TYPE_CHECKING:
    from memtui.engine.curate.changes import Op

STRIPS_KEPT = 400


class MemoryList(TrueScroll, can_focus=True):
    """Rows by number, fetched when they come into sight; the cursor is a row number."""

    DEFAULT_CSS = """
    MemoryList { height: 1fr; background: $background; overflow-x: hidden; overflow-y: scroll; }
    """
    BINDINGS = bindings("list")

    cursor: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Arrived(Message):
        """The loader has a page."""

        page: Page

    @dataclass
    class Left(Message):
        """The person wants to go to the panel on the left."""

    @dataclass
    class Right(Message):
        """The person wants to go to the panel on the right."""

    @dataclass
    class CopyWanted(Message):
        """Copy something of this memory."""

        memory: Memory

    @dataclass
    class Marked(Message):
        """Marks were set or taken away."""

    @dataclass
    class MarksWanted(Message):
        """Mark the rows `first` to `last`, or invert their marks: their ids are the engine's to say."""

        how: Literal["add", "invert"]
        first: int
        last: int

    @dataclass
    class Broken(Message):
        """A page could not be read."""

        page: Page

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.total = 0
        self.sort = "-timestamp"
        self.marks = Marks()
        self.staged: Mapping[str, Op] = {}
        """What is staged for a memory, by its id."""
        self._near: Callable[[int], float | None] | None = None
        self._generation = 0
        self._cache = PageCache()
        self._loader = PageLoader(lambda page: self.post_message(self.Arrived(page)))
        self._strips: dict[tuple[object, ...], Strip] = {}
        self._styles: dict[tuple[str, str], RichStyle] = {}

    def show(
        self,
        total: int,
        sort: str,
        fetch: Fetch | None,
        *,
        keep_cursor: bool,
        near: Callable[[int], float | None] | None = None,
    ) -> None:
        """Show another list of `total` rows; the cursor goes to the first unless it is to stay.

        `near` is the similarity of each row by its place, for a list in that order (`sort` is "~" then).
        """
        self._near = near
        self._generation += 1
        self.total, self.sort = total, sort
        self.marks.anchor = None
        self._cache.clear()
        self._strips.clear()
        self._loader.show(self._generation, fetch)
        self.virtual_size = Size(0, total)
        where = min(self.cursor, max(0, total - 1)) if keep_cursor else 0
        if not keep_cursor:
            self.scroll_to(y=0, animate=False)
        self.set_reactive(MemoryList.cursor, where)
        self.refresh()
        self._ask()
        self.announce()

    def show_staged(self, staged: Mapping[str, Op]) -> None:
        """These memories have staged changes."""
        if staged != self.staged:
            self.staged = staged
            self._strips.clear()
            self.refresh()

    @property
    def current(self) -> Memory | None:
        """The memory under the cursor, None while it is being fetched."""
        return self._cache.row(self.cursor) if self.total else None

    @property
    def settled(self) -> bool:
        """Whether every page that was asked for has arrived."""
        return self._loader.idle

    # fetching

    def _pages_in_sight(self) -> range:
        first = max(0, self.scroll_offset.y) // PAGE_ROWS
        last = min(max(0, self.total - 1), self.scroll_offset.y + max(1, self.size.height)) // PAGE_ROWS
        return range(first, last + 1)

    def _ask(self) -> None:
        if not self.total:
            return
        sight = self._pages_in_sight()
        last = (self.total - 1) // PAGE_ROWS
        near = range(max(0, sight.start - 1), min(last, sight.stop) + 1)
        beside = [page for page in near if page not in sight]
        wanted = [page for page in (*beside, *sight, self.cursor // PAGE_ROWS) if not self._cache.has(page)]
        if wanted:
            self._loader.want(list(dict.fromkeys(wanted)), range(near.start, max(near.stop, 1)))

    def on_memory_list_arrived(self, message: Arrived) -> None:
        message.stop()
        page = message.page
        if page.generation != self._generation:
            return
        if page.error is not None:
            self.post_message(self.Broken(page))
            return
        self._cache.put(page.index, page.rows)
        self.refresh()
        if self.cursor // PAGE_ROWS == page.index:
            self.announce()

    def announce(self) -> None:
        """Tell the screen which memory is under the cursor."""
        self.post_message(MemoryChosen(self.current))

    # drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        if index >= self.total or width <= 0:
            return Strip.blank(self.size.width, self._style("", ""))
        state = "" if index != self.cursor else ("cursor" if self.has_focus else "cursor-idle")
        memory = self._cache.row(index)
        marked = memory is not None and memory.id in self.marks
        if not state and self.marks.between(index, self.cursor):
            state = "cursor-idle"
        key = (memory.id if memory else None, index, state, width, self.sort, marked)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._draw(memory, index, state, width)
            if len(self._strips) >= STRIPS_KEPT:
                self._strips.clear()
            self._strips[key] = strip
        return strip

    def _draw(self, memory: Memory | None, index: int, state: str, width: int) -> Strip:
        app = host(self)
        shown = columns(width, self.sort)
        lead: Piece = (app.glyphs.cursor if state == "cursor" else " ", "$primary")
        if memory is not None and memory.id in self.marks:
            lead = (app.glyphs.mark, "bold $primary")
        if memory is None:
            pieces = [lead, *skeleton(shown, index, app.glyphs)]
        else:
            near = self._near(index) if self._near is not None else None
            op = self.staged.get(memory.id)
            pieces = [
                lead,
                *row(memory, shown, now_ms=app.now_ms(), glyphs=app.glyphs, near=near, staged=op),
            ]
        segments = [Segment(text, self._style(style, state)) for text, style in pieces if text]
        return Strip(segments).adjust_cell_length(width, self._style("", state))

    def _style(self, style: str, state: str) -> RichStyle:
        key = (style, state)
        found = self._styles.get(key)
        if found is None:
            base = self.visual_style
            if state:
                base += Style.parse(f"on ${state}")
            found = self._styles[key] = (base + Style.parse(style) if style else base).rich_style
        return found

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._styles.clear()

    # moving

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.total - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh_line(old)
        self.refresh_line(new)
        if self.marks.anchor is not None:
            self.refresh()
        self._keep_in_sight()
        self._ask()
        self.announce()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._ask()

    def on_resize(self) -> None:
        self._strips.clear()
        self._keep_in_sight()
        self._ask()

    def on_focus(self) -> None:
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        self.refresh_line(self.cursor)

    def _keep_in_sight(self) -> None:
        height = self.size.height
        top = self.scroll_offset.y
        if not height:
            return  # there is no room yet: it will be looked at then
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def move(self, by: int) -> None:
        """Move the cursor, stopping at the ends; nothing happens before there is a list."""
        if self.total:
            self.cursor += by

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        if 0 <= index < self.total:
            again = index == self.cursor
            self.cursor = index
            if again and event.chain == 2:
                self.action_right()

    def jump_spots(self) -> Iterable[Spot]:
        """Every row in sight."""
        top = self.scroll_offset.y
        seen = range(top, min(self.total, top + self.size.height))
        return (Spot(0, i - top, partial(setattr, self, "cursor", i)) for i in seen)

    def action_down(self) -> None:
        self.move(1)

    def action_up(self) -> None:
        self.move(-1)

    def action_page_down(self) -> None:
        self.move(max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self.move(-max(1, self.size.height - 1))

    def action_half_down(self) -> None:
        self.move(max(1, self.size.height // 2))

    def action_half_up(self) -> None:
        self.move(-max(1, self.size.height // 2))

    def action_first(self) -> None:
        self.move(-self.total)

    def action_last(self) -> None:
        self.move(self.total)

    def action_left(self) -> None:
        self.post_message(self.Left())

    def action_right(self) -> None:
        self.post_message(self.Right())

    def action_copy(self) -> None:
        if self.current is not None:
            self.post_message(self.CopyWanted(self.current))

    # marking

    def marks_changed(self) -> None:
        """Draw the marks again and tell the screen."""
        self.refresh()
        self.post_message(self.Marked())

    def action_mark(self) -> None:
        if self.current is not None and self.current.id:
            self.marks.toggle(self.current.id)
            self.marks_changed()
            self.move(1)

    def action_mark_range(self) -> None:
        anchor = self.marks.anchor
        if not self.total:
            return
        if anchor is None:
            self.marks.anchor = self.cursor
            self.marks_changed()
        else:
            self.marks.anchor = None
            self.post_message(self.MarksWanted("add", min(anchor, self.cursor), max(anchor, self.cursor)))

    def action_mark_all(self) -> None:
        if self.total:
            self.post_message(self.MarksWanted("add", 0, self.total - 1))

    def action_invert_marks(self) -> None:
        if self.total:
            self.post_message(self.MarksWanted("invert", 0, self.total - 1))

    def on_unmount(self) -> None:
        self._loader.close()
