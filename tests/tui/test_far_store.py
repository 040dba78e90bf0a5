"""The app on a store far away: a first page at once, the rest behind it with its megabytes, no key lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine.store.create import create_own
from memtui.settings import load_settings
from memtui.tui.app import MemtuiApp
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.startup.open_store import opener
from tests.conftest import NOW_MS
from tests.engine.counting_proxy import CountingProxy, counting_proxy
from tests.engine.object_storage import BUCKET, object_service, options, rows, settings_text
from tests.tui.driving import lines, press, screen_text, settle, until

MANY = 20_000


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with object_service() as endpoint:
        create_own(f"s3://{BUCKET}/team", rows(MANY), options(endpoint))
        yield endpoint


@pytest.fixture
def proxy(service: str) -> Iterator[CountingProxy]:
    with counting_proxy(service) as found:
        yield found


def far_app(proxy: CountingProxy, home: Path, *, writable: bool = False) -> MemtuiApp:
    file = home / "config.toml"
    file.write_text(settings_text(proxy.endpoint), encoding="utf-8")
    environ = {
        "HOME": str(home),
        "MEMTUI_GLYPHS": "unicode",
        "TEAM_KEY": "someone",
        "TEAM_SECRET": "something",
    }
    settings = load_settings(file, environ)
    return MemtuiApp(
        "team",
        opener=opener(environ, home, settings=settings, writable=writable),
        now=lambda: NOW_MS,
        environ=environ,
    )


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_what_was_written_last_is_there_before_the_rest(
    proxy: CountingProxy, tmp_path: Path, size: tuple[int, int]
) -> None:
    app = far_app(proxy, tmp_path)
    proxy.held = threading.Event()
    async with app.run_test(size=size) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: f"gauge {MANY - 1} of the weir" in screen_text(app))
        assert app.session.early
        await pilot.press("j", "j", "j")
        await until(pilot, lambda: "4 / 50" in screen_text(app))
        assert "written last" in screen_text(app)
        listing = app.screen.query_one(MemoryList)
        held = listing.current
        assert held is not None
        proxy.held.set()
        await settle(pilot)
        assert not app.session.early
        assert f"4 / {MANY:,}" in screen_text(app)
        assert listing.current == held
        assert "written last" not in screen_text(app)


async def test_keys_that_come_before_the_rest_are_not_lost(proxy: CountingProxy, tmp_path: Path) -> None:
    app = far_app(proxy, tmp_path)
    proxy.held = threading.Event()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: f"gauge {MANY - 1} of the weir" in screen_text(app))
        await pilot.press("slash", *"cat", "colon", *"fact", "enter", "G")
        proxy.held.set()
        await settle(pilot)
        assert f"{MANY:,} / {MANY:,}" in screen_text(app)
        assert "cat:fact" in lines(app)[1]


async def test_when_the_rest_does_not_come_it_is_said_and_can_be_had_later(
    proxy: CountingProxy, tmp_path: Path
) -> None:
    app = far_app(proxy, tmp_path)
    proxy.held = threading.Event()
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: f"gauge {MANY - 1} of the weir" in screen_text(app))
        proxy.failing = 1.0
        proxy.held.set()
        await settle(pilot)
        assert app.session.early
        assert "r reads the rest" in screen_text(app)
        proxy.failing = 0.0
        await press(pilot, "r")
        assert app.screen.query_one(MemoryList).total == MANY
        assert not app.session.early
