"""A list of painted rows with a cursor: each a few lines high, headings among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widgets import Input

from memtui.patches.textual_scrollbar import SyncedScroll
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.jump import JumpTarget
from memtui.tui.messages import RIGHT_BUTTON, MenuWanted


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its lines, and the key that it is known by. Without a key it is a heading."""

    lines: tuple[Content, ...]
    key: str = ""


@dataclass
class RowMessage(Message, no_dispatch=None):
    """What happened to a row of a list. It is dropped where the list no longer holds the row.

    A message waits behind what its readers do before it. When one of those shows another view in the same list,
    the key means nothing there, or something else: an index where a number of a version is read.
    """

    rows: RowList
    key: str

    def __init_subclass__(cls, **flags: Any) -> None:
        """Keep the property below: a message class is given a plain `no_dispatch` of its own otherwise."""
        super().__init_subclass__(**{"no_dispatch": None, **flags})

    @property
    def no_dispatch(self) -> bool:  # type: ignore[override]
        """Whether the row is gone; read anew by each widget that the message comes to."""
        return bool(self.key) and not self.rows.holds(self.key)

    @property
    def control(self) -> RowList:
        """The list."""
        return self.rows


_NO_HIT = "   no row holds it: esc shows all"


class RowList(SyncedScroll, can_focus=True):
    """Draws the rows that `paint` makes; paints anew only when the width or the data changes."""

    DEFAULT_CSS = """
    RowList {
        height: 1fr;
        background: $background;
        overflow-x: hidden;
        text-wrap: nowrap;
        text-overflow: clip;
    }
    """
    auto_links = False
    IDLE_CURSOR = True
    """Whether the cursor is painted while another panel has the keyboard."""
    LINE_ABOVE = False
    """Whether what is typed into a line above it narrows the list: `/` goes there, in place of a line of its own."""
    OVER_SCREEN = False
    """Whether it does so also on a screen that has another use for the key."""
    SOUGHT_BY = ""
    """What can be typed there besides words."""
    BINDINGS = bindings("rows", "narrow")

    @dataclass
    class Highlighted(RowMessage):
        """The cursor came to rest on a row."""

        footing: bool = False
        """Whether only because some row must be under it: nobody hears of that once it stands elsewhere.

        A screen that has put the cursor where it wants it meanwhile would take it back to the first row else. What
        a person chose is always told: there the cursor may have been put back by a state of before.
        """

        @property
        def no_dispatch(self) -> bool:  # type: ignore[override]
            """Whether the row is gone, or the cursor that only had to stand somewhere."""
            return super().no_dispatch or (self.footing and self.rows.key != self.key)

    class Opened(RowMessage):
        """Enter or a second click on a row."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[Row] = []
        self._lines: list[tuple[int, int]] = []
        self._tops: list[int] = []
        self._key = ""
        self._strips: dict[tuple[int, bool, bool], Strip] = {}
        self._painted_for: Size | None = None
        self._barred = False
        self.sought = ""
        """The words that every row shown holds."""
        self._seeking = False

    def paint(self, width: int) -> Sequence[Row]:
        """The rows for a line of `width` cells; subclasses give it."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """The key of the row under the cursor; empty without rows."""
        return self._key

    @property
    def place(self) -> tuple[int, int]:
        """1-based place of the cursor among the rows that can be chosen, and how many there are."""
        keys = self._keys()
        return (keys.index(self._key) + 1 if self._key in keys else 0, len(keys))

    @property
    def due(self) -> bool:
        """Whether the rows are still those of another size, or of before: it was laid out, and paints next."""
        return self._painted_for != self.container_size

    def holds(self, key: str) -> bool:
        """Whether a row of that key stands in the list."""
        return self._index(key) >= 0

    def repaint(self, key: str | None = None) -> None:
        """Paint anew; the cursor goes to `key`, else stays on its row; on no row where that is not there."""
        if not self.size.width:
            self._key = self._key if key is None else key
            self._painted_for = None  # whatever size it comes back with, it has other rows
            return
        width = self.container_size.width or self.size.width
        rows = self._fitting(width)
        self._rows, self._strips, self._painted_for = rows, {}, self.container_size
        self._lines = [(i, n) for i, row in enumerate(rows) for n in range(len(row.lines))]
        self._tops = []
        top = 0
        for row in rows:
            self._tops.append(top)
            top += len(row.lines)
        wanted = self._key if key is None else key
        self._key = wanted if wanted in self._keys() else ""
        self.virtual_size = Size(width, len(self._lines))
        self._keep_in_sight()
        self.refresh()
        if self.has_focus:
            self._find_footing()

    def _fitting(self, width: int) -> list[Row]:
        """The rows beside a scroll bar, or without one; most lists stay on their side of that, so it is tried first."""
        bar, height = self.styles.scrollbar_size_vertical, self.container_size.height
        tried: dict[bool, list[Row]] = {}
        for barred in (self._barred, not self._barred):
            room = max(1, width - bar) if barred else width
            tried[barred] = self._narrowed(self.paint(room), room)
            if (sum(len(row.lines) for row in tried[barred]) > height) is barred:
                break
        else:
            barred = True  # without a scroll bar they do not fit
        self._barred = barred
        return tried[barred]

    # finding in the list: what is typed stands above the rows that hold it

    def keeps(self, row: Row, words: Sequence[str]) -> bool:
        """Whether a row holds every word, each in lower case."""
        text = " ".join(line.plain for line in row.lines).lower()
        return all(word in text for word in words)

    def _narrowed(self, rows: Sequence[Row], width: int) -> list[Row]:
        """The rows that hold every word of what is sought, with their headings, below a line that says so.

        Where nothing can be chosen, in a text that is only read, they are its lines.
        """
        if not self.sought and not self._seeking:
            return list(rows)
        words = self.sought.lower().split()
        kept: list[Row] = []
        heading: Row | None = None
        found = 0
        keyed = any(row.key for row in rows)
        for row in rows:
            if keyed and not row.key:
                heading = row
            elif self.keeps(row, words):
                kept += [row] if heading is None else [heading, row]
                heading, found = None, found + 1
        total = sum(bool(row.key) for row in rows) if keyed else len(rows)
        caret = "▏" if self._seeking else ""
        said = Content.assemble(
            (" / ", "bold $key"),
            (f"{self.sought}{caret}", "$foreground"),
            (f"   {found:,} of {total:,}", "$dim"),
            (f"   {self.SOUGHT_BY}" if self._seeking and self.SOUGHT_BY and not words else "", "$dim"),
        )
        lines = [Row((said.truncate(width, ellipsis=True),)), *kept]
        if keyed and not found:
            lines.append(Row((Content.styled(_NO_HIT, "$dim").truncate(width, ellipsis=True),)))
        return lines

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return self._seeking and character is not None and character.isprintable()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "find":
            return not self._of_screen("slash")
        return True

    def _of_screen(self, key: str) -> bool:
        """Whether the screen itself does something else with a key now."""
        for binding in vars(type(self.screen)).get("BINDINGS", ()):
            pressed = getattr(binding, "key", "").split(",")
            if key in pressed and self.screen.check_action(binding.action.partition("(")[0], ()) is True:
                return not self.OVER_SCREEN
        return False

    def narrow(self, text: str) -> None:
        """Show only the rows that hold these words; escape shows the whole list again."""
        self._seek(text, False)

    def action_find(self) -> None:
        """Type what the rows are to hold; what stood there is replaced."""
        if self.LINE_ABOVE:
            self.screen.query_one(Input).focus()
        else:
            self._seek("", True)

    def _seek(self, text: str, typing: bool) -> None:
        self.sought, self._seeking = text, typing
        self.repaint()
        if keys := self._keys():
            if self._key not in keys:
                self._go(keys[0])
            self.scroll_home(animate=False) if typing else None

    def on_key(self, event: events.Key) -> None:
        """What is typed while the list is narrowed; escape shows the whole list again."""
        if not self._seeking and not (self.sought and event.key == "escape"):
            return
        if event.key == "escape":
            self._seek("", False)
        elif event.key == "enter":
            self._seek(self.sought, False)
        elif event.key == "backspace":
            self._seek(self.sought[:-1], True)
        elif event.character is not None and event.character.isprintable():
            self._seek(self.sought + event.character, True)
        else:
            return  # arrows move among what was found
        event.stop()
        event.prevent_default()

    def choose(self, key: str) -> None:
        """Move the cursor to `key` without telling anybody; to no row where it is not there."""
        if not self._rows:
            self._key = key  # not painted yet: it will be looked for then
        elif key != self._key:
            self._move_to(key if key in self._keys() else "")

    def _keys(self) -> list[str]:
        return [row.key for row in self._rows if row.key]

    def _index(self, key: str) -> int:
        return next((i for i, row in enumerate(self._rows) if key and row.key == key), -1)

    def _move_to(self, key: str) -> None:
        for changed in (self._index(self._key), self._index(key)):
            if changed >= 0:
                self.refresh_lines(self._tops[changed], len(self._rows[changed].lines))
        self._key = key
        self._keep_in_sight()

    def _keep_in_sight(self) -> None:
        """Scroll as little as needed; at the first row also show the headings above it."""
        index = self._index(self._key)
        height = self.container_size.height
        if index < 0 or not height:
            return
        keys = self._keys()
        top = 0 if keys and keys[0] == self._key else self._tops[index]
        bottom = self._tops[index] + len(self._rows[index].lines)
        at = self.scroll_offset.y
        if top < at:
            self.scroll_to(y=top, animate=False)
        elif bottom > at + height:  # of one that is higher than the list, its beginning
            self.scroll_to(y=min(top, bottom - height), animate=False)

    def on_resize(self, _: events.Resize) -> None:
        if self._painted_for != self.container_size:  # not only the scroll bar came or went
            self.repaint()

    def notify_style_update(self) -> None:
        self._strips = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        width = self.size.width
        if not 0 <= line < len(self._lines):
            return Strip.blank(width, self.visual_style.rich_style)
        index, part = self._lines[line]
        row = self._rows[index]
        here = bool(row.key) and row.key == self._key and (self.IDLE_CURSOR or self.has_focus)
        cached = self._strips.get((line, here, self.has_focus))
        if cached is not None and cached.cell_length == width:
            return cached
        content = row.lines[part]
        if here:
            content = content.extend_right(max(0, width - content.cell_length))
            if part == 0 and content.plain.startswith(" "):  # every row begins with a cell for the cursor
                content = Content.assemble((host(self).glyphs.cursor, "$primary"), content[1:])
            content = content.stylize_before("on $cursor" if self.has_focus else "on $cursor-idle")
        if row.key:
            content = content.stylize(Style.from_meta({"row": row.key}))
        strips = Visual.to_strips(self, content, width, 1, self.visual_style, apply_selection=False)
        strip = strips[0] if strips else Strip.blank(width)
        strip = strip.adjust_cell_length(width, self.visual_style.rich_style)
        self._strips[line, here, self.has_focus] = strip
        return strip

    def on_focus(self) -> None:
        self._find_footing()
        self.refresh()

    def _find_footing(self) -> None:
        """With the keyboard here, some row must be under the cursor."""
        keys = self._keys()
        if keys and not self._key:
            self._move_to(keys[0])
            self.post_message(self.Highlighted(self, keys[0], footing=True))

    def on_blur(self) -> None:
        if self._seeking:
            self._seek(self.sought, False)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        key = event.style.meta.get("row")
        if not isinstance(key, str):
            return
        if event.button == RIGHT_BUTTON:
            self._go(key)
            self.post_message(MenuWanted())
        elif key == self._key:
            self.post_message(self.Opened(self, key))
        else:
            self._go(key)

    def _go(self, key: str) -> None:
        if key != self._key:
            self._move_to(key)
            self.post_message(self.Highlighted(self, key))

    def _step(self, by: int) -> None:
        keys = self._keys()
        if keys:
            at = keys.index(self._key) + by if self._key in keys else 0
            self._go(keys[max(0, min(len(keys) - 1, at))])

    def jump_spots(self) -> Iterable[JumpTarget]:
        """Every row that can be chosen."""
        top = self.scroll_offset.y
        return (
            JumpTarget(0, y - top, partial(self._go, row.key))
            for row, y in zip(self._rows, self._tops, strict=True)
            if row.key
        )

    def action_down(self) -> None:
        if self._keys():
            self._step(1)
        else:
            self.scroll_relative(y=1, animate=False)

    def action_up(self) -> None:
        if self._keys():
            self._step(-1)
        else:
            self.scroll_relative(y=-1, animate=False)

    def action_page_down(self) -> None:
        self._page(1)

    def action_page_up(self) -> None:
        self._page(-1)

    def _page(self, direction: int) -> None:
        height = max(1, self.container_size.height - 1)
        if not self._keys():
            self.scroll_relative(y=direction * height, animate=False)
            return
        lines = max((len(row.lines) for row in self._rows), default=1)
        self._step(direction * max(1, height // lines))

    def action_first(self) -> None:
        self._step(-len(self._rows))
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        self._step(len(self._rows))
        if not self._keys():
            self.scroll_end(animate=False)

    def action_open(self) -> None:
        if self._key:
            self.post_message(self.Opened(self, self._key))


# A list whose rows are built by a function of its size: panels that only differ in what they paint.

How = Literal["keep", "skip", "fix", "merge", "archive", "pin", "forget"]

Build = Callable[[int, int], Sequence[Row]]
"""Width and height in cells to the rows, scrolling ones included."""


class BuiltRows(RowList):
    """Paints what `build` gives."""

    def __init__(self, build: Build, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._build = build

    def paint(self, width: int) -> Sequence[Row]:
        return self._build(width, self.container_size.height)


class KnobRows(BuiltRows):
    """Rows whose value is turned with left and right."""

    BINDINGS = bindings("knobs")

    class Turned(RowList.Highlighted):
        """The value of the row was turned; `steps` may be negative, 0 puts it back."""

        def __init__(self, rows: RowList, key: str, steps: int) -> None:
            super().__init__(rows, key)
            self.steps = steps

    def _turn(self, steps: int) -> None:
        if self.key:
            self.post_message(self.Turned(self, self.key, steps))

    def action_less(self) -> None:
        self._turn(-1)

    def action_more(self) -> None:
        self._turn(1)

    def action_much_less(self) -> None:
        self._turn(-5)

    def action_much_more(self) -> None:
        self._turn(5)

    def action_own(self) -> None:
        self._turn(0)


class ReviewRows(BuiltRows):
    """The queue of the review."""

    BINDINGS = bindings("review")

    @dataclass
    class Settled(Message):
        """What was decided of the card at hand: the next one, where two keys are typed ahead of the first."""

        how: How

    def _settle(self, how: How) -> None:
        if self.key:
            self.post_message(self.Settled(how))

    def action_keep(self) -> None:
        self._settle("keep")

    def action_skip(self) -> None:
        self._settle("skip")

    def action_fix(self) -> None:
        self._settle("fix")

    def action_merge(self) -> None:
        self._settle("merge")

    def action_archive(self) -> None:
        self._settle("archive")

    def action_pin(self) -> None:
        self._settle("pin")

    def action_forget(self) -> None:
        self._settle("forget")
