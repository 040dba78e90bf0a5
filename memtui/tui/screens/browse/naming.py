"""What the panels of Browse say on their frames: how many, in which order, of what, and what is still going on."""

from __future__ import annotations

from textual import on
from textual.content import Content

from memtui.engine import ListView, Memory, Progress, one_line
from memtui.tui.host import host
from memtui.tui.layout import size_class
from memtui.tui.messages import MemoryChosen, RunAdvanced
from memtui.tui.paint.cells import crop
from memtui.tui.paint.numbers import full, short
from memtui.tui.screens.browse.changing import BrowseChanges
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.detail_view import summary, title
from memtui.tui.screens.browse.filter_bar import FilterBar
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.browse.state import ListAnswer, scopes_phrase, sort_name
from memtui.tui.widgets.panel import Panel


class BrowseNames(BrowseChanges):
    """Browse with words on its frames; a subclass asks the engine."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: ListAnswer | None = None
        self.linked = ""
        """The memory in the detail, where that is not the one under the cursor."""

    @property
    def shown_view(self) -> ListView | None:
        return None if self.answer is None else self.answer.view

    @property
    def view_name(self) -> str:
        """The saved view that the list is at present; empty for none."""
        return ""

    def name_panels(self) -> None:
        """Say what each panel shows, and how much of it."""
        if self.answer is None:
            self.query_one(FilterBar).show(self.wish.query.filter, "", Content())
            self.query_one("#scopes", Panel).headline(which="", where="")
            self.query_one("#list", Panel).headline(which="", where="")
            return
        view, glyphs = self.answer.view, host(self).glyphs
        query = view.query
        falling = view.ranked or query.sort.startswith("-")
        arrow = glyphs.down if falling else glyphs.up
        narrow, all_shown = size_class(self.size.width) == "narrow", view.total == view.table_total
        counted = short(view.total) if narrow else full(view.total)
        if not all_shown:
            counted += f"/{short(view.table_total)}" if narrow else f" of {full(view.table_total)}"
        order = sort_name("~" if view.ranked else query.sort)
        info = Content.assemble("  ", (counted, "$foreground"), f"   {order} {arrow} ")
        self.query_one(FilterBar).show(self.wish.query.filter, scopes_phrase(query.scopes), info)
        marked = Content.styled(self.marks_phrase, "bold $primary")
        by_words = "by words, not by meaning" if view.note else ""  # the flash line says why
        notes = (Content.styled(one_line(note), "$stale") for note in (view.pending, by_words))
        saved = Content.styled(f"view {crop(self.view_name, 18)}" if self.view_name else "", "$primary")
        parts = [part for part in (marked, *notes, saved) if part.plain]
        self.query_one("#list", Panel).headline(which=Content("  ").join(parts))
        self.name_detail(self.query_one(MemoryDetail).memory, "linked" if self.linked else "")
        self.query_one("#scopes", Panel).headline(where=f"{len(self.answer.scopes):,}")
        self._position()

    @on(RunAdvanced)
    def _advanced(self, message: RunAdvanced) -> None:
        message.stop()
        value = message.value
        if message.slot == "view" and isinstance(value, Progress) and self.runner.is_current(message):
            words = f"looking {value.fraction:.0%}   {host(self).keys.cap('browse.clear-filter')} stops"
            self.query_one("#list", Panel).headline(which=Content.styled(words, "$stale"))

    def _position(self) -> None:
        listing = self.query_one(MemoryList)
        where = f"{listing.cursor + 1:,} / {listing.total:,}" if listing.total else ""
        self.query_one("#list", Panel).headline(where=where)

    @on(MemoryChosen)
    def _memory_chosen(self, message: MemoryChosen) -> None:
        message.stop()
        self.linked = ""
        waiting = message.memory is None and self.query_one(MemoryList).total > 0
        self.query_one(MemoryDetail).show(message.memory, waiting=waiting)
        if not waiting:
            self.name_detail(message.memory)
            self.resting_on(message.memory)
        self._position()

    def resting_on(self, memory: Memory | None) -> None:
        """The detail shows this memory now, None for none."""

    def name_detail(self, memory: Memory | None, note: str = "") -> None:
        """Say which memory the detail shows."""
        panel = self.query_one("#detail", Panel)
        if memory is None:
            panel.headline(what="Memory", which="")
            return
        app = host(self)
        low = size_class(self.size.width) == "narrow" and self.wish.shape.zoom != "detail"
        name = title(memory)
        if low:
            panel.headline(what=name, which=summary(memory, app.now_ms(), app.glyphs))
        else:
            panel.headline(what="Memory", which=f"{note}  {name}" if note else name)
