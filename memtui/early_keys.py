"""Keys that are typed while the program starts: from its first moment the terminal hands them on as they were typed."""

from __future__ import annotations

import atexit
import sys
from contextlib import suppress
from typing import Any

_before: list[Any] | None = None


def keep_keys() -> None:
    """Stop the terminal from acting on what is typed before the app reads it; at the end it is as it was.

    In its usual mode it swallows ^s, ends lines with a line feed, and a backspace takes a letter off a line that
    nobody reads. ^c still stops the program. Nothing is done where standard input is no terminal.
    """
    global _before
    if sys.platform == "win32" or _before is not None or sys.stdin is None or not sys.stdin.isatty():
        return
    import termios

    with suppress(termios.error):
        _before = termios.tcgetattr(sys.stdin)
        inputs, outputs, control, local, *speeds, characters = termios.tcgetattr(sys.stdin)
        inputs &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
        local &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
        characters = [*characters]
        characters[termios.VMIN], characters[termios.VTIME] = 1, 0
        new = [inputs, outputs, control, local, *speeds, characters]
        termios.tcsetattr(sys.stdin, termios.TCSANOW, new)
        atexit.register(termios.tcsetattr, sys.stdin, termios.TCSANOW, _before)


def terminal_before() -> list[Any] | None:
    """The terminal's attributes before `keep_keys`, as `termios` gives them; None where it changed nothing."""
    return _before
