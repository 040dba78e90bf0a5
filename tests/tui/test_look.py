"""Theme, characters and time zone from the settings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from zoneinfo import ZoneInfo

from memtui.settings import Settings
from memtui.tui.app import MemtuiApp
from memtui.tui.appearance import Appearance
from memtui.tui.paint.numbers import date
from memtui.ui_state import UiState
from tests.conftest import NOW_MS
from tests.tui.driving import press, running, screen_text, settle
from tests.tui.memory_engine import MemoryEngine


def settings(**values: str) -> Settings:
    default = Settings()
    return replace(default, values={**default.values, **values})


def test_the_settings_decide():
    assert Appearance.of(settings(theme="paper", glyphs="ascii", time_zone="utc")) == Appearance(
        "paper", {"MEMTUI_GLYPHS": "ascii"}, UTC, asked="paper"
    )
    assert Appearance.of(settings()).zone is None
    assert Appearance.of(settings(time_zone="Asia/Tokyo")).zone == ZoneInfo("Asia/Tokyo")


def test_an_unknown_zone_is_said():
    look = Appearance.of(settings(time_zone="Mars/Olympus"))
    assert look.zone is None
    assert look.problems == ("There is no time zone Mars/Olympus; local time is used.",)


def test_dates_in_a_zone():
    assert date(NOW_MS) == "2026-09-01 12:00"
    assert date(NOW_MS, ZoneInfo("Asia/Tokyo")) == "2026-09-01 21:00"


async def test_an_unknown_theme_falls_back_and_is_said():
    app = MemtuiApp(
        "x", opener=lambda *_: MemoryEngine(5), now=lambda: NOW_MS, look=Appearance(theme="papper")
    )
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert app.theme == "deep-sea"
        assert "There is no theme papper; deep-sea is used." in screen_text(app)


async def test_the_zone_reaches_the_detail():
    look = Appearance(zone=ZoneInfo("Asia/Tokyo"))
    app = MemtuiApp("x", opener=lambda *_: MemoryEngine(5), now=lambda: NOW_MS, look=look)
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await press(pilot, "2")
        assert "2026-09-01 20:00" in screen_text(app)


def test_a_theme_chosen_in_the_app_counts_until_the_settings_ask_for_another():
    left = Appearance.of(settings(theme="paper")).kept("ember", "browse")
    again = Appearance.of(settings(theme="paper"), left)
    assert (again.theme, again.screen) == ("ember", "browse")
    assert Appearance.of(settings(theme="mono"), left).theme == "mono"
    assert Appearance.of(settings(), {"theme": 7, "theme_asked": "deep-sea", "screen": []}) == Appearance.of(
        settings()
    )


async def test_each_store_comes_back_with_the_screen_and_the_theme_it_was_left_with(tmp_path):
    kept, states = UiState(tmp_path / "ui.json"), {"MEMTUI_STATE_DIR": str(tmp_path / "state")}

    def again(store: str):
        engine = MemoryEngine(5)
        engine.name = store
        return running(engine, kept=kept, look=Appearance.of(None, kept.read()), environ=states)

    async with again("one") as (app, pilot):
        await press(pilot, "2", "f2")
        chosen = app.theme
        assert chosen != "deep-sea"
    kept.put({"another": "memtui wrote this"})
    async with again("two") as (app, pilot):  # never seen: as the app was left
        assert app.theme == chosen
        assert "[2 Browse]" in screen_text(app)
        await press(pilot, "6", "f2")
        assert app.theme != chosen
    async with again("one") as (app, _):
        assert app.theme == chosen
        assert "[2 Browse]" in screen_text(app)
        assert "1 / 5" in screen_text(app)
    assert kept.read()["another"] == "memtui wrote this"
