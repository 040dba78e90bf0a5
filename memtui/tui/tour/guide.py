"""The course of the guided run: which step it is at, and where it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.timer import Timer

from memtui.tui.jump import Jump
from memtui.tui.messages import AskRecall
from memtui.tui.tour.steps import QUESTION, STEPS, THE_END, Seen, Step, look
from memtui.tui.tour.strip import TourStrip

if TYPE_CHECKING:
    from memtui.tui.app import MemtuiApp
    from memtui.ui_state import UiState

SEEN = "guided"
"""The name under which it is kept that somebody was."""
LOOK_S = 0.15
"""How often it is looked whether a step was done; while nobody is guided, never."""


class Guide:
    """Guides through the steps. `kept` remembers that somebody was guided; without it nobody is unasked."""

    def __init__(self, app: MemtuiApp, kept: UiState | None) -> None:
        self._app, self._kept = app, kept
        self._timer: Timer | None = None
        self._at = 0
        self._before: Seen | None = None
        self._strip: TourStrip | None = None

    @property
    def running(self) -> bool:
        """Whether somebody is being guided."""
        return self._timer is not None

    @property
    def at(self) -> int:
        """The number of the step, from 0; as many as there are steps: the end."""
        return self._at

    def offer(self) -> None:
        """Begin when nobody ever was guided here."""
        kept, self._kept = self._kept, None
        if kept is not None and not kept.read().get(SEEN):
            self._app.run_worker(lambda: kept.put({SEEN: True}), thread=True, group="guided")
            self.start()

    def start(self) -> None:
        """Begin, or begin anew."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._app.set_interval(LOOK_S, self.look)
        self._begin(0)

    def stop(self) -> None:
        """Enough."""
        if self._timer is None:
            return
        self._timer.stop()
        self._timer = None
        if self._strip is not None and self._strip.is_attached:
            self._strip.remove()
        self._strip = None
        self._app.screen.refresh_bindings()

    def look(self) -> None:
        """Go on when the step was done, and be seen on whatever is on top."""
        if not self.running or not self._app.screen_stack:
            return
        if self._before is not None and self._step.done(self._before, look(self._app)):
            self._begin(self._at + 1)
        self._show()

    def _begin(self, at: int) -> None:
        self._at, self._before = at, look(self._app)
        if self._step.fill:
            self._app.post_message(AskRecall(QUESTION, run=False))
        self._show()

    @property
    def _step(self) -> Step:
        return STEPS[self._at] if self._at < len(STEPS) else THE_END

    def _show(self) -> None:
        screen = self._app.screen
        if not screen.is_mounted or isinstance(screen, Jump):
            return  # the labels of a jump stand where things were before
        there = self._strip is not None and self._strip.is_attached
        if self._strip is None or not there or self._strip.screen is not screen:
            if self._strip is not None and there:
                self._strip.remove()
            self._strip = TourStrip()
            screen.mount(self._strip)
        self._strip.place = f"{self._at + 1} of {len(STEPS)}" if self._at < len(STEPS) else "done"
        self._strip.why = self._step.why
        self._strip.do = self._app.keys.words(self._step.do)
