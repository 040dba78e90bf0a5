"""The structure of the screens as text, at three sizes: titles, rules, columns, key bar."""

from __future__ import annotations

import threading

import pytest

from memtui.engine import MemtuiError
from memtui.tui.screens.browse import filter_bar
from memtui.tui.startup.open_store import NothingFound
from tests.tui.driving import (
    EACH_SIZE,
    SIZES,
    check_golden,
    make_app,
    press,
    running,
    screen_text,
    settle,
    type_text,
    until,
)
from tests.tui.memory_engine import MemoryEngine


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_home(size):
    async with running(MemoryEngine(4_821), size) as (app, _):
        check_golden(f"home-{size[0]}x{size[1]}", screen_text(app))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_browse(size):
    async with running(MemoryEngine(4_821), size) as (app, pilot):
        await press(pilot, "2", "j", "j")
        check_golden(f"browse-{size[0]}x{size[1]}", screen_text(app))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_browse_filtered_with_an_error(size, monkeypatch):
    monkeypatch.setattr(filter_bar, "APPLY_S", 60.0)  # typing slower than this would apply half of the filter
    async with running(MemoryEngine(4_821), size) as (app, pilot):
        await press(pilot, "2", "slash")
        await type_text(pilot, "tier:core imp>high")
        await press(pilot, "enter")
        check_golden(f"filter-error-{size[0]}x{size[1]}", screen_text(app))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_help_and_palette(size):
    async with running(MemoryEngine(4_821), size) as (app, pilot):
        await press(pilot, "2")
        await press(pilot, "question_mark")
        check_golden(f"help-{size[0]}x{size[1]}", screen_text(app))
        await press(pilot, "escape", "ctrl+p")
        check_golden(f"palette-{size[0]}x{size[1]}", screen_text(app))


SIZE_NAMES = [f"{width}x{height}" for width, height in SIZES]
SCREENS = {"home": "1", "browse": "2", "recall": "3"}


def together(name: str, texts: dict[str, str]) -> None:
    """One golden for a state: the same words on each screen, so they are read beside each other."""
    check_golden(name, "\n".join(f"==== {screen} ====\n{text}" for screen, text in texts.items()))


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_no_store(size):
    looked = NothingFound(("~/.openclaw/openclaw.json", "~/.openclaw/memory"))
    async with running(looked, size) as (app, pilot):
        together(f"no-store-{size[0]}x{size[1]}", await visited(app, pilot))


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_a_store_that_fails(size):
    error = MemtuiError("The file 00000003.lance is missing.", fix="Restore it from a backup of the folder.")
    async with running(error, size) as (app, pilot):
        together(f"failed-{size[0]}x{size[1]}", await visited(app, pilot))


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_a_store_without_a_memory(size):
    async with running(MemoryEngine(0), size) as (app, pilot):
        together(f"empty-{size[0]}x{size[1]}", await visited(app, pilot, "home", "browse"))


@pytest.mark.parametrize("size", EACH_SIZE, ids=SIZE_NAMES)
async def test_a_store_that_is_being_opened(size):
    gate = threading.Event()

    def slow():
        gate.wait(60)
        return NothingFound(())

    app = make_app(slow)
    try:
        async with app.run_test(size=size) as pilot:
            texts = {}
            for screen, key in SCREENS.items():
                await pilot.press("escape", key)
                await until(pilot, lambda: not app.typed_ahead)
                await pilot.pause()
                texts[screen] = screen_text(app)
            together(f"opening-{size[0]}x{size[1]}", texts)
            gate.set()
            await settle(pilot)
    finally:
        gate.set()


async def visited(app, pilot, *screens: str) -> dict[str, str]:
    """What each of the three screens says, or these of them."""
    texts = {}
    for screen in screens or SCREENS:
        await press(
            pilot, "escape", SCREENS[screen]
        )  # a question is being typed where there is a line for one
        texts[screen] = screen_text(app)
    return texts


async def test_without_box_characters():
    async with running(MemoryEngine(4_821), (80, 24), environ={"MEMTUI_GLYPHS": "ascii"}) as (app, pilot):
        await press(pilot, "2")
        text = screen_text(app)
        check_golden("ascii-80x24", text)
        drawn = [char for char in text if not char.isascii()]
        assert set(drawn) <= set("会议记录：部署窗口在星期二和星期四")
