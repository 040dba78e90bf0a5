"""Browse: the list of memories, narrowed by scopes, facets and a filter, with the whole of one beside it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.reactive import var
from textual.widget import Widget

from memtui.engine import ListQuery, Memory, MemtuiError, Progress, changes, counted, one_line
from memtui.engine.changes import Outcome
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.change_request import ChangeRequests
from memtui.tui.dialogs.choose_field import choose_change
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.forget import PERSON, forget
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.host import host
from memtui.tui.layout import Arrangement, browse, size_class
from memtui.tui.messages import (
    AskExport,
    AskRecall,
    AskWhyNot,
    MemoryChosen,
    ShowInBrowse,
    ShowMemory,
    ShowReach,
)
from memtui.tui.no_store import of_session
from memtui.tui.screens.browse import state as reduce
from memtui.tui.screens.browse import view as words
from memtui.tui.screens.browse.detail import DetailPanel, MemoryDetail
from memtui.tui.screens.browse.filter_bar import FilterBar
from memtui.tui.screens.browse.filter_text import choosing, toggled, trouble_of, without
from memtui.tui.screens.browse.list_panel import ListPanel
from memtui.tui.screens.browse.memory_actions import Editing
from memtui.tui.screens.browse.memory_list import ListHead, MemoryList
from memtui.tui.screens.browse.memory_row import legend
from memtui.tui.screens.browse.neighbours import NeighboursPanel
from memtui.tui.screens.browse.saved_views import SavedViews
from memtui.tui.screens.browse.scope_pane import ScopePane, ScopesPanel
from memtui.tui.screens.browse.state import (
    BrowseState,
    ListAnswer,
    ListRequest,
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
from memtui.tui.screens.mend.state import Part
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.splitter import Splitter
from memtui.tui.widgets.state_panel import State, StatePanel

VIEW = "view"
"""The slot of the call that makes the list."""

_OF_A_STORE = (
    "sort",
    "reverse",
    "filter",
    "ask",
    "change",
    "add",
    "merge",
    "undo",
    "redo",
    "mend",
    "views",
    "neighbours",
)

_PANELS: dict[str, type[Widget]] = {"scopes": ScopePane, "list": MemoryList, "detail": MemoryDetail}


class BrowseScreen(BaseScreen):
    """One state, panels bound to it, and engine calls that change it."""

    MODE = "browse"
    UNDO = "browse.undo"
    CSS_PATH = "browse.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("browse")

    state: var[BrowseState] = var(BrowseState(), init=False)

    def __init__(self) -> None:
        super().__init__()
        self._noted = ""

    def legend(self) -> tuple[tuple[str, str], ...]:
        """The signs of the list, for the help."""
        return legend(host(self).glyphs)

    def body(self) -> ComposeResult:
        bound = BrowseScreen.state
        yield SavedViews()
        yield LayoutContainer(
            FilterBar(id="filter"),
            ScopesPanel().data_bind(state=bound),
            ListPanel().data_bind(state=bound),
            DetailPanel().data_bind(state=bound),
            NeighboursPanel().data_bind(state=bound),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return browse(width, height, self.state.wish.shape)

    def on_resize(self, event: events.Resize) -> None:  # beside the frame's own: Textual calls both
        self.call_after_refresh(self._show_filter)

    def watch_state(self, old: BrowseState, new: BrowseState) -> None:
        if new.wish.shape != old.wish.shape:
            self.query_one(LayoutContainer).rearrange()
        if new.wish is not old.wish or new.answer is not old.answer or new.waiting != old.waiting:
            self._show_filter()

    def _show_filter(self) -> None:
        """Write the filter, the scopes and how much they leave into the filter line."""
        state, narrow = self.state, size_class(self.size.width) == "narrow"
        scopes = reduce.scopes_phrase(state.view.query.scopes) if state.view is not None else ""
        older = state.older and state.waiting
        info = words.FILTERING if older else words.list_count(state.answer, host(self).glyphs, narrow=narrow)
        self.query_one(FilterBar).show(state.wish.query.filter, scopes, info)

    # the parts

    @property
    def list_panel(self) -> ListPanel:
        """The list with its marks."""
        return self.query_one(ListPanel)

    @property
    def listing(self) -> MemoryList:
        """The list itself."""
        return self.query_one(MemoryList)

    @property
    def saved_views(self) -> SavedViews:
        """The lists that were saved under a name."""
        return self.query_one(SavedViews)

    @property
    def wish(self) -> ListRequest:
        """The list that is wanted, and the panels around it."""
        return self.state.wish

    # the store

    def session_changed(self, session: Session) -> None:
        engine, said = session.engine, of_session(session)
        staged = engine.write_state.staged.ops if engine is not None and session.staged else {}
        known = replace(self.state, engine=engine, staged=staged, reading=words.still_reading(session))
        if said is not None:
            self.state = replace(known, revision=-1, answer=None, said=said)
            self.list_panel.clear_marks()
        elif session.revision != self.state.revision:
            wish = self.wish
            if session.info is not None:
                wish = self.saved_views.open_store(session.info, wish)
                self.query_one(FilterBar).history = self.saved_views.filters
            self.state = replace(known, revision=session.revision, wish=wish)
            self._name_view()
            self.ask(keep_cursor=self.state.answer is not None)
        else:
            self.state = known

    def receive(self, message: ShowInBrowse | ShowMemory) -> None:
        """A wish of another screen; what was marked for something else is marked no more."""
        self.list_panel.clear_marks()
        if isinstance(message, ShowMemory):
            self.want(with_scopes(with_filter(self.wish, f"id:{message.id}"), None))
        else:
            wish = with_scopes(with_filter(self.wish, message.filter), message.scopes)
            self.want(with_sort(wish, message.sort) if message.sort else wish)
            if message.edit:
                self.query_one(FilterBar).edit()
                return
        self.listing.focus()

    # asking

    def want(self, wish: ListRequest) -> None:
        """Change what is shown; a different list is asked for, different panels are arranged."""
        old = self.wish
        if wish == old:
            return
        self.state = replace(self.state, wish=wish)
        self._name_view()
        if wish.query != old.query:
            self.ask(keep_cursor=False)
        self.saved_views.keep_list(wish)

    def _name_view(self) -> None:
        self.state = replace(self.state, saved=self.saved_views.name_of(self.wish.query))

    def ask(self, *, keep_cursor: bool) -> None:
        """Run the present wish on the engine; the old list stays, dimmed, until the answer is there."""
        engine, query = self.session.engine, self.wish.query
        if engine is None:
            return
        first = State("loading", "reading the list", skeleton=True)
        held = self.listing.current if keep_cursor and self.state.partly else None
        said = first if self.state.answer is None else self.state.said
        self.state = replace(self.state, keep_cursor=keep_cursor, waiting=True, said=said)
        self.call(
            VIEW,
            lambda token, report: answer(engine, query, token, report, held),
            self._answered,
            progress=self._advanced,
            failed=self._not_answered,
        )

    def _advanced(self, progress: Progress) -> None:
        self.list_panel.show_progress(progress)

    def _answered(self, found: ListAnswer) -> None:
        self.query_one(FilterBar).accept(found.view)
        said = None if found.view.total else words.nothing_matches(found)
        self.state = replace(self.state, waiting=False, answer=found, said=said)
        if found.view.note and found.view.note != self._noted:
            self.flash(found.view.note, "note")
        self._noted = found.view.note

    def _not_answered(self, error: MemtuiError) -> None:
        self.state = replace(self.state, waiting=False)
        if hasattr(error, "span"):
            bar = self.query_one(FilterBar)
            if not bar.editing:
                bar.edit()
            bar.complain(trouble_of(error, self.wish.query.filter))
            if self.state.answer is not None:
                return
        self.state = replace(self.state, said=words.view_failed(error))

    @on(MemoryList.Broken)
    def _page_broken(self, message: MemoryList.Broken) -> None:
        error = message.page.error or MemtuiError("A page could not be read.")
        self.state = replace(self.state, said=words.view_failed(error))

    def _stop_asking(self) -> bool:
        """Give up a list that takes long and keep the one that is shown; False when none is asked for."""
        shown = self.state.view
        if shown is None or not self.runner.busy(VIEW):
            return False
        self.runner.cancel(VIEW)
        self.state = replace(self.state, waiting=False, wish=replace(self.wish, query=shown.query))
        self._name_view()
        return True

    @on(StatePanel.Chosen)
    def _chosen(self, message: StatePanel.Chosen) -> None:
        choice = message.choice
        if choice.name == "remedy" and isinstance(choice.value, tuple):
            self.want(with_scopes(with_filter(self.wish, choice.value[0]), choice.value[1]))
        elif choice.name == "clear":
            self.want(cleared(self.wish))
        elif choice.name == "retry" and self.session.open:
            self.ask(keep_cursor=True)
        else:
            host(self).take(choice.name, choice.value)

    # the filter line, the side panel, the saved views

    @on(FilterBar.Changed)
    def _filter_changed(self, message: FilterBar.Changed) -> None:
        self.want(with_filter(self.wish, message.text))

    @on(FilterBar.Left)
    def _filter_left(self) -> None:
        bar = self.query_one(FilterBar)
        self.saved_views.keep_filter(bar.text)
        bar.history = self.saved_views.filters
        self.list_panel.focus_list()

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

    @on(SavedViews.Chosen)
    def _view_chosen(self, message: SavedViews.Chosen) -> None:
        self.want(replace(self.wish, query=message.query))

    @on(SavedViews.Changed)
    def _views_changed(self) -> None:
        self._name_view()

    # the memory in the detail

    @on(MemoryChosen)
    def _memory_chosen(self, message: MemoryChosen) -> None:
        message.stop()
        loading = message.memory is None and self.listing.total > 0
        memory = self.state.memory if loading else message.memory
        self.state = replace(self.state, memory=memory, loading=loading, linked=False)

    @on(MemoryDetail.LinkFollowed)
    @on(NeighboursPanel.Followed)
    def _followed(self, message: MemoryDetail.LinkFollowed | NeighboursPanel.Followed) -> None:
        engine = self.session.engine
        if engine is not None:
            self.call("link", lambda token, report: engine.get(message.id), self._show_linked)

    def _show_linked(self, memory: Memory) -> None:
        self.state = replace(self.state, memory=memory, loading=False, linked=True)

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

    @on(MemoryList.Left)
    def _list_left(self) -> None:
        self.action_scopes()

    @on(MemoryList.Right)
    def _list_right(self) -> None:
        self._go("detail")

    @on(ScopePane.Right)
    def _scopes_right(self) -> None:
        if self.wish.shape.overlay:
            self.want(shaped(self.wish, overlay=False))
        self._go("list")

    @on(MemoryDetail.Left)
    def _detail_left(self) -> None:
        if self.wish.shape.zoom == "detail":
            self.want(shaped(self.wish, zoom=""))
        self.listing.announce()
        self._go("list")

    @on(MemoryDetail.Moved)
    def _detail_moved(self, message: MemoryDetail.Moved) -> None:
        self.listing.move(message.by)

    def _go(self, panel: str) -> None:
        """Give a panel the keyboard; one that has no room to be read fills the body."""
        shape = self.wish.shape
        cramped = panel == "detail" and size_class(self.size.width) == "narrow"
        if (cramped or not self.query_one(LayoutContainer).shows(panel)) and shape.zoom != panel:
            self.want(shaped(self.wish, zoom="" if panel == "list" else panel, overlay=False))
        target = _PANELS[panel]
        self.hand_over(lambda: self.query_one(target).focus())

    def _focused_panel(self) -> str:
        for name in _PANELS:
            if self.query_one(f"#{name}", Panel).has_focus_within:
                return name
        return "list"

    def action_scopes(self) -> None:
        over = size_class(self.size.width) != "wide"
        shape, panel = reduce.scopes_pressed(self.wish.shape, self._focused_panel(), over=over)
        self.want(replace(self.wish, shape=shape))
        self._go(panel)

    def action_detail(self) -> None:
        shape, panel = reduce.detail_pressed(self.wish.shape, self._focused_panel())
        self.want(replace(self.wish, shape=shape))
        self._go(panel)

    def action_zoom(self) -> None:
        panel = self._focused_panel()
        self.want(shaped(self.wish, zoom="" if self.wish.shape.zoom else panel, overlay=False))
        self._go(panel)

    def on_splitter_dragged(self, message: Splitter.Dragged) -> None:
        self.want(reduce.widened(self.wish, message.columns, self.size.width))

    def action_narrower(self) -> None:
        self.want(reduce.widened(self.wish, -3, self.size.width))

    def action_wider(self) -> None:
        self.want(reduce.widened(self.wish, 3, self.size.width))

    @on(MemoryList.TallWanted)
    def _tall_wanted(self) -> None:
        self.want(shaped(self.wish, tall=not self.wish.shape.tall))

    @property
    def _editing(self) -> Editing:
        return Editing(self.staging, self._changed)

    @property
    def memory_here(self) -> Memory | None:
        """The memory that has the keyboard: the detail may show a linked one, which is not the list's."""
        detail = self.query_one(MemoryDetail)
        return detail.memory if detail.has_focus else self.listing.current

    def _known_scopes(self) -> list[str]:
        return self.query_one(ScopesPanel).names

    def chosen_ids(self) -> tuple[str, ...]:
        """The marked memories, else the one that has the keyboard; none is said in words."""
        if self.list_panel.marking or self.state.older:
            older = "The list is of another filter than the one that is typed."
            self.flash(older if self.state.older else "Still marking; press it again.", "note")
            return ()
        one = self.memory_here
        ids = self.listing.marks.ids or ((one.id,) if one is not None and one.id else ())
        if not ids:
            self.flash("There is no memory here to change.", "error")
        return ids

    @property
    def marked(self) -> int:
        return len(self.listing.marks) if self.listing.has_focus else 0

    def action_forget(self, way: str = "") -> None:
        if self.staging.able() and (ids := self.chosen_ids()):
            name, gone = self.wish.query.filter.replace('"', ""), self.saved_views.person_gone
            done = partial(gone, name, self._changed) if way == PERSON else self._changed
            forget(self.staging, ids, done, named=not self.listing.marks.ids, way=way, name=name)

    def action_merge(self) -> None:
        """Make one of the marked memories, the one that counts most; with none marked, one is chosen by nearness."""
        if len(self.listing.marks) < 2:
            self.action_neighbours()
        elif self.staging.able() and (ids := self.chosen_ids()):
            self.staging.merge(ids, then=self._changed)

    def action_edit(self) -> None:
        if (memory := self.memory_here) is None or not memory.id:
            self.flash("There is no memory here to change.", "error")
        elif self.session.engine is not None and memory.id in self.session.engine.write_state.staged.ops:
            self._amend(memory.id)
        else:
            self._editing.edit(memory, self._known_scopes())

    def action_add(self) -> None:
        scopes = self.wish.query.scopes
        self._editing.add((scopes[0] or "") if scopes and len(scopes) == 1 else "", self._known_scopes())

    def action_external(self) -> None:
        if (memory := self.memory_here) is None or not memory.id:
            self.flash("There is no memory here to change.", "error")
        else:
            self._editing.text(memory, self._known_scopes())

    def action_change(self, field: str = "", value: str = "") -> None:
        engine = self.session.engine
        if not self.staging.able() or engine is None:
            return
        ids = self.chosen_ids()
        one = None if self.listing.marks.ids else self.memory_here
        if not ids:
            return
        title = f"Change {counted(len(ids), 'memory', 'memories')}"

        def plan(field: str, value: str) -> None:
            given = {field: value}
            self.staging.stage(lambda engine: changes.plan_edit(engine, ids, given), then=self._changed)

        choose_change(self.app, title, engine.editable, one, self._known_scopes(), plan, (field, value))

    def _changed(self, outcome: Outcome) -> None:
        self.list_panel.clear_marks()

    @on(ChangeRequests.Waits)
    def _waits(self, message: ChangeRequests.Waits) -> None:
        message.stop()
        self.list_panel.clear_marks()

    @on(NeighboursPanel.MergeWanted)
    def _merge(self, message: NeighboursPanel.MergeWanted) -> None:
        """Plan to make one of the selected memory and a neighbour; the one that counts more survives."""
        self.staging.merge(message.ids)

    def action_staged(self) -> None:
        self.staging.staged(then=self._changed, amend=self._amend)

    def _amend(self, memory: str) -> None:
        """Open a memory in the form as it is staged."""
        engine = self.session.engine
        if engine is not None:
            self.call(
                "amend",
                lambda token, report: changes.staged_memory(engine, memory),
                lambda staged: self._editing.edit(staged, self._known_scopes()),
            )

    def reading(self, *, moving: bool = False) -> bool:
        """Beside what every screen waits for: the rows under the cursor, which are read by pages."""
        unread = not moving and self.listing.current is None and not self.listing.settled
        return super().reading(moving=moving) or (self.state.waiting and self.state.older) or unread

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "filter" and self.query_one(FilterBar).editing:
            return False
        if action in ("sort", "reverse") and self.state.view is not None and self.state.view.ranked:
            return None
        if action in _OF_A_STORE and not self.session.open:
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
        elif self.list_panel.clear_marks():
            pass
        elif query.filter or query.scopes is not None:
            self.want(cleared(self.wish))
        self._go("list")

    def action_views(self) -> None:
        self.saved_views.choose(self.wish.query)

    def action_sort(self, order: str = "") -> None:
        if order:
            self.want(with_sort(self.wish, order))
            return
        options = [Option(*each) for each in sorts_of(self.session.info)]

        def take(key: str | None) -> None:
            if key is not None:
                self.want(sorted_by(self.wish, key))

        self.app.push_screen(ChooseOne("Sort by", options, self.wish.query.sort.removeprefix("-")), take)

    def action_reverse(self) -> None:
        self.want(reversed_order(self.wish))

    def action_neighbours(self) -> None:
        panel = self.query_one(NeighboursPanel)
        if self.state.memory is None:
            return
        if self.query_one(LayoutContainer).shows("near"):
            panel.enter()
        else:
            panel.open_dialog()

    def action_ask(self) -> None:
        if (memory := self.state.memory) is not None:
            self.post_message(AskRecall(one_line(memory.text)[:300]))

    def action_export(self, format: str = "") -> None:
        query = self.state.view.query if self.state.view is not None else ListQuery()
        self.post_message(AskExport(tuple(self.listing.marks.ids), query.filter, query.scopes, format))

    def action_why_not(self) -> None:
        if (memory := self.state.memory) is not None:
            self.post_message(AskWhyNot(memory.id))

    def action_reach(self) -> None:
        if (memory := self.state.memory) is not None:
            self.post_message(ShowReach(memory.id))

    def action_mend(self, part: Part = "duplicates") -> None:
        from memtui.tui.screens.mend.screen import MendScreen

        query = self.wish.query
        self.app.push_screen(MendScreen(part, choosing(query.filter, query.scopes)))

    def palette_entries(self) -> list[PaletteEntry]:
        """Saved views, and scopes to narrow the list to."""

        def narrow(scope: str | None) -> None:
            self.want(with_scopes(self.wish, (scope,)))

        entries: list[PaletteEntry] = []
        if self.session.open:
            entries += self.saved_views.palette_entries()
        for scope, count in self.state.answer.scopes[:2_000] if self.state.answer is not None else ():
            entries.append(
                PaletteEntry(
                    "SCOPES",
                    one_line(scope or "(none)"),
                    partial(narrow, scope),
                    counted(count, "memory", "memories"),
                )
            )
        return entries
