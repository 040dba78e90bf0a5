"""A panel bound to the state of its screen: it paints its part of it, and only while the screen is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, cast

from textual.message import Message
from textual.reactive import var
from textual.timer import Timer
from textual.widget import Widget

from memtui.tui.calls import CallsMixin, EngineCalls
from memtui.tui.host import host
from memtui.tui.messages import FlashKind
from memtui.tui.session import Session
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.screen_bars import FlashLine

S = TypeVar("S")
"""The state of the screen: a frozen value."""


def _same(now: tuple[object, ...], shown: tuple[object, ...] | None) -> bool:
    """Whether nothing of the part differs: plain values by what they are, all others by identity."""
    return shown is not None and all(
        one is other or (isinstance(one, str | int | float | tuple) and one == other)
        for one, other in zip(now, shown, strict=True)
    )


class Bound(Widget, CallsMixin, Generic[S]):
    """Bound to the state of its screen: runs engine calls of its own, and posts what becomes of the state."""

    state: var[S] = var(cast("S", None), init=False)
    """The screen's state; None, which no reader sees, before the screen is mounted."""

    @dataclass
    class Become(Message):
        """The state becomes `change` of it; `ask`: then the engine is asked again."""

        change: Callable[[Any], Any]
        ask: bool = False

    def __init__(self, *children: Widget, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(*children, id=id, classes=classes)
        self.runner = EngineCalls(self)

    @property
    def session(self) -> Session:
        """The app's session."""
        return host(self).session

    def catch_up(self) -> None:
        """Show what is not shown yet: the screen is seen again, or has another size."""

    def become(self, change: Callable[[S], S], *, ask: bool = False) -> None:
        """Change the state of the screen, by a function of what it is then."""
        self.post_message(self.Become(change, ask))

    def flash(self, text: str, kind: FlashKind = "done") -> None:
        """Say one line above the key bar."""
        self.screen.query_one(FlashLine).say(text, kind)

    def on_unmount(self) -> None:
        self.runner.cancel_all()


class BoundPart(Bound[S]):
    """A part of a screen without anything to see but its dialogs."""

    DEFAULT_CSS = "BoundPart { display: none; }"


class BoundPanel(Panel, Bound[S]):
    """A panel that paints `part(state)` by `paint_part`; the screen binds `state` in its `compose`.

    A change behind another screen paints nothing: the panel catches up when its screen is shown again.
    """

    SETTLE_S: ClassVar[float] = 0.0
    """Seconds that the part must have rested before it is painted; 0 paints at once."""

    def __init__(self, *children: Widget, title: str = "", id: str | None = None) -> None:
        super().__init__(*children, title=title, id=id)
        self._shown: tuple[object, ...] | None = None
        self._settling: Timer | None = None

    def part(self, state: S) -> tuple[object, ...]:
        """Return what the panel shows of the state; it is painted again where this differs."""
        raise NotImplementedError

    def paint_part(self, state: S) -> None:
        """Show the state."""
        raise NotImplementedError

    def watch_state(self) -> None:
        self.catch_up()

    def catch_up(self) -> None:
        """Paint the part if it is another than the painted one, and the screen is seen."""
        if self.state is None or not self.is_mounted or not self.screen.is_current:
            return
        if _same(self.part(self.state), self._shown):
            return
        if self._settling is not None:
            self._settling.stop()
        if self.SETTLE_S:
            self._settling = self.set_timer(self.SETTLE_S, self._settled)
        else:
            self._settled()

    @property
    def resting(self) -> bool:
        """Whether a change waits until it has rested for `SETTLE_S`."""
        return self._settling is not None

    def forget(self) -> None:
        """Paint again at the next change even if the part is as it was."""
        self._shown = None

    def _settled(self) -> None:
        self._settling = None
        self._shown = self.part(self.state)
        self.paint_part(self.state)

    def on_mount(self) -> None:
        self.catch_up()
