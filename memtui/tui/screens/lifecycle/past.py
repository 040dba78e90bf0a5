"""The history panel: a calendar, ages, use, and growth, one chart at a time; what is there, not what could be."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from memtui.engine import StoreHistory, one_line
from memtui.tui.paint.bars import resample, spark
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.paint.stacks import calendar_lines, stacked_bar
from memtui.tui.screens.lifecycle.state import CHARTS, Chart
from memtui.tui.widgets.rows import Row

LABEL = 10
COUNT = 8
TITLES: dict[Chart, str] = {
    "written": "written, by day",
    "used": "last used, by day",
    "ages": "age since creation",
    "uses": "how often used",
    "scopes": "growth by scope, 52 weeks",
    "categories": "growth by category, 52 weeks",
}


def history_rows(
    history: StoreHistory | None, chart: Chart, now_ms: int, width: int, height: int, glyphs: Glyphs
) -> list[Row]:
    """The rows of one chart; ranges are keyed by their filter, which Browse understands."""
    if history is None:
        return [Row((Content.styled(" counting", "$dim"),))]
    if chart in ("written", "used"):
        lines = _calendars(history, chart, now_ms, width, height, glyphs)
        return [Row((line,)) for line in lines]
    if chart in ("ages", "uses"):
        buckets = history.ages if chart == "ages" else history.uses
        most = max((sum(counts) for counts in buckets.counts), default=0)
        strip = max(4, width - LABEL - COUNT - 2)
        rows = []
        for name, counts, text in zip(buckets.names, buckets.counts, buckets.filters, strict=True):
            bar = stacked_bar(counts, most, strip, glyphs)
            line = Content.assemble(
                " ",
                (fit(name, LABEL - 1), "$dim"),
                bar.extend_right(max(0, strip - bar.cell_length)),
                (right(full(sum(counts)), COUNT), "$foreground"),
            )
            rows.append(Row((line.truncate(width),), f"filter:{text}"))
        return rows
    series = history.by_scope if chart == "scopes" else history.by_category
    return [
        _grown(name, values, width, glyphs) for name, values in zip(series.names, series.values, strict=True)
    ]


def _grown(name: str, values: Sequence[int], width: int, glyphs: Glyphs) -> Row:
    label = min(22, max(10, width // 3))
    strip = max(0, min(53, width - label - 2 * COUNT - 2))
    trend = spark(_thinned(values, strip), glyphs)
    year = values[-1] - values[0] if values else 0
    line = Content.assemble(
        " ",
        (fit(one_line(name) or '" "', label - 1), "$foreground"),
        (trend.ljust(strip), "$primary"),
        (right(full(values[-1] if values else 0), COUNT), "bold"),
        (right(f"+{full(year)}", COUNT), "$dim"),
    )
    return Row((line.truncate(width),))


def _thinned(values: Sequence[int], count: int) -> list[float]:
    """Every so many-th value, the last one included."""
    if count <= 0 or not values:
        return []
    if len(values) <= count:
        return [float(value) for value in values]
    return (
        [float(values[round(i * (len(values) - 1) / (count - 1))]) for i in range(count)] if count > 1 else []
    )


def _calendars(
    history: StoreHistory, chart: Chart, now_ms: int, width: int, height: int, glyphs: Glyphs
) -> list[Content]:
    """The calendar that is asked for; the other one too, beside or below it, where there is room."""
    both = [(history.written, "written"), (history.used, "last used")]
    if chart == "used":
        both.reverse()
    lines: list[Content] = []
    for days, name in both:
        block = [Content.assemble(" ", line) for line in calendar_lines(days, now_ms, width - 2, glyphs)]
        block.append(Content.styled(f" {_sum(days, name)}", "$dim"))
        if lines and len(lines) + len(block) > height:
            break
        lines += block
    return lines


def _sum(days: Sequence[int], name: str) -> str:
    weeks = resample(list(days), len(days) // 7)
    busiest = int(max(weeks, default=0.0))
    lately = sum(days[-30:])
    return (
        f"{name}: {full(sum(days))} in a year, {full(lately)} in 30 days, {full(busiest)} in the busiest week"
    )


def other(chart: Chart) -> Chart:
    """The chart after this one."""
    return CHARTS[(CHARTS.index(chart) + 1) % len(CHARTS)]
