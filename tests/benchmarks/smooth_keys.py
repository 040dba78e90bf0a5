"""Drives the app on a store and measures each turn of its event loop: `python smooth_keys.py FOLDER KEYS [once]`.

Prints JSON: the milliseconds of processor time that a turn took, for each screen, when it was opened for the first
time and while KEYS keys were pressed on it. While a turn lasts no key is heard, so the longest is how late one can be.
Other programs on the machine do not count, nor do the threads that read the store. With `once` the garbage collector
leaves alone what was there at the start, and works when it likes from then on.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import time
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from textual import events

from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener
from memtui.tui.startup.preload import GcTuning, load_all

NOW_MS = 1_788_264_000_000


@dataclass(frozen=True)
class Stop:
    """A screen: how it is opened (a mode, or keys on the screen before), what is pressed there."""

    name: str
    screen: str
    keys: tuple[str, ...]
    opened: tuple[str, ...] = ()


STOPS = (
    Stop("home", "HomeScreen", ("j", "j", "tab", "pagedown", "k", "shift+tab", "j", "G", "tab")),
    Stop("help", "HelpOverlay", ("j", "pagedown", "k", "G", "g"), ("question_mark",)),
    Stop("palette", "Palette", ("down", "e", "up", "backspace", "down", "tab"), ("ctrl+p",)),
    Stop(
        "browse",
        "BrowseScreen",
        ("j", "pagedown", "j", "G", "k", "pageup", "space", "g", "tab", "j", "shift+tab", "v", "j", "v"),
    ),
    Stop("recall", "RecallScreen", ("escape", "j", "tab", "k", "pagedown", "shift+tab", "j")),
    Stop("what if", "WhatIfScreen", ("j", "L", "tab", "k", "H", "shift+tab"), ("escape", "p")),
    Stop(
        "compare",
        "CompareScreen",
        ("j", "tab", "pagedown", "k", "shift+tab"),
        ("escape", "equals_sign", "e", "enter"),
    ),
    Stop("cases", "CasesScreen", ("j", "tab", "k", "shift+tab"), ("escape", "T")),
    Stop("lifecycle", "LifecycleScreen", ("j", "tab", "pagedown", "k", "shift+tab", "j", "G", "tab")),
    Stop("transfer", "TransferScreen", ("j", "k", "tab", "shift+tab", "j")),
    Stop("journal", "JournalScreen", ("j", "k", "tab", "shift+tab")),
)
QUESTION = "which database for a new service"
WAIT_S = 120.0


class OneFreeze(GcTuning):
    """Loads ahead as the app does; of the collector, nothing but one freeze after the start."""

    def begin(self) -> None:
        gc.freeze()
        self._app.run_worker(lambda: load_all(self._stop), thread=True, group="ahead", exit_on_error=False)


class Turns:
    """Times every turn of a loop by the processor time of its thread."""

    def __init__(self, loop: Any) -> None:
        self.ms: list[float] = []
        self.what = ""
        self.worst: dict[str, float] = {}
        turn = loop._run_once

        def timed() -> None:
            start = time.thread_time()
            turn()
            spent = (time.thread_time() - start) * 1000
            self.ms.append(spent)
            self.worst[self.what] = max(self.worst.get(self.what, 0.0), spent)

        loop._run_once = timed

    def taken(self) -> dict[str, float]:
        """Percentiles of the turns since the last time, in milliseconds; the idle ones do not count."""
        turns = sorted(each for each in self.ms if each > 0.05) or [0.0]
        self.ms.clear()
        at = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
        found = {name: turns[min(len(turns) - 1, int(part * len(turns)))] for name, part in at.items()}
        return {**found, "max": turns[-1], "turns": len(turns)}


async def rest(app: MemtuiApp, turns: int = 4) -> None:
    """Until nothing is ready to run, several turns in a row."""
    loop: Any = asyncio.get_running_loop()
    quiet = 0
    while quiet < turns:
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1


async def at_work(app: MemtuiApp) -> None:
    """Until no engine call runs any more."""
    async with asyncio.timeout(WAIT_S):
        while app.workers:
            await asyncio.sleep(0.01)
        await rest(app)


async def press(app: MemtuiApp, turns: Turns, name: str, key: str) -> None:
    turns.what = f"{name} {key}"
    event = events.Key(key, key if len(key) == 1 else None)
    event.set_sender(app)
    app._driver.send_message(event)  # type: ignore[union-attr]
    await rest(app)
    app.screen._on_timer_update()
    await rest(app)


async def opened(app: MemtuiApp, turns: Turns, stop: Stop) -> None:
    """Open a stop: by keys on the screen before, or as a mode, when whatever stood over the last one is closed."""
    if stop.opened:
        for key in stop.opened:
            await press(app, turns, f"{stop.name} opened by", key)
            await at_work(app)
        return
    turns.what = f"{stop.name} opened"
    app.call_next(app.run_action, f"app.go('{stop.name}')")  # by its digit, unless a line is being typed
    await rest(app)
    app.screen._on_timer_update()
    await at_work(app)
    if stop.name == "recall":
        for char in QUESTION:
            await press(app, turns, stop.name, "space" if char == " " else char)
        await press(app, turns, stop.name, "enter")
        await at_work(app)


async def drive(folder: str, keys: int, *, once: bool = False) -> dict[str, Any]:
    real = opener({}, Path(folder), writable=True)
    app = MemtuiApp(folder, opener=real, now=lambda: NOW_MS, environ=dict(os.environ), steady=True)
    if once:
        app._steady = OneFreeze(app)
    found: dict[str, Any] = {}
    async with app.run_test(size=(160, 48)):
        turns = Turns(asyncio.get_running_loop())
        turns.what = "start"
        async with asyncio.timeout(WAIT_S):
            while app.session.phase != "ready":
                await asyncio.sleep(0.02)
        await at_work(app)
        start = turns.taken()
        for stop in STOPS:
            await opened(app, turns, stop)
            async with asyncio.timeout(WAIT_S):
                while type(app.screen).__name__ != stop.screen:
                    await asyncio.sleep(0.01)
            await at_work(app)
            screen = app.screen
            first = turns.taken()
            for key in islice(cycle(stop.keys), keys):
                await press(app, turns, stop.name, key)
            await at_work(app)
            found[stop.name] = {"opened": first, "keys": turns.taken(), "screen": type(screen).__name__}
            if stop.opened:
                turns.what = f"{stop.name} closed"
                while len(app.screen_stack) > 1:
                    await app.pop_screen()
                await at_work(app)
    slow = sorted(turns.worst.items(), key=lambda pair: -pair[1])[:12]
    rows = app.session.info.rows if app.session.info else 0
    return {"rows": rows, "start": start, "screens": found, "slowest": slow}


def work() -> None:
    """A fixed amount of plain Python: what the milliseconds of this machine, at this time, are worth."""
    total: dict[int, int] = {}
    for i in range(100_000):
        total[i & 1023] = total.get(i & 1023, 0) + i


def unit_ms() -> float:
    spent = []
    for _ in range(15):
        start = time.thread_time()
        work()
        spent.append((time.thread_time() - start) * 1000)
    return sorted(spent)[len(spent) // 2]


def main(folder: str, keys: int, *, once: bool = False) -> None:
    before = unit_ms()
    found = asyncio.run(drive(folder, keys, once=once))
    found["unit_ms"] = (before + unit_ms()) / 2
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), once="once" in sys.argv[3:])
