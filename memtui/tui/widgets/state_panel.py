"""What a panel shows instead of content: why it is empty, what it waits for, what failed, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from memtui.engine import MemtuiError, Progress, one_line, shortened
from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.jump import JumpTarget, marked
from memtui.tui.paint.bars import progress as progress_bar
from memtui.tui.paint.cells import crop
from memtui.tui.paint.numbers import so_far


@dataclass(frozen=True, slots=True)
class Choice:
    """One way out: what it does, what it gives, and the name the screen knows it by; `key` takes it at once.

    `key` is a letter, or the id of the action that does the same, whose letter it then has.
    In the hint "{recall.ask}" stands for the key of that action, as it does in facts.
    """

    name: str
    label: str
    hint: str = ""
    value: object = None
    key: str = ""
    apart: bool = False
    """Whether a blank line stands before it, as before the first of another kind."""


@dataclass(frozen=True, slots=True)
class State:
    """The words of a state. `facts` are (label, text) pairs; `choices` can be taken with the keyboard."""

    kind: Literal["empty", "loading", "error"]
    headline: str
    facts: tuple[tuple[str, str], ...] = ()
    choices: tuple[Choice, ...] = ()
    progress: Progress | None = None
    skeleton: bool = field(default=False)
    below: tuple[tuple[str, str], ...] = ()
    """What is said below the choices where the panel has the room for all of it: (label, text) pairs."""


def failed(headline: str, error: MemtuiError, *choices: Choice) -> State:
    """The state of a panel whose engine call failed: cause and fix in the error's own words."""
    facts = [("reason", shortened(one_line(error.message)))]
    if error.fix:
        facts.append(("fix", one_line(error.fix)))
    return State("error", headline, tuple(facts), choices)


SOME_WORDS = 6
"""Cells under which the hint of a choice says nothing."""


BELOW_CELLS = 110
"""Cells of what stands below the choices: a longer line is hard to read."""


class StatePanel(Widget, can_focus=True):
    """Draws a `State`; posts `Chosen` when the person takes one of its choices."""

    DEFAULT_CSS = """
    StatePanel { height: 1fr; background: $background; color: $foreground; padding: 1 2; }
    """
    BINDINGS = bindings("state")

    state: reactive[State] = reactive(State("loading", ""))
    index: reactive[int] = reactive(0)

    @dataclass
    class Chosen(Message):
        """A way out was taken."""

        choice: Choice

    def watch_state(self) -> None:
        self.index = 0
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self.state.choices) if action in ("down", "up", "take") else True

    def action_down(self) -> None:
        self.index = min(self.index + 1, len(self.state.choices) - 1)

    def action_up(self) -> None:
        self.index = max(0, self.index - 1)

    def action_take(self) -> None:
        if self.state.choices:
            self.post_message(self.Chosen(self.state.choices[self.index]))

    @property
    def letters(self) -> tuple[str, ...]:
        """What takes each way out at once, with the keys in force."""
        wanted = [(choice.key, choice.label) for choice in self.state.choices]
        return host(self).keys.letters(wanted, "state", "app")

    def on_key(self, event: events.Key) -> None:
        for choice, letter in zip(self.state.choices, self.letters, strict=True):
            if letter and letter == event.character:
                event.stop()
                self.post_message(self.Chosen(choice))
                return

    def on_click(self, event: events.Click) -> None:
        row = event.style.meta.get("choice")
        if isinstance(row, int):
            self.index = row
            self.action_take()

    def jump_spots(self) -> Iterable[JumpTarget]:
        """Every way out."""
        return marked(self.render(), "choice", partial(setattr, self, "index"))

    def render(self) -> Content:
        return Content("\n").join(self._lines(max(10, self.size.width)))

    def _lines(self, width: int) -> list[Content]:
        state, glyphs, keys = self.state, host(self).glyphs, host(self).keys
        mark = (f"{glyphs.warn} ", "bold $danger") if state.kind == "error" else ("", "")
        lines = [
            Content.assemble(mark, (one_line(state.headline), "bold" if state.kind != "loading" else "$dim"))
        ]
        if state.progress is not None and state.progress.total:
            done = state.progress
            count = so_far(done.done, done.total, one_line(done.unit))
            strip = progress_bar(done.fraction, max(4, min(20, width - len(count) - 4)), glyphs)
            lines += [Content(), Content.assemble((strip, "$primary"), "   ", (count, "$dim"))]
        if state.facts:
            lines.append(Content())
            lines += _facts([(keys.words(label), keys.words(text)) for label, text in state.facts], width)
        if state.choices:
            lines.append(Content())
            letters = self.letters
            caps = [f"{letter or ' '}  " if any(letters) else "" for letter in letters]
            names = [
                f"{cap}{one_line(choice.label)}" for cap, choice in zip(caps, state.choices, strict=True)
            ]
            hints = [one_line(keys.words(choice.hint)) for choice in state.choices]
            columns = _columns(state.choices, names, hints, width)
            room = max(
                min(width, column + cell_len(hint)) for column, hint in zip(columns, hints, strict=True)
            )
            for i, choice in enumerate(state.choices):
                lines += [Content()] if choice.apart else []
                lines.append(self._choice(i, names[i], hints[i], columns[i], room))
        below = _facts(state.below, min(width, BELOW_CELLS)) if state.below else []
        if below and len(lines) + 1 + len(below) <= self.size.height:
            lines += [Content(), *below]
        if state.skeleton:
            lines.append(Content())
            bone = glyphs.skeleton
            lines += [
                Content.styled(crop(f"  {bone} {bone * 4} {bone * 4} {bone * n}", width, bone), "$faint")
                for n in (44, 31, 52, 38)
            ]
        return lines

    def _choice(self, index: int, name: str, hint: str, column: int, room: int) -> Content:
        here = index == self.index
        cursor = host(self).glyphs.cursor if here and self.has_focus else " "
        left = room - column  # the name stays whole: of the hint so much is said
        said = crop(hint, left) if left >= min(SOME_WORDS, cell_len(hint)) else ""
        line = f"{cursor} {name}"
        text = line + " " * max(0, column - cell_len(line)) + said if said else line
        text += " " * max(0, room - cell_len(text))
        style = "bold $foreground on $cursor" if here and self.has_focus else "$foreground"
        return Content.styled(text, style).stylize(Style.from_meta({"choice": index}))


def _columns(choices: Sequence[Choice], names: Sequence[str], hints: Sequence[str], width: int) -> list[int]:
    """The cell in which the hint of each choice begins: one column for all that stand together.

    A hint that would be cut there begins earlier, and behind a long name later.
    """
    groups: list[list[int]] = []
    for i, choice in enumerate(choices):
        if choice.apart or not groups:
            groups.append([])
        groups[-1].append(i)
    columns = []
    for group in groups:
        column = max(cell_len(names[i]) for i in group) + 5
        columns += [max(cell_len(names[i]) + 4, min(column, width - cell_len(hints[i]))) for i in group]
    return columns


def _facts(facts: Sequence[tuple[str, str]], width: int) -> list[Content]:
    """Labels, and what is said of each beside it, on as many lines as it takes."""
    label_width = max(len(label) for label, _ in facts) + 2
    return [
        Content.assemble(((label if i == 0 else "").ljust(label_width), "$dim"), (part, "$foreground"))
        for label, text in facts
        for i, part in enumerate(_wrap(one_line(text), max(8, width - label_width)))
    ]


def _wrap(text: str, width: int) -> list[str]:
    return [line.plain for line in Content(text).wrap(width)] or [""]
