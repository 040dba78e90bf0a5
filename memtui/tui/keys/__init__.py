"""The one table of keys, a file for each screen. Bindings, key bar, help and palette are made from it.

An id is `context.action`: the action method is `action_<action>` (dashes become underscores) of the widget
or screen that takes the context's bindings. Every id is unique; every key is unique within a context.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import Binding, BindingType

from memtui.tui.keys import browse, dialogs, everywhere, lifecycle, recall
from memtui.tui.keys.key import ACT, FIND, GO, MOVE, VIEW, Key

__all__ = ["ACT", "BY_ID", "FIND", "GO", "MOVE", "TABLE", "VIEW", "Key", "bindings", "context"]

TABLE: tuple[Key, ...] = (
    *everywhere.TABLE,
    *browse.TABLE,
    *recall.TABLE,
    *lifecycle.TABLE,
    *dialogs.TABLE,
)

BY_ID: dict[str, Key] = {key.id: key for key in TABLE}


def context(name: str) -> Iterator[Key]:
    """The keys of one context, in the order of the table."""
    return (key for key in TABLE if key.context == name)


def bindings(*contexts: str, only: tuple[str, ...] = ()) -> list[BindingType]:
    """Textual bindings for whole contexts; `only` keeps these actions (as written in the table)."""
    return [
        Binding(
            key.keys,
            f"app.{key.action}" if key.context == "app" else key.action,
            key.title,
            show=key.bar > 0,
            key_display=key.caps,
            id=key.id,
        )
        for name in contexts
        for key in context(name)
        if not only or key.id.split(".", 1)[1] in only
    ]
