"""Keys typed faster than the engine answers: each is taken by what has the keyboard when the one before is done."""

from __future__ import annotations

import time
from typing import Any

from textual import events

from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.dialogs.palette import Palette
from memtui.tui.screens.browse.memory_list import MemoryList
from tests.tui.driving import press, running, screen_text, settle, until
from tests.tui.memory_engine import MemoryEngine
from tests.tui.test_changing import browsing, pro_store

NAMES = {"/": "slash", " ": "space", ":": "colon", ".": "full_stop", "-": "minus", "?": "question_mark"}


def type_at_once(app: Any, text: str, *after: str) -> None:
    """All of it is in the queue of the app before any of it is handled, as a terminal hands on a paste of keys."""
    for char in text:
        app.post_message(events.Key(NAMES.get(char, char), char))
    for key in after:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


class SlowEngine(MemoryEngine):
    """Takes its time for every list."""

    def view(self, *args: Any, **more: Any) -> Any:
        time.sleep(0.3)
        return super().view(*args, **more)


async def test_a_key_after_enter_is_the_lists_and_waits_for_its_rows(tmp_path):
    async with browsing(pro_store(tmp_path / "store")) as (app, pilot):
        type_at_once(app, "/number 3", "enter", "D")
        await until(pilot, lambda: isinstance(app.screen, ChooseOne))
        browse = app.screen_stack[0]
        assert browse.wish.query.filter == "number 3"
        assert browse.query_one(MemoryList).total == 1
        await settle(pilot)
        assert "Forget 1 memory" in screen_text(app)
        type_at_once(app, "d")
        await until(pilot, lambda: isinstance(app.screen, ChangePreview))
        await settle(pilot)
        assert "Note number 3" in screen_text(app)


async def test_the_same_on_a_hundred_thousand_rows_with_an_engine_that_is_slow():
    async with running(SlowEngine(100_000)) as (app, pilot):
        await press(pilot, "2")
        before = app.screen.query_one(MemoryList).total
        type_at_once(app, "/deploy", "enter", "j", "space", "y")
        await until(pilot, lambda: isinstance(app.screen, ChooseOne))
        browse = app.screen_stack[0]
        assert browse.wish.query.filter == "deploy"
        listing = browse.query_one(MemoryList)
        assert 0 < listing.total < before
        assert listing.cursor >= 1, "j was the new list's"
        assert len(listing.marks) == 1


async def test_escape_never_waits_and_gives_up_what_was_typed_ahead():
    async with running(SlowEngine(10_000)) as (app, pilot):
        await press(pilot, "2")
        type_at_once(app, "/deploy", "enter", "D", "D")
        await until(pilot, lambda: app._holding)
        await until(pilot, lambda: "filtering..." in screen_text(app))
        type_at_once(app, "", "escape")
        await settle(pilot)
        assert not app.typed_ahead
        assert not isinstance(app.screen, ChooseOne)


async def test_keys_after_the_palettes_key_are_the_palettes():
    async with running(MemoryEngine(500)) as (app, pilot):
        type_at_once(app, "2", "ctrl+p")
        type_at_once(app, "arrange sort order", "enter")
        await until(pilot, lambda: isinstance(app.screen, ChooseOne))
        await press(pilot, "escape")
        type_at_once(app, "", "ctrl+p")
        type_at_once(app, "q?x")
        await settle(pilot)
        assert isinstance(app.screen, Palette)
        assert app.screen.query_one("Input").value == "q?x"


async def test_a_standing_filter_is_selected_typing_replaces_it_and_an_arrow_edits_it():
    async with running(MemoryEngine(500)) as (app, pilot):
        await press(pilot, "2")
        type_at_once(app, "/deploy", "enter")
        await settle(pilot)
        type_at_once(app, "/deploy", "enter")
        await settle(pilot)
        assert app.screen.wish.query.filter == "deploy"
        type_at_once(app, "", "slash", "right")
        type_at_once(app, "s", "enter")
        await settle(pilot)
        assert app.screen.wish.query.filter == "deploys"
