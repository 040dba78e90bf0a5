"""Bars, sparklines and progress as plain text, exact to an eighth of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from math import isfinite

from textual.content import Content

from memtui.tui.paint.glyphs import UNICODE, Glyphs
from memtui.tui.theme.tokens import TIER_TOKENS


def bar(value: float, width: int, glyphs: Glyphs = UNICODE) -> str:
    """A bar of `value` (0 to 1, clamped) in `width` cells, not padded.

    Anything above zero shows at least the thinnest block: a small share is not the same as none.
    """
    if width <= 0 or not isfinite(value) or value <= 0:
        return ""
    steps = len(glyphs.blocks)
    eighths = max(1, min(width * steps, round(min(1.0, value) * width * steps)))
    whole, part = divmod(eighths, steps)
    return glyphs.blocks[-1] * whole + (glyphs.blocks[part - 1] if part else "")


def padded_bar(value: float, width: int, glyphs: Glyphs = UNICODE) -> str:
    """`bar`, filled up with spaces to `width` cells."""
    return bar(value, width, glyphs).ljust(max(0, width))


def spark(values: Sequence[float], glyphs: Glyphs = UNICODE) -> str:
    """One character per value, scaled from zero to the largest; empty in a set without heights."""
    heights = glyphs.spark
    if not heights or not values:
        return ""
    top = max((v for v in values if isfinite(v)), default=0.0)
    if top <= 0:
        return heights[0] * len(values)
    last = len(heights) - 1
    return "".join(heights[round(max(0.0, v) / top * last)] if isfinite(v) else " " for v in values)


def progress(fraction: float, width: int, glyphs: Glyphs = UNICODE) -> str:
    """A progress strip of exactly `width` cells."""
    done = round(min(1.0, max(0.0, fraction)) * width)
    return glyphs.full * done + glyphs.empty * (width - done)


def resample(values: Sequence[float], count: int) -> list[float]:
    """`values` summed into `count` equal buckets, newest last; fewer values than buckets stay as they are."""
    if count <= 0 or not values:
        return []
    if len(values) <= count:
        return [float(v) for v in values]
    edges = [i * len(values) // count for i in range(count + 1)]
    return [float(sum(values[a:b])) for a, b in pairwise(edges)]


# Counts by tier as stacked bars, and a calendar of shades: told apart by shade, not by hue alone.

TIER_SHADES = (4, 3, 1)
"""Of core, working and peripheral, in `Glyphs.shades`."""

WEEK = 7


def stacked_bar(counts: Sequence[int], most: int, width: int, glyphs: Glyphs = UNICODE) -> Content:
    """One bar of counts by tier, `most` filling `width` cells; counts above zero get a cell while there are any."""
    total = sum(counts)
    if width <= 0 or most <= 0 or total <= 0:
        return Content()
    cells = max(1, min(width, round(total / most * width)))
    styles = [f"${token}" for token in TIER_TOKENS.values()]
    parts = [
        (glyphs.shades[shade] * size, style)
        for size, shade, style in zip(_shares(counts, cells), TIER_SHADES, styles, strict=True)
        if size
    ]
    return Content.assemble(*parts)


def _shares(counts: Sequence[int], cells: int) -> list[int]:
    """`cells` shared out by count: every count above zero gets one, the largest first where they do not suffice."""
    total = sum(counts)
    shares = [0] * len(counts)
    for i in sorted(range(len(counts)), key=lambda i: -counts[i])[:cells]:
        shares[i] = 1 if counts[i] else 0
    for _ in range(cells - sum(shares)):
        wanting = [count / total * cells - share for count, share in zip(counts, shares, strict=True)]
        shares[wanting.index(max(wanting))] += 1
    return shares


def shade_legend(glyphs: Glyphs = UNICODE) -> Content:
    """Which shade is which tier."""
    parts = [
        Content.styled(f"{glyphs.shades[shade]} {tier}", f"${token}")
        for (tier, token), shade in zip(TIER_TOKENS.items(), TIER_SHADES, strict=True)
    ]
    return Content("  ").join(parts)


def calendar_lines(days: Sequence[int], now_ms: int, width: int, glyphs: Glyphs = UNICODE) -> list[Content]:
    """Months above, then seven rows (Monday first) of one cell a week, the present week at the right.

    `days` are counts a day, oldest first, today last. Shades are thirds of the largest count.
    """
    label = 4
    weeks = max(1, min(width - label, (len(days) + WEEK - 1) // WEEK))
    today = datetime.fromtimestamp(now_ms / 1000, UTC)
    monday = today - timedelta(days=today.weekday())
    first = monday - timedelta(weeks=weeks - 1)
    most = max(days, default=0)
    rows = []
    for weekday in range(WEEK):
        cells = []
        for week in range(weeks):
            ago = (today.date() - (first + timedelta(weeks=week, days=weekday)).date()).days
            count = days[len(days) - 1 - ago] if 0 <= ago < len(days) else -1
            cells.append(_shade(count, most, glyphs))
        name = ("Mon", "", "Wed", "", "Fri", "", "")[weekday]
        rows.append(Content.assemble((name.ljust(label), "$dim"), ("".join(cells), "$primary")))
    return [_months(first, weeks, label), *rows]


def _shade(count: int, most: int, glyphs: Glyphs) -> str:
    if count < 0:
        return " "
    if count == 0:
        return glyphs.dot
    return glyphs.shades[1 + min(3, int(count / most * 4))] if most else glyphs.dot


def _months(first: datetime, weeks: int, label: int) -> Content:
    line = [" "] * (label + weeks)
    last, free = -1, 0
    for week in range(weeks):
        month = (first + timedelta(weeks=week)).month
        at = label + week
        if month != last and at >= free and at + 3 <= len(line):
            line[at : at + 3] = (first + timedelta(weeks=week)).strftime("%b")
            free = at + 4
        last = month
    return Content.styled("".join(line), "$dim")


# A value between two ends as a track with a knob, and the default marked on it.


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
