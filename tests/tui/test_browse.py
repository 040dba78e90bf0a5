"""Browse: keys to state, with an engine in memory."""

from __future__ import annotations

import threading

import pytest

from memtui.engine import MemtuiError
from memtui.tui.dialogs.choose_one import ChooseOne
from memtui.tui.screens.browse.detail import MemoryDetail
from memtui.tui.screens.browse.filter_bar import FilterBar
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.screens.browse.scope_pane import ScopePane
from memtui.tui.screens.browse.screen import BrowseScreen
from memtui.tui.widgets.state_panel import StatePanel
from tests.tui.driving import lines, press, running, screen_text, settle, type_text, until
from tests.tui.memory_engine import MemoryEngine, memory


def browse(app):
    assert isinstance(app.screen, BrowseScreen)
    return app.screen


async def test_the_cursor_moves_and_the_detail_follows():
    async with running(MemoryEngine(1_000)) as (app, pilot):
        await press(pilot, "2", "j", "j", "down")
        listing = app.screen.query_one(MemoryList)
        assert listing.cursor == 3
        assert app.screen.query_one(MemoryDetail).memory == memory(3)
        await press(pilot, "G")
        assert listing.cursor == 999
        assert app.screen.query_one(MemoryDetail).memory == memory(999)
        assert "1,000 / 1,000" in screen_text(app)
        await press(pilot, "g", "k")
        assert listing.cursor == 0


async def test_a_million_rows_are_fetched_a_few_pages_at_a_time():
    engine = MemoryEngine(1_000_000)
    async with running(engine) as (app, pilot):
        await press(pilot, "2")
        engine.pages.clear()
        await press(pilot, "G")
        assert app.screen.query_one(MemoryDetail).memory == memory(999_999)
        assert len(engine.pages) <= 3
        assert max(offset for offset, _ in engine.pages) == 999_900


async def test_rows_on_their_way_are_skeletons_and_the_old_detail_stays():
    engine = MemoryEngine(1_000)
    async with running(engine) as (app, pilot):
        await press(pilot, "2")
        engine.gate = threading.Event()
        await pilot.press("G")
        await pilot.pause()
        assert "┄┄┄┄" in screen_text(app)
        assert app.screen.query_one(MemoryDetail).has_class("-stale")
        assert app.screen.query_one(MemoryDetail).memory == memory(0)
        engine.gate.set()
        await settle(pilot)
        assert "┄┄┄┄" not in screen_text(app)
        assert app.screen.query_one(MemoryDetail).memory == memory(999)


@pytest.mark.slow
async def test_keys_before_there_is_a_list_wait_for_it():
    gate = threading.Event()

    def slow():
        gate.wait(120)
        return MemoryEngine(50)

    from tests.tui.driving import make_app

    app = make_app(slow)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("2", "G", "j", "pagedown")
        await pilot.pause()
        assert "opening" in screen_text(app)
        gate.set()
        await settle(pilot)
        assert app.screen.query_one(MemoryList).cursor == 49
        assert app.screen.query_one(MemoryDetail).memory == memory(49)


async def test_filtering_while_typing_and_taking_it_back():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "slash")
        await type_text(pilot, "tier:core rota")
        await until(pilot, lambda: browse(app).wish.query.filter == "tier:core rota")
        await settle(pilot)
        assert app.screen.query_one(MemoryList).total == 0
        await press(pilot, "escape")
        assert browse(app).wish.query.filter == ""
        assert app.screen.query_one(MemoryList).total == 400
        assert app.screen.query_one(MemoryList).has_focus


async def test_enter_keeps_the_filter_and_shows_chips():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "slash")
        await type_text(pilot, "tier:core -rota")
        await press(pilot, "enter")
        assert not app.screen.query_one(FilterBar).editing
        assert " tier:core   -rota " in lines(app)[1]
        assert app.screen.query_one(MemoryList).has_focus


