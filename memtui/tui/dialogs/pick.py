"""A small chooser: a few named options, taken with Enter, a letter, or the mouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.keys import bindings
from memtui.tui.paint.cells import crop, fit
from memtui.tui.quick import QuickModal
from memtui.tui.widgets.panel import Panel


@dataclass(frozen=True, slots=True)
class Option:
    """One choice: the value handed back, its name, a hint, and the letter that takes it at once.

    The letter may be the id of an action, whose letter in force it then is; see `Keymap.letters`.
    """

    value: str
    label: str
    hint: str = ""
    letter: str = ""


class OptionRows(Widget, can_focus=True):
    """The options, one a line."""

    DEFAULT_CSS = """
    OptionRows { height: auto; background: $background; }
    """
    index: reactive[int] = reactive(0)

    def __init__(self, options: Sequence[Option], index: int) -> None:
        super().__init__()
        self.options = tuple(options)
        self.letters = ("",) * len(self.options)
        """What takes each of them at once, with the keys in force."""
        self.set_reactive(OptionRows.index, index)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self.options)

    def on_mount(self) -> None:
        wanted = [(option.letter, option.label) for option in self.options]
        self.letters = host(self).keys.letters(wanted, "pick")

    def watch_index(self) -> None:
        """Keep the cursor in sight where there are more options than lines."""
        if isinstance(self.parent, Panel):
            self.parent.scroll_to_region(Region(0, self.index, 1, 1), animate=False, force=True)

    def render(self) -> Content:
        glyphs = host(self).glyphs
        width = max(20, self.size.width)
        label_width = min(
            max((cell_len(one_line(each.label)) for each in self.options), default=8) + 2, width - 6
        )
        lines = []
        for i, option in enumerate(self.options):
            here = i == self.index
            hint = crop(one_line(option.hint), max(1, width - label_width - 6), glyphs.ellipsis)
            line = Content.assemble(
                (glyphs.cursor if here else " ", "$primary"),
                " ",
                (self.letters[i] or " ", "bold $key"),
                "  ",
                (fit(one_line(option.label), label_width, glyphs.ellipsis), "$foreground"),
                (fit(hint, max(0, width - label_width - 5)), "$dim"),
            )
            line = line.stylize(Style.from_meta({"option": i}))
            lines.append(line.stylize_before("bold on $cursor") if here else line)
        return Content("\n").join(lines)


class Pick(QuickModal[str | None]):
    """Shows the options and returns the value taken, None when closed."""

    DEFAULT_CSS = """
    Pick Panel { width: 56; max-width: 100%; height: auto; border: round $frame-focus; padding: 0 1; }
    Pick Panel { max-height: 100%; overflow-y: auto; scrollbar-size-vertical: 1; }
    .-narrow Pick Panel { padding: 0; }
    """
    BINDINGS = bindings("pick")

    def __init__(self, title: str, options: Sequence[Option], current: str = "") -> None:
        super().__init__()
        self._title, self._options = title, tuple(options)
        values = [option.value for option in self._options]
        self._start = values.index(current) if current in values else 0

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield OptionRows(self._options, self._start)

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="{pick.take} take   {pick.close} close")
        self.query_one(OptionRows).focus()

    def on_resize(self) -> None:
        self.call_after_refresh(self.query_one(OptionRows).watch_index)

    def on_key(self, event: events.Key) -> None:
        for option, letter in zip(self._options, self.query_one(OptionRows).letters, strict=True):
            if letter and event.character == letter:
                event.stop()
                self.dismiss(option.value)
                return

    def on_click(self, event: events.Click) -> None:
        row = event.style.meta.get("option")
        if isinstance(row, int):
            self.dismiss(self._options[row].value)

    def _move(self, by: int) -> None:
        rows = self.query_one(OptionRows)
        rows.index = max(0, min(len(self._options) - 1, rows.index + by))

    def action_down(self) -> None:
        self._move(1)

    def action_up(self) -> None:
        self._move(-1)

    def action_take(self) -> None:
        self.dismiss(self._options[self.query_one(OptionRows).index].value)

    def action_close(self) -> None:
        self.dismiss(None)
