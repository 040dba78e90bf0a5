"""Layouts as ASCII art, and what holds at every size."""

from __future__ import annotations

import pytest

from memtui.tui.layout import Arrangement, BrowseShape, ascii_art, browse, home, size_class
from memtui.tui.screens.browse.memory_row import below_width, columns


def art(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


@pytest.mark.parametrize(
    ("width", "kind"), [(60, "narrow"), (99, "narrow"), (100, "normal"), (159, "normal"), (160, "wide")]
)
def test_size_classes(width, kind):
    assert size_class(width) == kind


def test_browse_narrow():
    assert ascii_art(browse(60, 16), 60, 16) == art("""
+filter----------------------------------------------------+
+list------------------------------------------------------+
|                                                          |
|                                                          |
|                                                          |
|                                                          |
|                                                          |
|                                                          |
|                                                          |
|                                                          |
+----------------------------------------------------------+
+detail----------------------------------------------------+
|                                                          |
|                                                          |
|                                                          |
+----------------------------------------------------------+
""")


def test_browse_narrow_with_the_scopes_over_the_list():
    assert ascii_art(browse(60, 12, BrowseShape(overlay=True)), 60, 12) == art("""
+filter----------------------------------------------------+
+scopes--------------------------+-------------------------+
|                                |                         |
|                                |                         |
|                                |                         |
|                                |                         |
|                                |-------------------------+
|                                |-------------------------+
|                                |                         |
|                                |                         |
|                                |                         |
+--------------------------------+-------------------------+
""")


def test_browse_normal():
    assert ascii_art(browse(100, 8), 100, 8) == art("""
+filter--------------------------------------------------------------------------------------------+
+list---------------------------------------------------------------++detail-----------------------+
|                                                                   ||                             |
|                                                                   ||                             |
|                                                                   ||                             |
|                                                                   ||                             |
|                                                                   ||                             |
+-------------------------------------------------------------------++-----------------------------+
""")


def test_browse_zoom_fills_the_body():
    assert ascii_art(browse(60, 4, BrowseShape(zoom="detail")), 60, 4) == art("""
+filter----------------------------------------------------+
+detail----------------------------------------------------+
|                                                          |
+----------------------------------------------------------+
""")


def test_home_narrow():
    assert ascii_art(home(60, 14), 60, 14) == art("""
+store-----------------------++tiers-----------------------+
|                            ||                            |
|                            ||                            |
+----------------------------++----------------------------+
+attention-------------------++growth----------------------+
|                            ||                            |
|                            ||                            |
+----------------------------++----------------------------+
+newest----------------------------------------------------+
|                                                          |
|                                                          |
|                                                          |
|                                                          |
+----------------------------------------------------------+
""")


def test_home_normal_without_room_for_the_newest():
    assert ascii_art(home(100, 10), 100, 10) == art("""
+store-----------------------++growth-------------------------------++attention--------------------+
|                            ||                                     ||                             |
|                            ||                                     ||                             |
|                            ||                                     ||                             |
+----------------------------++-------------------------------------++-----------------------------+
+tiers-----------------------++scopes-------------------------------++start------------------------+
|                            ||                                     ||                             |
|                            ||                                     ||                             |
|                            ||                                     ||                             |
+----------------------------++-------------------------------------++-----------------------------+
""")


SHAPES = [
    BrowseShape(),
    BrowseShape(scopes=False),
    BrowseShape(detail=False),
    BrowseShape(nudge=20),
    BrowseShape(filter_rows=3),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("width", [60, 79, 80, 99, 100, 120, 159, 160, 200, 320])
@pytest.mark.parametrize("height", [13, 22, 34, 48, 90])
def test_panels_tile_the_body(width, height, shape):
    for arrangement in (browse(width, height, shape), home(width, height)):
        check_tiles(arrangement, width, height)


def check_tiles(arrangement: Arrangement, width: int, height: int) -> None:
    """Every cell belongs to exactly one panel, and no panel is too small to hold a frame."""
    covered = [[0] * width for _ in range(height)]
    for name, box in arrangement.items():
        assert box.width >= 18, (name, box)
        assert box.height >= (1 if name == "filter" else 3), (name, box)
        for y in range(box.y, box.y + box.height):
            for x in range(box.x, box.x + box.width):
                covered[y][x] += 1
    assert {count for row in covered for count in row} == {1}


@pytest.mark.parametrize("sort", ["-timestamp", "-importance", "scope", "text", "~"])
@pytest.mark.parametrize("width", [80, 99, 100, 120, 140, 159, 160, 180, 200, 240])
def test_the_text_of_a_memory_has_half_of_the_width(width, sort):
    box = browse(width, 34)["list"]
    frame = 0 if size_class(width) == "narrow" else 2
    shown = columns(box.width - frame - 1, sort, width)  # a column is the scroll bar's
    text = next(column.width for column in shown if column.name == "text")
    by = next((column.width + 1 for column in shown if column.sort == "scope" == sort), 0)  # asked for
    assert text >= width // 2 - by


@pytest.mark.parametrize("sort", ["-timestamp", "-importance", "scope", "text", "~"])
@pytest.mark.parametrize("width", [80, 99, 100, 120, 140, 159, 160, 180, 200, 240])
@pytest.mark.parametrize("shape", [BrowseShape(), BrowseShape(detail=False)], ids=["detail", "list"])
def test_the_text_of_a_row_of_two_lines_has_half_of_the_width_over_both(shape, width, sort):
    box = browse(width, 34, shape)["list"]
    room = box.width - (0 if size_class(width) == "narrow" else 2) - 1
    shown = columns(room, sort, width, tall=True)
    text = next(column.width for column in shown if column.name == "text")
    assert text + below_width(shown, room) >= width // 2


@pytest.mark.parametrize("tall", [False, True], ids=["one line", "two lines"])
def test_tier_and_category_have_their_words_where_the_text_keeps_its_half(tall):
    wide = {column.name: column.width for column in columns(237, "-timestamp", 240, tall=tall)}
    assert wide["tier"] > 1
    assert wide["cat"] > 4
    narrow = {column.name: column.width for column in columns(79, "-timestamp", 80, tall=tall)}
    assert (narrow["tier"], narrow["cat"]) == (1, 4)


def test_home_on_a_large_screen_gives_each_panel_what_it_needs_and_the_rest_to_the_newest():
    needs = {"store": 14, "tiers": 8, "categories": 9, "scopes": 28}
    needs |= {"attention": 16, "journal": 6, "cases": 5, "start": 13}
    found = home(200, 47, needs=needs)
    check_tiles(found, 200, 47)
    short = {name: box for name, box in found.items() if name in needs and box.height < needs[name]}
    assert set(short) <= {"scopes"}  # it says itself that there are more
    void = sum(
        (box.height - needs[name]) * box.width
        for name, box in found.items()
        if name in needs and name not in short
    )
    assert void < 200 * 47 // 20
    assert found["newest"].width > 100


@pytest.mark.parametrize("attention", [4, 12, 20, 30])
@pytest.mark.parametrize("journal", [4, 12, 30])
def test_home_on_a_large_screen_has_no_panel_that_is_mostly_void(attention: int, journal: int):
    needs = {"store": 14, "tiers": 8, "categories": 9, "scopes": 28}
    needs |= {"attention": attention, "journal": journal, "cases": 4, "start": 17}
    for injections in (False, True):
        found = home(200, 47, injections=injections, needs=needs)
        check_tiles(found, 200, 47)
        assert found["growth"].height <= 47 // 2
        for name in ("attention", "journal", "cases", "start"):
            assert found[name].height - needs[name] <= found[name].height * 2 // 5, name
