"""The command palette: everything that can be done from here, found by typing a part of its name."""

from __future__ import annotations

from collections import Counter

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from memtui.tui.dialogs.entry import PREFIXES, Entry, Ranked, rank, split
from memtui.tui.dialogs.offers import entries_for, memory_entry, search
from memtui.tui.dialogs.palette_list import EntryPane, PaletteList
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.layout import NORMAL_WIDTH, WIDE_WIDTH
from memtui.tui.messages import RunFailed, RunFinished
from memtui.tui.quick import QuickModal
from memtui.tui.runner import Runner
from memtui.tui.widgets.line import Line
from memtui.tui.widgets.panel import Panel

__all__ = ["Entry", "Palette", "rank"]

MEMORIES = "MEMORIES"
SEARCH_S = 0.12
"""Typing goes on faster than this: the store is not asked for every letter."""
UNASKED_LETTERS = 3
"""So many letters without a prefix, and memories are looked for too."""
UNASKED_ROWS = 6
"""Memories shown among the commands; `@` shows them all."""


_WAYS = "enter run   {palette.group} next group   {palette.close} close"


_WAYS = "enter run   {palette.group} next group   {palette.close} close"


class Palette(QuickModal[None]):
    """An input and the ranked rows; Enter runs the highlighted one on the screen below."""

    DEFAULT_CSS = """
    Palette Panel { width: 90; max-width: 100%; height: 22; max-height: 95%; border: round $frame-focus; }
    Palette.-wide Panel { width: 150; height: 32; }
    Palette.-wide EntryPane { display: block; border-left: solid $frame; }
    Palette.-narrow Panel { width: 100%; height: 18; border: none; border-top: solid $frame-focus; }
    Palette Input.-textual-compact { border: none; height: 1; padding: 0 1; margin-bottom: 1; background: $background; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NORMAL_WIDTH, "-normal"), (WIDE_WIDTH, "-wide")]  # noqa: RUF012
    BINDINGS = bindings("palette")

    def __init__(self, below: Screen[object], prefix: str = "") -> None:
        super().__init__()
        self._below = below
        self._prefix = prefix
        self._entries = entries_for(below)
        self._runner = Runner(self)
        self._timer: Timer | None = None
        self._found: list[Entry] = []
        self._total = 0
        self._asked = ""
        self._note = ""
        self._theme = ""

    def compose(self) -> ComposeResult:
        with Panel(title="Commands"):
            yield Line(self._prefix, placeholder="type a part of a name")
            with Horizontal():
                yield PaletteList()
                yield EntryPane()

    def on_mount(self) -> None:
        self._theme = self.app.theme
        self.query_one(Panel).headline(where=_WAYS)
        self._show()

    def on_unmount(self) -> None:
        self._runner.cancel_all()

    @on(Input.Changed)
    def _typed(self) -> None:
        self._show()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._take(self.query_one(PaletteList).current)

    @on(PaletteList.Taken)
    def _clicked(self, event: PaletteList.Taken) -> None:
        self._take(event.entry)

    def _show(self) -> None:
        """What answers to the typed text: the entries at once, memories when they have been found."""
        query = self.query_one(Input).value
        self._look_for(query)
        self._list(query)

    def _list(self, query: str, *, keep: bool = False) -> None:
        group, _ = split(query)
        rows: Ranked = rank(self._entries, query)
        counts = Counter(entry.group for entry in self._entries)
        found = self._found if group == MEMORIES else self._found[:UNASKED_ROWS] if not group else []
        if found:
            first = sum(1 for entry, _ in rows if not entry.disabled and entry.group == rows[0][0].group)
            rows[first:first] = [(entry, ()) for entry in found]
        shown = {MEMORIES: self._total} if found else {}
        note = self._note if group == MEMORIES else ""
        if group == "VIEWS" and not counts["VIEWS"]:
            note = "no view of this store was saved"
        if group == "SCOPES" and not counts["SCOPES"]:
            note = "no store is open"
        self.query_one(PaletteList).show(rows, shown, note, keep=keep)
        prefixes = "  ".join(f"{prefix} {name.lower()}" for prefix, name in PREFIXES.items())
        wide = self.app.size.width >= NORMAL_WIDTH
        total = len(self._entries) + (self._total if found else 0)
        self.query_one(Panel).headline(which=prefixes if wide else " ".join(PREFIXES))
        self.query_one(Panel).headline(where=f"{len(rows)} of {total:,}   {_WAYS}")
        self._preview()

    def _look_for(self, query: str) -> None:
        """Ask the store for memories, after a moment in which nothing is typed."""
        group, words = split(query)
        wanted = group == MEMORIES or (not group and len(words) >= UNASKED_LETTERS)
        if not wanted:
            self._found, self._asked, self._note = [], "", ""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._runner.cancel("memories")
        if not wanted or (self._found and words == self._asked):
            return
        if not self._found:
            self._note = "looking for memories"
        self._timer = self.set_timer(SEARCH_S, lambda: self._ask(words))

    def _ask(self, words: str) -> None:
        work = search(self._below, words)
        if work is None:
            self._note = "no store is open"
            self._list(self.query_one(Input).value, keep=True)
            return
        self._asked = words
        self._runner.start("memories", work)

    def on_run_finished(self, message: RunFinished) -> None:
        """The memories have been found."""
        message.stop()
        if self._runner.done(message):
            self._total, memories = message.value
            self._found = [memory_entry(self._below, memory) for memory in memories]
            self._note = "no memory has these words"
            self._list(self.query_one(Input).value, keep=True)

    def on_run_failed(self, message: RunFailed) -> None:
        """The search failed: the rest of the palette works on."""
        message.stop()
        if self._runner.done(message):
            self._found, self._note = [], str(message.error)
            self._list(self.query_one(Input).value, keep=True)

    def _preview(self) -> None:
        entry = self.query_one(PaletteList).current
        self.query_one(EntryPane).entry = entry
        if entry is not None and entry.preview is not None:
            entry.preview()
        elif self.app.theme != self._theme:
            self.app.theme = self._theme

    def _take(self, entry: Entry | None) -> None:
        if entry is None or entry.disabled:
            return
        self.dismiss()
        self.app.call_later(entry.run)

    def _move(self, by: int) -> None:
        self.query_one(PaletteList).move(by)
        self._preview()

    def action_down(self) -> None:
        self._move(1)

    def action_up(self) -> None:
        self._move(-1)

    def action_page_down(self) -> None:
        self._move(10)

    def action_page_up(self) -> None:
        self._move(-10)

    def action_group(self) -> None:
        """The next prefix; after the last one none."""
        entry = self.query_one(Input)
        order = ["", *PREFIXES]
        here = entry.value[:1] if entry.value[:1] in PREFIXES else ""
        following = order[(order.index(here) + 1) % len(order)]
        entry.value = following + entry.value[len(here) :]
        entry.cursor_position = len(entry.value)

    def action_copy(self) -> None:
        entry = self.query_one(PaletteList).current
        if entry is not None:
            self.action_close()
            host(self).copy(entry.copies or entry.name, "id" if entry.copies else "name")

    def action_close(self) -> None:
        if self.app.theme != self._theme:
            self.app.theme = self._theme
        self.dismiss()
