"""What was to be done once the screen is drawn is done, though the dialog that lay over it goes meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from memtui.patches.textual_painting import QuickApp, QuickModal, QuickScreen, painted
from tests.tui.driving import QUIET_S


class Below(QuickScreen):
    drawn = 0

    def compose(self) -> ComposeResult:
        yield Static(Content("below"))

    def count(self) -> None:
        self.drawn += 1


class Over(QuickModal[None]):
    def compose(self) -> ComposeResult:
        yield Static(Content("over it"))


async def come(true: Callable[[], bool]) -> None:
    """Wait until it is true; nothing is drawn meanwhile, as a pilot does it."""
    async with asyncio.timeout(QUIET_S):
        while not true():
            await asyncio.sleep(0)


async def test_what_waits_for_a_frame_outlives_the_dialog_that_lies_above() -> None:
    app, below, over, gate = QuickApp(), Below(), Over(), asyncio.Event()
    async with app.run_test(size=(40, 6)):
        try:
            await app.push_screen(below)
            await app.push_screen(over)
            await come(lambda: painted(over))
            over.call_later(gate.wait)  # the dialog is busy, as on a loaded machine
            await come(lambda: not over.message_queue_size)
            below.call_after_refresh(below.count)
            await come(lambda: not below.message_queue_size)
            app.pop_screen()
            await come(lambda: over._pruning)
            over.call_later(over.refresh)  # it comes behind what lets the dialog go
        finally:
            gate.set()
        await come(lambda: not over.is_running)
        await come(lambda: below.drawn == 1)
