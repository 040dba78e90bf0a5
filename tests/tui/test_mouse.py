"""The mouse: what it opens, drags and presses does what the keys do; the right button offers them."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.engine import Engine
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.screen_bars import FlashLine, KeyBar
from tests.tui.driving import lines, press, running, screen_text, settle
from tests.tui.memory_engine import MemoryEngine
from tests.tui.test_locked import locked


def place(app: MemtuiApp, words: str, *, within: str = "") -> tuple[int, int]:
    """The cell where these words begin, on a line that holds `within`, too."""
    for y, line in enumerate(lines(app)):
        if words in line and within in line:
            return line.index(words), y
    raise AssertionError(f"{words!r} is not there:\n{screen_text(app)}")


async def click(pilot: Pilot[None], at: tuple[int, int], **options: int) -> None:
    await pilot.click(offset=at, **options)
    await settle(pilot)


@pytest.mark.parametrize("way", ["click", "letter", "enter"])
async def test_what_the_right_button_offers_is_done(way: str) -> None:
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2")
        listing = app.screen.query_one(MemoryList)
        await pilot.click(listing, offset=(20, 3), button=3)
        await settle(pilot)
        if way == "click":
            await click(pilot, place(app, "mark  "))
        elif way == "letter":
            x, y = place(app, "mark  ")
            await press(pilot, lines(app)[y][x - 3])
        else:
            await press(pilot, *["j"] * 7, "enter")
        assert app.screen is listing.screen
        assert len(listing.marks) == 1
        assert listing.cursor == 4, "a mark goes on to the next row"


async def test_a_click_beside_a_menu_closes_it_and_only_the_left_button_takes() -> None:
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "s")
        await click(pilot, place(app, "importance", within="stored"), button=3)
        assert isinstance(app.screen, ChooseOne)
        await click(pilot, (1, 30))
        assert isinstance(app.screen, BrowseScreen)
        assert app.screen.wish.query.sort == "-timestamp"


LISTS = {"Mend": "2 f", "Journal": "6", "Health": "9", "Transfer": "5"}
"""The keys that lead to a list."""


@pytest.mark.slow
async def test_the_right_button_offers_the_keys_of_every_list(demo_store: Path, tmp_path: Path) -> None:
    async with locked(demo_store, tmp_path) as (app, pilot):
        for name, keys in LISTS.items():
            await press(pilot, *keys.split())
            rows = app.screen.focused
            assert isinstance(rows, RowList), name
            under = app.screen
            last = max(i for i, row in enumerate(rows._rows) if row.key and rows._tops[i] < rows.size.height)
            await pilot.click(rows, offset=(4, rows._tops[last]), button=3)
            await settle(pilot)
            assert isinstance(app.screen, ChooseOne), name
            assert rows.key == rows._rows[last].key, name
            able = [
                key
                for active in under.active_bindings.values()
                if active.enabled and (key := app.keys.key(active.binding.id)) is not None
            ]
            offered = [option.value for option in app.screen._options]
            assert set(offered) <= {key.id for key in able}, name
            assert not any(id.startswith("app.") for id in offered), name
            await press(pilot, "escape")
            assert app.screen is under, name
            while len(app.screen_stack) > 1:
                app.screen.dismiss(None)
                await settle(pilot)


async def test_a_key_that_cannot_act_says_why_when_it_is_clicked(demo_engine: Engine) -> None:
    async with running(demo_engine, (200, 50)) as (app, pilot):
        await press(pilot, "3")
        bar = app.screen.query_one(KeyBar)
        dim = [key for key, able, _ in bar._keys if not able]
        assert dim, "nothing was asked yet"
        await click(pilot, place(app, dim[0].title, within="^p"))
        assert app.screen.query_one(FlashLine).text.startswith(f"{dim[0].title}: ")


@pytest.mark.parametrize("edge", [0, -1], ids=["the detail's edge", "the list's edge"])
async def test_an_edge_is_dragged_as_far_as_it_goes_and_back(edge: int) -> None:
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2")
        panel = app.screen.query_one("#detail")
        usual = panel.region.width

        async def drag(columns: int) -> None:
            at = panel.region.x + edge
            await pilot.mouse_down(offset=(at, 10))
            await pilot.hover(offset=(at + columns, 10))
            await pilot.mouse_up(offset=(at + columns, 10))
            await settle(pilot)

        await drag(-3)
        assert panel.region.width == usual + 3
        await drag(-40)  # far more than there is room for
        most = panel.region.width
        assert most > usual + 3
        await drag(2)
        assert panel.region.width == most - 2, "it follows the mouse at once"


async def test_the_edge_of_the_scopes_is_dragged_too() -> None:
    async with running(MemoryEngine(400), (200, 50)) as (app, pilot):
        await press(pilot, "2")
        panel = app.screen.query_one("#scopes")
        width, at = panel.region.width, panel.region.right - 1
        await pilot.mouse_down(offset=(at, 10))
        await pilot.hover(offset=(at + 3, 10))
        await pilot.mouse_up(offset=(at + 3, 10))
        await settle(pilot)
        assert panel.region.width == width + 3


async def test_at_the_edge_of_the_screen_nothing_is_dragged() -> None:
    async with running(MemoryEngine(400), (80, 24)) as (app, pilot):
        await press(pilot, "2", "less_than_sign", "greater_than_sign", "greater_than_sign")
        assert app.screen.wish.shape.nudge == 0
        await pilot.mouse_down(offset=(79, 10))
        await pilot.hover(offset=(70, 10))
        await pilot.mouse_up(offset=(70, 10))
        await settle(pilot)
        assert app.screen.wish.shape.nudge == 0


async def test_a_key_in_a_frame_is_pressed_by_a_click() -> None:
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "s")
        await click(pilot, place(app, "close", within="enter select"))
        assert isinstance(app.screen, BrowseScreen)
        assert app.screen.wish.query.sort == "-timestamp"
        await press(pilot, "s", "j")
        await click(pilot, place(app, "enter select", within="close"))
        assert isinstance(app.screen, BrowseScreen)
        assert app.screen.wish.query.sort != "-timestamp"
