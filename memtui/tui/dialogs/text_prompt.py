"""One line of text from the person."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from memtui.engine import clean
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.text_lines import CleanInput


class TextPrompt(QuickModal[str | None]):
    """A title, a hint and an input; returns the text, None when closed or empty."""

    DEFAULT_CSS = """
    TextPrompt Panel { width: 76; max-width: 100%; height: auto; border: round $frame-focus; padding: 0 1; }
    TextPrompt Input { border: none; height: 1; padding: 0; background: $background; margin: 1 0; }
    TextPrompt Static { height: auto; color: $dim; }
    """
    BINDINGS = bindings("ask")

    def __init__(self, title: str, hint: str, value: str = "") -> None:
        super().__init__()
        self._title, self._hint, self._value = title, hint, value

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield CleanInput(self._value, select_on_focus=True)
            yield Static(Content(self._hint))

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="enter select   {ask.close} close")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)

    def action_close(self) -> None:
        self.dismiss(None)


# A text of many lines from the person.


class _Text(TextArea):
    """What is pasted is made harmless before it is shown; tabs stay, they may part columns."""

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        await super()._on_paste(events.Paste("\t".join(map(clean, event.text.split("\t")))))


class Paste(QuickModal[str | None]):
    """A title, a hint and a text; returns it, None when closed or empty."""

    DEFAULT_CSS = """
    Paste Panel { width: 90%; max-width: 120; height: 80%; border: round $frame-focus; padding: 0 1; }
    Paste TextArea { border: none; height: 1fr; padding: 0; background: $background; }
    Paste TextArea:focus { border: none; }
    Paste Static { height: auto; color: $dim; }
    """
    BINDINGS = bindings("paste")

    def __init__(self, title: str, hint: str, text: str = "") -> None:
        super().__init__()
        self._title, self._hint, self._text = title, hint, text

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            area = _Text(self._text, soft_wrap=True, show_line_numbers=False, compact=True)
            area.cursor_blink = False
            yield area
            yield Static(Content(self._hint))

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="{paste.take} use text   {paste.close} close")
        self.query_one(TextArea).focus()

    def action_take(self) -> None:
        text = self.query_one(TextArea).text
        self.dismiss(text if text.strip() else None)

    def action_close(self) -> None:
        self.dismiss(None)
