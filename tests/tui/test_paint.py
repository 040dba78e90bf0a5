"""Painters: golden text, and what holds for every value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.content import Content
from textual.strip import Strip

from memtui.engine import counted
from memtui.patches.textual_ellipsis import EllipsisFilter
from memtui.tui.paint.bars import bar, padded_bar, progress, resample, spark
from memtui.tui.paint.braille import line_chart
from memtui.tui.paint.cells import across, crop, fit, right, shorten
from memtui.tui.paint.glyphs import ASCII, UNICODE, choose
from memtui.tui.paint.numbers import DAY, HOUR, MINUTE, age, ago, date, full, score, short, size

NOW = 1_788_264_000_000


def test_cut_words_end_in_ascii_where_the_terminal_is() -> None:
    cut = Content("a long name").truncate(7, ellipsis=True).plain
    line = Strip([Segment(cut), Segment(crop("another", 4))])
    assert line.text == "a long…ano…"
    assert line.apply_filter(EllipsisFilter(ASCII), Color(0, 0, 0)).text == "a long~ano~"


def test_bars_are_exact_to_an_eighth():
    assert bar(1, 4) == "████"
    assert bar(0.5, 4) == "██"
    assert bar(0.9, 4) == "███▋"
    assert bar(0.03, 4) == "▏"
    assert bar(0.0001, 4) == "▏"
    assert bar(0, 4) == ""
    assert bar(7, 4) == "████"
    assert bar(float("nan"), 4) == ""
    assert padded_bar(0.25, 4) == "█   "
    assert bar(0.5, 4, ASCII) == "##"


def test_sparks_scale_from_zero():
    assert spark([0, 1, 2, 4, 7]) == "▁▂▃▅█"
    assert spark([0, 0]) == "▁▁"
    assert spark([]) == ""
    assert spark([1, 2], ASCII) == ""


def test_progress_and_buckets():
    assert progress(0.6, 10) == "▰▰▰▰▰▰▱▱▱▱"
    assert progress(2, 3) == "▰▰▰"
    assert progress(0.5, 4, ASCII) == "##.."
    assert resample([1, 2, 3, 4], 2) == [3, 7]
    assert resample([1, 2], 5) == [1, 2]
    assert sum(resample(list(range(90)), 14)) == sum(range(90))


def test_a_rising_line_in_braille():
    assert line_chart([[0, 7]], 4, 2).rows() == ["  ⡠⠊", "⡠⠊  "]
    assert line_chart([[0, 1, 2, 3, 4, 5, 6, 7]], 4, 2).rows() == ["  ⡠⠊", "⡠⠊  "]


def test_a_flat_line_and_its_owner():
    canvas = line_chart([[0, 0], [4, 4]], 3, 2)
    assert canvas.rows() == ["⠉⠉⠉", "⣀⣀⣀"]
    assert canvas.owners() == [[1, 1, 1], [0, 0, 0]]


def test_a_chart_without_braille():
    assert line_chart([[0, 2]], 3, 3, braille=False).rows() == ["  *", " * ", "*  "]


def test_a_gap_breaks_the_line():
    assert line_chart([[1, float("nan"), 1]], 3, 1).rows() == ["⠁ ⠈"]


def test_scores_have_four_characters():
    assert [score(v) for v in (0.914, 1.0, 0.0, -0.08, 12.44, 0.9999, None)] == [
        ".914",
        "1.00",
        ".000",
        "-.08",
        "12.4",
        "1.00",
        "-",
    ]


def test_counts_in_short_and_in_full():
    assert [short(v) for v in (0, 312, 999, 9_100, 48_213, 1_250_000, None)] == [
        "0",
        "312",
        "999",
        "9.1k",
        "48k",
        "1.2M",
        "-",
    ]
    assert full(48_213) == "48,213"
    assert [size(v) for v in (730, 9_100, 214_000_000, None)] == ["730 B", "9.1 kB", "214 MB", "-"]
    assert counted(1, "memory", "memories") == "1 memory"
    assert counted(1_200, "row") == "1,200 rows"


def test_ages_short_and_in_words():
    assert [
        age(NOW - gap, NOW) for gap in (0, 42 * MINUTE, 9 * HOUR, 3 * DAY, 150 * DAY, 900 * DAY, -2 * DAY)
    ] == [
        "now",
        "42m",
        "9h",
        "3d",
        "21w",
        "2y",
        "+2d",
    ]
    assert [ago(NOW - gap, NOW) for gap in (0, 5 * MINUTE, DAY, 38 * DAY, -3 * DAY)] == [
        "just now",
        "5 min ago",
        "1 day ago",
        "38 days ago",
        "in 3 days",
    ]
    assert age(0, NOW) == age(None, NOW) == "-"
    assert ago(0, NOW) == "never"
    assert date(NOW) == "2026-09-01 12:00"
    assert date(9e18) == "-"


@given(st.floats(-1e14, 1e14) | st.just(float("nan")) | st.just(float("inf")))
def test_no_number_is_longer_than_its_column(value):
    assert len(short(value)) <= 5
    assert len(age(value, NOW)) <= 5
    if abs(value) <= 1:
        assert len(score(value)) <= 4


@given(st.floats(), st.integers(0, 40))
def test_a_bar_never_leaves_its_column(value, width):
    assert len(bar(value, width)) <= width
    assert len(padded_bar(value, width)) == width


@given(st.text(), st.integers(0, 60))
def test_text_is_cut_by_cells(text, width):
    assert cell_len(crop(text, width)) <= width
    assert cell_len(fit(text, width)) == width
    assert cell_len(right(text, width)) == width


def test_wide_characters_are_two_cells():
    assert crop("会议记录部署", 7) == "会议记…"
    assert fit("会议", 5) == "会议 "
    assert across("scopes", "12", 10) == "scopes  12"


def test_the_ascii_set_is_ascii_and_every_glyph_is_one_cell():
    for glyphs in (UNICODE, ASCII):
        for name in glyphs.__slots__:
            value = getattr(glyphs, name)
            if isinstance(value, str) and name != "name":
                assert cell_len(value) == len(value), name
                assert glyphs is UNICODE or value.isascii(), name


def test_the_set_is_chosen_by_wish_then_by_encoding():
    assert choose({"MEMTUI_GLYPHS": "ascii"}, "utf-8") is ASCII
    assert choose({}, "UTF-8") is UNICODE
    assert choose({}, "ANSI_X3.4-1968") is ASCII


@given(text=st.text(alphabet="ab 张梅", max_size=12), width=st.integers(0, 14))
def test_styled_words_are_cut_where_plain_ones_are(text, width):
    cut = shorten(Content.styled(text, "bold"), width, "~").plain
    assert cell_len(cut) <= width
    assert cut.replace(" ", "") == crop(text, width, "~").replace(" ", "")
