"""Whatever bytes a terminal sends, the app goes on.

Textual decodes the keyboard strictly and lets its parser fail: one byte that is no UTF-8 (a meta key of eight bits, a
paste in Latin-1) or a number with a colon in an escape sequence ends the thread that reads, and the app with it.
"""

from __future__ import annotations

import os
import re
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

_AT_ONCE = 4_096
"""Bytes that are read of the terminal at a time."""

_LOOK_S = 0.1
"""How often the thread that reads looks whether the app is ending."""

_SEQUENCES = re.compile("(?=\x1b)")


class TerminalInput:
    """The events that bytes of a terminal mean.

    What is no UTF-8 becomes the sign for that; an escape sequence that the parser fails at is dropped, and what comes
    behind it is read on.
    """

    def __init__(self) -> None:
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._parser = XTermParser()

    def feed(self, data: bytes) -> Iterator[Message]:
        """The events of some bytes; none at the end of a sequence that is not complete."""
        for text in _SEQUENCES.split(self._decode(data)):
            if text:  # an empty text ends the parser for good
                yield from self._events(self._parser.feed, text)
        yield from self.tick()

    def tick(self) -> Iterator[Message]:
        """The events of an escape sequence of which no more came in time."""
        yield from self._events(self._parser.tick)

    def _events(self, read: Callable[..., Iterable[Message]], *given: str) -> Iterator[Message]:
        found: list[Message] = []
        try:
            found.extend(read(*given))
        except Exception:  # a parser that failed cannot be used again
            self._parser = XTermParser()
        yield from found


class OpenInput(LinuxDriver):
    """Textual's driver, whose reading no byte ends."""

    def run_input_thread(self) -> None:
        """Read the terminal until the app ends, or nothing more can come."""
        read = TerminalInput()
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                data = None
                if selector.select(_LOOK_S):
                    data = os.read(self.fileno, _AT_ONCE)
                    if not data:
                        return
                for event in read.tick() if data is None else read.feed(data):
                    self.process_message(event)
