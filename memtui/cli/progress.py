"""A progress line on standard error: only on a terminal, gone when the work is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from memtui.engine import Progress

_EVERY_S = 0.1

_BAR = 24


@contextmanager
def shown(stream: TextIO) -> Iterator[Callable[[Progress], None] | None]:
    """The `on_progress` for an engine call that paints a line on a terminal; None where there is no terminal."""
    if not stream.isatty():
        yield None
        return
    line = _Line(stream)
    try:
        yield line.tell
    finally:
        line.clear()


class _Line:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._what = ""
        self._begun = self._told = time.monotonic()
        self._first = 0

    def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.what != self._what:
            self._what, self._begun, self._first = progress.what, now, progress.done
        elif now - self._told < _EVERY_S:
            return
        self._told = now
        self._stream.write(f"\r\x1b[2K{line_of(progress, now - self._begun, progress.done - self._first)}")
        self._stream.flush()

    def clear(self) -> None:
        self._stream.write("\r\x1b[2K")
        self._stream.flush()


def line_of(progress: Progress, seconds: float, moved: int) -> str:
    """What is done, how far, how fast, and how long it will take: one line."""
    if not progress.total:
        return f"{progress.what}  {progress.done:,} {progress.unit}"
    full = round(_BAR * progress.fraction)
    rate = moved / seconds if seconds > 0 else 0.0
    left = (progress.total - progress.done) / rate if rate > 0 else None
    speed = f"  {rate:,.0f} {progress.unit}/s" if rate >= 1 else ""
    time_left = f"  {left:,.0f} s left" if left is not None and left >= 1 else ""
    return (
        f"{progress.what}  [{'#' * full}{'.' * (_BAR - full)}]"
        f"  {progress.done:,} of {progress.total:,} {progress.unit}{speed}{time_left}"
    )
