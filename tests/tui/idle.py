"""What Textual's pilot waits for between keys: nothing is left to do, looked at instead of guessed from time.

Textual's own wait sleeps 20 ms at a time until the process used little CPU meanwhile, twice a key: most of the time
of a test, and on a busy machine neither enough nor ever over.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any

from textual._context import active_app
from textual.pilot import Pilot
from textual.screen import Screen

from memtui.patches.textual_painting import QuickScreen
from memtui.tui.screens.browse.memory_list import MemoryList

TURNS = 3
"""So many turns of the loop in a row with nothing that is ready to run: what was begun has come to rest."""
MOST_TURNS = 2_000
PATIENCE = 30
"""Looks, at least two milliseconds apart, at an engine call that does not end: a test may hold it back on purpose."""


JUST_S = 0.001
"""So short a time ago is now: nothing was asked of the app since."""

_rested: tuple[object, float] = (None, 0.0)
"""The loop that came to rest last, and when."""


async def at_rest(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until the running app has nothing to do; the arguments are those of Textual's own function."""
    global _rested
    for _ in range(PATIENCE):
        await _loop_quiet()
        _draw()  # what waits for the next frame need not wait for its time
        await asyncio.sleep(0.002)  # a thread that is none of the app's own may have something to say
        await _loop_quiet()
        if not _working() and not undrawn():
            break
    _rested = asyncio.get_running_loop(), monotonic()


async def after_key(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until a key was answered. Textual waits twice a key, before and after animations, and none are played."""
    loop, when = _rested
    running: Any = asyncio.get_running_loop()
    if loop is not running or running._ready or monotonic() - when > JUST_S or _working():
        await at_rest()


async def _loop_quiet() -> None:
    loop: Any = asyncio.get_running_loop()
    quiet = 0
    for _ in range(MOST_TURNS):
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1
        if quiet == TURNS:
            return


def _draw() -> None:
    app = active_app.get(None)
    if app is not None and app.screen_stack:
        app.screen._on_timer_update()


def _working() -> bool:
    """Whether an engine call or a page of a list is on its way."""
    app = active_app.get(None)
    if app is None or not app.screen_stack:
        return False
    return bool(app.workers) or not all(rows.settled for rows in app.screen.query(MemoryList))


def undrawn() -> bool:
    """Whether the screen waits for its next frame, something for what that frame brings, or the app for its size."""
    app = active_app.get(None)
    if app is None or not app.screen_stack:
        return False
    screen: Any = app.screen
    return bool(
        screen._layout_required
        or screen._scroll_required
        or screen._repaint_required
        or screen._recompose_required
        or screen._dirty_widgets
        or screen._callbacks
        or app._resize_event  # the screens hear of it by a timer
    )


_drawn = Screen._compositor_refresh


def _nothing_drawn(screen: Screen[Any]) -> None:
    """In place of painting for a terminal that is not there: a test has drawn what it looks at.

    Two fifths of a test's time went into frames that nobody saw.
    """
    app = screen.app
    if not app.is_headless or app.is_inline or screen is not app.screen:
        _drawn(screen)
        return
    screen._compositor._dirty_regions.clear()
    screen._dirty_widgets.clear()
    app.post_display_hook()
    app._update_mouse_over(screen)


async def _handled(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """Whether every message was handled: nothing is ready to run; Textual sends one more to every widget and waits."""
    await _loop_quiet()
    return True


def install() -> None:
    """Let every pilot wait in this way."""
    import textual.app
    import textual.pilot

    textual.app.wait_for_idle = after_key  # type: ignore[attr-defined]
    textual.pilot.wait_for_idle = at_rest  # type: ignore[attr-defined]
    Pilot._wait_for_screen = _handled  # type: ignore[method-assign]
    for kind in QuickScreen.__mro__:
        if "_compositor_refresh" in vars(kind):
            kind._compositor_refresh = _nothing_drawn  # type: ignore[attr-defined]
