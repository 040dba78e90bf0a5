"""A chooser for many things: a line to type into, and the list of what holds every word of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input

from memtui.engine import one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.text_lines import CleanInput

MOST = 500
"""Rows that are painted; a word more finds the others."""


@dataclass(frozen=True, slots=True)
class FindItem:
    """One row: the value handed back, what it is, and what is known of it."""

    value: str
    label: str
    hint: str = ""


class ItemRows(RowList):
    """The items that hold what was typed."""

    LINE_ABOVE = True
    items: Sequence[FindItem] = ()
    said: str = ""
    """Words in place of items."""

    def paint(self, width: int) -> Sequence[Row]:
        if not self.items:
            return [Row((Content.styled(f"  {one_line(self.said)}", "$dim"),))]
        return [Row((self._line(item, width),), item.value) for item in self.items]

    def _line(self, item: FindItem, width: int) -> Content:
        ellipsis = host(self).glyphs.ellipsis
        hint = crop(one_line(item.hint), width // 2, ellipsis)
        room = max(8, width - 4 - Content(hint).cell_length)
        return Content.assemble(
            "  ",
            (fit(one_line(item.label), room, ellipsis), "$foreground"),
            (right(hint, width - room - 3), "$dim"),
            " ",
        )


class FindList(QuickModal[str | None]):
    """Returns the value of the item taken, None when closed. `empty` is said when there is nothing to choose from.

    `text` stands in the line already; tab takes the row under the cursor, as enter does.
    """

    DEFAULT_CSS = """
    FindList Panel { width: 110; max-width: 96%; height: 24; max-height: 90%; border: round $frame-focus; }
    FindList.-narrow Panel { width: 100%; max-width: 100%; height: 100%; max-height: 100%; }
    FindList Input { border: none; height: 1; padding: 0 1; background: $background; margin: 0 0 1 0; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("find")

    def __init__(
        self,
        title: str,
        items: Sequence[FindItem],
        *,
        hint: str = "type to search",
        empty: str = "",
        text: str = "",
    ) -> None:
        super().__init__()
        self._title, self._items, self._hint, self._empty = title, tuple(items), hint, empty
        self._text = text

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield CleanInput(self._text, placeholder=self._hint)
            yield ItemRows()

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="enter select   {find.close} close")
        self.query_one(Input).focus()
        self.query_one(Input).cursor_position = len(self._text)
        self._show(self._text)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, text: str) -> None:
        words = text.lower().split()
        found = [item for item in self._items if all(w in f"{item.label} {item.hint}".lower() for w in words)]
        rows = self.query_one(ItemRows)
        rows.items, rows.said = found[:MOST], "Nothing holds these words." if self._items else self._empty
        rows.repaint(found[0].value if found else "")
        rows.scroll_home(animate=False)
        count = full(len(found))
        self.query_one(Panel).headline(
            which=count if len(found) == len(self._items) else f"{count} of {len(self._items):,}"
        )

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._take(self.query_one(ItemRows).key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        self._take(event.key)

    def _take(self, value: str) -> None:
        if value:
            self.dismiss(value)

    def on_key(self, event: events.Key) -> None:
        """The cursor of the list moves while the line has the keyboard."""
        if isinstance(self.focused, Input) and event.key in ("up", "down", "pageup", "pagedown"):
            event.stop()
            getattr(self.query_one(ItemRows), f"action_{event.key.replace('page', 'page_')}")()
        elif event.key == "tab":
            event.stop()
            event.prevent_default()
            self._take(self.query_one(ItemRows).key)

    def action_close(self) -> None:
        self.dismiss(None)
