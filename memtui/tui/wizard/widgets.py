"""A list of a wizard: rows are chosen with Enter, switched with Space, decided with a letter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.message import Message

from memtui.tui.actions.table import bindings
from memtui.tui.widgets.row_list import Build, BuiltRows, RowList, RowMessage
from memtui.tui.widgets.text_lines import CleanInput

Act = Literal[
    "switch",
    "forget",
    "ours",
    "theirs",
    "both",
    "every",
    "later",
    "earlier",
]

_MOVES = ("down", "up", "page-down", "page-up", "first", "last")


class WizardRows(BuiltRows, inherit_bindings=False):
    """`able` says whether an act makes sense for the row under the cursor; one that does not has no key."""

    BINDINGS = [*bindings("rows", only=_MOVES), *bindings("wizard"), *bindings("narrow")]  # noqa: RUF012

    class Acted(RowMessage):
        """A key was pressed on a row."""

        def __init__(self, rows: RowList, key: str, act: Act) -> None:
            super().__init__(rows, key)
            self.act = act

    def __init__(self, build: Build, able: Callable[[str, str], bool], *, id: str | None = None) -> None:
        super().__init__(build, id=id)
        self._able = able

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "open":
            return bool(self.key)
        if hasattr(self, f"action_{action}") and action in _ACTS:
            return self._able(action, self.key)
        return super().check_action(action, parameters)

    def _act(self, act: Act) -> None:
        self.post_message(self.Acted(self, self.key, act))

    def action_switch(self) -> None:
        self._act("switch")

    def action_forget(self) -> None:
        self._act("forget")

    def action_ours(self) -> None:
        self._act("ours")

    def action_theirs(self) -> None:
        self._act("theirs")

    def action_both(self) -> None:
        self._act("both")

    def action_every(self) -> None:
        self._act("every")

    def action_later(self) -> None:
        self._act("later")

    def action_earlier(self) -> None:
        self._act("earlier")


_ACTS = frozenset(Act.__args__)  # type: ignore[attr-defined]


# The line for a path: completed with Tab; a dropped file or a pasted text is taken whole.


class PathLine(CleanInput):
    """One line of text; the screen hears of every change (`Input.Changed`) and of what is pasted."""

    DEFAULT_CSS = """
    PathLine {
        border: none; height: 1; padding: 0 1; width: 1fr; background: $background; color: $foreground;
        &:focus { border: none; background: $background; }
        &.-textual-compact { padding: 0 1; }
        & > .input--placeholder { color: $dim; }
    }
    """
    BINDINGS = bindings("path")

    @dataclass
    class Pasted(Message):
        """A text came in one piece: a dropped file, or memories themselves."""

        text: str

    @dataclass
    class Asked(Message):
        """A key of the line: "complete" or "to_list"."""

        act: str

    def __init__(self) -> None:
        super().__init__()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.post_message(self.Pasted(event.text))

    def show(self, text: str) -> None:
        """Put `text` into the line, the cursor at its end."""
        if text != self.value:
            self.value = text
        self.cursor_position = len(self.value)

    async def action_take(self) -> None:
        await self.action_submit()

    def action_complete(self) -> None:
        self.post_message(self.Asked("complete"))

    def action_to_list(self) -> None:
        self.post_message(self.Asked("to_list"))

    def action_leave(self) -> None:
        self.post_message(self.Asked("to_list"))
