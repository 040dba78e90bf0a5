"""The growth chart: how many of today's memories there were on each of the last days, by tier."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.tui.paint.braille import line_chart
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import DAY, date, short

if TYPE_CHECKING:
    from memtui.engine import Stats

AXIS = 1
"""Rows below the chart: the time axis."""
LABEL = 6
"""Cells at the right for the last value of each line."""
_STYLES = {
    "all": "$foreground",
    "core": "$tier-core",
    "working": "$tier-working",
    "peripheral": "$tier-peripheral",
}


def running(total: int, daily: Sequence[int]) -> list[int]:
    """Daily additions as a running count that ends at `total`."""
    return list(accumulate(daily, initial=total - sum(daily)))[1:]


def series(stats: Stats) -> list[tuple[str, list[int]]]:
    """The lines to draw, by name: all memories, then each tier that has any."""
    lines = [("all", running(stats.rows, stats.daily))]
    counts = dict(stats.tiers)
    for tier, daily in stats.daily_by_tier:
        if counts.get(tier):
            lines.append((tier, running(counts[tier], daily)))
    return lines


def growth_lines(stats: Stats, width: int, height: int, now_ms: int, glyphs: Glyphs) -> list[Content]:
    """The chart with its axis and the last values at the right, `height` lines of `width` cells."""
    lines = series(stats)
    chart_width, chart_height = width - LABEL, height - AXIS
    if chart_width < 8 or chart_height < 2:
        return [Content.styled(f"{short(stats.rows)} memories", "$dim")]
    canvas = line_chart([counts for _, counts in lines], chart_width, chart_height, braille=glyphs.braille)
    top = max((max(counts, default=0) for _, counts in lines), default=0)
    labels = _labels([(name, counts[-1] if counts else 0) for name, counts in lines], top, chart_height)
    rows: list[Content] = []
    for text, owners, label in zip(canvas.rows(), canvas.owners(), labels, strict=True):
        content = Content(text)
        for x, owner in enumerate(owners):
            if owner >= 0:
                content = content.stylize(_STYLES[lines[owner][0]], x, x + 1)
        rows.append(Content.assemble(content, (label[0].rjust(LABEL), label[1])))
    return [*rows, _axis(len(stats.daily), chart_width, now_ms, glyphs)]


def _labels(ends: Sequence[tuple[str, int]], top: int, height: int) -> list[tuple[str, str]]:
    """One label a row, each as near to the end of its line as the others allow."""
    rows: list[tuple[str, str]] = [("", "")] * height
    for name, value in ends:
        wanted = round((1 - (value / top if top else 0)) * (height - 1))
        free = sorted((row for row in range(height) if not rows[row][0]), key=lambda row: abs(row - wanted))
        if free and not any(text.strip() == short(value) for text, _ in rows):
            rows[free[0]] = (short(value), _STYLES[name])
    return rows


def _axis(days: int, width: int, now_ms: int, glyphs: Glyphs) -> Content:
    start = date(now_ms - (days - 1) * DAY)[5:10]
    middle = date(now_ms - days // 2 * DAY)[5:10]
    end = "today"
    if width < len(start) + len(middle) + len(end) + 4:
        middle = ""
    room = width - len(start) - len(middle) - len(end)
    line = f"{start} {glyphs.rule * (room // 2 - 2)} {middle} " if middle else f"{start} "
    line += glyphs.rule * max(0, width - len(line) - len(end) - 1) + f" {end}"
    return Content.styled(line, "$dim")
