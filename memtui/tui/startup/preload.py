"""Modules imported in a thread before anybody needs them: importing a screen takes up to a tenth of a second."""

from __future__ import annotations

import gc
import sys
import time
from importlib import import_module
from threading import Event
from time import monotonic

from textual.timer import Timer

from memtui.patches.textual_painting import QuickApp
from memtui.tui.actions.data import ACTIONS

GO = "app.go-"
"""How the ids of the actions that open a screen begin."""

MODES = tuple(id.removeprefix(GO) for id in ACTIONS if id.startswith(GO))
"""The screens, in the order of their tabs: a row `go-NAME` in actions.toml each."""

PARTS = ("screens", "dialogs", "trace", "wizard", "startup", "jump")
"""What of `memtui.tui` is loaded when it is first asked for."""

ENGINE = ("memtui.engine.recall.recipes.pro.recipe", "memtui.engine.transfer.registry")
"""What screens ask the engine for while they are painted."""

PAUSE_S = 0.01
"""Between two modules, so that the thread of the screen is never behind for long."""


def screen_module(mode: str) -> str:
    """The module of a mode's screen."""
    return f"memtui.tui.screens.{mode}.screen"


def load_all(stop: Event) -> None:
    """Import every screen and dialog, those of the modes first, until `stop` is set. For a worker."""
    from pkgutil import walk_packages

    import memtui.tui

    walked = (found.name for found in walk_packages(memtui.tui.__path__, "memtui.tui."))
    rest = (name for name in walked if name.split(".")[2] in PARTS)
    for name in (*map(screen_module, MODES), *ENGINE, *rest):
        if stop.is_set():
            return
        if name not in sys.modules:
            import_module(name)
            time.sleep(PAUSE_S)


# No pauses: screens are imported before they are asked for, and the garbage collector works when no key
# waits.
#
# Importing a screen, or a round of the collector through everything that was loaded, takes a tenth of a
# second, in which no key is heard. So whole rounds never come by themselves. They are made between keys,
# over what is new, which is then left alone; and once more over everything when nobody has touched the
# program for a while.

LOOK_S = 0.2
"""How often to see whether there is something to tidy up."""

ROUNDS = 4
"""So many of the collector's own, smaller rounds, and there is: about 28,000 new objects."""

# How much is new is told in blocks of memory, about two to an object. The objects themselves are never listed
# (`gc.get_objects`): while such a list stands, a tuple that another thread is still filling has two owners, and
# Python ends that thread's work with a SystemError.

MOST = 60_000
"""More blocks than this are not looked through at once: a few milliseconds."""

SETTLED = 40_000
"""As many that are left after a round are a new screen, not the rows of the moment: they stay."""

UNTOUCHED_S = 20.0
"""Nobody is at the keyboard, who would wait for a round over everything."""

GROWN = 200_000
"""New blocks that were left alone are worth such a round, as is a store that was left."""

NEVER = 1_000_000


class GcTuning:
    """Loads what will be needed, and keeps the collector out of the way of keys while the app runs."""

    def __init__(self, app: QuickApp) -> None:
        self._app = app
        self._stop = Event()
        self._before = gc.get_threshold()
        self._timer: Timer | None = None
        self._kept = 0
        """Blocks left alone since everything was last looked through."""
        self._known = 0
        """Blocks in use when what there was was last left alone."""
        self._left = False

    def begin(self) -> None:
        """The app runs now: everything that was imported for it stays, and what may be asked for next is."""
        self._leave_alone()
        self._app.touched = monotonic()
        young, middle, _ = self._before
        gc.set_threshold(young, middle, NEVER)
        self._timer = self._app.set_interval(LOOK_S, self.tidy)
        self._app.run_worker(lambda: load_all(self._stop), thread=True, group="ahead", exit_on_error=False)

    def end(self) -> None:
        """The app goes: the collector is as it was."""
        self._stop.set()
        if self._timer is not None:
            self._timer.stop()
            gc.set_threshold(*self._before)
            gc.unfreeze()

    def loaded(self) -> None:
        """A store was opened, or read again: what was read before is no longer needed."""
        self._left = True

    def tidy(self) -> None:
        """Run a collection: of what is new, or of everything where no key is waiting."""
        if gc.get_count()[2] >= ROUNDS:
            self._new()
        elif (self._left or self._kept > GROWN) and monotonic() - self._app.touched > UNTOUCHED_S:
            gc.unfreeze()
            gc.collect()
            self._leave_alone()
            self._kept, self._left = 0, False

    def _new(self) -> None:
        many = self._fresh() > MOST
        gc.collect(1 if many else 2)
        left = self._fresh()
        alone = len(self._app.screen_stack) == 1  # a dialog goes soon, and with it what was made for it
        if many or (alone and left > SETTLED):
            self._kept += left
            self._leave_alone()

    def _leave_alone(self) -> None:
        gc.freeze()
        self._known = sys.getallocatedblocks()

    def _fresh(self) -> int:
        """Blocks of memory that came since, less those that went."""
        return sys.getallocatedblocks() - self._known
