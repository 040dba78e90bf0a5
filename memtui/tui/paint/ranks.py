"""A rank over versions: the first place on top, what did not come back in a row of its own at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from textual.content import Content

from memtui.tui.paint.braille import Canvas
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import UNICODE, Glyphs

LABEL_CELLS = 5
FOOT_ROWS = 2
LEAST_ROWS = 5


@dataclass(frozen=True, slots=True)
class Stop:
    """One version: its label, the rank there (None: it did not come back), and whether it stands out."""

    label: str
    rank: int | None
    marked: bool = False


def rank_lines(stops: Sequence[Stop], width: int, height: int, glyphs: Glyphs = UNICODE) -> list[Content]:
    """`height` lines of `width` cells: the ranks joined by a line, an axis, the labels of the versions.

    The stops stand at equal distances, oldest left; what happened between two of them was not looked at.
    """
    cells, rows = width - LABEL_CELLS - 1, height - FOOT_ROWS
    if cells < 8 or rows < LEAST_ROWS or not stops:
        return [Content.styled(fit("no room for a line", max(0, width)), "$dim")]
    worst = max((stop.rank for stop in stops if stop.rank is not None), default=1)
    top_rows = rows - 2  # a free row above the one of what did not come back

    def y_of(rank: int | None) -> int:
        if rank is None:
            return rows - 1
        return 0 if worst == 1 else round((rank - 1) / (worst - 1) * (top_rows - 1))

    columns = [_column(i, len(stops), cells) for i in range(len(stops))]
    canvas = Canvas(cells, rows, braille=glyphs.braille)
    across, down = canvas.dots_x // cells, canvas.dots_y // rows
    places = [
        (x * across + across // 2, y_of(s.rank) * down + down // 2)
        for x, s in zip(columns, stops, strict=True)
    ]
    for (x0, y0), (x1, y1) in pairwise(places):
        canvas.line(x0, y0, x1, y1)
    grid = [[(char, "$dim") for char in row] for row in canvas.rows()]
    for x, stop in zip(columns, stops, strict=True):
        if stop.marked:
            for row in grid:
                row[x] = (glyphs.floor, "$stage-cut")
    for x, stop in zip(columns, stops, strict=True):
        style = "bold $stage-cut" if stop.rank is None else "bold $primary"
        grid[y_of(stop.rank)][x] = (glyphs.cross if stop.rank is None else glyphs.knob, style)
    labels = {y_of(None): "out", 0: "#1"}
    if worst > 1:
        labels[y_of(worst)] = f"#{worst}"
    lines = [
        Content.assemble(
            (right(labels.get(y, ""), LABEL_CELLS - 1), "$dim"),
            " ",
            (glyphs.tick if y in labels else glyphs.axis, "$faint"),
            *row,
        )
        for y, row in enumerate(grid)
    ]
    return [*lines, *_foot(stops, columns, cells, glyphs)]


def _column(index: int, count: int, cells: int) -> int:
    return min(cells - 1, round((index + 0.5) / count * cells)) if count > 1 else cells // 2


def _foot(stops: Sequence[Stop], columns: Sequence[int], cells: int, glyphs: Glyphs) -> list[Content]:
    text = [" "] * cells
    order = sorted(range(len(stops)), key=lambda i: (not stops[i].marked, i not in (0, len(stops) - 1), i))
    for i in order:
        label = stops[i].label
        start = min(cells - len(label), max(0, columns[i] - len(label) // 2))
        if start >= 0 and not "".join(text[max(0, start - 1) : start + len(label) + 1]).strip():
            text[start : start + len(label)] = label
    return [
        Content.styled(" " * LABEL_CELLS + glyphs.corner + glyphs.rule * cells, "$faint"),
        Content.styled(" " * (LABEL_CELLS + 1) + "".join(text), "$dim"),
    ]
