"""Theme and screen as they were left: for each store, and of the app as a whole for a store never seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.tui.look import Look
from memtui.ui_state import UiState

if TYPE_CHECKING:
    from memtui.tui.app import MemtuiApp


class AsLeft:
    """`kept` is the app's own file; without it nothing is read and nothing is kept."""

    def __init__(self, app: MemtuiApp, kept: UiState | None, look: Look) -> None:
        self._app, self._kept, self._look = app, kept, look
        self._uri = ""

    def opened(self, uri: str) -> None:
        """A store was found: its theme, and at the start of the app its screen, unless another was gone to."""
        app, before = self._app, self._uri
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
        if not before and left.screen in app.MODES and app.current_mode == app.DEFAULT_MODE:
            app.call_next(app.switch_mode, left.screen)

    def end(self) -> None:
        """The app goes: keep what it was like."""
        if self._kept is None:
            return
        values = self._look.kept(self._app.theme, self._app.current_mode)
        self._kept.put(values)
        if self._uri:
            self._app.ui_state(self._uri).put(values)
