"""The list of memories: a line-API widget that holds a few pages of a list of any length."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from memtui.engine import Memory
from memtui.patches.textual_scrollbar import SyncedScroll
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.jump import JumpTarget
from memtui.tui.messages import RIGHT_BUTTON, MemoryChosen, MenuWanted
from memtui.tui.screens.browse.list_pages import PAGE_ROWS, Fetch, ListPage, PageCache, PageLoader
from memtui.tui.screens.browse.memory_row import (
    Piece,
    below_width,
    columns,
    heading,
    row,
    second_line,
    skeleton,
)

if TYPE_CHECKING:
    from memtui.engine.changes import (
        Op,
    )


# Which memories are marked: ids, in the order in which they were marked, and one end of a range.


class Marks:
    """Marks stay while the filter changes; they go when the store does."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self.anchor: int | None = None
        """The row where a range begins, while its other end is not chosen."""

    def __contains__(self, memory: str) -> bool:
        return memory in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> tuple[str, ...]:
        """The marked ids."""
        return tuple(self._ids)

    def toggle(self, memory: str) -> None:
        """Mark, or take the mark away."""
        self.invert((memory,))

    def add(self, memories: Iterable[str]) -> None:
        """Mark all of these."""
        self._ids.update(dict.fromkeys(memories))

    def invert(self, memories: Iterable[str]) -> None:
        """Of these, the marked lose their mark and the others get one."""
        for memory in memories:
            if memory in self._ids:
                del self._ids[memory]
            else:
                self._ids[memory] = None

    def between(self, row: int, cursor: int) -> bool:
        """Whether this row is in the range that is being chosen."""
        return self.anchor is not None and min(self.anchor, cursor) <= row <= max(self.anchor, cursor)

    def clear(self) -> bool:
        """No marks and no range; False when there were none."""
        had = bool(self._ids) or self.anchor is not None
        self._ids.clear()
        self.anchor = None
        return had


STRIPS_KEPT = 400


