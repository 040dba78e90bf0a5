"""Browse remembers: the list as it was left, filters typed before, and lists saved under a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from textual import on

from memtui.engine import StoreInfo
from memtui.tui import saved_state
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.paint.numbers import plural
from memtui.tui.screens.browse.filter_bar import FilterBar
from memtui.tui.screens.browse.filter_text import check
from memtui.tui.screens.browse.naming import BrowseNames
from memtui.tui.screens.browse.state import ListRequest, known_sort, scopes_phrase, sort_name
from memtui.ui_state import UiState, Values

KEEP = "keep"

_SAVE, _REMOVE, _VIEW = "save", "remove", "view:"


class BrowseMemory(BrowseNames):
    """Browse with its past; a subclass calls `come_back` before it asks for the first list of a store."""

    def __init__(self) -> None:
        super().__init__()
        self._file: UiState | None = None
        self._sorts: tuple[str, ...] = ()
        self.views: dict[str, saved_state.View] = {}

    # coming back to a store

    def come_back(self, info: StoreInfo) -> None:
        """A store was opened: show it as it was left, unless something else is asked for already."""
        self.wish = known_sort(self.wish, info)
        self._sorts = info.sorts
        file = host(self).ui_state(info.uri)
        if self._file is not None and self._file.path == file.path:
            return
        first, self._file = self._file is None, file
        values = file.read()
        self.views = saved_state.read_views(values.get("views"), info.sorts)
        self.query_one(FilterBar).history = saved_state.read_filters(values.get("filters"))
        left = saved_state.read_wish(values.get("browse"), info.sorts)
        if first and self.wish != ListRequest():
            asked = self.wish.query
            sort = left.query.sort if asked.sort == ListRequest().query.sort else asked.sort
            left = replace(left, query=replace(asked, sort=sort))
        self.wish = replace(left, shape=replace(left.shape, filter_rows=self.wish.shape.filter_rows))
        self.rearrange()

    def wished(self) -> None:
        self._keep(lambda values: values.update(browse=saved_state.wish_values(self.wish)))

    def _keep(self, edit: Callable[[Values], object]) -> None:
        """Write a change down, in a thread; losing it is no harm."""
        file = self._file
        if file is not None:
            self.runner.start(KEEP, lambda token, report: file.change(edit))

    def concluded(self, slot: str, value: Any) -> bool:
        return slot == KEEP or super().concluded(slot, value)

    # filters typed before

    @on(FilterBar.Left)
    def _filter_done(self) -> None:
        bar = self.query_one(FilterBar)
        text = bar.text.strip()
        if check(text) is not None:
            return
        filters = saved_state.with_filter_first(bar.history, text)
        if filters != bar.history:
            bar.history = filters
            self._keep(partial(_first, text))

    # saved views

    @property
    def view_name(self) -> str:
        """The saved view that the list is at present; empty for none."""
        return next((name for name, query in self.views.items() if query == self.wish.query), "")

    def action_views(self) -> None:
        options = [Option(f"{_VIEW}{name}", name, _about(query)) for name, query in self.views.items()]
        options.append(Option(_SAVE, "save this list under a name", _about(self.wish.query), "s"))
        if self.views:
            options.append(Option(_REMOVE, "take a view away", "", "x"))

        def taken(choice: str | None) -> None:
            if choice == _SAVE:
                self._ask_name()
            elif choice == _REMOVE:
                self._ask_which()
            elif choice is not None:
                self.show_view(choice.removeprefix(_VIEW))

        self.app.push_screen(ChooseOne("Views", options, f"{_VIEW}{self.view_name}"), taken)

    def show_view(self, name: str) -> None:
        """Show a saved view."""
        if name in self.views:
            self.want(replace(self.wish, query=self.views[name]))

    def _ask_name(self) -> None:
        def named(text: str | None) -> None:
            name = saved_state.view_name(text or "")
            if not name:
                return
            if not saved_state.keepable(self.wish.query.filter):
                self.flash("Not saved: the filter holds a secret, or is too long to keep.", "error")
            elif len(self.views) >= saved_state.MOST_VIEWS and name not in self.views:
                self.flash(
                    f"Not saved: {saved_state.MOST_VIEWS} views are the most; take one away first.", "error"
                )
            else:
                self._change_views(partial(_with, name, self.wish.query))
                self.flash(f"saved as {name}; w or / in the palette brings it back")

        hint = "A name for this filter, these scopes and this order. A view of that name is replaced."
        self.app.push_screen(TextPrompt("Save this list", hint, self.view_name), named)

    def _ask_which(self) -> None:
        def taken(name: str | None) -> None:
            if name is not None:
                self._change_views(partial(_without, name))
                left = plural(len(self.views), "view")
                self.flash(f"the view {name} is gone; {left} left")

        options = [Option(name, name, _about(query)) for name, query in self.views.items()]
        self.app.push_screen(ChooseOne("Take a view away", options), taken)

    def _change_views(
        self, change: Callable[[dict[str, saved_state.View]], dict[str, saved_state.View]]
    ) -> None:
        """Here at once; on disk over what another memtui has saved meanwhile."""
        self.views = change(self.views)

        def edit(values: Values) -> None:
            saved = saved_state.read_views(values.get("views"), self._sorts)
            values["views"] = saved_state.view_values(change(saved))

        self._keep(edit)
        self.name_panels()

    def view_entries(self) -> list[PaletteEntry]:
        """The saved views, for the palette."""
        return [
            PaletteEntry("VIEWS", name, partial(self.show_view, name), _about(query))
            for name, query in self.views.items()
        ]


def _first(text: str, values: Values) -> None:
    values["filters"] = list(
        saved_state.with_filter_first(saved_state.read_filters(values.get("filters")), text)
    )


def _with(
    name: str, query: saved_state.View, views: dict[str, saved_state.View]
) -> dict[str, saved_state.View]:
    return dict(sorted({**views, name: query}.items(), key=lambda item: item[0].casefold()))


def _without(name: str, views: dict[str, saved_state.View]) -> dict[str, saved_state.View]:
    return {each: query for each, query in views.items() if each != name}


def _about(query: saved_state.View) -> str:
    """A view in a few words."""
    parts = [query.filter or "all memories", scopes_phrase(query.scopes), f"by {sort_name(query.sort)}"]
    return "   ".join(part for part in parts if part)
