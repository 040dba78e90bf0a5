"""Opens the app on a large table, pages and filters, goes to three places: `app_memory.py FOLDER`.

Prints the resident megabytes at each as JSON, and the most that there were in between.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import psutil
from textual.pilot import Pilot

from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener
from tests.benchmarks import smooth_keys
from tests.benchmarks.peak import peak_mb
from tests.tui.driving import press, type_text

PLACES = ("home", "browse", "lifecycle", "home")

PAGED = ("pagedown", "pagedown", "G", "pageup", "g", "S")
FILTERED = ("tier:core scope:agent:* imp>0.5", "postgres friday")
"""What is done on Browse: pages at both ends, another order; a filter by columns, and one by words."""


async def visit(folder: str) -> dict[str, float]:
    """Resident megabytes after each place, when nothing is being read any more."""
    real = opener({}, Path(folder), writable=True)
    app = MemtuiApp(
        folder, opener=real, now=lambda: smooth_keys.NOW_MS, environ=dict(os.environ), steady=True
    )
    found: dict[str, float] = {}
    async with app.run_test(size=(160, 48)) as pilot:
        async with asyncio.timeout(smooth_keys.WAIT_S):
            while app.session.phase != "ready":
                await asyncio.sleep(0.02)
        await smooth_keys.at_work(app)
        for number, place in enumerate(PLACES):
            await app.action_go(place)
            await smooth_keys.rest(app)
            await smooth_keys.at_work(app)
            assert app.current_mode == place, app.current_mode
            if place == "browse":
                await page_and_filter(app, pilot)
                found["paged and filtered, peak"] = peak_mb()
            found[f"{number} {place}"] = psutil.Process().memory_info().rss / 1e6
    return {**found, "peak": peak_mb()}


async def page_and_filter(app: MemtuiApp, pilot: Pilot[None]) -> None:
    """As a person does it, by keys."""
    turns = smooth_keys.Turns(asyncio.get_running_loop())
    for key in PAGED:
        await smooth_keys.press(app, turns, "browse", key)
        await smooth_keys.at_work(app)
    for text in FILTERED:
        await press(pilot, "slash")
        await type_text(pilot, text)
        await press(pilot, "enter")
        async with asyncio.timeout(smooth_keys.WAIT_S):
            while (total := matching(app, text)) is None:
                await asyncio.sleep(0.02)
        await smooth_keys.at_work(app)
        assert 0 < total < app.session.info.rows, text  # type: ignore[union-attr]
        await press(pilot, "escape", "escape")
        await smooth_keys.at_work(app)


def matching(app: MemtuiApp, text: str) -> int | None:
    """How many memories Browse shows for a filter, None while it does not yet."""
    state = app.screen.state  # type: ignore[attr-defined]
    done = state.view is not None and state.view.query.filter == text and not state.waiting
    return int(state.view.total) if done else None


if __name__ == "__main__":
    smooth_keys.WAIT_S = 600.0  # reading a million rows on a busy machine
    print(json.dumps(asyncio.run(visit(sys.argv[1]))))
