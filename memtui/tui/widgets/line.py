"""One line of text to type or paste into: whatever is pasted becomes one clean line, and nothing of it is run."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.widgets import Input

from memtui.engine import clean, one_line
from memtui.tui.messages import Flash

MOST_PASTED = 20_000
"""More characters than this in one line are a mistake of the hand, and slow to draw."""


class Line(Input):
    """Textual's input without a blinking cursor, which takes the whole of a paste and no control character."""

    def __init__(self, value: str | None = None, **options: Any) -> None:
        super().__init__(value, **{"compact": True, "select_on_focus": False, **options})
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """No control character reaches the terminal through the line; line breaks become spaces."""
        return value if value.isprintable() else clean(value).replace("\n", " ")

    def on_paste(self, event: events.Paste) -> None:
        """Take the whole text, not only its first line."""
        event.stop()
        event.prevent_default()
        text = one_line(event.text[: MOST_PASTED * 4])
        if len(text) > MOST_PASTED:
            text = text[:MOST_PASTED]
            self.post_message(Flash(f"Only the first {MOST_PASTED:,} characters were pasted.", "note"))
        if self.selection.is_empty:
            self.insert_text_at_cursor(text)
        else:
            self.replace(text, *self.selection)
