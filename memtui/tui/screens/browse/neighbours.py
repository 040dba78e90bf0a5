"""The memories nearest to the selected one: a panel, a dialog where there is no room for it, and their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message

from memtui.engine import Memory, UsageError, one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.bound_panel import BoundPanel
from memtui.tui.host import host
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import score
from memtui.tui.screens.browse.detail_view import title
from memtui.tui.screens.browse.state import BrowseState
from memtui.tui.theme.tokens import brightness, scope_style, tier_style
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.catalog import (
        Neighbour,
    )


BAR = 8

SCOPE = 18
"""Cells of the scope, where there is room for it."""

WIDE = 70


def near_rows(found: Sequence[Neighbour], said: str, width: int, glyphs: Glyphs) -> list[Row]:
    """One line for each neighbour, or why there are none."""
    if not found:
        return [Row((line,)) for line in Content.styled(one_line(said), "$dim").wrap(max(12, width - 2))]
    rows = []
    for neighbour in found:
        memory = neighbour.memory
        alive = memory.active and memory.state != "archived"
        line = Content.assemble(
            " ",
            (padded_bar(neighbour.similarity, BAR, glyphs), brightness(neighbour.similarity)),
            (f" {score(neighbour.similarity):>4} ", "$foreground"),
            (
                glyphs.tier(memory.tier) if alive else glyphs.cross,
                tier_style(memory.tier) if alive else "$dim",
            ),
            " ",
        )
        tail = Content()
        if width >= WIDE:
            scope = fit(one_line(memory.scope or "(none)"), SCOPE, glyphs.ellipsis)
            tail = Content.styled(f" {scope}", scope_style(memory.scope))
        room = max(1, width - line.cell_length - tail.cell_length - 1)
        text = (
            fit(memory.title, room, glyphs.ellipsis)
            if tail.plain
            else crop(memory.title, room, glyphs.ellipsis)
        )
        rows.append(
            Row((Content.assemble(line, (text, "$foreground" if alive else "$dim"), tail),), memory.id)
        )
    return rows


class NearRows(RowList):
    """Paints neighbours; posts `Opened` and `MergeWanted`."""

    BINDINGS = bindings("near")
    IDLE_CURSOR = False

    @dataclass
    class MergeWanted(Message):
        """Merge this memory with the one that it is near to."""

        id: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._found: tuple[Neighbour, ...] = ()
        self._said = ""

    def show(self, found: Sequence[Neighbour], said: str = "") -> None:
        """Show these; `said` is why there are none."""
        self._found, self._said = tuple(found), said
        self.repaint(found[0].memory.id if found else "")

    def paint(self, width: int) -> Sequence[Row]:
        said = self._said or "the memories nearest in meaning to the one above"
        return near_rows(self._found, said, width, host(self).glyphs)

    def action_merge(self) -> None:
        if self.key:
            self.post_message(self.MergeWanted(self.key))


Wanted = tuple[Literal["show", "merge"], str]


class NeighboursDialog(QuickModal[Wanted | None]):
    """The neighbours where the screen has no room for their panel; returns what is to be done with which."""

    DEFAULT_CSS = """
    NeighboursDialog Panel { width: 110; max-width: 96%; height: 9; border: round $frame-focus; }
    NeighboursDialog.-narrow Panel { width: 100%; max-width: 100%; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("overlay")

    def __init__(self, name: str, found: Sequence[Neighbour], said: str) -> None:
        super().__init__()
        self._name, self._found, self._said = name, tuple(found), said

    def compose(self) -> ComposeResult:
        with Panel(title=f"Nearest to {self._name}"):
            yield NearRows()

    def on_mount(self) -> None:
        rows = self.query_one(NearRows)
        rows.show(self._found, self._said)
        rows.focus()
        self.query_one(Panel).headline(where="{near.open} show   {near.merge} merge   {overlay.close} close")

    def on_near_rows_merge_wanted(self, message: NearRows.MergeWanted) -> None:
        self.dismiss(("merge", message.id))

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        self.dismiss(("show", message.key))

    def action_close(self) -> None:
        self.dismiss(None)


REST_S = 0.15
"""The cursor must rest so long before the journal is read and all vectors are searched."""


def find_neighbours(engine: Engine, memory: str) -> tuple[tuple[Neighbour, ...], str]:
    """The neighbours, or why there are none; for a worker."""
    try:
        return engine.neighbours(memory), "no other memory has a usable vector"
    except UsageError as error:
        return (), error.message


class NeighboursPanel(BoundPanel[BrowseState]):
    """The nearest to the memory in the detail, where the layout has room; on a key they come as a dialog."""

    BESIDE = frozenset(("near",))

    SETTLE_S = REST_S

    @dataclass
    class Followed(Message):
        """Show this memory."""

        id: str

    @dataclass
    class MergeWanted(Message):
        """Make one of these two memories."""

        ids: tuple[str, str]

    def __init__(self) -> None:
        super().__init__(NearRows(id="near-rows"), title="Nearest", id="near")
        self._of = ""
        """The memory whose neighbours were asked for last."""

    def part(self, state: BrowseState) -> tuple[object, ...]:
        memory = state.memory.id if state.memory is not None and self.display else ""
        return (state.engine, state.revision, memory)

    def paint_part(self, state: BrowseState) -> None:
        rows, memory = self.query_one(NearRows), state.memory
        if memory is None or not memory.id or not self.display:
            self.runner.cancel("near")
            rows.show((), "")
        elif state.engine is not None:
            self._ask("near", state.engine, memory.id, lambda found: rows.show(*found))

    def on_show(self, _: events.Show) -> None:
        self.catch_up()

    def enter(self) -> None:
        """Give the keyboard to the neighbours, which are looked for anew."""
        self.query_one(NearRows).focus()
        self.forget()
        self.catch_up()

    def open_dialog(self) -> None:
        """Look for the neighbours, and show them over the screen."""
        state: BrowseState = self.state
        memory = state.memory
        if state.engine is not None and memory is not None:
            self._ask("near-asked", state.engine, memory.id, lambda found: self._opened(memory, *found))

    def _ask(self, slot: str, engine: Engine, memory: str, then: Callable[[Any], None]) -> None:
        self._of = memory
        self.call(slot, lambda cancel, report: find_neighbours(engine, memory), then)

    def _opened(self, memory: Memory, found: Sequence[Neighbour], said: str) -> None:
        shown = self.state.memory
        if shown is not None and shown.id == memory.id:
            self.app.push_screen(NeighboursDialog(title(memory), found, said), self._wanted)

    def _wanted(self, wanted: Wanted | None) -> None:
        if wanted is not None:
            what, memory = wanted
            self.post_message(
                self.Followed(memory) if what == "show" else self.MergeWanted((self._of, memory))
            )

    @on(NearRows.MergeWanted)
    def _merge_wanted(self, message: NearRows.MergeWanted) -> None:
        message.stop()
        self._wanted(("merge", message.id))

    @on(RowList.Opened)
    def _row_opened(self, message: RowList.Opened) -> None:
        message.stop()
        self._wanted(("show", message.key))
