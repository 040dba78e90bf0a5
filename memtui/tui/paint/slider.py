"""A value between two ends as a track with a knob, and the default marked on it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from textual.content import Content

from memtui.tui.paint.glyphs import UNICODE, Glyphs


def slider(
    value: float, low: float, high: float, default: float, width: int, glyphs: Glyphs = UNICODE
) -> Content:
    """A track of exactly `width` cells: filled up to the knob; a mark where the default is, when it is elsewhere."""
    inner = max(3, width - 2)
    at, home = _cell(value, low, high, inner), _cell(default, low, high, inner)
    cells = [(glyphs.rule, "$primary" if i < at else "$faint") for i in range(inner)]
    if home != at:
        cells[home] = (glyphs.floor, "$dim")
    cells[at] = (glyphs.knob, "bold $foreground" if home == at else "bold $key")
    return Content.assemble(*_runs([(glyphs.track_left, "$faint"), *cells, (glyphs.track_right, "$faint")]))


def _runs(cells: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours of one style as one piece: a track is painted many times a second."""
    return [
        ("".join(text for text, _ in run), style) for style, run in groupby(cells, key=lambda cell: cell[1])
    ]


def marks(points: Sequence[tuple[float, str, str]], low: float, high: float, width: int) -> Content:
    """Marks under a track of `width` cells: (value, one character, style), later ones over earlier ones."""
    inner = max(3, width - 2)
    cells = [(" ", "")] * inner
    for value, mark, style in points:
        cells[_cell(value, low, high, inner)] = (mark, style)
    return Content.assemble(*_runs([(" ", ""), *cells, (" ", "")]))


def _cell(value: float, low: float, high: float, cells: int) -> int:
    share = (value - low) / (high - low) if high > low else 0.0
    return min(cells - 1, max(0, round(share * (cells - 1))))
