"""Driving the app in tests: start it on an engine, wait until it is quiet, read the screen as text."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip
from textual.worker import WorkerCancelled

from memtui.patches.textual_painting import painted
from memtui.tui.app import MemtuiApp
from memtui.tui.bound_panel import BoundPanel
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.startup.open_store import NothingFound, SeveralFound
from tests.conftest import NOW_MS

SIZES = ((80, 24), (120, 36), (200, 50))
EACH_SIZE = (SIZES[0], *(pytest.param(size, marks=pytest.mark.slow) for size in SIZES[1:]))
"""For a test that starts the app at each size: at the smallest, where most is cut, it runs with all others."""
GOLDEN = Path(__file__).parent / "golden"
QUIET_S = 120.0
"""A test that waits longer than this, on however busy a machine, has found something that never ends."""


def make_app(engine: Any, *, environ: dict[str, str] | None = None, **options: Any) -> MemtuiApp:
    """The app on this engine (or on what an opener returns: NothingFound, an exception to raise)."""

    def opener(target: object, now: object, report: object, cancel: object) -> Any:
        if isinstance(engine, Exception):
            raise engine
        return engine() if callable(engine) else engine

    found = None if isinstance(engine, NothingFound | SeveralFound) else "test"
    surroundings = {"MEMTUI_GLYPHS": "unicode", **(environ or {})}
    return MemtuiApp(found, opener=opener, now=lambda: NOW_MS, environ=surroundings, **options)


@asynccontextmanager
async def running(
    engine: Any, size: tuple[int, int] = (120, 36), **options: Any
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    """The app, started and settled."""
    app = make_app(engine, **options)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield app, pilot


async def settle(pilot: Pilot[None]) -> None:
    """Wait until no worker runs, every page has arrived and everything has been drawn.

    Two looks in a row must find nothing at work: what one worker brought may start the next, and that another.
    """
    app = pilot.app
    try:
        async with asyncio.timeout(QUIET_S):
            looks = 0
            while looks < 2:
                assert not app.return_code, "the program was stopped by a fault of its own"
                await pilot.pause()
                waited = bool(app.workers)
                await workers_done(app)
                while unsettled(app):
                    assert not app.return_code, "the program was stopped by a fault of its own"
                    waited = True
                    await asyncio.sleep(0.005)
                looks = 0 if waited or app.workers else looks + 1
    except TimeoutError:
        screens = " > ".join(type(screen).__name__ for screen in app.screen_stack)
        at_work = [worker.name for worker in app.workers] + unsettled(app)
        raise AssertionError(f"{screens} never settles: {at_work or 'nothing is at work'}") from None


def unsettled(app: App[Any]) -> list[str]:
    """What the screen still waits for, in words that a failure can be read by."""
    screen = app.screen
    waiting = {
        f"keys typed ahead: {getattr(app, 'typed_ahead', None)}": getattr(app, "typed_ahead", False),
        "not painted": not painted(screen),
        "a new size": app._resize_event is not None,
        "the screen rests": getattr(screen, "resting", False),
        **{f"panel {panel!r} rests": panel.resting for panel in screen.query(BoundPanel)},
        **{f"list {listing!r}": not listing.settled for listing in screen.query(MemoryList)},
    }
    return [what for what, holds in waiting.items() if holds]


async def workers_done(app: App[Any]) -> None:
    """Wait until no worker runs; one that is replaced while it is waited for is no failure."""
    while running_now := list(app.workers):
        try:
            await app.workers.wait_for_complete(running_now)
        except WorkerCancelled:
            await asyncio.sleep(0)
        else:
            return


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    async with asyncio.timeout(QUIET_S):
        while not true():
            await pilot.pause(0.01)


async def walk(pilot: Pilot[None], there: Callable[[], bool], key: Callable[[], str]) -> None:
    """Press `key()` until something has been reached; fail where it never is."""
    for _ in range(60):
        if there():
            return
        await press(pilot, key())
    raise AssertionError(f"not reached; the keyboard is with {pilot.app.focused}")


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys and wait until everything has settled: after a key, too, that has set an engine call going."""
    for key in keys:
        await pilot.press(key)
        if pilot.app.workers:
            await settle(pilot)
    await settle(pilot)


async def type_text(pilot: Pilot[None], text: str) -> None:
    """Type into whatever has the keyboard."""
    names = {
        " ": "space",
        ":": "colon",
        ">": "greater_than_sign",
        "=": "equals_sign",
        '"': "quotation_mark",
        "-": "minus",
    }
    await pilot.press(*(names.get(char, char) for char in text))


def screen_text(app: App[Any]) -> str:
    """The screen as lines of text, without trailing spaces."""
    return "\n".join(strip.text.rstrip() for strip in drawn(app))


def drawn(app: App[Any]) -> list[Strip]:
    """The screen as it would be painted now, with what shines through a dialog."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def lines(app: App[Any]) -> list[str]:
    """The screen, line by line."""
    return screen_text(app).split("\n")


def check_golden(name: str, text: str) -> None:
    """Compare with the recorded text; `WRITE_GOLDEN=1` in the environment records it anew."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    assert path.is_file(), f"{path} is missing: record it with WRITE_GOLDEN=1"
    recorded = path.read_text(encoding="utf-8").rstrip("\n")
    if text != recorded:
        changes = unified_diff(recorded.split("\n"), text.split("\n"), "recorded", "now", lineterm="", n=0)
        raise AssertionError(f"{name} looks different:\n" + "\n".join(changes))
