"""JSON lines: values one by one, whatever stands between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.text import counted

LONGEST_LINE = 32 << 20
"""Bytes of one line; a longer one is skipped and counted."""


def read_values(
    stream: IO[bytes], name: str, warnings: list[str], cancel: CancelToken | None
) -> Iterator[tuple[int, Any]]:
    """(line number, value) of every line that parses; the others are counted into `warnings`, with the file's name."""
    bad: list[int] = []
    number = 0
    try:
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if cancel is not None and number % 256 == 0:
                cancel.check()
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                bad.append(number)
                while (more := stream.readline(LONGEST_LINE)) and not more.endswith(b"\n"):
                    pass
                continue
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                bad.append(number)
                continue
            yield number, value
    except OSError as error:
        warnings.append(f"{name} cannot be read: {error.strerror or error}")
        return
    if bad == [number] and number:
        warnings.append(f"{name} is cut at line {number}, read till there")
    elif bad:
        warnings.append(f"{count_lines(len(bad))} of {name} cannot be read, the first is line {bad[0]}")


def count_lines(count: int) -> str:
    """A number of lines in words."""
    return counted(count, "line")
