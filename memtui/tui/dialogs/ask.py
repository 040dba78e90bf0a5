"""One line of text from the person."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from memtui.tui.keys import bindings
from memtui.tui.quick import QuickModal
from memtui.tui.widgets.line import Line
from memtui.tui.widgets.panel import Panel


class Ask(QuickModal[str | None]):
    """A title, a hint and an input; returns the text, None when closed or empty."""

    DEFAULT_CSS = """
    Ask Panel { width: 76; max-width: 100%; height: auto; border: round $frame-focus; padding: 0 1; }
    Ask Input { border: none; height: 1; padding: 0; background: $background; margin: 1 0; }
    Ask Static { height: auto; color: $dim; }
    """
    BINDINGS = bindings("ask")

    def __init__(self, title: str, hint: str, value: str = "") -> None:
        super().__init__()
        self._title, self._hint, self._value = title, hint, value

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield Line(self._value)
            yield Static(Content(self._hint))

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="enter take   {ask.close} close")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)

    def action_close(self) -> None:
        self.dismiss(None)
