"""Jump: labels on panels and rows, and getting there."""

from __future__ import annotations

from itertools import pairwise

import pytest
from textual.widgets import Static

from memtui.tui.jump import LETTERS, Jump, labels, marked, spots
from memtui.tui.startup.open_store import NothingFound
from memtui.tui.widgets.question_line import OptionChip, chips_line
from memtui.tui.widgets.state_panel import StatePanel
from tests.tui.driving import lines, press, running
from tests.tui.memory_engine import MemoryEngine


@pytest.mark.parametrize("count", [0, 1, 26, 27, 60, 300, 676, 900])
def test_labels_are_short_distinct_and_none_begins_another(count):
    made = labels(count)
    assert len(made) == min(count, len(LETTERS) ** 2)
    assert len(set(made)) == len(made)
    assert not any(b.startswith(a) for a, b in pairwise(sorted(made)))
    assert [len(label) for label in made] == sorted(len(label) for label in made)


def label_at(app, x: int, y: int) -> str:
    return next(
        tag.name
        for tag in app.screen.query(Static)
        if tag.styles.offset.x.value == x and tag.styles.offset.y.value == y
    )


async def test_typing_a_label_goes_to_a_row_of_the_list():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2")
        listing = app.screen.query_one("MemoryList")
        region = listing.content_region
        await press(pilot, "semicolon")
        assert isinstance(app.screen, Jump)
        await press(pilot, *label_at(app, region.x, region.y + 7))
        assert not isinstance(app.screen, Jump)
        assert app.focused is listing
        assert listing.cursor == 7


@pytest.mark.slow
async def test_a_panel_has_the_first_labels_and_other_keys_close():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2")
        chain = app.screen.focus_chain
        places = spots(app.screen)
        assert len(places) > len(chain)
        await press(pilot, "semicolon", LETTERS[0])
        assert app.focused is chain[0]
        for key in ("escape", "1"):
            await press(pilot, "semicolon", key)
            assert not isinstance(app.screen, Jump)
        assert app.focused is chain[0]


async def test_the_first_of_two_letters_hides_the_other_labels():
    async with running(MemoryEngine(50), (200, 50)) as (app, pilot):
        await press(pilot, "2", "semicolon")
        tags = [tag.name for tag in app.screen.query(Static)]
        first = next(name for name in tags if len(name) == 2)[0]
        await press(pilot, first)
        assert {tag.name[0] for tag in app.screen.query(Static) if tag.display} == {first}


async def test_ways_out_of_an_empty_panel_and_options_have_labels():
    async with running(NothingFound(()), (80, 24)) as (app, _):
        panel = app.screen.query_one(StatePanel)
        row = next(y for y, line in enumerate(lines(app)) if panel.state.choices[1].label in line)
        next(spot for spot in spots(app.screen) if spot.y == row).go()
        assert panel.index == 1
    gone: list[int] = []
    shown = chips_line([OptionChip(name, name, "any") for name in ("one", "two")], -1, 40)
    found = list(marked(shown, "chip", gone.append))
    found[1].go()
    assert ([(spot.x, spot.y) for spot in found], gone) == ([(0, 0), (10, 0)], [1])
