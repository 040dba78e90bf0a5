"""Whether there is a terminal for the app, and what to say where there is none."""

from __future__ import annotations

import os
import sys

from memtui.engine import UsageError


def require_terminal(called: str) -> None:
    """Raise UsageError where the app, started as `called`, could not be seen or given a key."""
    if "TEXTUAL_DRIVER" in os.environ:  # a page in a browser: memtui serve
        return
    missing = [
        name
        for name, stream in (("input", sys.__stdin__), ("error", sys.__stderr__))
        if stream is None or stream.closed or not stream.isatty()
    ]
    if missing:
        raise UsageError(
            f"{called} opens an app, and standard {missing[0]} is no terminal.",
            fix="In a script, name a command, for example memtui ls; memtui --help lists them.",
        )
