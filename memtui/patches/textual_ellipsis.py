"""Cut words end as the terminal's characters allow, whoever cut them: Textual knows one ellipsis only."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from memtui.tui.paint.glyphs import UNICODE, Glyphs


class EllipsisFilter(LineFilter):
    """Puts the ellipsis of `glyphs`, one cell wide as well, where the usual one would be shown."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self._ellipsis = glyphs.ellipsis

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments with the other ellipsis."""
        usual, own = UNICODE.ellipsis, self._ellipsis
        return [Segment(text.replace(usual, own), style, control) for text, style, control in segments]
