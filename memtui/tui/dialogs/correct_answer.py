"""Correct an answer: what is read, what should have won and why it did not, and the text that takes their place."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static, TextArea

from memtui.engine import mask, one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.paint.difference import own_words
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.text_lines import DialogKeys


@dataclass(frozen=True, slots=True)
class Correction:
    """A wrong memory of an answer, the right one, and what the right one is to say."""

    question: str
    wrong: str
    """Id of the memory that was read."""
    rank: int
    wrong_text: str
    right: str
    right_text: str
    place: int | None
    """Where the right one stands in the answer; None where it did not come back."""
    why_not: str
    """Why it does not come first, in a sentence."""
    text: str
    """What is proposed that it says."""


def correction_lines(found: Correction, width: int, glyphs: Glyphs) -> list[Content]:
    """What is read, what should be, and why it is not, for lines of `width` cells."""
    place = str(found.place) if found.place else "not recalled"
    wrong, _ = own_words(mask(found.wrong_text)[0], mask(found.right_text)[0], "gone", glyphs)
    right, _ = own_words(mask(found.wrong_text)[0], mask(found.right_text)[0], "new", glyphs)
    lines: list[Content] = []
    for label, text in (
        (f"RETURNED, #{found.rank}", wrong),
        (f"CORRECT MEMORY, {place}", right),
        ("WHY NOT", Content.styled(one_line(found.why_not) or "not known", "$stale")),
    ):
        lines.append(Content.styled(label, "bold $heading"))
        lines += list(text.wrap(max(20, width)))
    return [*lines, Content(), Content.styled("NEW TEXT (editable)", "bold $heading")]


class CorrectAnswer(QuickModal[str | None]):
    """Returns the text that the right memory is to have; None when closed."""

    DEFAULT_CSS = """
    CorrectAnswer Panel {
        width: 90%; max-width: 110; height: auto; max-height: 94%; border: round $frame-focus; padding: 0 1;
    }
    CorrectAnswer.-narrow Panel { width: 100%; max-width: 100%; height: 100%; max-height: 100%; }
    CorrectAnswer TextArea { border: none; height: 5; padding: 0; background: $cursor-idle; }
    CorrectAnswer TextArea:focus { border: none; }
    CorrectAnswer Static { height: auto; }
    CorrectAnswer #beside { color: $dim; margin: 1 0 0 0; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("paste")

    def __init__(self, found: Correction) -> None:
        super().__init__()
        self._found = found

    def compose(self) -> ComposeResult:
        with Panel(title="Correct this answer"):
            yield Static(id="found")
            area = TextArea(self._found.text, soft_wrap=True, show_line_numbers=False, compact=True)
            area.cursor_blink = False
            yield area
            said = "The wrong memory is replaced by it, and the question is saved as a case."
            yield Static(Content(said), id="beside")
            yield DialogKeys()

    def on_mount(self) -> None:
        self.query_one(Panel).headline(which=one_line(mask(self._found.question)[0]))
        self.query_one(DialogKeys).say(("paste.take", "preview"), ("paste.close", "cancel"))
        self.query_one(TextArea).focus()

    def on_resize(self) -> None:
        self.call_after_refresh(self._paint)

    def _paint(self) -> None:
        width = self.query_one("#found", Static).size.width or 70
        lines = correction_lines(self._found, width, host(self).glyphs)
        self.query_one("#found", Static).update(Content("\n").join(lines))

    def action_take(self) -> None:
        text = " ".join(self.query_one(TextArea).text.split())
        self.dismiss(text or None)

    def action_close(self) -> None:
        self.dismiss(None)