async def test_an_error_is_underlined_at_the_exact_characters():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "slash")
        await type_text(pilot, "rota teir:core")
        await settle(pilot)
        listed = app.screen.query_one(MemoryList).total  # of "rota te", perhaps
        await press(pilot, "enter")
        shown = lines(app)
        at = shown[1].index("teir")
        assert shown[2].rstrip() == " " * at + "^^^^"
        assert "tier" in shown[3]
        assert app.screen.query_one(FilterBar).editing
        assert app.screen.query_one(MemoryList).total == listed


async def test_nothing_matches_offers_what_would():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "slash")
        await type_text(pilot, "tier:core zebra")
        await press(pilot, "enter")
        assert "nothing matches" in screen_text(app)
        panel = app.screen.query_one("#list-state", StatePanel)
        assert panel.has_focus
        assert [choice.hint for choice in panel.state.choices] == ["100", "400"]
        await press(pilot, "enter")
        assert browse(app).wish.query.filter == "tier:core"
        assert app.screen.query_one(MemoryList).total == 100
        assert app.screen.query_one(MemoryList).has_focus


async def test_choosing_a_scope_narrows_and_choosing_it_again_widens():
    async with running(MemoryEngine(700)) as (app, pilot):
        await press(pilot, "2", "h", "j", "j", "enter")
        assert browse(app).wish.query.scopes == ("agent:main", "agent:research")
        assert app.screen.query_one(MemoryList).total == 200
        pane = app.screen.query_one(ScopePane)
        assert {line.label for line in pane.lines if line.kind == "kind"} >= {"agent", "project"}
        await press(pilot, "enter")
        assert browse(app).wish.query.scopes is None


async def test_folding_a_kind_hides_its_scopes():
    async with running(MemoryEngine(700)) as (app, pilot):
        await press(pilot, "2", "h", "j", "j", "h")
        pane = app.screen.query_one(ScopePane)
        assert "main" not in [line.label for line in pane.lines]
        await press(pilot, "l")
        assert "main" in [line.label for line in pane.lines]


async def test_a_facet_is_a_term_of_the_filter():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "h")
        pane = app.screen.query_one(ScopePane)
        pane.cursor = next(i for i, line in enumerate(pane.lines) if line.raw == "core")
        await press(pilot, "enter")
        assert browse(app).wish.query.filter == "tier:core"
        pane.cursor = next(i for i, line in enumerate(pane.lines) if line.raw == "core")
        await press(pilot, "enter")
        assert browse(app).wish.query.filter == ""


async def test_sorting_by_chooser_and_by_a_click_on_the_heading():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "s", "i")
        assert browse(app).wish.query.sort == "-importance"
        await press(pilot, "S")
        assert browse(app).wish.query.sort == "importance"
        x = lines(app)[3].index("cat") + 1
        await pilot.click(offset=(x, 3))
        await settle(pilot)
        assert browse(app).wish.query.sort == "category"


async def test_a_link_shows_the_other_memory_and_h_comes_back():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2", "j", "l", "comma")
        detail = app.screen.query_one(MemoryDetail)
        assert detail.memory == memory(0)
        await press(pilot, "h")
        assert app.screen.query_one(MemoryList).has_focus
        assert detail.memory == memory(1)


async def test_zoom_fills_the_body_and_escape_steps_back():
    async with running(MemoryEngine(400), (200, 50)) as (app, pilot):
        await press(pilot, "2", "z")
        assert "Scopes" not in screen_text(app)
        assert app.screen.query_one(MemoryList).has_focus
        await press(pilot, "escape")
        assert "Scopes" in screen_text(app)


