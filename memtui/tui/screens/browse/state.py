"""What Browse shows: one frozen value, bound by its panels, and the pure functions that change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memtui.engine import ListQuery, ListView, Memory, StoreInfo, one_line
from memtui.engine.catalog import SORT_KEYS, Facets
from memtui.tui.layout import BrowseShape, nudges
from memtui.tui.widgets.state_panel import State

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import Op

SORTS = (
    ("timestamp", "age", "when it was created", "a"),
    ("used", "last used", "when it last came back from a recall", "u"),
    ("access", "times used", "how often it came back", "n"),
    ("importance", "importance", "as the agent stored it", "i"),
    ("confidence", "confidence", "how sure the agent was", "c"),
    ("tier", "tier", "core, working, peripheral", "t"),
    ("scope", "scope", "by name", "s"),
    ("category", "category", "by name", "g"),
    ("state", "state", "confirmed, pending, archived", "e"),
    ("layer", "layer", "durable, working, reflection, archive", "l"),
    ("source", "source", "by name", "o"),
    ("valid_from", "valid from", "when it began to hold", "f"),
    ("valid_until", "valid until", "what expires first", "v"),
    ("invalidated", "invalidated", "when another took its place", "d"),
    ("suppressed", "suppressed until", "what recall leaves out longest", "p"),
    ("id", "id", "by its characters", "y"),
)
"""Sort key, name, explanation, letter in the chooser."""

FALLING = (
    *("timestamp", "used", "access", "importance", "confidence", "tier"),
    *("valid_from", "invalidated", "suppressed"),
)
"""Keys that start with the largest (newest, most used); the others start with the smallest."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """The list that is wanted, and the panels around it."""

    query: ListQuery = field(default_factory=ListQuery)
    shape: BrowseShape = field(default_factory=BrowseShape)


@dataclass(frozen=True, slots=True)
class EmptyListRemedy:
    """A filter that would show something where the present one shows nothing."""

    filter: str
    scopes: tuple[str | None, ...] | None
    label: str
    total: int


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """What the engine says to a `ListRequest`: the list, counts by scope without the scope narrowing, ways out."""

    view: ListView
    scopes: tuple[tuple[str | None, int], ...]
    all_total: int
    """Memories within the filter in all scopes."""
    remedies: tuple[EmptyListRemedy, ...] = ()
    cursor: int | None = None
    """Where the memory stands that the cursor was on before the rest of the list came; None: the cursor stays."""

    @property
    def facets(self) -> Facets:
        """Counts within filter and scopes."""
        return self.view.facets


@dataclass(frozen=True, slots=True)
class BrowseState:
    """What the panels of Browse show."""

    engine: Engine | None = None
    revision: int = -1
    """The session's revision that was asked for last."""
    wish: ListRequest = field(default_factory=ListRequest)
    answer: ListAnswer | None = None
    """The list that is shown; that of `wish` once it has arrived."""
    keep_cursor: bool = False
    """Whether the cursor stays where it is when the next answer arrives."""
    waiting: bool = False
    """Whether another list is asked for."""
    said: State | None = None
    """The words in the place of the list."""
    memory: Memory | None = None
    """The memory in the detail."""
    loading: bool = False
    """Whether the memory under the cursor is being fetched; `memory` is the one before it."""
    linked: bool = False
    """Whether `memory` was reached by a link, and is not the one under the cursor."""
    staged: Mapping[str, Op] = field(default_factory=dict)
    """The staged changes, by memory."""
    saved: str = ""
    """The name of the saved view that the list is; empty for none."""
    reading: str = ""
    """Why only what was written last is listed, in words, with how much of the rest is there."""

    @property
    def partly(self) -> bool:
        """Whether the list that is shown holds only what was written last."""
        return self.answer is not None and self.answer.view.partly

    @property
    def view(self) -> ListView | None:
        """The list that is shown, as the engine made it."""
        return None if self.answer is None else self.answer.view

    @property
    def older(self) -> bool:
        """Whether the list that is shown is of another filter than the one that is wanted."""
        return self.answer is not None and self.answer.view.query != self.wish.query