class MemoryList(SyncedScroll, can_focus=True):
    """Rows by number, fetched when they come into sight; the cursor is a row number."""

    DEFAULT_CSS = """
    MemoryList { height: 1fr; background: $background; overflow-x: hidden; overflow-y: scroll; }
    """
    BINDINGS = bindings("list")

    cursor: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Arrived(Message):
        """The loader has a page."""

        page: ListPage

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
    class TallWanted(Message):
        """The person wants two lines for a memory, or one again."""

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

        page: ListPage

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.total = 0
        self.sort = "-timestamp"
        self.absent: frozenset[str] = frozenset()
        """Names of columns that no memory of this store has."""
        self.marks = Marks()
        self.tall = False
        """Whether a memory has two lines."""
        self.staged: Mapping[str, Op] = {}
        """What is staged for a memory, by its id."""
        self._near: Callable[[int], float | None] | None = None
        self._sought: re.Pattern[str] | None = None
        self._generation = 0
        self._cache = self._before = PageCache()
        """`_before`: the rows of the same list as it was, drawn until those in sight have come; never acted on."""
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
        cursor: int | None = None,
        near: Callable[[int], float | None] | None = None,
        sought: re.Pattern[str] | None = None,
    ) -> None:
        """Show another list of `total` rows; the cursor goes to the first unless it is to stay, or to be at `cursor`.

        `near` is the similarity of each row by its place, for a list in that order (`sort` is "~" then); `sought`
        finds in a text what the filter asks for.
        """
        self._near, self._sought = near, sought
        self._generation += 1
        again = keep_cursor and (total, sort) == (self.total, self.sort)
        if not again:
            self._before = PageCache()
        elif not self._cache.empty:
            self._before = self._cache
        self._cache = PageCache()
        self.total, self.sort = total, sort
        self.marks.anchor = None
        self._strips.clear()
        self._loader.show(self._generation, fetch)
        self.virtual_size = Size(0, total * self.each)
        where = min(self.cursor, max(0, total - 1)) if keep_cursor else 0
        if not keep_cursor:
            self.scroll_to(y=0, animate=False)
        elif cursor is not None and cursor != where:  # the same memory in the same line of the screen
            above = where - int(self.scroll_offset.y) // self.each
            where = cursor
            self.scroll_to(y=max(0, where - above) * self.each, animate=False, force=True)
        self.set_reactive(MemoryList.cursor, where)
        self.refresh()
        self._ask()
        self.announce()

    @property
    def each(self) -> int:
        """The lines of a memory."""
        return 2 if self.tall else 1

    def show_tall(self, tall: bool) -> None:
        """Give every memory two lines, or one; the cursor stays where it is, and in sight."""
        if tall == self.tall:
            return
        above = self.cursor - int(self.scroll_offset.y) // self.each
        self.tall = tall
        self._strips.clear()
        self.virtual_size = Size(0, self.total * self.each)
        self.scroll_to(y=max(0, self.cursor - above) * self.each, animate=False, force=True)
        self._keep_in_sight()
        self.refresh()
        self._ask()

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
        top, height = max(0, self.scroll_offset.y) // self.each, max(1, self.size.height) // self.each
        first, last = top // PAGE_ROWS, min(max(0, self.total - 1), top + height) // PAGE_ROWS
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
        self._strips.clear()  # what was drawn of the list as it was
        if all(self._cache.has(each) for each in self._pages_in_sight()):
            self._before.clear()
        self.refresh()
        if self.cursor // PAGE_ROWS == page.index:
            self.announce()

    def announce(self) -> None:
        """Tell the screen which memory is under the cursor."""
        # Of this list also where its panel called: Textual keeps what a parent sends from going beyond that parent.
        self.post_message(MemoryChosen(self.current).set_sender(self))

    # drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index, line = divmod(self.scroll_offset.y + y, self.each)
        if index >= self.total or width <= 0:
            return Strip.blank(self.size.width, self._style("", ""))
        state = "" if index != self.cursor else ("cursor" if self.has_focus else "cursor-idle")
        memory = self._cache.row(index) or self._before.row(index)
        marked = memory is not None and memory.id in self.marks
        if not state and self.marks.between(index, self.cursor):
            state = "cursor-idle"
        key = (memory.id if memory else None, index, state, width, self.sort, marked, line)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._draw(memory, index, state, width, line)
            if len(self._strips) >= STRIPS_KEPT:
                self._strips.clear()
            self._strips[key] = strip
        return strip

    def _draw(self, memory: Memory | None, index: int, state: str, width: int, line: int) -> Strip:
        app = host(self)
        shown = columns(width, self.sort, self.app.size.width, tall=self.tall, absent=self.absent)
        lead: Piece = (app.glyphs.cursor if state == "cursor" else " ", "$primary")
        if memory is not None and memory.id in self.marks:
            lead = (app.glyphs.mark, "bold $primary")
        pieces = [lead]
        if memory is None:
            pieces += skeleton(shown, index, app.glyphs) if not line else []
        elif line:
            pieces += second_line(memory, shown, width, glyphs=app.glyphs, sought=self._sought)
        else:
            pieces += row(
                memory,
                shown,
                now_ms=app.now_ms(),
                glyphs=app.glyphs,
                near=self._near(index) if self._near is not None else None,
                staged=self.staged.get(memory.id),
                sought=self._sought,
                below=below_width(shown, width) if self.tall else 0,
            )
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
        self._refresh_row(old)
        self._refresh_row(new)
        if self.marks.anchor is not None:
            self.refresh()
        self._keep_in_sight()
        self._ask()
        self.announce()

    def _refresh_row(self, index: int) -> None:
        """Draw the lines of a row anew."""
        for line in range(index * self.each, (index + 1) * self.each):
            self.refresh_line(line)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._ask()

    def on_resize(self) -> None:
        self._strips.clear()
        self._keep_in_sight()
        self._ask()

    def on_focus(self) -> None:
        self._refresh_row(self.cursor)

    def on_blur(self) -> None:
        self._refresh_row(self.cursor)

    def _keep_in_sight(self) -> None:
        height = self.size.height
        top = self.scroll_offset.y
        if not height:
            return  # there is no room yet: it will be looked at then
        first, end = self.cursor * self.each, (self.cursor + 1) * self.each
        if first < top:
            self.scroll_to(y=first, animate=False)
        elif end > top + height:
            self.scroll_to(y=end - height, animate=False)

    def move(self, by: int) -> None:
        """Move the cursor, stopping at the ends; nothing happens before there is a list."""
        if self.total:
            self.cursor += by

    def _page(self, parts: int) -> int:
        """The rows of the list in sight, one fewer so that one stays; or a part of them."""
        rows = self.size.height // self.each
        return max(1, rows - 1 if parts == 1 else rows // parts)

    def on_click(self, event: events.Click) -> None:
        index = (self.scroll_offset.y + event.y) // self.each
        if 0 <= index < self.total:
            again = index == self.cursor
            self.cursor = index
            if event.button == RIGHT_BUTTON:
                self.post_message(MenuWanted())
            elif again and event.chain == 2:
                self.action_right()

    def jump_spots(self) -> Iterable[JumpTarget]:
        """Every row in sight."""
        top, each = self.scroll_offset.y, self.each
        seen = range(-(-top // each), min(self.total, (top + self.size.height) // each))
        return (JumpTarget(0, i * each - top, partial(setattr, self, "cursor", i)) for i in seen)

    def action_down(self) -> None:
        self.move(1)

    def action_up(self) -> None:
        self.move(-1)

    def action_page_down(self) -> None:
        self.move(self._page(1))

    def action_page_up(self) -> None:
        self.move(-self._page(1))

    def action_half_down(self) -> None:
        self.move(self._page(2))

    def action_half_up(self) -> None:
        self.move(-self._page(2))

    def action_first(self) -> None:
        self.move(-self.total)

    def action_last(self) -> None:
        self.move(self.total)

    def action_left(self) -> None:
        self.post_message(self.Left())

    def action_right(self) -> None:
        self.post_message(self.Right())

    def action_tall(self) -> None:
        self.post_message(self.TallWanted())

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


# The line of headings above the list; a click on one sorts by it.


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
        self.sort, self.tall = "-timestamp", False
        self.absent: frozenset[str] = frozenset()

    def show(self, sort: str, *, tall: bool = False, absent: frozenset[str] = frozenset()) -> None:
        """The list is sorted like this, has two lines for a memory or one, and not the columns that no memory has."""
        self.sort, self.tall, self.absent = sort, tall, absent
        self.refresh()

    def render(self) -> Content:
        room = max(1, self.size.width - 1)
        shown = columns(room, self.sort, self.app.size.width, tall=self.tall, absent=self.absent)
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
