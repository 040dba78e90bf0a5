"""What lies around the panels of Health and acts on one of its views: it knows the state, not the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.containers import Container
from textual.message import Message
from textual.widget import Widget

from memtui.tui.calls import CallsMixin, EngineCalls
from memtui.tui.change_request import ChangeRequests
from memtui.tui.messages import Flash, FlashKind
from memtui.tui.screens.health.state import HealthState, View

if TYPE_CHECKING:
    from memtui.engine import Engine


class Area(Container, CallsMixin):
    """The keys of one view; `state` and `engine` are set by the screen."""

    VIEW: View = "doctor"

    class Had(Message):
        """Something was read: fields of the state."""

        def __init__(self, known: dict[str, Any]) -> None:
            super().__init__()
            self.known = known

    def __init__(self, *children: Widget) -> None:
        super().__init__(*children)
        self.state = HealthState()
        self.engine: Engine | None = None
        self.runner = EngineCalls(self)

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    @property
    def seen(self) -> bool:
        """Whether its view is the one that is shown."""
        return self.state.view == self.VIEW

    @property
    def staging(self) -> ChangeRequests:
        """What plans, shows and makes changes of rows."""
        return self.screen.query_one(ChangeRequests)

    def have(self, **known: Any) -> None:
        """Something was read."""
        self.post_message(self.Had(known))

    def flash(self, text: str, kind: FlashKind = "done") -> None:
        """Say one line above the key bar."""
        self.post_message(Flash(text, kind))
