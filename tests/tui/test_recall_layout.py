"""Where the panels of Recall stand, at three sizes and in odd ones."""

from __future__ import annotations

import pytest

from memtui.tui.layout import ascii_art
from memtui.tui.layouts import RecallShape, recall
from tests.tui.driving import press, running, screen_text, until

SHAPE = RecallShape(stages=9, results=6, moves=5)


def test_narrow_results_have_most_of_the_room_between_stages_and_one_bar() -> None:
    boxes = recall(80, 22, SHAPE)
    assert list(boxes) == ["ask", "stages", "results", "why"]
    assert boxes["stages"].height == 6
    assert boxes["results"].height == 11
    assert boxes["why"].height == 3


def test_normal_stages_beside_results_account_below() -> None:
    assert ascii_art(recall(60 * 2, 34, RecallShape(stages=16, results=6, moves=5)), 120, 34) == "\n".join(
        [
            "+ask" + "-" * 115 + "+",
            *["|" + " " * 118 + "|"] * 2,
            "+" + "-" * 118 + "+",
            "+stages" + "-" * 40 + "++results" + "-" * 63 + "+",
            *["|" + " " * 46 + "||" + " " * 70 + "|"] * 17,
            "+" + "-" * 46 + "++" + "-" * 70 + "+",
            "+why" + "-" * 115 + "+",
            *["|" + " " * 118 + "|"] * 9,
            "+" + "-" * 118 + "+",
        ]
    )


def test_wide_shows_account_missing_and_text_beside_each_other() -> None:
    boxes = recall(200, 48, RecallShape(stages=18, results=6, moves=5))
    assert list(boxes) == ["ask", "stages", "results", "why", "dropped", "memory"]
    assert boxes["why"].y == boxes["dropped"].y == boxes["memory"].y
    assert boxes["why"].height >= 20


def test_before_the_first_answer_there_is_no_account() -> None:
    for width, height in ((80, 22), (120, 34), (200, 48)):
        assert "why" not in recall(width, height, RecallShape(answered=False))


def test_without_a_store_there_is_only_what_is_wrong_and_what_to_do() -> None:
    for width, height in ((80, 22), (120, 34), (200, 48)):
        boxes = recall(width, height, RecallShape(stages=0, answered=False))
        assert list(boxes) == ["ask", "results"]
        assert boxes["results"].width == width


def test_one_list_takes_the_place_of_the_other_and_zoom_takes_all() -> None:
    assert "dropped" in recall(120, 34, RecallShape(dropped=True))
    assert "results" not in recall(120, 34, RecallShape(dropped=True))
    zoomed = recall(120, 34, RecallShape(zoom="why"))
    assert list(zoomed) == ["ask", "why"]
    assert zoomed["why"].height == 30


@pytest.mark.parametrize("width", [60, 80, 99, 100, 120, 159, 160, 200, 320])
@pytest.mark.parametrize("height", [13, 16, 22, 28, 34, 48, 90])
@pytest.mark.parametrize("stages", [0, 3, 16, 60])
def test_no_size_makes_panels_overlap_or_leave_the_screen(width: int, height: int, stages: int) -> None:
    boxes = recall(width, height, RecallShape(stages=stages, results=20, moves=9))
    cells: set[tuple[int, int]] = set()
    for box in boxes.values():
        assert box.width > 0
        assert box.height > 0
        mine = {(x, y) for x in (box.x, box.x + box.width - 1) for y in range(box.y, box.y + box.height)}
        assert not mine & cells
        cells |= mine
        assert box.x + box.width <= width
        assert box.y + box.height <= height
    assert boxes["results"].height >= 3


async def test_a_choice_keeps_its_name_whole_where_its_hint_has_no_room(keyword_engine):
    async with running(keyword_engine, size=(100, 30)) as (app, pilot):
        await press(pilot, "3")
        await until(pilot, lambda: "pro/article" in screen_text(app))
        for recipe in ("pro/agent", "pro/cli", "memory-lancedb", "mem-engine"):
            assert recipe in screen_text(app)


async def test_where_there_is_room_each_recipe_says_what_it_does_before_anything_is_asked(demo_engine):
    shown = {}
    for size in ((80, 24), (200, 50)):
        async with running(demo_engine, size) as (app, pilot):
            await press(pilot, "3")
            shown[size] = " ".join(screen_text(app).split())
    last = demo_engine.recipes()[-1]
    words = last.description.split()[:5]
    assert all(
        f"{recipe.name} {' '.join(recipe.description.split()[:3])}" in shown[200, 50]
        for recipe in demo_engine.recipes()
    )
    assert " ".join(words) not in shown[80, 24]
