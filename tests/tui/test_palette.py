"""The palette: everything that can be done from here, by a part of its name."""

from __future__ import annotations

from textual.widgets import Input

from memtui.tui.dialogs.palette import Palette
from memtui.tui.dialogs.palette_entry import PaletteEntry, rank
from memtui.tui.startup.open_store import NothingFound
from memtui.ui_state import store_ui_state
from tests.tui.driving import press, running, screen_text, settle, type_text, until
from tests.tui.memory_engine import MemoryEngine


def entry(name: str, group: str = "COMMANDS", disabled: str = "") -> PaletteEntry:
    return PaletteEntry(group, name, lambda: None, disabled=disabled)


def test_matches_are_ranked_within_their_groups_and_disabled_ones_come_last():
    pool = [
        entry("Sort by age"),
        entry("Reload", disabled="no store"),
        entry("agent:main", "SCOPES"),
        entry("Age"),
    ]
    names = [found.name for found, _ in rank(pool, "age")]
    assert names[0] == "Age"
    assert set(names) == {"Age", "Sort by age", "agent:main"} or "agent:main" in names
    assert [found.name for found, _ in rank(pool, "re")][-1] == "Reload"
    assert [found.name for found, _ in rank(pool, ":")] == ["agent:main"]
    assert len(rank(pool, "")) == 4
    assert rank(pool, "zzz") == []


def test_a_long_hostile_name_is_matched_quickly():
    import time

    start = time.process_time()
    rank([entry("a" * 60 + "b" * 5_000)] * 50, "aaabbbx")
    assert time.process_time() - start < 2


async def test_a_command_is_run_on_the_screen_below():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        assert isinstance(app.screen, Palette)
        await type_text(pilot, "importance")
        await press(pilot, "enter")
        assert app.screen.wish.query.sort == "-importance"


async def test_a_scope_is_gone_to_by_name():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "colon")
        await type_text(pilot, "ines")
        await press(pilot, "enter")
        assert app.screen.wish.query.scopes == ("user:ines",)


async def test_a_theme_is_previewed_and_taken_back():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "%paper")
        await settle(pilot)
        assert app.theme == "paper"
        await press(pilot, "escape")
        assert app.theme == "deep-sea"


async def test_the_direct_key_is_shown_beside_the_command():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        await type_text(pilot, "zoom")
        await settle(pilot)
        line = next(line for line in screen_text(app).split("\n") if "Zoom" in line)
        assert line.rstrip(" │").endswith(" z") or " z " in line


async def test_memories_are_searched_in_the_store_and_shown_in_browse():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "@ines rota")
        await until(pilot, lambda: "MEMORIES" in screen_text(app))
        await press(pilot, "enter")
        await until(pilot, lambda: "[2 Browse]" in screen_text(app))


async def test_hostile_memories_stay_text_in_the_palette(keyword_engine):
    async with running(keyword_engine, (200, 50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "@")
        await until(pilot, lambda: "MEMORIES" in screen_text(app))
        for _ in range(len(app.screen._found)):
            await pilot.press("down")
        await settle(pilot)
        text = screen_text(app)
        assert all(char.isprintable() or char in "\n\u200d" for char in text)


async def test_without_a_store_the_search_says_so():
    async with running(NothingFound(())) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "@port")
        await until(pilot, lambda: "no store is open" in screen_text(app))


async def test_tab_goes_through_the_prefixes_and_keeps_what_was_typed():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "x")
        await press(pilot, "tab")
        assert app.screen.query_one(Input).value == ">x"
        await press(pilot, "tab", "tab", "tab", "tab", "tab", "tab")
        assert app.screen.query_one(Input).value == "x"


async def test_what_cannot_be_done_is_last_with_its_reason_and_does_nothing():
    async with running(NothingFound(()), (160, 40)) as (app, pilot):
        await press(pilot, "2", "ctrl+p")
        await type_text(pilot, ">undo")
        text = screen_text(app)
        assert "DISABLED HERE" in text
        assert "no store is open" in text
        await press(pilot, "enter")
        assert isinstance(app.screen, Palette)


async def test_a_wide_screen_shows_the_whole_of_the_highlighted_entry():
    async with running(MemoryEngine(50), (200, 50)) as (app, pilot):
        await press(pilot, "ctrl+p")
        await type_text(pilot, "?filter")
        await settle(pilot)
        assert app.screen.query_one("EntryPane").display
        assert "The same words in Browse (/) and in" in screen_text(app)


async def test_saved_views_are_offered_on_every_screen(keyword_engine, tmp_path):
    environ = {"MEMTUI_STATE_DIR": str(tmp_path / "state")}
    uri = keyword_engine.info.uri
    store_ui_state(uri, environ).put(
        {"views": {"my plain ones": {"filter": "plain", "scopes": None, "sort": "scope"}}}
    )
    async with running(keyword_engine, environ=environ) as (app, pilot):
        await press(pilot, "1", "ctrl+p")
        await type_text(pilot, "/")
        await settle(pilot)
        assert "my plain ones" in screen_text(app)
        await press(pilot, "enter")
        await until(pilot, lambda: "[2 Browse]" in screen_text(app))
        assert (app.screen.wish.query.filter, app.screen.wish.query.sort) == ("plain", "scope")
