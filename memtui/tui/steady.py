"""No pauses: screens are imported before they are asked for, and the garbage collector sees nothing that stays.

Importing a screen, or looking through all the modules and tables that were loaded, takes a tenth of a second, in which
no key is heard.
"""

from __future__ import annotations

import gc
from threading import Event
from typing import Any

from textual.app import App

from memtui.tui.ahead import load_all

AFTER_S = 1.0
"""A new screen has filled its panels by then."""


class Steady:
    """Loads what will be needed, and freezes what has been loaded: once a store is open, once for every screen."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._seen: set[str] = set()
        self._stop = Event()

    def begin(self) -> None:
        """The app runs now: everything that was imported for it stays, and what may be asked for next is."""
        gc.freeze()
        self._app.run_worker(lambda: load_all(self._stop), thread=True, group="ahead", exit_on_error=False)
        self._app.mode_change_signal.subscribe(self._app, self.loaded)

    def end(self) -> None:
        """The app goes."""
        self._stop.set()

    def loaded(self, what: str) -> None:
        """Something of this name was loaded and will stay."""
        if what not in self._seen:
            self._seen.add(what)
            self._app.set_timer(AFTER_S, gc.freeze)
