"""Standard input and output as a way of the protocol: a message a line.

Lines are read on a thread of their own from the moment the process knows its options, so that greetings and malformed
lines are answered while the SDK is still loading, and an interrupt ends the server at once though nothing comes in.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

from memtui.mcp.greeting import Greeting
from memtui.mcp.messages import EDGE_BYTES, MOST_BYTES, Fault, read_message, too_large

CHUNK_BYTES = 64 * 1024

MOST_WAITING = 256
"""Messages that are read before the server takes them; further ones wait in the pipe."""


class StandardStreams:
    """The lines of one client. While it is open, whatever else prints goes to standard error, and reads nothing."""

    def __init__(self, greeting: Greeting) -> None:
        self._greeting = greeting
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(MOST_WAITING)
        self._writing = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._came = asyncio.Event()
        self._greeted: set[str | int] = set()
        self._failure: OSError | None = None
        self._input, self._output = _divert(0, os.open(os.devnull, os.O_RDONLY)), _divert(1, os.dup(2))
        threading.Thread(target=self._read, name="standard input", daemon=True).start()

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """The messages that the server has to answer, until the input ends. OSError as of `write`."""
        self._loop = asyncio.get_running_loop()
        self._came.set()
        while True:
            await self._came.wait()
            self._came.clear()
            with suppress(queue.Empty):
                while (message := self._waiting.get_nowait()) is not None:
                    yield message
                if self._failure is not None:
                    raise self._failure
                return

    def write(self, line: str) -> None:
        """Write a message, whole. OSError where nobody reads."""
        left = memoryview(f"{line}\n".encode("utf-8", "replace"))
        try:
            with self._writing:
                while left:
                    left = left[os.write(self._output, left) :]
        except OSError as failure:
            failure.filename = "<stdout>"
            raise

    def is_greeted(self, id: str | int) -> bool:
        """Whether a request was answered here before the server answers it; said once of each."""
        if id in self._greeted:
            self._greeted.discard(id)
            return True
        return False

    def close(self) -> None:
        """Give standard input and output back."""
        for number, private in ((0, self._input), (1, self._output)):
            os.dup2(private, number)

    # ------------------------------------------------------------------ on the thread

    def _read(self) -> None:
        try:
            for line in self._lines():
                self._hear(line)
        except OSError as failure:
            self._failure = failure
        self._pass_on(None)

    def _lines(self) -> Iterator[bytes | Fault]:
        """The lines as they come; of one that is too large, the fault."""
        held, tail, large = bytearray(), b"", False
        while chunk := os.read(self._input, CHUNK_BYTES):
            first, *further = chunk.split(b"\n")
            for number, part in enumerate((first, *further)):
                if number:  # a line ended before this part
                    yield too_large(bytes(held), tail) if large else bytes(held)
                    held, tail, large = bytearray(), b"", False
                if large:
                    tail = (tail + part)[-EDGE_BYTES:]
                    continue
                held += part
                if len(held) > MOST_BYTES:
                    tail, large = bytes(held[-EDGE_BYTES:]), True
                    del held[EDGE_BYTES:]
        if held:
            yield too_large(bytes(held), tail) if large else bytes(held)

    def _hear(self, line: bytes | Fault) -> None:
        if isinstance(line, bytes) and not line.strip():
            return
        message = line if isinstance(line, Fault) else read_message(line)
        if isinstance(message, Fault):
            if not message.silent:
                self.write(json.dumps(message.as_json()))
            return
        result = self._greeting.answer(message)
        if result is not None:
            self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}))
            if message["method"] != "initialize":
                return
            self._greeted.add(message["id"])  # the server has to know of it all the same
        self._pass_on(message)

    def _pass_on(self, message: dict[str, Any] | None) -> None:
        self._waiting.put(message)
        if self._loop is not None:
            with suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self._came.set)


def _divert(number: int, elsewhere: int) -> int:
    """A private copy of a standard stream, whose number leads elsewhere from now on."""
    private = os.dup(number)
    os.dup2(elsewhere, number)
    os.close(elsewhere)
    return private