async def test_on_a_narrow_screen_scopes_are_an_overlay_and_the_detail_fills_the_body():
    async with running(MemoryEngine(400), (80, 24)) as (app, pilot):
        await press(pilot, "2")
        assert "─ Scopes " not in screen_text(app)
        await press(pilot, "left_square_bracket")
        assert "─ Scopes " in screen_text(app)
        assert app.screen.query_one(ScopePane).has_focus
        await press(pilot, "escape")
        assert "─ Scopes " not in screen_text(app)
        await press(pilot, "enter")
        assert app.screen.query_one(MemoryDetail).has_focus
        assert "made_by" in screen_text(app)


async def test_another_writer_is_noticed_and_r_reloads():
    engine = MemoryEngine(400)
    async with running(engine) as (app, pilot):
        await press(pilot, "2", "j")
        engine.grown = 3
        app._store.watch()
        await settle(pilot)
        assert "3 new, press r" in lines(app)[0]
        assert app.screen.query_one(MemoryList).total == 400
        await press(pilot, "r")
        assert app.screen.query_one(MemoryList).total == 403
        assert app.screen.query_one(MemoryList).cursor == 1
        assert "3 memories more" in screen_text(app)
        assert "press r" not in lines(app)[0]


async def test_a_page_that_cannot_be_read_says_why_and_r_tries_again():
    engine = MemoryEngine(400)
    async with running(engine) as (app, pilot):
        await press(pilot, "2")
        engine.page_error = MemtuiError("data file 3 is missing", fix="Restore the table.")
        await press(pilot, "s", "t")
        text = screen_text(app)
        assert "data file 3 is missing" in text
        assert "Restore the table." in text
        engine.page_error = None
        await press(pilot, "r")
        assert app.screen.query_one(MemoryDetail).memory is not None
        assert "data file 3" not in screen_text(app)


@pytest.mark.slow
async def test_titles_follow_the_size_of_the_terminal():
    async with running(MemoryEngine(400), (80, 24)) as (app, pilot):
        await press(pilot, "2")
        assert "─ 00000000 ─" in screen_text(app)
        await pilot.resize_terminal(120, 36)
        await settle(pilot)
        assert "╭─ Memory ──" in screen_text(app)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert "─ 00000000 ─" in screen_text(app)


async def test_the_right_button_offers_what_can_be_done_with_a_memory():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2")
        listing = app.screen.query_one(MemoryList)
        await pilot.click(listing, offset=(20, 3), button=3)
        await settle(pilot)
        assert isinstance(app.screen, ChooseOne)
        text = screen_text(app)
        assert "why not recalled" in text
        assert "nearest" in text
        await press(pilot, "escape")
        assert listing.cursor == 3


async def test_the_edge_of_the_detail_is_dragged_with_the_mouse():
    async with running(MemoryEngine(400)) as (app, pilot):
        await press(pilot, "2")
        panel = app.screen.query_one("#detail")
        width, at = panel.region.width, panel.region.x
        await pilot.mouse_down(offset=(at, 10))
        await pilot.hover(offset=(at - 4, 10))
        await pilot.mouse_up(offset=(at - 4, 10))
        await settle(pilot)
        assert panel.region.width == width + 4


async def test_rows_of_two_lines_are_a_choice():
    async with running(MemoryEngine(1_000), (80, 24)) as (app, pilot):
        await press(pilot, "2", "j", "j", "Z")
        listing = app.screen.query_one(MemoryList)
        rows = lines(app)
        at = next(i for i, line in enumerate(rows) if "Ines owns the deploy rota" in line)
        assert listing.cursor == 2
        assert "…" not in rows[at]  # what does not fit goes on below, and whose it is stands at its end
        assert "window. #2" in rows[at] + rows[at + 1]
        assert "agent:research" in rows[at + 1]
        await press(pilot, "G")
        assert listing.cursor == 999
        assert any("#999" in line for line in lines(app))
        await press(pilot, "pageup")
        assert 980 < listing.cursor < 999
        await pilot.click(MemoryList, offset=(20, 5))
        await settle(pilot)
        assert listing.cursor == (listing.scroll_offset.y + 5) // 2
