"""Choose one memory of the store: by words, by a filter, by the beginning of its id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input

from memtui.engine import CancelToken, ListQuery, Memory, UsageError, one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.calls import EngineCalls, Report
from memtui.tui.host import host
from memtui.tui.messages import RunFailed, RunFinished
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.numbers import age, full
from memtui.tui.theme.tokens import category_cell, scope_style, tier_style
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.text_lines import CleanInput

if TYPE_CHECKING:
    from memtui.engine import Engine


MOST = 200
"""Memories listed; a word more finds the others."""

SCOPE_CELLS, AGE_CELLS = 16, 5

_ID = re.compile(r"[0-9a-fA-F]{4,}[0-9a-fA-F-]*")

Found = tuple[list[Memory], int]
"""Memories, and how many there are of them."""


def look_up(engine: Engine, text: str, cancel: CancelToken) -> Found:
    """Memories that `text` names: an id or its beginning, a filter as on Browse, else words to the letter."""
    text = text.strip()
    if _ID.fullmatch(text):
        found = _kept(engine, f"id:{text}", cancel)
        if found[1]:
            return found
    try:
        return _kept(engine, text, cancel)
    except UsageError:
        words = " ".join(
            '"{}"'.format(word.replace("\\", "\\\\").replace('"', '\\"')) for word in text.split()
        )
        return _kept(engine, words, cancel)


def _kept(engine: Engine, filter: str, cancel: CancelToken) -> Found:
    view = engine.view(ListQuery(filter=filter), cancel)
    return engine.page(view, 0, MOST), view.total


class MemoryRows(RowList):
    """The memories found."""

    LINE_ABOVE = True
    memories: Sequence[Memory] = ()
    said: str = "looking"
    """Words in place of memories."""

    def paint(self, width: int) -> Sequence[Row]:
        if not self.memories:
            return [Row((Content(), Content.styled(f"  {one_line(self.said)}", "$dim")))]
        return [Row((self._line(memory, width),), memory.id) for memory in self.memories if memory.id]

    def _line(self, memory: Memory, width: int) -> Content:
        glyphs = host(self).glyphs
        scope = SCOPE_CELLS if width >= 70 else 0
        room = max(8, width - 9 - scope - AGE_CELLS - 2)
        text = fit(crop(one_line(memory.text)[:400], room, glyphs.ellipsis), room)
        return Content.assemble(
            "  ",
            (glyphs.tier(memory.tier), tier_style(memory.tier)),
            " ",
            category_cell(memory.category),
            " ",
            (text, "$foreground"),
            (
                f" {fit(one_line(memory.scope or '-'), scope - 1, glyphs.ellipsis)}" if scope else "",
                scope_style(memory.scope),
            ),
            (right(age(memory.timestamp_ms, host(self).now_ms()), AGE_CELLS), "$dim"),
        )


class MemoryPick(QuickModal[str | None]):
    """Returns the id of the memory taken, None when closed."""

    DEFAULT_CSS = """
    MemoryPick Panel { width: 110; max-width: 96%; height: 24; max-height: 90%; border: round $frame-focus; }
    MemoryPick.-narrow Panel { width: 100%; max-width: 100%; height: 100%; max-height: 100%; }
    MemoryPick Input { border: none; height: 1; padding: 0 1; background: $background; margin: 0 0 1 0; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("memories")

    def __init__(self, engine: Engine, title: str) -> None:
        super().__init__()
        self._engine, self._title = engine, title
        self.runner = EngineCalls(self)

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield CleanInput(placeholder="words, a filter, or the beginning of an id")
            yield MemoryRows()

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="enter select   {memories.close} close")
        self.query_one(Input).focus()
        self._look("")

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._look(event.value)

    def _look(self, text: str) -> None:
        engine = self._engine

        def work(cancel: CancelToken, report: Report) -> Found:
            return look_up(engine, text, cancel)

        self.runner.start("memories", work)

    def on_run_finished(self, message: RunFinished) -> None:
        if self.runner.done(message):
            memories, count = message.value
            empty = not self._engine.info.rows
            self._show(memories, "This store has no memories yet." if empty else "No memory matches.", count)

    def on_run_failed(self, message: RunFailed) -> None:
        if self.runner.done(message):
            self._show([], str(message.error), 0)

    def _show(self, memories: list[Memory], said: str, count: int) -> None:
        rows = self.query_one(MemoryRows)
        rows.memories, rows.said = memories, said
        rows.repaint(memories[0].id if memories else "")
        rows.scroll_home(animate=False)
        shown = f"the first {len(memories)} of {full(count)}" if count > len(memories) else full(count)
        self.query_one(Panel).headline(which=shown if count else "")

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._take(self.query_one(MemoryRows).key)

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        self._take(event.key)

    def _take(self, id: str) -> None:
        if id:
            self.dismiss(id)

    def on_key(self, event: events.Key) -> None:
        """The cursor of the list moves while the line has the keyboard."""
        rows = self.query_one(MemoryRows)
        if isinstance(self.focused, Input) and event.key in ("up", "down", "pageup", "pagedown"):
            event.stop()
            getattr(rows, f"action_{event.key.replace('page', 'page_')}")()

    def action_close(self) -> None:
        self.dismiss(None)
