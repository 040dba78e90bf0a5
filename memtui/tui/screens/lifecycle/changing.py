"""Writing from Lifecycle: a remedy, a sweep, what the review decides; always planned, looked at, then applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memtui.engine import ChangeSet, Outcome, RefusedError
from memtui.tui.dialogs.preview import Answer, Preview
from memtui.tui.host import host
from memtui.tui.paint.numbers import full, plural

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.tui.screens.lifecycle.screen import LifecycleScreen

PLAN, APPLY = "plan", "apply"
Plan = Callable[["Engine"], "ChangeSet | tuple[ChangeSet, tuple[str, ...]]"]
"""Plans a change; with sentences to say beside it."""


class Changing:
    """Plans and applies changes for one Lifecycle screen."""

    def __init__(self, screen: LifecycleScreen) -> None:
        self._screen = screen
        self._then: Callable[[], None] | None = None
        """What else to do once it is written."""

    @property
    def forbidden(self) -> str:
        """Why nothing can be written, with what to do; empty when it can."""
        engine = self._screen.session.engine
        if engine is None:
            return "No store is open."
        reason = engine.read_only_because
        if not reason:
            return "A change is being written." if self._screen.runner.busy(APPLY) else ""
        locked = engine.curate.access.verdict == "read-only"
        return reason if locked else f"{reason} Start memtui with --rw to change it."

    def plan(self, make: Plan, then: Callable[[], None] | None = None) -> None:
        """Plan a change and show it; `then` runs when it has been written."""
        screen, engine = self._screen, self._screen.session.engine
        if self.forbidden or engine is None:
            screen.flash(f"Nothing was changed. {self.forbidden}", "error")
            return
        self._then = then
        screen.work(PLAN, lambda cancel: make(engine))

    def answered(self, slot: str, value: Any) -> bool:
        """Take the answer of a call made here; False for another's."""
        if slot == PLAN:
            planned, notes = value if isinstance(value, tuple) else (value, ())
            self._show(planned, notes)
        elif slot == APPLY:
            self._written(value)
        else:
            return False
        return True

    def _show(self, planned: ChangeSet, notes: tuple[str, ...]) -> None:
        screen, engine = self._screen, self._screen.session.engine
        if engine is None:
            return
        planned = planned.leaving_refused()
        if not planned.changes and not planned.conflicts:
            screen.flash(f"{planned.title}: it is so already, nothing to write.", "note")
            return
        access = engine.curate.access

        def said(answer: Answer | None) -> None:
            if answer is None:
                screen.flash("Nothing was changed.", "note")
                return
            screen.work(
                APPLY,
                lambda cancel: engine.curate.apply(
                    answer.change_set, confirmed=answer.confirmed or answer.change_set.destroys
                ),
            )

        stop = access.reason if access.verdict == "confirm" else ""
        warning = "  ".join(part for part in (*notes, access.warning) if part)
        screen.app.push_screen(Preview(planned, warning=warning, stop_agent=stop), said)

    def _written(self, outcome: Outcome) -> None:
        screen = self._screen
        if outcome.entry is None:
            why = outcome.conflicts[0].sentence if outcome.conflicts else "There was nothing to write."
            screen.flash(str(RefusedError(why, fix="Press r to see what is there now.")), "error")
            return
        if self._then is not None:
            self._then()
        done = plural(outcome.changed, "memory", "memories")
        host(screen).take(
            "changed", f"{done} changed (entry {full(outcome.entry)}); u on Browse takes it back"
        )
