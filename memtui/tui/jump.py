"""Jump: a letter on every panel and every row in sight; typing it goes there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Offset
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static

from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.widgets.panel import Panel

LETTERS = "asdfghjklwertyuiopzxcvbnmq"
"""The home row first; what is in reach gets the easy ones."""


@dataclass(frozen=True, slots=True)
class JumpTarget:
    """One place to go: where its label stands, in cells, and how to get there."""

    x: int
    y: int
    go: Callable[[], object]


@runtime_checkable
class Jumpable(Protocol):
    """A widget with more than one place to go: its rows, its options."""

    def jump_spots(self) -> Iterable[JumpTarget]:
        """The places, from the top left of the widget's content; those out of sight may be among them."""
        ...


def marked(content: Content, name: str, go: Callable[[int], object]) -> Iterable[JumpTarget]:
    """A spot where each text begins whose style carries `name` with a number; `go` is called with that number."""
    for span in content.spans:
        number = span.style.meta.get(name) if isinstance(span.style, Style) else None
        if isinstance(number, int):
            *above, before = content.plain[: span.start].split("\n")
            yield JumpTarget(cell_len(before), len(above), partial(go, number))


def labels(count: int) -> list[str]:
    """`count` labels of one or two letters, none the beginning of another; the short ones come first.

    The last letters of the alphabet open as many pairs as are needed. 26 letters make 676 labels; more is not given.
    """
    size = len(LETTERS)
    openers = next((n for n in range(size + 1) if size - n + n * size >= count), size)
    short = list(LETTERS[: size - openers])
    pairs = [first + second for first in LETTERS[size - openers :] for second in LETTERS]
    return [*short, *pairs][:count]


def spots(screen: Screen[object]) -> list[JumpTarget]:
    """Everything on the screen that the keyboard can be taken to: the panels first, then their rows."""
    panels, rows = [], []
    for widget in screen.focus_chain:
        frame = next((ancestor for ancestor in widget.ancestors if isinstance(ancestor, Panel)), None)
        corner = (frame or widget).region.offset
        inset = 1 if frame is not None and frame.styles.border_left[0] else 0
        panels.append(JumpTarget(corner.x + inset, corner.y, widget.focus))
        if not isinstance(widget, Jumpable):
            continue
        seen = widget.content_region.intersection(screen.region)
        for spot in widget.jump_spots():
            at = Offset(widget.content_region.x + spot.x, widget.content_region.y + spot.y)
            if seen.contains_point(at):
                rows.append(JumpTarget(at.x, at.y, _gone(widget.focus, spot.go)))
    return [*panels, *rows]


def _gone(focus: Callable[[], object], go: Callable[[], object]) -> Callable[[], None]:
    def both() -> None:
        focus()
        go()

    return both


class Jump(QuickModal[None]):
    """The labels over the screen below; any other key closes it."""

    DEFAULT_CSS = """
    Jump { background: $background 40%; }
    Jump Static { position: absolute; width: auto; height: 1; text-style: bold; }
    Jump Static { background: $primary; color: $background; }
    """
    BINDINGS = bindings("jump")

    def __init__(self, places: Sequence[JumpTarget]) -> None:
        super().__init__()
        self._typed = ""
        self._by_label = dict(zip(labels(len(places)), places, strict=False))

    def compose(self) -> ComposeResult:
        for label, spot in self._by_label.items():
            tag = Static(Content(label), name=label)
            tag.styles.offset = (spot.x, spot.y)
            yield tag

    def on_key(self, event: events.Key) -> None:
        if event.character is None or not event.is_printable:
            return
        event.stop()
        typed = self._typed + event.character.lower()
        spot = self._by_label.get(typed)
        if spot is not None or not any(label.startswith(typed) for label in self._by_label):
            self.dismiss()
            if spot is not None:
                self.app.call_later(spot.go)
            return
        self._typed = typed
        for tag in self.query(Static):
            tag.display = (tag.name or "").startswith(typed)

    def on_click(self) -> None:
        self.dismiss()

    def action_close(self) -> None:
        self.dismiss()
