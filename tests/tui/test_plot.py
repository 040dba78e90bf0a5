"""Painters of Lifecycle: curves without colour, calendars, stacked bars, sliders."""

from __future__ import annotations

import math

import pytest

from memtui.tui.paint.bars import calendar_lines, shade_legend, slider, stacked_bar
from memtui.tui.paint.glyphs import ASCII, UNICODE
from memtui.tui.paint.line_plot import (
    DASHED,
    DOTTED,
    SOLID,
    Curve,
    Level,
    Plot,
    PlotPoint,
    ceiling,
    plot_lines,
)
from tests.conftest import NOW_MS

DAY_MS = 86_400_000
FALLING = tuple(math.exp(-i / 40) for i in range(120))


def text(plot: Plot, width: int = 60, height: int = 14, glyphs=UNICODE) -> list[str]:
    return [line.plain for line in plot_lines(plot, width, height, glyphs)]


def dots(lines: list[str]) -> int:
    return sum(
        (ord(char) - 0x2800).bit_count() for line in lines for char in line if 0x2800 <= ord(char) < 0x2900
    )


def test_patterns_tell_lines_apart_without_colour():
    counts = [dots(text(Plot((Curve(FALLING, "$x", pattern),), 100))) for pattern in (SOLID, DASHED, DOTTED)]
    assert counts[0] > counts[1] > counts[2] > 10


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("size", [(20, 6), (60, 14), (200, 40)])
def test_a_plot_has_the_size_that_is_asked(glyphs, size):
    plot = Plot((Curve(FALLING, "$x", letter="W"),), 100, 1.0, (Level(0.3, "$stale", " stale "),))
    lines = text(plot, *size, glyphs)
    assert len(lines) == size[1]
    assert all(len(line) <= size[0] for line in lines)
    assert glyphs is UNICODE or all(line.isascii() for line in lines)


def test_without_room_it_says_so():
    assert text(Plot((), 10), 10, 4) == ["no room f…"]


def test_axes_levels_and_spots_are_where_they_belong():
    plot = Plot(
        (Curve((0.0, 1.0), "$x"),),
        100,
        1.0,
        (Level(0.5, "$stale", " half "),),
        (PlotPoint(1.0, 1.0, "●", "$x"),),
    )
    lines = text(plot, 66, 13)
    assert lines[0].startswith("1.00 ┤")
    assert lines[0].endswith("●")
    assert lines[5].startswith(".500 ┤ half ")
    assert (
        lines[10].startswith("   0 ┤⣀") or lines[10].startswith("   0 ┤⢀") or lines[10].startswith("   0 ┤⡠")
    )
    assert lines[12].split() == ["0", "d", "20", "d", "40", "d", "60", "d", "80", "d", "100", "d"]


def test_a_label_steps_aside_for_an_upright_line():
    level = Level(0.5, "$stale", " stale ")
    free, crossed = (
        "".join(text(Plot((), 100, 1.0, (level,), upright=upright))) for upright in ((), ((0.04, "$x"),))
    )
    assert "stale" in free
    assert "stale" in crossed
    assert crossed.index("stale") > free.index("stale")


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_a_cloud_lies_behind_the_curves_and_shows_the_most_frequent_mark(glyphs):
    marks = [glyphs.tier(tier) for tier in ("core", "working", "peripheral")]
    many = tuple(PlotPoint(0.5, 0.9, mark, "$x") for mark in (marks[0], marks[1], marks[1]))
    more = (
        PlotPoint(0.9, 0.2, marks[2], "$x"),
        PlotPoint(1.2, 0.2, "?", "$x"),
        PlotPoint(0.2, math.nan, "?", "$x"),
    )
    lines = text(Plot((), 100, cloud=(*many, *more)), 60, 14, glyphs)
    drawn = "".join(line[6:] for line in lines[:-2])
    assert drawn.split() == [marks[1], marks[2]]
    line = Curve((0.9, 0.9), "$x", letter="*")
    assert marks[1] not in text(Plot((line,), 100, cloud=many), 60, 14, glyphs)[1]


def test_what_is_not_finite_breaks_the_line():
    whole = dots(text(Plot((Curve((0.5,) * 50, "$x"),), 10)))
    broken = dots(text(Plot((Curve((0.5,) * 20 + (math.nan,) * 10 + (0.5,) * 20, "$x"),), 10)))
    assert 0 < broken < whole


@pytest.mark.parametrize(
    ("values", "least", "top"),
    [((0.1,), 0.0, 0.2), ((0.547,), 0.3, 0.6), ((0.2,), 0.34, 0.4), ((1.4,), 0, 1.4), ((), 0, 0.2)],
)
def test_the_axis_ends_at_a_round_number(values, least, top):
    assert ceiling(values, least) == top


def test_a_year_is_a_year_on_the_axis():
    assert text(Plot((), 36_525), 80, 8)[-1].split()[-2:] == ["100", "y"]


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_stacked_bars_show_every_tier_that_has_any(glyphs):
    bar = stacked_bar((1, 500, 1), 502, 20, glyphs).plain
    assert len(bar) == 20
    assert {glyphs.shades[4], glyphs.shades[3], glyphs.shades[1]} == set(bar)
    assert stacked_bar((0, 0, 0), 5, 20, glyphs).plain == ""
    assert stacked_bar((0, 1, 0), 10_000, 20, glyphs).plain == glyphs.shades[3]
    assert len({glyphs.shades[i] for i in (1, 3, 4)}) == 3
    assert "peripheral" in shade_legend(glyphs).plain


def test_a_calendar_has_today_at_its_end_and_nothing_after_it():
    days = [0] * 370 + [7]
    lines = [line.plain for line in calendar_lines(days, NOW_MS, 60)]
    assert len(lines) == 8
    full = [line for line in lines if UNICODE.shades[4] in line]
    assert full == [lines[2]]  # 2026-09-01 is a Tuesday
    assert lines[2].endswith(UNICODE.shades[4])
    assert lines[3].endswith(" ")
    assert "Aug" in lines[0]


def test_a_calendar_of_nothing_is_dots():
    lines = [line.plain for line in calendar_lines([0] * 371, NOW_MS, 40)]
    assert set("".join(line[4:] for line in lines[1:])) == {UNICODE.dot, " "}
    assert calendar_lines([], NOW_MS, 40)[1].plain.strip() == "Mon"


@pytest.mark.parametrize(("value", "place"), [(0, 1), (10, 10), (9, 9), (-3, 1), (99, 10)])
def test_a_knob_stands_between_its_ends(value, place):
    track = slider(value, 0, 10, value, 12).plain
    assert len(track) == 12
    assert track.index(UNICODE.knob) == place


def test_the_own_value_is_marked_when_another_is_tried():
    assert UNICODE.floor in slider(9, 0, 10, 2, 20).plain
    assert UNICODE.floor not in slider(2, 0, 10, 2, 20).plain
    assert slider(1, 3, 3, 3, 10).plain.count(UNICODE.knob) == 1
