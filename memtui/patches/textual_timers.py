"""Timers that fire once always fire: Textual's may be passed over on a loaded machine.

A timer of Textual works out when it is due and looks at the clock; where that moment has passed already it counts it
as missed and waits for the next, which a timer that fires once does not have. Between the two looks are a few
instructions, so a process that is held up just there for longer than the delay loses the timer: a key that waits its
hundredth of a second waits for ever, and a screen whose painting is put off for a twentieth is never painted again.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from textual.message_pump import MessagePump
from textual.timer import Timer


def never_lose_timers() -> None:
    """Make every timer of `set_timer` fire, however late; again and again it changes nothing more."""
    usual = MessagePump.set_timer
    if hasattr(usual, "__wrapped__"):
        return

    @wraps(usual)
    def set_timer(self: MessagePump, *given: Any, **named: Any) -> Timer:
        timer = usual(self, *given, **named)
        timer._skip = False
        return timer

    MessagePump.set_timer = set_timer  # type: ignore[method-assign]
