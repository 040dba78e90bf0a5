"""Curves over days: several lines that are told apart without colour, levels, a moment, a probe, two axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from textual.content import Content

from memtui.tui.paint.braille import Canvas
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import UNICODE, Glyphs
from memtui.tui.paint.numbers import score

AXIS_CELLS = 5
"""At the left, for the values."""

FOOT_ROWS = 2
"""Below, for the axis and its days."""

SOLID, DASHED, DOTTED = (1, 0), (4, 3), (1, 3)
"""Dots drawn and left out, in turn."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One line: values from left to right (what is not finite breaks it), its style, its pattern, its letter."""

    values: tuple[float, ...]
    style: str
    pattern: tuple[int, int] = SOLID
    letter: str = "*"
    """What it is drawn with where there is no braille."""


@dataclass(frozen=True, slots=True)
class Level:
    """A height to compare with, drawn as a dotted line; `label` stands at its left end, where curves begin high."""

    value: float
    style: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """One point on the plot: where (0 to 1 from the left), how high, with which mark."""

    x: float
    value: float
    mark: str
    style: str


@dataclass(frozen=True, slots=True)
class Plot:
    """What is drawn. `days` is the width of the x axis; `upright` are places (0 to 1) of vertical lines."""

    curves: tuple[Curve, ...]
    days: float
    top: float = 1.0
    levels: tuple[Level, ...] = ()
    spots: tuple[PlotPoint, ...] = ()
    upright: tuple[tuple[float, str], ...] = ()
    """Place and style of vertical lines: now, a probe."""
    cloud: tuple[PlotPoint, ...] = ()
    """Points behind everything else; of those in one cell, the most frequent mark is drawn."""


def plot_cells(width: int) -> int:
    """Cells that are left for the curves."""
    return max(0, width - AXIS_CELLS - 1)


def plot_lines(plot: Plot, width: int, height: int, glyphs: Glyphs = UNICODE) -> list[Content]:
    """`height` lines of at most `width` cells: the plot, its axis and the days below it."""
    cells, rows = plot_cells(width), height - FOOT_ROWS
    if cells < 8 or rows < 3:
        return [Content.styled(fit("no room for a curve", max(0, width)), "$dim")]
    grid = [[(" ", "")] * cells for _ in range(rows)]
    _draw_cloud(grid, plot.cloud, plot.top)
    taken = [_column(place, cells) for place, _ in plot.upright]
    for level in plot.levels:
        _draw_level(grid, level, plot.top, taken, glyphs)
    for place, style in plot.upright:
        column = _column(place, cells)
        for row in grid:
            row[column] = (glyphs.floor, style)
    _draw_curves(grid, plot, cells, rows, glyphs)
    for spot in plot.spots:
        grid[_row(spot.value, plot.top, rows)][_column(spot.x, cells)] = (spot.mark, spot.style)
    labels = _labels(plot, rows)
    lines = []
    for y, row in enumerate(grid):
        label, style = labels.get(y, ("", "$dim"))
        edge = glyphs.tick if label else glyphs.axis
        lines.append(
            Content.assemble((right(label, AXIS_CELLS - 1), style), " ", (edge, "$faint"), *_runs(row))
        )
    return [*lines, *_foot(plot.days, cells, glyphs)]


def _column(place: float, cells: int) -> int:
    return min(cells - 1, max(0, round(place * (cells - 1))))


def _row(value: float, top: float, rows: int) -> int:
    share = min(1.0, max(0.0, value / top)) if isfinite(value) and top > 0 else 0.0
    return round((1 - share) * (rows - 1))


def _draw_cloud(grid: list[list[tuple[str, str]]], cloud: Sequence[PlotPoint], top: float) -> None:
    cells = Counter(
        (_row(spot.value, top, len(grid)), _column(spot.x, len(grid[0])), spot.mark, spot.style)
        for spot in cloud
        if 0 <= spot.x <= 1 and isfinite(spot.value)
    )
    for (y, x, mark, style), _ in reversed(cells.most_common()):
        grid[y][x] = (mark, style)


def _draw_level(
    grid: list[list[tuple[str, str]]], level: Level, top: float, taken: Sequence[int], glyphs: Glyphs
) -> None:
    """The dotted line and its label, beside the upright lines at the columns `taken`."""
    row = grid[_row(level.value, top, len(grid))]
    for x in range(0, len(row), 2):
        row[x] = (glyphs.dot, level.style)
    size = len(level.label)
    free = (start for start in range(len(row) - size) if not any(start <= at < start + size for at in taken))
    start = next(free, -1)
    if size and start >= 0:
        row[start : start + size] = [(letter, level.style) for letter in level.label]


def _draw_curves(
    grid: list[list[tuple[str, str]]], plot: Plot, cells: int, rows: int, glyphs: Glyphs
) -> None:
    canvas = Canvas(cells, rows, braille=glyphs.braille)
    for index, curve in enumerate(plot.curves):
        _draw_curve(canvas, curve, plot.top, index)
    for y, (text, owners) in enumerate(zip(canvas.rows(), canvas.owners(), strict=True)):
        for x, owner in enumerate(owners):
            if owner >= 0:
                curve = plot.curves[owner]
                grid[y][x] = (text[x] if glyphs.braille else curve.letter, curve.style)


