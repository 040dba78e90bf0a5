"""The structure of the screens as text, at three sizes: titles, rules, columns, key bar."""

from __future__ import annotations

import pytest

from memtui.engine import MemtuiError
from memtui.tui.opening import NothingFound
from memtui.tui.screens.browse import filter_bar
from tests.tui.driving import SIZES, check_golden, press, running, screen_text, type_text
from tests.tui.memory_engine import MemoryEngine


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_home(size):
    async with running(MemoryEngine(4_821), size) as (app, _):
        check_golden(f"home-{size[0]}x{size[1]}", screen_text(app))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_browse(size):
    async with running(MemoryEngine(4_821), size) as (app, pilot):
        await press(pilot, "2", "j", "j")
        check_golden(f"browse-{size[0]}x{size[1]}", screen_text(app))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_browse_filtered_with_an_error(size, monkeypatch):
    monkeypatch.setattr(filter_bar, "APPLY_S", 60.0)  # typing slower than this would apply half of the filter
    async with running(MemoryEngine(4_821), size) as (app, pilot):
        await press(pilot, "2", "slash")
        await type_text(pilot, "tier:core imp>high")
        await press(pilot, "enter")
        check_golden(f"filter-error-{size[0]}x{size[1]}", screen_text(app))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_help_and_palette(size):
    async with running(MemoryEngine(4_821), size) as (app, pilot):
        await press(pilot, "2", "question_mark")
        check_golden(f"help-{size[0]}x{size[1]}", screen_text(app))
        await press(pilot, "escape", "ctrl+p")
        check_golden(f"palette-{size[0]}x{size[1]}", screen_text(app))


async def test_no_store():
    async with running(NothingFound(("~/.openclaw/openclaw.json", "~/.openclaw/memory")), (80, 24)) as (
        app,
        _,
    ):
        check_golden("no-store-80x24", screen_text(app))


async def test_a_store_that_fails():
    error = MemtuiError("The file 00000003.lance is missing.", fix="Restore it from a backup of the folder.")
    async with running(error, (80, 24)) as (app, pilot):
        await press(pilot, "2")
        check_golden("failed-80x24", screen_text(app))


async def test_without_box_characters():
    async with running(MemoryEngine(4_821), (80, 24), environ={"MEMTUI_GLYPHS": "ascii"}) as (app, pilot):
        await press(pilot, "2")
        text = screen_text(app)
        check_golden("ascii-80x24", text)
        drawn = [char for char in text if not char.isascii()]
        assert set(drawn) <= set("会议记录：部署窗口在星期二和星期四")
