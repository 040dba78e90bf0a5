"""Home: the store at a glance."""

from __future__ import annotations

from textual.app import ComposeResult

from memtui.tui.frame import Frame
from memtui.tui.keys import bindings
from memtui.tui.session import Session
from memtui.tui.widgets.arranged import Arranged
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.state_panel import State, StatePanel


class HomeScreen(Frame):
    """The first screen."""

    MODE = "home"
    BINDINGS = bindings("home")

    def body(self) -> ComposeResult:
        from memtui.tui.layout import home

        yield Arranged(
            *(
                Panel(StatePanel(), title=name, id=name)
                for name in ("store", "growth", "attention", "tiers", "scopes", "categories", "start")
            ),
            arrange=home,
        )

    def session_changed(self, session: Session) -> None:
        for panel in self.query(StatePanel):
            panel.state = State("loading", session.phase, progress=session.progress)
