"""Modules imported in a thread before anybody needs them: importing a screen takes up to a tenth of a second."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from threading import Event

MODES = ("home", "browse", "recall", "lifecycle", "transfer", "journal", "capture", "audit", "health")
PARTS = ("screens", "dialogs", "jump", "mishaps", "clipboard", "suspended")
"""What of `memtui.tui` is loaded when it is first asked for."""
ENGINE = ("memtui.engine.recall.recipes",)
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
