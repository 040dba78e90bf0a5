"""The question line, and the line of options under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets.input import Selection

from memtui.engine import one_line
from memtui.tui.actions.table import bindings
from memtui.tui.jump import JumpTarget, marked
from memtui.tui.paint.cells import crop
from memtui.tui.widgets.text_lines import CleanInput


class QuestionLine(CleanInput):
    """One line of text, whatever is pasted; up and down walk through the questions of this session."""

    DEFAULT_CSS = """
    QuestionLine {
        border: none; height: 1; padding: 0 1; width: 1fr; background: $background; color: $foreground;
        &:focus { border: none; background: $background; }
        &.-textual-compact { padding: 0 1; }
        & > .input--placeholder { color: $dim; }
    }
    """
    BINDINGS = bindings("question")

    class Walked(Message):
        """Up or down was pressed."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    class Left(Message):
        """Escape was pressed."""

    def __init__(self) -> None:
        super().__init__(placeholder="what would the agent ask?", select_on_focus=True)
        self._walking = False
        """Whether up or down brought the text that comes next: it is edited, at its end."""
        self._settled = ""
        """What stood here when nobody was typing: shown, asked, or there when the screen was come to."""
        self._typed: list[str] = []
        """What was typed of which the screen has said nothing yet, oldest first."""
        self._filling = False
        self.given = False
        """The keyboard came with the screen, unasked: until something is typed, digits, `?` and `/` are not text."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """As Textual does, but what goes to another screen or opens the help still does where nobody types yet."""
        if self.given and character is not None and (character.isdecimal() or character in "?/"):
            return False
        return super().check_consume_key(key, character)

    def on_key(self, event: events.Key) -> None:
        """Leave to the screen what is not text yet; the first letter makes everything after it text."""
        if event.is_printable and not self.check_consume_key(event.key, event.character):
            event.prevent_default()
        elif self.given and event.is_printable:
            self.type_into()

    def on_blur(self) -> None:
        self.given = False

    def type_into(self) -> None:
        """Whatever is pressed from here on is text."""
        self.given = False
        self.screen.refresh_bindings()

    def watch_value(self, value: str) -> None:
        if not self._filling:
            self._typed.append(one_line(value))

    def heard(self, text: str) -> bool:
        """Whether `text`, which the screen knows of now, was typed here: then the line may know more already.

        Put into it again it would take the place of what was typed meanwhile.
        """
        if text == one_line(self.value):
            self._typed.clear()
        elif text in self._typed:
            del self._typed[: self._typed.index(text) + 1]
        else:
            return False
        return True

    def show(self, text: str) -> None:
        """Put `text` into the line; the same text changes nothing.

        What others fill in is replaced by what is typed then: it is selected, as a standing question is by focus.
        """
        walking, self._walking = self._walking, False
        self._settled = text
        self._typed.clear()
        if text != self.value:
            self._filling = True
            self.value = text
            self._filling = False
            end = len(self.value)
            self.selection = Selection(0 if self.has_focus and not walking else end, end)

    def settle(self) -> None:
        """What stands here is not being typed now."""
        self._settled = self.value

    @property
    def being_typed(self) -> bool:
        """Whether a question stands here that is being typed and was not asked yet."""
        return self.has_focus and bool(self.value) and self.value != self._settled

    async def action_run(self) -> None:
        self.settle()
        await self.action_submit()

    def action_earlier(self) -> None:
        self._walking = True
        self.post_message(self.Walked(-1))

    def action_later(self) -> None:
        self._walking = True
        self.post_message(self.Walked(1))

    def action_leave(self) -> None:
        self.post_message(self.Left())


@dataclass(frozen=True, slots=True)
class OptionChip:
    """One option: the name it is known by, its label, its value, and whether it differs from the recipe's."""

    name: str
    label: str
    value: str
    changed: bool = False


class OptionsLine(Widget, can_focus=True):
    """The options in a row; Enter or a click opens the chooser of one."""

    DEFAULT_CSS = """
    OptionsLine { height: 1; width: 1fr; background: $background; padding: 0 1; }
    """
    BINDINGS = bindings("options")
    auto_links = False

    index: reactive[int] = reactive(0)
    chips: reactive[tuple[OptionChip, ...]] = reactive(())
    aside: reactive[Content] = reactive(Content())
    """What stands at the right end: how the answer came about."""

    @dataclass
    class Opened(Message):
        """An option is to be chosen."""

        name: str

    def action_left(self) -> None:
        self.index = max(0, self.index - 1)

    def action_right(self) -> None:
        self.index = max(0, min(len(self.chips) - 1, self.index + 1))

    def action_open(self) -> None:
        if self.index < len(self.chips):
            self.post_message(self.Opened(self.chips[self.index].name))

    def on_click(self, event: events.Click) -> None:
        at = event.style.meta.get("chip")
        if isinstance(at, int) and at < len(self.chips):
            self.index = at
            self.action_open()

    def jump_spots(self) -> Iterable[JumpTarget]:
        """Every option in sight."""
        return marked(self.render(), "chip", partial(setattr, self, "index"))

    def render(self) -> Content:
        width = self.size.width
        aside = self.aside
        room = width - (aside.cell_length + 2 if aside.plain else 0)
        line = chips_line(self.chips, self.index if self.has_focus else -1, room)
        return Content.assemble(line, " " * max(0, width - line.cell_length - aside.cell_length), aside)


def chips_line(chips: Sequence[OptionChip], focused: int, room: int) -> Content:
    """The options in at most `room` cells: where it is tight, labels go, then options left as they are."""
    for labels, all_of_them in ((True, True), (False, True), (False, False)):
        shown = [(i, c) for i, c in enumerate(chips) if all_of_them or i < 3 or c.changed or i == focused]
        line = Content("   " if labels else "  ").join([_chip(i, c, i == focused, labels) for i, c in shown])
        if line.cell_length <= room:
            return line
    return line.truncate(max(0, room), ellipsis=True) if chips else Content()


def _chip(index: int, chip: OptionChip, focused: bool, labels: bool) -> Content:
    value = crop(one_line(chip.value), 40) + ("*" if chip.changed else "")
    style = "bold $foreground on $cursor" if focused else "bold $match" if chip.changed else "$foreground"
    label = (f"{chip.label} ", "$dim") if labels or len(value) < 3 else ""
    return Content.assemble(label, (value, style)).stylize(Style.from_meta({"chip": index}))
