"""Browse: the list of memories, narrowed by scopes, facets and a filter, with the whole of one beside it."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memtui.engine import ListView, Memory, MemtuiError, one_line
from memtui.tui.dialogs.palette import Entry
from memtui.tui.dialogs.pick import Option, Pick
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.layout import size_class
from memtui.tui.messages import AskRecall, MemoryChosen, RunFailed, RunFinished, ShowInBrowse, ShowMemory
from memtui.tui.paint.numbers import full, short
from memtui.tui.screens.browse import words
from memtui.tui.screens.browse.answers import answer
from memtui.tui.screens.browse.changing import BrowseChanges
from memtui.tui.screens.browse.copying import copy_options, copy_text
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.detail_text import summary, title
from memtui.tui.screens.browse.filter_bar import FilterBar
from memtui.tui.screens.browse.filtering import terms, toggled, trouble_of, without
from memtui.tui.screens.browse.list_head import ListHead
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.browse.scope_pane import ScopePane
from memtui.tui.screens.browse.state import (
    SORTS,
    Answer,
    cleared,
    reversed_order,
    scopes_phrase,
    shaped,
    sort_name,
    sorted_by,
    with_filter,
    with_scopes,
)
from memtui.tui.session import Session
from memtui.tui.widgets.arranged import Arranged
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.state_panel import State, StatePanel
from memtui.tui.words import of_session


class BrowseScreen(BrowseChanges):
    """The screen: wishes go to the engine, answers to the panels."""

    MODE = "browse"
    CSS_PATH = "browse.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("browse")

    def __init__(self) -> None:
        super().__init__()
        self.answer: Answer | None = None
        self._revision = -1
        self._linked = ""

    def body(self) -> ComposeResult:
        yield Arranged(
            FilterBar(id="filter"),
            Panel(ScopePane(), title="Scopes", id="scopes"),
            Panel(ListHead(), MemoryList(), StatePanel(id="list-state"), title="Memories", id="list"),
            Panel(MemoryDetail(), title="Memory", id="detail"),
            arrange=self.arrange_panels,
        )

    def on_mount(self) -> None:
        self._state(of_session(self.session))
        (self.query_one("#list-state") if self.has_class("-state") else self.query_one(MemoryList)).focus()

    def on_resize(self, event: events.Resize) -> None:  # beside the frame's own: Textual calls both
        self.call_after_refresh(self.name_panels)

    @property
    def shown_view(self) -> ListView | None:
        return None if self.answer is None else self.answer.view

    # the store

    def session_changed(self, session: Session) -> None:
        said = of_session(session)
        if said is not None:
            self.answer, self._revision = None, -1
            self.clear_marks()
            self._state(said)
            self.name_panels()
        elif session.revision != self._revision:
            self._revision = session.revision
            self.ask(keep_cursor=self.answer is not None)
        elif self.answer is not None:
            self.name_panels()

    def receive(self, message: ShowInBrowse | ShowMemory) -> None:
        """A wish of another screen."""
        if isinstance(message, ShowMemory):
            self.want(with_scopes(with_filter(self.wish, f"id:{message.id}"), None))
        else:
            self.want(with_scopes(with_filter(self.wish, message.filter), message.scopes))
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
        self.runner.start("view", lambda token, report: answer(engine, query, token))

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
        self.query_one(FilterBar).accept(found.view.query.filter)
        listing = self.query_one(MemoryList)
        engine = self.session.engine
        fetch = partial(engine.page, found.view) if engine is not None else None
        listing.show(found.view.total, found.view.query.sort, fetch, keep_cursor=self._keep_cursor)
        self.query_one(ListHead).show(found.view.query.sort)
        query = found.view.query
        pane = self.query_one(ScopePane)
        pane.show(found.facets, found.scopes, found.all_total, query.scopes, terms(query.filter))
        self._state(None if found.view.total else words.nothing_matches(found))
        self.name_panels()

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
        panel = self.query_one("#list-state", StatePanel)
        had = panel.has_focus or self.query_one(MemoryList).has_focus
        self.set_class(state is not None, "-state")
        if state is not None:
            panel.state = state
        if had:
            (panel if state is not None else self.query_one(MemoryList)).focus()

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

    # what the panels say

    def name_panels(self) -> None:
        """Say what each panel shows, and how much of it."""
        if self.answer is None:
            self.query_one(FilterBar).show(self.wish.query.filter, "", Content())
            self.query_one("#scopes", Panel).headline(which="", where="")
            self.query_one("#list", Panel).headline(which="", where="")
            return
        view, glyphs = self.answer.view, host(self).glyphs
        query = view.query
        arrow = glyphs.down if query.sort.startswith("-") else glyphs.up
        narrow, all_shown = size_class(self.size.width) == "narrow", view.total == view.table_total
        counted = short(view.total) if narrow else full(view.total)
        if not all_shown:
            counted += f"/{short(view.table_total)}" if narrow else f" of {full(view.table_total)}"
        info = Content.assemble("  ", (counted, "$foreground"), f"   {sort_name(query.sort)} {arrow} ")
        self.query_one(FilterBar).show(self.wish.query.filter, scopes_phrase(query.scopes), info)
        marked = Content.styled(self.marks_phrase, "bold $primary")
        parts = [part for part in (marked, Content.styled(one_line(view.pending), "$stale")) if part.plain]
        self.query_one("#list", Panel).headline(which=Content("  ").join(parts))
        self._name_detail(self.query_one(MemoryDetail).memory, "linked" if self._linked else "")
        count = len(self.answer.scopes)
        self.query_one("#scopes", Panel).headline(where=f"{count:,}")
        self._position()

    def _position(self) -> None:
        listing = self.query_one(MemoryList)
        where = f"{listing.cursor + 1:,} / {listing.total:,}" if listing.total else ""
        self.query_one("#list", Panel).headline(where=where)

    @on(MemoryChosen)
    def _memory_chosen(self, message: MemoryChosen) -> None:
        message.stop()
        self._linked = ""
        waiting = message.memory is None and self.query_one(MemoryList).total > 0
        self.query_one(MemoryDetail).show(message.memory, waiting=waiting)
        if not waiting:
            self._name_detail(message.memory)
        self._position()

    def _name_detail(self, memory: Memory | None, note: str = "") -> None:
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
        self._linked = memory.id
        self.query_one(MemoryDetail).show(memory)
        self._name_detail(memory, "linked")

    # copying

    @on(MemoryList.CopyWanted)
    @on(MemoryDetail.CopyWanted)
    def _copy_wanted(self, message: MemoryList.CopyWanted | MemoryDetail.CopyWanted) -> None:
        memory = message.memory

        def take(what: str | None) -> None:
            if what is not None:
                host(self).copy(copy_text(memory, what), what)

        self.app.push_screen(Pick("Copy", copy_options(memory)), take)

    @on(ScopePane.CopyWanted)
    def _copy_name(self, message: ScopePane.CopyWanted) -> None:
        host(self).copy(message.text, "name")

    # actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "filter" and self.query_one(FilterBar).editing:
            return False
        if action in ("sort", "reverse", "filter", "ask", "change", "undo", "redo") and not self.session.open:
            return None
        return True

    def action_filter(self) -> None:
        self.query_one(FilterBar).edit()

    def action_clear_filter(self) -> None:
        """One step back: what lies on top first, the filter last."""
        shape, query = self.wish.shape, self.wish.query
        if self.staging.stop() or self.dismiss_flash():
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

    def action_sort(self) -> None:
        options = [Option(key, name, hint, letter) for key, name, hint, letter in SORTS]

        def take(key: str | None) -> None:
            if key is not None:
                self.want(sorted_by(self.wish, key))

        self.app.push_screen(Pick("Sort by", options, self.wish.query.sort.lstrip("-")), take)

    def action_reverse(self) -> None:
        self.want(reversed_order(self.wish))

    def action_ask(self) -> None:
        memory = self.query_one(MemoryDetail).memory
        if memory is not None:
            self.post_message(AskRecall(one_line(memory.text)[:300]))

    def palette_entries(self) -> list[Entry]:
        """Scopes to go to, orders to choose."""
        entries = [
            Entry("COMMANDS", f"Sort by {name}", partial(self._sort_now, key), hint)
            for key, name, hint, _ in SORTS
        ]
        for scope, count in self.answer.scopes[:2_000] if self.answer is not None else ():
            wish = partial(self._scope_now, scope)
            entries.append(Entry("SCOPES", one_line(scope or "(none)"), wish, f"{full(count)} memories"))
        return entries

    def _sort_now(self, key: str) -> None:
        self.want(sorted_by(self.wish, key))

    def _scope_now(self, scope: str | None) -> Any:
        self.want(with_scopes(self.wish, (scope,)))
