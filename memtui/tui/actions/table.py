"""The one table of actions, as actions.toml has it. Bindings, key bar, help and palette are made from it.

An id is `context.action`: the action method is `action_<action>` (dashes become underscores) of the widget
or screen that takes the context's bindings. Every id is unique; every key is unique within a context.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.tui.actions.action import ACT, FIND, GO, MOVE, VIEW, Action
from memtui.tui.actions.data import ACTIONS
from memtui.tui.actions.keymap import Keymap
from memtui.tui.actions.keymap_file import load_keymap

if TYPE_CHECKING:
    from textual.binding import BindingType


__all__ = [
    "ACT",
    "BY_ID",
    "FIND",
    "GO",
    "MOVE",
    "TABLE",
    "VIEW",
    "Action",
    "Keymap",
    "bindings",
    "context",
    "load_keys",
]

_BESIDE = {"keys", "label"}

TABLE: tuple[Action, ...] = tuple(
    Action(id, ",".join(row["keys"]), row["label"], **{name: row[name] for name in row.keys() - _BESIDE})
    for id, row in ACTIONS.items()
)

BY_ID: dict[str, Action] = {key.id: key for key in TABLE}


def context(name: str) -> Iterator[Action]:
    """The keys of one context, in the order of the table."""
    return (key for key in TABLE if key.context == name)


def load_keys(file: Path | None = None, preset: str = "default") -> Keymap:
    """The keys in force: the table, a preset, and what `file` (keys.toml) changes. Never raises."""
    return load_keymap(TABLE, file, preset)


def bindings(*contexts: str, only: tuple[str, ...] = ()) -> list[BindingType]:
    """Textual bindings for whole contexts; `only` keeps these actions (as written in the table)."""
    from textual.binding import Binding

    return [
        Binding(
            key.bound,
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
