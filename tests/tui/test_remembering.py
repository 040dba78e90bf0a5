"""Browse remembers: the list as it was left, filters typed before, saved views; and what must not be kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lancedb
import pytest

from memtui.engine import ListQuery
from memtui.tui import saved_state
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.browse.filter_bar import FilterBar
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.screens.browse.state import ListRequest
from tests.tui.driving import press, screen_text, type_text
from tests.tui.test_changing import browsing, listing, pro_store, said

SECRET = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return pro_store(tmp_path / "store")


def kept_file(store: Path) -> dict[str, Any]:
    """What is on disk for this store."""
    (file,) = (store.parent / "state").rglob("ui.json")
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def browse(app: MemtuiApp) -> BrowseScreen:
    screen = app.screen_stack[0]
    assert isinstance(screen, BrowseScreen)
    return screen


async def filtered(pilot: Any, text: str) -> None:
    await press(pilot, "slash")
    await pilot.press(*["backspace"] * 40)
    await type_text(pilot, text)
    await press(pilot, "enter")


@pytest.mark.slow
async def test_the_list_comes_back_as_it_was_left(store):
    lancedb.connect(store).open_table("memories").add_columns({"my rank": "8 - length(text)"})
    async with browsing(store) as (app, pilot):
        await filtered(pilot, "number")
        await press(pilot, "s", *["down"] * 30, "enter")
        await press(pilot, "S", "greater_than_sign", "right_square_bracket", "right_square_bracket")
    async with browsing(store) as (app, pilot):
        wish = browse(app).wish
        assert wish.query == ListQuery(filter="number", sort="-my rank")
        assert (wish.shape.nudge, wish.shape.detail) == (3, False)
        assert "number" in screen_text(app).split("\n")[1]
        assert listing(app).sort == "-my rank"
        assert "my rank▼" in screen_text(app)
        assert "-5 Note number" in screen_text(app)


async def test_rows_of_two_lines_come_back(store):
    async with browsing(store) as (app, pilot):
        await press(pilot, "Z")
        assert listing(app).tall
    async with browsing(store) as (app, pilot):
        assert listing(app).tall
        await press(pilot, "Z")
        assert not listing(app).tall


async def test_another_store_has_a_state_of_its_own(store, tmp_path):
    other = pro_store(tmp_path / "other")
    async with browsing(store) as (app, pilot):
        await filtered(pilot, "number")
        app.take("store", str(other))
        await press(pilot)
        assert browse(app).wish.query.filter == ""


async def test_looking_only_writes_nothing(store):
    async with browsing(store) as (_, pilot):
        await press(pilot, "j", "j", "enter")
    # the log of injections is read off the store at each opening: it is the only thing kept of a look
    assert {file.name for file in (store.parent / "state").rglob("*") if file.is_file()} <= {
        "injections.sqlite"
    }


@pytest.mark.slow
async def test_filters_typed_before_come_back_with_the_arrows(store):
    async with browsing(store) as (app, pilot):
        for text in ("tier:working", "imp>.2", "tier:working"):
            await filtered(pilot, text)
        await press(pilot, "escape")
    async with browsing(store) as (app, pilot):
        bar = browse(app).query_one(FilterBar)
        assert bar.history == ("tier:working", "imp>.2")
        await press(pilot, "slash", "up")
        assert bar.text == "tier:working"
        await press(pilot, "up", "up")
        assert bar.text == "imp>.2"
        await press(pilot, "down", "down")
        assert bar.text == ""
        await press(pilot, "up", "enter")
        assert browse(app).wish.query.filter == "tier:working"
        await press(pilot, "slash", "down")
        assert listing(app).has_focus


@pytest.mark.slow
async def test_a_view_is_saved_shown_found_in_the_palette_and_taken_away(store):
    async with browsing(store) as (app, pilot):
        await filtered(pilot, "imp>.2")
        await press(pilot, "S", "apostrophe", "s")
        await type_text(pilot, "oldest first")
        await press(pilot, "enter")
        assert "saved as oldest first" in said(app)
        assert "view oldest first" in screen_text(app)
    async with browsing(store) as (app, pilot):
        await press(pilot, "escape", "S")
        assert "view oldest" not in screen_text(app)
        await press(pilot, "apostrophe", "enter")
        assert browse(app).wish.query == ListQuery("imp>.2", sort="timestamp")
        await press(pilot, "escape", "ctrl+p", "slash")
        await type_text(pilot, "oldest")
        await press(pilot, "enter")
        assert browse(app).wish.query.filter == "imp>.2"
        await press(pilot, "apostrophe", "D", "down", "enter")  # the cursor rests on "keep them all"
        assert "0 views left" in said(app)
    assert kept_file(store)["views"] == {}


async def test_two_running_at_once_keep_each_others_views(store):
    async with browsing(store) as (first, one):
        async with browsing(store) as (_, two):
            await press(two, "apostrophe", "s")
            await type_text(two, "theirs")
            await press(two, "enter")
        await press(one, "apostrophe", "s")
        await type_text(one, "mine")
        await press(one, "enter")
        assert browse(first).saved_views.views.keys() == {"mine"}
    assert kept_file(store)["views"].keys() == {"mine", "theirs"}


@pytest.mark.slow
async def test_a_secret_in_a_filter_is_not_written_down(store):
    async with browsing(store) as (app, pilot):
        await filtered(pilot, f'"{SECRET}"')
        await press(pilot, "S", "apostrophe", "s")
        await type_text(pilot, "leak")
        await press(pilot, "enter")
        assert "holds a secret" in said(app)
    assert SECRET not in json.dumps(kept_file(store))


@pytest.mark.parametrize(
    "values",
    [
        None,
        [],
        {"filter": 7, "scopes": "all", "sort": "-nothing", "wider": "x"},
        {"filter": "x" * 9_999, "scopes": [1], "sort": None},
    ],
)
def test_a_file_that_makes_no_sense_is_the_start(values):
    assert saved_state.read_wish(values) == ListRequest()
    assert saved_state.read_views(values if not isinstance(values, dict) else {"": {}, "a\nb": {}}) == {}
    assert saved_state.read_filters({"a": 1}) == ()


def test_what_is_kept_is_read_again():
    query = ListQuery('scope:"a b" ~deploys', scopes=("global", None), sort="tier")
    assert saved_state.read_query(json.loads(json.dumps(saved_state.query_values(query)))) == query
    own = json.loads(json.dumps(saved_state.query_values(ListQuery(sort="-rank"))))
    assert saved_state.read_query(own, ("text", "rank")).sort == "-rank"
    assert saved_state.read_query(own, ("text",)).sort == "-timestamp", "the column is no longer there"
