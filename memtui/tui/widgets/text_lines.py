"""A few painted lines without a cursor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui.engine import clean, one_line
from memtui.tui.host import host
from memtui.tui.messages import Flash


class TextLines(Widget):
    """Paints what it is given, cut to its width."""

    DEFAULT_CSS = """
    TextLines { height: 1fr; background: $background; }
    """
    auto_links = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Content, ...] = ()

    def show(self, lines: Sequence[Content]) -> None:
        """Paint these lines."""
        self._lines = tuple(lines)
        self.refresh()

    def render(self) -> Content:
        return Content("\n").join(
            line.truncate(max(1, self.size.width), ellipsis=True) for line in self._lines
        )


# The last line of a dialog: what can be done now, each with its key; a click presses the key.

Way = tuple[str, str]
"""The id of an action (empty: only words), and the words beside its key."""


class DialogKeys(Static):
    """The ways out: one line of them, or as many as the width takes, so that none is cut."""

    DEFAULT_CSS = "DialogKeys { height: 1; color: $key; }"

    def __init__(self) -> None:
        super().__init__()
        self._ways: tuple[Way, ...] = ()
        self.rows = 1
        """How many lines they take."""

    def say(self, *ways: Way) -> None:
        """Show these ways."""
        self._ways = ways
        self._set_lines()

    def on_resize(self, event: events.Resize) -> None:
        self._set_lines()

    def _set_lines(self) -> None:
        parts, by_id = [], host(self).keys.by_id
        for id, words in self._ways:
            key = by_id.get(id)
            content = Content(f"{key.cap} {words}" if key else words)
            press = Style.from_meta({"@click": f"app.simulate_key('{key.press}')"} if key else {})
            parts.append(content.stylize(press) if key else content)
        room = self.size.width or self.app.size.width
        alone = Content.assemble(" ", Content("  ").join(parts))
        lines = [alone] if parts and alone.cell_length <= room else []
        for part in () if lines else parts:
            if lines and lines[-1].cell_length + 3 + part.cell_length <= room:
                lines[-1] = Content.assemble(lines[-1], "   ", part)
            else:
                lines.append(Content.assemble(" ", part))
        roomy = Content.assemble(" ", Content("   ").join(parts))
        lines = [roomy] if roomy.cell_length <= room else lines
        self.rows = len(lines)
        self.styles.height = self.rows
        self.update(Content("\n").join(lines))


# One line of text to type or paste into: whatever is pasted becomes one clean line, and nothing of it is
# run.

MOST_PASTED = 20_000
"""More characters than this in one line are a mistake of the hand, and slow to draw."""


class CleanInput(Input):
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