def with_filter(wish: ListRequest, text: str) -> ListRequest:
    """Another filter, the same scopes and order."""
    return replace(wish, query=replace(wish.query, filter=text.strip()))


def with_scopes(wish: ListRequest, scopes: tuple[str | None, ...] | None) -> ListRequest:
    """Narrow to these stored scopes; None for all."""
    return replace(wish, query=replace(wish.query, scopes=scopes))


def with_sort(wish: ListRequest, sort: str) -> ListRequest:
    """In the order of a key of `ListQuery`, falling with a leading minus."""
    return replace(wish, query=replace(wish.query, sort=sort))


def cleared(wish: ListRequest) -> ListRequest:
    """No filter, all scopes."""
    return replace(wish, query=replace(wish.query, filter="", scopes=None))


def sorted_by(wish: ListRequest, key: str) -> ListRequest:
    """Order by `key`; by the same key again, the other way round."""
    if wish.query.sort.removeprefix("-") == key:
        return reversed_order(wish)
    return with_sort(wish, f"-{key}" if key in FALLING else key)


def sorts_of(info: StoreInfo | None) -> tuple[tuple[str, str, str, str], ...]:
    """As `SORTS`, with what the store has beside these."""
    hints = {"text": ("by how it begins", "b")}
    own = (
        (key, key, *hints.get(key, ("a column of this store", ""))) for key in (info.sorts if info else ())
    )
    return (*SORTS, *own)


def known_sort(wish: ListRequest, info: StoreInfo) -> ListRequest:
    """The same list, in the order of the start where this store has no such column."""
    known = wish.query.sort.removeprefix("-") in (*SORT_KEYS, *info.sorts)
    return wish if known else with_sort(wish, ListRequest().query.sort)


def reversed_order(wish: ListRequest) -> ListRequest:
    """The same key the other way round."""
    sort = wish.query.sort
    return with_sort(wish, sort[1:] if sort.startswith("-") else f"-{sort}")


def sort_name(sort: str) -> str:
    """The order in words; `~` is by similarity to the words of the filter."""
    if sort == "~":
        return "similarity"
    key = sort.removeprefix("-")
    return next((name for each, name, _, _ in SORTS if each == key), one_line(key))


def shaped(wish: ListRequest, **changes: object) -> ListRequest:
    """Other panels around the same list."""
    return replace(wish, shape=replace(wish.shape, **changes))  # type: ignore[arg-type]


def scopes_pressed(shape: BrowseShape, focused: str, *, over: bool) -> tuple[BrowseShape, str]:
    """Show the scopes and go there, or hide them and go to the list: the shape and the panel of the keyboard.

    `focused` is the panel that has the keyboard now; `over`: the scopes lie over the list, for want of room.
    """
    if over:
        return replace(shape, overlay=not shape.overlay, zoom=""), "list" if shape.overlay else "scopes"
    if not shape.scopes or shape.zoom:
        return replace(shape, scopes=True, zoom=""), "scopes"
    return (replace(shape, scopes=False), "list") if focused == "scopes" else (shape, "scopes")


def detail_pressed(shape: BrowseShape, focused: str) -> tuple[BrowseShape, str]:
    """Go to the detail; from there, or where it is hidden, toggle it and go to the list."""
    if focused == "detail" or not shape.detail:
        return replace(shape, detail=not shape.detail, zoom=""), "list"
    return shape, "detail"


def widened(wish: ListRequest, columns: int, width: int) -> ListRequest:
    """Side panels wider by so many columns on a screen of `width`, as far as that is seen there."""
    least, most = nudges(width, wish.shape)
    now = max(least, min(most, wish.shape.nudge))
    return shaped(wish, nudge=max(least, min(most, now + columns)))


def scopes_phrase(scopes: tuple[str | None, ...] | None) -> str:
    """The scopes a list is narrowed to, in words; empty for all."""
    if scopes is None:
        return ""
    if len(scopes) == 1:
        return scopes[0] or "no scope"
    kinds = {(scope or "").split(":", 1)[0] for scope in scopes}
    return f"{kinds.pop()}:* ({len(scopes)})" if len(kinds) == 1 else f"{len(scopes)} scopes"
