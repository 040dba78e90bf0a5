"""Screens that are out of sight do no work: a value of the session is set, and only the seen screen is called."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import pytest
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen

from memtui.engine import Engine
from memtui.tui.app import MemtuiApp
from memtui.tui.startup.preload import MODES
from tests.tui.driving import running, screen_text, settle, until


class Calls:
    """Counts the calls of methods of widgets by the screen that the widget stands on."""

    def __init__(self) -> None:
        self.by_screen: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or "/memtui/tui/" not in frame.f_code.co_filename:
            return
        node = frame.f_locals.get("self")
        if not isinstance(node, DOMNode) or isinstance(node, MemtuiApp) or not node.is_attached:
            return
        screen = next((each for each in node.ancestors_with_self if isinstance(each, Screen)), None)
        if screen is not None:
            self.by_screen[type(screen).__name__] += 1


def ticking(screen: Screen[object]) -> bool:
    """Whether a screen's clock has a last tick to come: it sees that the work is done, and stops."""
    return getattr(screen, "_ticking", None) is not None


async def counted(pilot: Pilot[None], act: Callable[[], None]) -> Counter[str]:
    """The calls by screen from `act` until the app is at rest."""
    calls = Calls()
    sys.setprofile(calls)
    try:
        act()
        await settle(pilot)
    finally:
        sys.setprofile(None)
    return calls.by_screen


@pytest.mark.parametrize(
    "seen", ["browse", *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("home", "journal"))]
)
async def test_a_value_of_the_session_costs_calls_only_in_the_screen_that_is_seen(
    seen: str, demo_engine: Engine
) -> None:
    async with running(demo_engine) as (app, pilot):
        for mode in MODES:
            await app.switch_mode(mode)
            await settle(pilot)
        await app.switch_mode(seen)
        await settle(pilot)
        await until(pilot, lambda: not any(ticking(stack[0]) for stack in app._screen_stacks.values()))
        changed = replace(app.session, newer="3 new", revision=app.session.revision + 1)
        calls = await counted(pilot, lambda: setattr(app, "session", changed))
        assert set(calls) == {type(app.screen).__name__}


async def test_a_screen_that_is_shown_again_knows_the_session_as_it_is_now(demo_engine: Engine) -> None:
    async with running(demo_engine) as (app, pilot):
        await app.switch_mode("journal")
        await settle(pilot)
        await app.switch_mode("home")
        app.set_session(newer="3 new")
        await settle(pilot)
        await app.switch_mode("journal")
        await settle(pilot)
        assert "3 new" in screen_text(app)
