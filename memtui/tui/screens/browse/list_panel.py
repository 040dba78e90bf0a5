"""The panel of Browse with the list: its rows or words in their place, what is marked, and where the cursor is."""

from __future__ import annotations

from functools import partial

from textual import on

from memtui.engine import Progress
from memtui.engine.query import match_pattern
from memtui.tui.base_screen import BaseScreen
from memtui.tui.bound_panel import BoundPanel
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.host import host
from memtui.tui.layout import size_class
from memtui.tui.messages import MemoryChosen, MenuWanted
from memtui.tui.paint.numbers import full
from memtui.tui.screens.browse import view
from memtui.tui.screens.browse.memory_list import ListHead, MemoryList
from memtui.tui.screens.browse.memory_row import columns_of
from memtui.tui.screens.browse.state import BrowseState, ListAnswer
from memtui.tui.widgets.splitter import Splitter
from memtui.tui.widgets.state_panel import StatePanel

MENU = (
    *("list.right", "browse.edit", "browse.change", "browse.forget", "browse.ask", "browse.why-not"),
    *("browse.neighbours", "list.mark", "list.copy", "browse.export"),
)
"""What the right button of the mouse offers on a memory."""


class ListPanel(BoundPanel[BrowseState], Splitter):
    """Shows the answer of the engine, or words; marks memories."""

    DEFAULT_CSS = """
    ListPanel #list-state { display: none; }
    ListPanel.-state #list-state { display: block; }
    ListPanel.-state ListHead, ListPanel.-state MemoryList { display: none; }
    ListPanel.-waiting MemoryList { opacity: 60%; }
    """

    EDGE = "right"

    def __init__(self) -> None:
        super().__init__(ListHead(), MemoryList(), StatePanel(id="list-state"), title="Memories", id="list")
        self._answer: ListAnswer | None = None

    @property
    def listing(self) -> MemoryList:
        """The list itself."""
        return self.query_one(MemoryList)

    def focus_list(self) -> None:
        """Give the keyboard to the list, or to the words in its place."""
        (self.query_one(StatePanel) if self.has_class("-state") else self.listing).focus()

    @on(MenuWanted)
    def _menu(self, message: MenuWanted) -> None:
        """What can be done with the memory under the mouse, each by its key."""
        message.stop()
        keys = host(self).keys.by_id
        options = [Option(id, keys[id].title, keys[id].help, id) for id in MENU if keys[id].keys]

        def taken(id: str | None) -> None:
            if id is not None:
                self.focus_list()
                self.app.simulate_key(keys[id].press)

        self.app.push_screen(ChooseOne("This memory", options), taken)

    # painting

    def part(self, state: BrowseState) -> tuple[object, ...]:
        narrow = size_class(self.app.size.width) == "narrow"
        return (
            state.answer,
            state.waiting,
            state.said,
            state.staged,
            state.saved,
            state.reading,
            narrow,
            state.wish.shape.tall,
        )

    def paint_part(self, state: BrowseState) -> None:
        self.set_class(state.waiting, "-waiting")
        self.listing.show_staged(state.staged)
        tall = state.wish.shape.tall
        if tall != self.listing.tall:
            self.listing.show_tall(tall)
            self.query_one(ListHead).show(self.listing.sort, tall=tall, absent=self.listing.absent)
        if state.answer is not self._answer:
            self._answer = state.answer
            if state.answer is not None:
                self._show_list(state, state.answer)
        self._show_words(state)
        self._headline()

    def _show_list(self, state: BrowseState, answer: ListAnswer) -> None:
        found, engine = answer.view, state.engine
        self.listing.absent = frozenset() if engine is None else columns_of(engine.store.dialect.lacking)
        order = "~" if found.ranked else found.query.sort
        self.listing.show(
            found.total,
            order,
            partial(engine.page, found) if engine is not None else None,
            keep_cursor=state.keep_cursor,
            cursor=answer.cursor,
            near=found.similarity if found.ranked else None,
            sought=match_pattern(found.query.filter),
        )
        self.query_one(ListHead).show(order, tall=self.listing.tall, absent=self.listing.absent)

    def _show_words(self, state: BrowseState) -> None:
        words, listing = self.query_one(StatePanel), self.listing
        self.set_class(state.said is not None, "-state")
        if state.said is not None:
            words.state = state.said

        def take() -> None:
            if self.screen.focused in (None, words, listing):  # later it may be another's
                self.screen.set_focus(words if self.has_class("-state") else listing)

        # What is not displayed yet takes no keyboard; a key that comes until then is not for what goes.
        goes = listing if self.has_class("-state") else words
        if self.screen.focused is goes and isinstance(self.screen, BaseScreen):
            self.screen.hand_over(take)
        else:
            self.call_after_refresh(take)

    def _headline(self) -> None:
        state: BrowseState = self.state
        self.headline(which=view.list_headline(state, self._marks_phrase(len(state.staged)), host(self).keys))
        self._position()

    def _position(self) -> None:
        listing = self.listing
        shown = self._answer is not None and listing.total
        self.headline(where=f"{listing.cursor + 1:,} / {listing.total:,}" if shown else "")

    def show_progress(self, progress: Progress) -> None:
        """Say how far the engine is with another list."""
        what = progress.what if progress.fetches else "looking"
        words = f"{what} {progress.fraction:.0%}   {host(self).keys.cap('browse.clear-filter')} stops"
        self.headline(which=view.waiting_words(words))

    @on(MemoryChosen)
    def _memory_chosen(self) -> None:  # goes on to the screen
        self._position()

    # marks

    def _marks_phrase(self, staged: int) -> str:
        """How many are marked and staged, in words; empty for none."""
        marks = self.listing.marks
        here = f"{host(self).keys.cap('list.mark-range')} marks to here" if marks.anchor is not None else ""
        count = f"{full(len(marks))} marked" if len(marks) else ""
        waits = f"{full(staged)} staged" if staged else ""
        return "  ".join(part for part in (count, waits, here) if part)

    @on(MemoryList.Marked)
    def _marked(self, message: MemoryList.Marked) -> None:
        message.stop()
        self._headline()
        self.refresh_bindings()  # the key bar shows what can be done with all of them

    @on(MemoryList.MarksWanted)
    def _marks_wanted(self, message: MemoryList.MarksWanted) -> None:
        message.stop()
        engine, shown, marks = self.state.engine, self.state.view, self.listing.marks
        if engine is None or shown is None or self.state.older:
            return

        def have(ids: tuple[str, ...]) -> None:
            (marks.add if message.how == "add" else marks.invert)(ids)
            self.listing.marks_changed()

        self.call("marks", lambda cancel, report: engine.ids(shown, message.first, message.last + 1), have)

    @property
    def marking(self) -> bool:
        """Whether a range is being marked."""
        return self.runner.busy("marks")

    def clear_marks(self) -> bool:
        """No marks any more; False when there were none."""
        had = self.listing.marks.clear()
        if had:
            self.listing.marks_changed()
        return had
