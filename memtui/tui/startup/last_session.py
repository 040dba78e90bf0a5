"""Theme and screen as they were left: for each store, and of the app as a whole for a store never seen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from memtui.engine import MemtuiError, changes, counted
from memtui.engine.changes import LockState
from memtui.tui.appearance import Appearance
from memtui.tui.change_request import ChangeRequests
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.ui_state import UiState

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.changes import Interrupted
    from memtui.tui.startup.session_app import SessionApp


RECENT, MOST_RECENT = "recent", 12
"""The name under which the stores that were opened last are kept, and how many."""


class LastSession:
    """`kept` is the app's own file; without it nothing is read and nothing is kept."""

    def __init__(self, app: SessionApp, kept: UiState | None, look: Appearance) -> None:
        self._app, self._kept, self._look = app, kept, look
        self._uri = ""
        self._opened: list[str] = []
        """The stores of this session, the last one first."""

    def recent(self) -> list[str]:
        """The stores that were opened last, now and before, the present one left out."""
        kept = self._kept.read().get(RECENT) if self._kept is not None else None
        before = [each for each in kept if isinstance(each, str)] if isinstance(kept, list) else []
        return [each for each in dict.fromkeys((*self._opened, *before)) if each != self._uri][:MOST_RECENT]

    def opened(self, uri: str) -> None:
        """A store was found: its theme, and at the start of the app its screen, unless another was gone to."""
        app, before = self._app, self._uri
        self._opened = [uri, *(each for each in self._opened if each != uri)]
        if self._kept is None or uri == before:
            return
        if before:
            file, values = app.ui_state(before), self._look.kept(app.theme, app.current_mode)
            app.run_worker(lambda: file.put(values), thread=True, group="left")
        self._uri = uri
        values = app.ui_state(uri).read()
        if "screen" not in values:
            return
        left = self._look.as_left(values)
        if left.theme in app.themes:
            app.theme = left.theme
        at_rest = (
            len(app.screen_stack) == 1 and not app.typed_ahead
        )  # else what is open, and its keys, would go
        if not before and at_rest and left.screen in app.MODES and app.current_mode == app.DEFAULT_MODE:
            app.call_next(app.switch_mode, left.screen)

    def end(self) -> None:
        """The app goes: keep what it was like."""
        if self._kept is None:
            return
        values = self._look.kept(self._app.theme, self._app.current_mode)
        recent = {RECENT: [self._uri, *self.recent()][:MOST_RECENT]} if self._uri else {}
        self._kept.put({**values, **recent})
        if self._uri:
            self._app.ui_state(self._uri).put(values)


# What an earlier session left behind: changes that were cut off, a lock of a dead program, edits that were not
# applied. Said at start.

LOOK = "look"


async def look_for_mishaps(app: SessionApp, engine: Engine) -> None:
    """Look once, off the event loop; say what was found and offer the ways out."""

    def look() -> tuple[list[Interrupted], LockState, list[str]]:
        left = list(app.unsaved_edits(engine.info.uri).read())
        return changes.find_interrupted(engine), engine.write_state.lock_state(), left

    try:
        interrupted, lock, left = await asyncio.to_thread(look)
    except MemtuiError as error:
        app.fail(error)
        return
    frame = app.frame
    if app.session.engine is not engine or frame is None:
        return
    if interrupted:
        _offer(app, frame.staging, interrupted)
    elif lock.stale:
        app.say(f"The write lock is {lock.phrase}; see the Journal before you change anything.", "error")
    elif left:
        app.say(
            f"Changes that were not applied were kept: {counted(len(left), 'memory', 'memories')} ({left[0][:8]}). "
            "Edit the memory in Browse to go on with them.",
            "note",
        )


def _offer(app: SessionApp, staging: ChangeRequests, interrupted: list[Interrupted]) -> None:
    """The newest change that was cut off, with what can be done about it."""
    first = interrupted[0]
    number = first.entry.entry
    more = f" (and {len(interrupted) - 1} more)" if len(interrupted) > 1 else ""
    app.say(
        f"Entry {number} was cut off: {first.entry.title}. Its change is {first.found.value}.{more}", "error"
    )
    options = [
        Option(LOOK, "preview", "in the Journal", "l"),
        Option("finish", "finish it", "write what is missing", "f"),
        Option("undo", "undo", "the memories as before the change", "u"),
        Option("leave", "close the entry", "no memory is written", "e"),
        Option("later", "later", "the entry stays open in the Journal", "n"),
    ]

    async def answered(value: str | None) -> None:
        if value == "finish":
            staging.finish(number)
        elif value == "undo":
            staging.undo(number)
        elif value == "leave":
            staging.leave(number)
        elif value == LOOK:
            await app.switch_mode("journal")

    app.push_screen(ChooseOne(f"Entry {number} was cut off in the middle{more}", options), answered)
