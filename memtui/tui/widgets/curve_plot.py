"""The plot of the curves: draws what it is given, and moves a probe along it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from memtui.tui.actions.table import bindings
from memtui.tui.host import host
from memtui.tui.paint.cells import shorten
from memtui.tui.paint.line_plot import AXIS_CELLS, Plot, plot_cells, plot_lines


class CurvePlot(Widget, can_focus=True):
    """Paints a `Plot`, with lines of words below it."""

    DEFAULT_CSS = """
    CurvePlot { height: 1fr; background: $background; }
    """
    BINDINGS = bindings("plot")

    @dataclass
    class Probed(Message):
        """The probe was moved to a place (0 to 1 from the left); None takes it away."""

        place: float | None

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._plot: Plot | None = None
        self._words: tuple[Content, ...] = ()
        self._place: float | None = None

    def show(self, plot: Plot | None, words: tuple[Content, ...] = (), place: float | None = None) -> None:
        """Draw this; `words` stand below where there is room, `place` is the probe's."""
        self._plot, self._words, self._place = plot, words, place
        self.refresh()

    def render(self) -> Content:
        width, height = self.size
        if self._plot is None or width < 10:
            return Content()
        room = max(0, min(len(self._words), height - 9))
        lines = plot_lines(self._plot, width, height - room, host(self).glyphs)
        return Content("\n").join(
            [*lines, *(shorten(word, width, host(self).glyphs.ellipsis) for word in self._words[:room])]
        )

    def _probe(self, cells: int) -> None:
        count = max(1, plot_cells(self.size.width) - 1)
        place = 0.0 if self._place is None else self._place
        self.post_message(self.Probed(min(1.0, max(0.0, place + cells / count))))

    def on_click(self, event: events.Click) -> None:
        at = event.x - AXIS_CELLS - 1
        if at >= 0:
            self.post_message(self.Probed(min(1.0, at / max(1, plot_cells(self.size.width) - 1))))

    def action_left(self) -> None:
        self._probe(-1)

    def action_right(self) -> None:
        self._probe(1)

    def action_far_left(self) -> None:
        self._probe(-10)

    def action_far_right(self) -> None:
        self._probe(10)

    def action_none(self) -> None:
        self.post_message(self.Probed(None))
