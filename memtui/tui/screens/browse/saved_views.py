"""Browse remembers: the list as it was left, filters typed before, and lists saved under a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unicodedata import normalize

from textual.message import Message
from textual.widget import Widget

from memtui.engine import ListQuery, StoreInfo, counted
from memtui.engine.changes import Outcome
from memtui.tui import saved_state
from memtui.tui.calls import EngineCalls
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.palette_entry import PaletteEntry
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.messages import Flash, FlashKind
from memtui.tui.screens.browse.filter_text import check
from memtui.tui.screens.browse.state import ListRequest, known_sort, scopes_phrase, sort_name
from memtui.ui_state import UiState, Values

KEEP = "keep"

_SAVE, _REMOVE, _VIEW, _START = "save", "remove", "view:", "start:"

STARTERS: dict[str, saved_state.View] = {
    "new this week": ListQuery(filter="age<7d"),
    "never used": ListQuery(filter="used:0 -is:archived -is:superseded", sort="timestamp"),
    "pending": ListQuery(filter="is:pending"),
    "secrets": ListQuery(filter="is:secret"),
    "faded": ListQuery(filter="is:stale -is:archived -is:superseded", sort="used"),
}
"""Lists to begin with, beside those that somebody saved."""


class SavedViews(Widget):
    """What is kept of how a store was looked at; nothing to see but its dialogs."""

    DEFAULT_CSS = "SavedViews { display: none; }"
    BESIDE = frozenset((KEEP,))

    @dataclass
    class Chosen(Message):
        """Show this list."""

        query: ListQuery

    @dataclass
    class Changed(Message):
        """A view was saved or taken away."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = EngineCalls(self)
        self._file: UiState | None = None
        self._sorts: tuple[str, ...] = ()
        self.views: dict[str, saved_state.View] = {}
        self.filters: tuple[str, ...] = ()
        """Filters typed before, the last first."""

    def open_store(self, info: StoreInfo, wish: ListRequest) -> ListRequest:
        """Return the list of a store as it was left, or `wish` if something else is asked for already."""
        wish, self._sorts = known_sort(wish, info), info.sorts
        file = host(self).ui_state(info.uri)
        if self._file is not None and self._file.path == file.path:
            return wish
        first, self._file = self._file is None, file
        values = file.read()
        self.views = saved_state.read_views(values.get("views"), info.sorts)
        self.filters = saved_state.read_filters(values.get("filters"))
        left = saved_state.read_wish(values.get("browse"), info.sorts)
        if first and wish != ListRequest():
            sort = left.query.sort if wish.query.sort == ListRequest().query.sort else wish.query.sort
            left = replace(left, query=replace(wish.query, sort=sort))
        return replace(left, shape=replace(left.shape, filter_rows=wish.shape.filter_rows))

    def keep_list(self, wish: ListRequest) -> None:
        """Remember this list and its panels for the next time."""
        self._keep(lambda values: values.update(browse=saved_state.wish_values(wish)))

    def keep_filter(self, text: str) -> None:
        """Remember a filter that was typed, if it can be read."""
        text = text.strip()
        if check(text) is not None:
            return
        filters = saved_state.with_filter_first(self.filters, text)
        if filters != self.filters:
            self.filters = filters
            self._keep(partial(_first, text))

    def forget_words(self, text: str) -> None:
        """Forget the filters that hold every word of `text`."""
        words = normalize("NFC", text.casefold()).split()

        def names(value: object) -> bool:
            return isinstance(value, str) and all(
                word in normalize("NFC", value.casefold()) for word in words
            )

        def edit(values: Values) -> None:
            typed = values.get("filters")
            values["filters"] = (
                [each for each in typed if not names(each)] if isinstance(typed, list) else None
            )
            left = values.get("browse")
            if isinstance(left, dict):
                values["browse"] = {key: "" if names(each) else each for key, each in left.items()}

        self.filters = tuple(filter_text for filter_text in self.filters if not names(filter_text))
        bar: Any = self.screen.query_one("FilterBar")
        bar.history = self.filters
        self._keep(edit)

    def person_gone(self, name: str, then: Callable[[Outcome], None], outcome: Outcome) -> None:
        """Drop what was kept by the name of a person who was forgotten, and the list by it."""
        then(outcome)
        self.post_message(self.Chosen(ListQuery()))
        self.forget_words(name)

    def _keep(self, edit: Callable[[Values], object]) -> None:
        """Write a change down, in a thread."""
        file = self._file
        if file is not None:
            self.runner.call(
                KEEP,
                lambda token, report: file.change(edit),
                lambda done: None,
                failed=lambda error: self._say(str(error), "error"),
            )

    def _say(self, text: str, kind: FlashKind = "done") -> None:
        self.post_message(Flash(text, kind))

    def name_of(self, query: ListQuery) -> str:
        """The saved view that this list is; empty for none."""
        return next((name for name, each in self.views.items() if each == query), "")

    def choose(self, now: ListQuery) -> None:
        """Choose a view, save the present list as one, or take one away."""
        options = [Option(f"{_VIEW}{name}", name, _about(query)) for name, query in self.views.items()]
        options += [
            Option(f"{_START}{name}", name, _about(query))
            for name, query in STARTERS.items()
            if name not in self.views
        ]
        options.append(Option(_SAVE, "save this list under a name", _about(now), "s"))
        if self.views:
            options.append(Option(_REMOVE, "remove a view", "", "D"))

        def taken(choice: str | None) -> None:
            if choice == _SAVE:
                self._ask_name(now)
            elif choice == _REMOVE:
                self._ask_which()
            elif choice is not None and choice.startswith(_START):
                self.post_message(self.Chosen(STARTERS[choice.removeprefix(_START)]))
            elif choice is not None:
                self._choose(choice.removeprefix(_VIEW))

        self.app.push_screen(ChooseOne("Views", options, f"{_VIEW}{self.name_of(now)}"), taken)

    def _choose(self, name: str) -> None:
        if name in self.views:
            self.post_message(self.Chosen(self.views[name]))

    def _ask_name(self, now: ListQuery) -> None:
        def named(text: str | None) -> None:
            name = saved_state.view_name(text or "")
            if not name:
                return
            if not saved_state.keepable(now.filter):
                self._say("Not saved: the filter holds a secret, or is too long to keep.", "error")
            elif len(self.views) >= saved_state.MOST_VIEWS and name not in self.views:
                self._say(
                    f"Not saved: {saved_state.MOST_VIEWS} views are the most; remove one first.", "error"
                )
            else:
                self._change_views(partial(_with, name, now))
                self._say(f"saved as {name}; {{browse.views}} or the palette brings it back")

        hint = "A name for this filter, these scopes and this order. A view of that name is replaced."
        self.app.push_screen(TextPrompt("Save this list", hint, self.name_of(now)), named)

    def _ask_which(self) -> None:
        def taken(name: str | None) -> None:
            if name in self.views:
                self._change_views(partial(_without, name))
                left = counted(len(self.views), "view")
                self._say(f"the view {name} is gone; {left} left")

        options = [Option("", "keep them all", "", "k")]  # first: there the cursor rests
        options += [Option(name, name, _about(query)) for name, query in self.views.items()]
        self.app.push_screen(ChooseOne("Remove a view", options), taken)

    def _change_views(
        self, change: Callable[[dict[str, saved_state.View]], dict[str, saved_state.View]]
    ) -> None:
        """Here at once; on disk over what another memtui has saved meanwhile."""
        self.views = change(self.views)

        def edit(values: Values) -> None:
            saved = saved_state.read_views(values.get("views"), self._sorts)
            values["views"] = saved_state.view_values(change(saved))

        self._keep(edit)
        self.post_message(self.Changed())

    def palette_entries(self) -> list[PaletteEntry]:
        """The saved views and those to begin with, for the palette."""
        starters = [
            PaletteEntry("VIEWS", name, partial(self.post_message, self.Chosen(query)), _about(query))
            for name, query in STARTERS.items()
            if name not in self.views
        ]
        return starters + [
            PaletteEntry("VIEWS", name, partial(self._choose, name), _about(query))
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
