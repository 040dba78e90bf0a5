"""What an earlier session left behind: changes that were cut off, a lock of a dead program. Said at start."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memtui.engine import LockState, MemtuiError
from memtui.tui.dialogs.pick import Option, Pick
from memtui.tui.frame import Frame

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.curate.recover import Interrupted
    from memtui.tui.app import MemtuiApp

LOOK = "look"


async def look_for_mishaps(app: MemtuiApp, engine: Engine) -> None:
    """Look once, off the event loop; say what was found and offer the ways out."""

    def look() -> tuple[list[Interrupted], LockState]:
        return engine.curate.interrupted(), engine.curate.lock_state()

    try:
        interrupted, lock = await asyncio.to_thread(look)
    except MemtuiError as error:
        app.fail(error)
        return
    frame = app.frame
    if app.session.engine is not engine or frame is None:
        return
    if interrupted:
        _offer(app, frame, interrupted)
    elif lock.stale:
        app.say(f"The write lock is {lock.phrase}; see the Journal (6) before you change anything.", "error")


def _offer(app: MemtuiApp, frame: Frame, interrupted: list[Interrupted]) -> None:
    """The newest change that was cut off, with what can be done about it."""
    from memtui.tui.screens.journal.screen import finish

    first = interrupted[0]
    number = first.entry.entry
    more = f" (and {len(interrupted) - 1} more)" if len(interrupted) > 1 else ""
    app.say(
        f"Entry {number} was cut off: {first.entry.title}. Its change is {first.found.value}.{more}", "error"
    )
    options = [
        Option("finish", "finish it", "write what is missing", "f"),
        Option("undo", "take it back", "as it was before", "u"),
        Option(LOOK, "look at it", "in the Journal", "l"),
        Option("later", "later", "it stays in the Journal", "n"),
    ]

    async def answered(value: str | None) -> None:
        if value == "finish":
            finish(frame, number)
        elif value == "undo":
            frame.staging.undo(number)
        elif value == LOOK:
            await app.switch_mode("journal")

    app.push_screen(Pick(f"Entry {number} was cut off in the middle{more}", options, LOOK), answered)
