"""The app as the parts that open a store see it: its session, and what a person hears of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.reactive import reactive

from memtui.engine import MemtuiError
from memtui.tui.actions.dispatch import KeymapApp
from memtui.tui.session import Session
from memtui.ui_state import UiState


class SessionApp(KeymapApp):
    """An app with a session; its screens hear of every change."""

    session: reactive[Session] = reactive(Session(), always_update=False)

    @property
    def themes(self) -> tuple[str, ...]:
        """Names of the themes that were read from files and can be chosen."""
        raise NotImplementedError

    def unsaved_edits(self, uri: str) -> UiState:
        """Where edits of the store at `uri` are kept until they are applied."""
        raise NotImplementedError

    def ui_state(self, uri: str) -> UiState:
        """What is kept of how the store at `uri` was looked at."""
        raise NotImplementedError

    def store_opened(self) -> None:
        """A store was read for the first time."""

    def fail(self, error: MemtuiError) -> None:
        """A failure of something that has no panel of its own."""
        self.say(str(error), "error")

    def set_session(self, **changes: Any) -> None:
        """Replace parts of the session; every screen that watches it hears of it."""
        self.session = replace(self.session, **changes)
