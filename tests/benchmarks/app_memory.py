"""Opens the app on a large table, pages and filters, goes to three places: `app_memory.py FOLDER`.

Prints the resident megabytes at each as JSON, and the most that there were in between.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from pathlib import Path

import psutil

from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener
from tests.benchmarks import smooth_keys

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
    async with app.run_test(size=(160, 48)):
        async with asyncio.timeout(smooth_keys.WAIT_S):
            while app.session.phase != "ready":
                await asyncio.sleep(0.02)
        await smooth_keys.at_work(app)
        for number, place in enumerate(PLACES):
            app.call_next(app.run_action, f"app.go_{place}")
            await smooth_keys.rest(app)
            await smooth_keys.at_work(app)
            if place == "browse":
                await page_and_filter(app)
            found[f"{number} {place}"] = psutil.Process().memory_info().rss / 1e6
    return {**found, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}


async def page_and_filter(app: MemtuiApp) -> None:
    """As a person does it, by keys."""
    turns = smooth_keys.Turns(asyncio.get_running_loop())
    for key in PAGED:
        await smooth_keys.press(app, turns, "browse", key)
        await smooth_keys.at_work(app)
    for text in FILTERED:
        before = shown(app)
        for key in ("slash", *("space" if char == " " else char for char in text), "enter"):
            await smooth_keys.press(app, turns, "browse", key)
        await asyncio.sleep(WAITED_S)
        await smooth_keys.at_work(app)
        assert shown(app) != before, text
        for _ in range(2):
            await smooth_keys.press(app, turns, "browse", "escape")
            await smooth_keys.at_work(app)


if __name__ == "__main__":
    smooth_keys.WAIT_S = 600.0  # reading a million rows on a busy machine
    print(json.dumps(asyncio.run(visit(sys.argv[1]))))