def _draw_curve(canvas: Canvas, curve: Curve, top: float, index: int) -> None:
    on, off = curve.pattern
    step, last = 0, -1
    for x in range(canvas.dots_x):
        at = x / max(1, canvas.dots_x - 1) * (len(curve.values) - 1)
        low = int(at)
        high = min(low + 1, len(curve.values) - 1)
        value = curve.values[low] + (curve.values[high] - curve.values[low]) * (at - low)
        if not isfinite(value):
            last = -1
            continue
        share = min(1.0, max(0.0, value / top)) if top > 0 else 0.0
        y = round((1 - share) * (canvas.dots_y - 1))
        for between in range(min(last, y) + 1, max(last, y)) if last >= 0 else ():
            step += 1
            if step % (on + off) < on:
                canvas.point(x, between, index)
        step += 1
        if step % (on + off) < on:
            canvas.point(x, y, index)
        last = y


def _labels(plot: Plot, rows: int) -> dict[int, tuple[str, str]]:
    """Values at the left edge: the ends, the middle, and the levels."""
    marks = [(plot.top, "$dim"), (plot.top / 2, "$dim"), (0.0, "$dim")]
    labels: dict[int, tuple[str, str]] = {}
    for value, style in marks:
        labels[_row(value, plot.top, rows)] = (score(value) if value else "0", style)
    for level in plot.levels:
        labels[_row(level.value, plot.top, rows)] = (score(level.value), level.style)
    return labels


def _runs(row: Sequence[tuple[str, str]]) -> list[Content | str]:
    parts: list[Content | str] = []
    text, style = "", ""
    for letter, own in (*row, ("", "\0")):
        if own != style:
            parts.append(Content.styled(text, style) if style else text)
            text, style = "", own
        text += letter
    return parts


def _foot(days: float, cells: int, glyphs: Glyphs) -> list[Content]:
    step = next((step for step in _STEPS if days / step <= max(2, cells // 9)), _STEPS[-1])
    numbers = [" "] * cells
    count = int(days / step) if days > 0 else 0
    for i in range(count + 1):
        at = _column(i * step / days if days > 0 else 0.0, cells)
        label = _days(i * step)
        start = min(cells - len(label), max(0, at - len(label) // 2))
        if not "".join(numbers[max(0, start - 1) : start + len(label)]).strip():
            numbers[start : start + len(label)] = label
    return [
        Content.styled(" " * AXIS_CELLS + glyphs.corner + glyphs.rule * cells, "$faint"),
        Content.styled(" " * (AXIS_CELLS + 1) + "".join(numbers), "$dim"),
    ]


_YEAR = 365.25

_STEPS = (
    1,
    2,
    5,
    10,
    20,
    30,
    60,
    90,
    180,
    *(years * _YEAR for years in (1, 2, 5, 10, 20, 50, 100, 250, 500)),
)


def _days(days: float) -> str:
    return f"{days / _YEAR:.0f} y" if days >= _YEAR else f"{days:.0f} d"


def ceiling(values: Sequence[float], least: float = 0.0) -> float:
    """The top of an axis: a round number that holds every value and `least`."""
    most = max((value for value in (*values, least) if isfinite(value)), default=1.0)
    return next((top for top in (0.2, 0.4, 0.6, 0.8, 1.0) if most <= top), most)


# A rank over versions: the first place on top, what did not come back in a row of its own at the bottom.

LABEL_CELLS = 5

LEAST_ROWS = 5


@dataclass(frozen=True, slots=True)
class RankPoint:
    """One version: its label, the rank there (None: it did not come back), and whether it stands out."""

    label: str
    rank: int | None
    marked: bool = False


def rank_lines(
    stops: Sequence[RankPoint], width: int, height: int, glyphs: Glyphs = UNICODE
) -> list[Content]:
    """`height` lines of `width` cells: the ranks joined by steps, an axis, the labels of the versions.

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

    columns = [_ranks_column(i, len(stops), cells) for i in range(len(stops))]
    canvas = Canvas(cells, rows, braille=glyphs.braille)
    across, down = canvas.dots_x // cells, canvas.dots_y // rows
    places = [
        (x * across + across // 2, y_of(s.rank) * down + down // 2)
        for x, s in zip(columns, stops, strict=True)
    ]
    for (x0, y0), (x1, y1) in pairwise(places):  # a rank is not half of two: it steps between two versions
        middle = (x0 + x1) // 2
        canvas.line(x0, y0, middle, y0)
        canvas.line(middle, y0, middle, y1)
        canvas.line(middle, y1, x1, y1)
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
    return [*lines, *_ranks_foot(stops, columns, cells, glyphs)]


def _ranks_column(index: int, count: int, cells: int) -> int:
    return min(cells - 1, round((index + 0.5) / count * cells)) if count > 1 else cells // 2


def _ranks_foot(
    stops: Sequence[RankPoint], columns: Sequence[int], cells: int, glyphs: Glyphs
) -> list[Content]:
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
