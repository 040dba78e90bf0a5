"""Opens the app on a large table, goes to three places, prints the memory at each as JSON: `app_memory.py FOLDER`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import psutil

from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener
from tests.benchmarks import smooth_keys

PLACES = ("home", "browse", "lifecycle", "home")


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
            found[f"{number} {place}"] = psutil.Process().memory_info().rss / 1e6
    return found


if __name__ == "__main__":
    smooth_keys.WAIT_S = 600.0  # reading a million rows on a busy machine
    print(json.dumps(asyncio.run(visit(sys.argv[1]))))
