"""The line for a path: completed with Tab; a dropped file or a pasted text is taken whole."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message

from memtui.tui.keys import bindings
from memtui.tui.widgets.line import Line


class PathLine(Line):
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
