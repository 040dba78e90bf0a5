"""Browse: the list of memories, narrowed by scopes, facets and a filter, with the whole of one beside it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from memtui.engine import ListQuery, Memory, MemtuiError, one_line
from memtui.tui.actions.table import bindings
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.messages import (
    AskExport,
    AskRecall,
    AskWhyNot,
    RunFailed,
    RunFinished,
    ShowInBrowse,
    ShowMemory,
    ShowReach,
)
from memtui.tui.no_store import of_session
from memtui.tui.paint.numbers import full
from memtui.tui.screens.browse import view as words
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.filter_bar import FilterBar
from memtui.tui.screens.browse.filter_text import choosing, terms, toggled, trouble_of, without
from memtui.tui.screens.browse.memory_list import ListHead, MemoryList
from memtui.tui.screens.browse.nearby import BrowseNear
from memtui.tui.screens.browse.neighbours import NearRows
from memtui.tui.screens.browse.scope_pane import ScopePane
from memtui.tui.screens.browse.state import (
    cleared,
    reversed_order,
    shaped,
    sorted_by,
    sorts_of,
    with_filter,
    with_scopes,
    with_sort,
)
from memtui.tui.screens.browse.view import answer, copy_options, copy_text
from memtui.tui.screens.mend.state import PARTS, Part
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.state_panel import State, StatePanel


class BrowseScreen(BrowseNear):
    """The screen: wishes go to the engine, answers to the panels."""

    MODE = "browse"
    CSS_PATH = "browse.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("browse")

    def __init__(self) -> None:
        super().__init__()
        self._revision = -1
        self._noted = ""

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            FilterBar(id="filter"),
            Panel(ScopePane(), title="Scopes", id="scopes"),
            Panel(ListHead(), MemoryList(), StatePanel(id="list-state"), title="Memories", id="list"),
            Panel(MemoryDetail(), title="Memory", id="detail"),
            Panel(NearRows(id="near-rows"), title="Nearest", id="near"),
            arrange=self.arrange_panels,
        )

    def on_mount(self) -> None:
        self._state(of_session(self.session))
        (self.query_one("#list-state") if self.has_class("-state") else self.query_one(MemoryList)).focus()

    def on_resize(self, event: events.Resize) -> None:  # beside the frame's own: Textual calls both
        self.call_after_refresh(self.name_panels)

    # the store

    def session_changed(self, session: Session) -> None:
        self.show_staged()
        said = of_session(session)
        if said is not None:
            self.answer, self._revision = None, -1
            self.clear_marks()
            self._state(said)
            self.name_panels()
        elif session.revision != self._revision:
            self._revision = session.revision
            if session.info is not None:
                self.come_back(session.info)
            self.ask(keep_cursor=self.answer is not None)
        elif self.answer is not None:
            self.name_panels()

    def receive(self, message: ShowInBrowse | ShowMemory) -> None:
        """A wish of another screen."""
        if isinstance(message, ShowMemory):
            self.want(with_scopes(with_filter(self.wish, f"id:{message.id}"), None))
        else:
            wish = with_scopes(with_filter(self.wish, message.filter), message.scopes)
            self.want(with_sort(wish, message.sort) if message.sort else wish)
            if message.edit:
                self.query_one(FilterBar).edit()
                return
        self.query_one(MemoryList).focus()

    # asking

    def ask(self, *, keep_cursor: bool) -> None:
        """Run the present wish on the engine; the old list stays, dimmed, until the answer is there."""
        engine, query = self.session.engine, self.wish.query
        if engine is None:
            return
        self._keep_cursor = keep_cursor
        if self.answer is None:
            self._state(State("loading", "reading the list", skeleton=True))
        self.add_class("-waiting")
        self.runner.start("view", lambda token, report: answer(engine, query, token, report))

    @on(RunFinished)
    def _finished(self, message: RunFinished) -> None:
        message.stop()
        if not self.runner.done(message):
            return
        if message.slot == "link":
            self._show_linked(message.value)
            return
        if self.concluded(message.slot, message.value):
            return
        self.remove_class("-waiting")
        self.answer = found = message.value
        self.query_one(FilterBar).accept(found.view)
        listing = self.query_one(MemoryList)
        engine = self.session.engine
        fetch = partial(engine.page, found.view) if engine is not None else None
        query = found.view.query
        order = "~" if found.view.ranked else query.sort
        near = found.view.similarity if found.view.ranked else None
        listing.show(found.view.total, order, fetch, keep_cursor=self._keep_cursor, near=near)
        self.query_one(ListHead).show(order)
        pane = self.query_one(ScopePane)
        pane.show(found.facets, found.scopes, found.all_total, query.scopes, terms(query.filter))
        self._state(None if found.view.total else words.nothing_matches(found))
        self.name_panels()
        if found.view.note and found.view.note != self._noted:
            self.flash(found.view.note, "note")
        self._noted = found.view.note

    @on(RunFailed)
    def _failed(self, message: RunFailed) -> None:
        message.stop()
        if not self.runner.done(message):
            return
        if message.slot != "view":
            self.flash(str(message.error), "error")
            return
        self.remove_class("-waiting")
        if hasattr(message.error, "span"):
            bar = self.query_one(FilterBar)
            if not bar.editing:
                bar.edit()
            bar.complain(trouble_of(message.error, self.wish.query.filter))
            if self.answer is not None:
                return
        self._state(words.view_failed(message.error))

    @on(MemoryList.Broken)
    def _page_broken(self, message: MemoryList.Broken) -> None:
        error = message.page.error or MemtuiError("A page could not be read.")
        self._state(words.view_failed(error))

    def _state(self, state: State | None) -> None:
        """Show words in the place of the list, or the list."""
        panel, listing = self.query_one("#list-state", StatePanel), self.query_one(MemoryList)
        self.set_class(state is not None, "-state")
        if state is not None:
            panel.state = state

        def take() -> None:
            if self.focused in (None, panel, listing):
                self.set_focus(panel if self.has_class("-state") else listing)  # later it may be another's

        self.call_after_refresh(take)  # what is not displayed yet takes no keyboard

    @on(StatePanel.Chosen)
    def _chosen(self, message: StatePanel.Chosen) -> None:
        choice = message.choice
        if choice.name == "remedy" and isinstance(choice.value, tuple):
            text, scopes = choice.value
            self.want(with_scopes(with_filter(self.wish, text), scopes))
        elif choice.name == "clear":
            self.want(cleared(self.wish))
        elif choice.name == "retry" and self.session.open:
            self.ask(keep_cursor=True)
        else:
            host(self).take(choice.name, choice.value)

    # the filter line and the side panel

    @on(FilterBar.Changed)
    def _filter_changed(self, message: FilterBar.Changed) -> None:
        self.want(with_filter(self.wish, message.text))

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        (self.query_one("#list-state") if self.has_class("-state") else self.query_one(MemoryList)).focus()

    @on(FilterBar.ChipClosed)
    def _chip_closed(self, message: FilterBar.ChipClosed) -> None:
        self.want(with_filter(self.wish, without(self.wish.query.filter, message.index)))

    @on(FilterBar.Resized)
    def _filter_resized(self) -> None:
        self.want(shaped(self.wish, filter_rows=self.query_one(FilterBar).rows))

    @on(ScopePane.ScopesChosen)
    def _scopes_chosen(self, message: ScopePane.ScopesChosen) -> None:
        self.want(with_scopes(self.wish, message.scopes))

    @on(ScopePane.TermToggled)
    def _term_toggled(self, message: ScopePane.TermToggled) -> None:
        self.want(with_filter(self.wish, toggled(self.wish.query.filter, message.term)))

    @on(ListHead.SortChosen)
    def _head_clicked(self, message: ListHead.SortChosen) -> None:
        self.want(sorted_by(self.wish, message.key))

    # linked memories

    @on(MemoryDetail.LinkFollowed)
    def _link_followed(self, message: MemoryDetail.LinkFollowed) -> None:
        engine = self.session.engine
        if engine is not None:
            self.runner.start("link", lambda token, report: engine.get(message.id))

    def _show_linked(self, memory: Memory) -> None:
        self.linked = memory.id
        self.query_one(MemoryDetail).show(memory)
        self.name_detail(memory, "linked")
        self.resting_on(memory)

    # copying

    @on(MemoryList.CopyWanted)
    @on(MemoryDetail.CopyWanted)
    def _copy_wanted(self, message: MemoryList.CopyWanted | MemoryDetail.CopyWanted) -> None:
        memory = message.memory

        def take(what: str | None) -> None:
            if what is not None:
                host(self).copy(copy_text(memory, what), what)

        self.app.push_screen(ChooseOne("Copy", copy_options(memory)), take)

    @on(ScopePane.CopyWanted)
    def _copy_name(self, message: ScopePane.CopyWanted) -> None:
        host(self).copy(message.text, "name")

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "filter" and self.query_one(FilterBar).editing:
            return False
        if action in ("sort", "reverse") and self.answer is not None and self.answer.view.ranked:
            return None
        if (
            action
            in ("sort", "reverse", "filter", "ask", "change", "undo", "redo", "mend", "views", "neighbours")
            and not self.session.open
        ):
            return None
        return True

    def action_filter(self) -> None:
        self.query_one(FilterBar).edit()

    def action_clear_filter(self) -> None:
        """One step back: what lies on top first, the filter last."""
        shape, query = self.wish.shape, self.wish.query
        if self.staging.stop() or self._stop_asking() or self.dismiss_flash():
            return
        if shape.overlay:
            self.want(shaped(self.wish, overlay=False))
        elif shape.zoom:
            self.want(shaped(self.wish, zoom=""))
        elif self.clear_marks():
            pass
        elif query.filter or query.scopes is not None:
            self.want(cleared(self.wish))
        self._go("list")

    def _stop_asking(self) -> bool:
        """Give up a list that takes long and keep the one that is shown; False when none is asked for."""
        if self.answer is None or not self.runner.busy("view"):
            return False
        self.runner.cancel("view")
        self.remove_class("-waiting")
        self.wish = replace(self.wish, query=self.answer.view.query)
        self.name_panels()
        return True

    def action_sort(self) -> None:
        options = [Option(*each) for each in sorts_of(self.session.info)]

        def take(key: str | None) -> None:
            if key is not None:
                self.want(sorted_by(self.wish, key))

        self.app.push_screen(ChooseOne("Sort by", options, self.wish.query.sort.removeprefix("-")), take)

    def action_reverse(self) -> None:
        self.want(reversed_order(self.wish))

    def action_ask(self) -> None:
        memory = self.query_one(MemoryDetail).memory
        if memory is not None:
            self.post_message(AskRecall(one_line(memory.text)[:300]))

    def action_export(self) -> None:
        marked, view = self.query_one(MemoryList).marks.ids, self.shown_view
        query = view.query if view is not None else ListQuery()
        self.post_message(AskExport(tuple(marked), query.filter, query.scopes))

    def action_why_not(self) -> None:
        memory = self.query_one(MemoryDetail).memory
        if memory is not None:
            self.post_message(AskWhyNot(memory.id))

    def action_reach(self) -> None:
        memory = self.query_one(MemoryDetail).memory
        if memory is not None:
            self.post_message(ShowReach(memory.id))

    def action_mend(self, part: Part = "duplicates") -> None:
        from memtui.tui.screens.mend.screen import MendScreen

        query = self.wish.query
        self.app.push_screen(MendScreen(part, choosing(query.filter, query.scopes)))

    def palette_entries(self) -> list[PaletteEntry]:
        """Parts of Mend and scopes to go to, orders to choose."""
        mending = [
            PaletteEntry("COMMANDS", f"Mend: {name}", partial(self.action_mend, part)) for part, name in PARTS
        ]
        entries = [
            PaletteEntry("COMMANDS", f"Sort by {one_line(name)}", partial(self._sort_now, key), hint)
            for key, name, hint, _ in sorts_of(self.session.info)
        ]
        if self.session.open:
            entries += [*mending, *self.view_entries()]
        for scope, count in self.answer.scopes[:2_000] if self.answer is not None else ():
            wish = partial(self._scope_now, scope)
            entries.append(
                PaletteEntry("SCOPES", one_line(scope or "(none)"), wish, f"{full(count)} memories")
            )
        return entries

    def _sort_now(self, key: str) -> None:
        self.want(sorted_by(self.wish, key))

    def _scope_now(self, scope: str | None) -> Any:
        self.want(with_scopes(self.wish, (scope,)))
