"""No pauses for the garbage collector: what lives as long as the app is taken out of its sight.

Looking through all the modules and tables that were loaded takes a tenth of a second, in which no key is heard.
"""

from __future__ import annotations

import gc
from typing import Any

from textual.app import App

AFTER_S = 1.0
"""A new screen has filled its panels by then."""


class Steady:
    """Freezes what has been loaded: once a store is open, and once for every screen that is opened."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._seen: set[str] = set()

    def begin(self) -> None:
        """The app runs now: everything that was imported for it stays."""
        gc.freeze()
        self._app.mode_change_signal.subscribe(self._app, self.loaded)

    def loaded(self, what: str) -> None:
        """Something of this name was loaded and will stay."""
        if what not in self._seen:
            self._seen.add(what)
            self._app.set_timer(AFTER_S, gc.freeze)
