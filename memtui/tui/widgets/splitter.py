"""An edge between panels that is dragged with the mouse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import events
from textual.message import Message
from textual.widget import Widget


class Splitter(Widget):
    """A panel with an edge that can be dragged: it posts `Dragged`, the screen decides how wide things become.

    It stands behind the panel among the bases: styles follow the first one only.
    """

    EDGE: ClassVar[Literal["left", "right"]] = "left"
    """Which edge it is."""
    SIGN: ClassVar[int] = 1
    """1 where the panels at the side get wider as the edge goes to the left, -1 as it goes to the right."""

    @dataclass
    class Dragged(Message):
        """The panels at the side are to be so many columns wider."""

        columns: int

    _grip: int | None = None
    """Where the mouse holds the edge, in columns of the screen; None while it does not."""

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the edge; that of the screen stays where it is."""
        at = self.region.x if self.EDGE == "left" else self.region.right - 1
        if event.button == 1 and event.screen_x == at and 0 < at < self.app.size.width - 1:
            self._grip = int(event.screen_x)
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the edge along."""
        if self._grip is not None and (columns := self._grip - int(event.screen_x)):
            self._grip -= columns
            self.post_message(self.Dragged(columns * self.SIGN))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go of it."""
        if self._grip is not None:
            self._grip = None
            self.release_mouse()
