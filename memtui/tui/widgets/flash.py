"""The line above the key bar: what was just done, or what went wrong."""

from __future__ import annotations

from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.messages import FlashKind
from memtui.tui.paint.cells import crop

STAY_S = 6.0
"""Long enough to read one line; an error stays until Escape or the next message."""


class FlashLine(Widget):
    """One message at a time; lies over the lower edge of the panels, so that nothing moves while it is there.

    A narrow screen has no edges: there it takes a row, for the last row of a list may be the one that is meant.
    """

    DEFAULT_CSS = """
    FlashLine { dock: bottom; height: 1; margin-bottom: 1; background: $background; display: none; layer: flash; }
    FlashLine.-shown { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.kind: FlashKind = "done"
        self._timer: Timer | None = None

    def say(self, text: str, kind: FlashKind = "done") -> None:
        """Show one line of plain text; "{app.reload}" in it stands for the key of that action."""
        self.text, self.kind = one_line(host(self).keys.words(text)), kind
        self.add_class("-shown")
        self.refresh()
        if self._timer is not None:
            self._timer.stop()
        self._timer = None if kind == "error" else self.set_timer(STAY_S, self.dismiss)

    def dismiss(self) -> bool:
        """Take the message away; False when there was none."""
        if not self.has_class("-shown"):
            return False
        self.remove_class("-shown")
        self.text = ""
        return True

    def on_click(self) -> None:
        self.dismiss()

    def render(self) -> Content:
        glyphs = host(self).glyphs
        mark, style = {
            "done": (glyphs.mark, "$ok"),
            "note": (glyphs.dot, "$dim"),
            "error": (glyphs.warn, "bold $danger"),
        }[self.kind]
        text = crop(self.text, max(1, self.size.width - 4), glyphs.ellipsis)
        return Content.assemble(" ", (mark, style), " ", (text, "$foreground"))
