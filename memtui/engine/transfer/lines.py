"""Lines of a file of any size, one at a time: bounded, numbered, without the byte order mark."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from memtui.engine.transfer.text import byte_order_mark

MAX_LINE = 64 * 1024**2
"""Bytes of one line; a longer one is left out and said so."""
_SKIPPED = 1 << 20
_GZIP = b"\x1f\x8b"


class Readable(Protocol):
    """A buffered binary file: of a folder, an archive or a gzip stream."""

    def peek(self, size: int = 0, /) -> bytes: ...

    def read(self, size: int = -1, /) -> bytes: ...

    def readline(self, size: int = -1, /) -> bytes: ...

    def close(self) -> None: ...


def open_bytes(path: Path) -> Readable:
    """The bytes of a file; of a gzip file what it unpacks to, which is never held whole."""
    handle = path.open("rb")
    return unzipped(handle)


def unzipped(handle: Readable) -> Readable:
    """The same bytes, unpacked where they are a gzip stream."""
    if handle.peek(2)[:2] != _GZIP:
        return handle
    return io.BufferedReader(gzip.GzipFile(fileobj=handle))  # type: ignore[call-overload]


def numbered(handle: Readable) -> Iterator[tuple[int, bytes | None]]:
    """(number from 1, bytes without the line end) of each line; None for one longer than `MAX_LINE`."""
    length, encoding = byte_order_mark(handle.peek(4)[:4])
    handle.read(length)
    if encoding.startswith("utf-16"):  # a line feed is two bytes here; such files are small
        text = handle.read(MAX_LINE).decode(encoding, "replace")
        yield from ((n, line.encode("utf-8", "replace")) for n, line in enumerate(text.splitlines(), 1))
        return
    number = 0
    while line := handle.readline(MAX_LINE):
        number += 1
        if len(line) < MAX_LINE or line.endswith(b"\n"):
            yield number, line.rstrip(b"\r\n")
            continue
        yield number, None  # first, so that who has seen enough need not wait for its end
        while (part := handle.readline(_SKIPPED)) and not part.endswith(b"\n"):
            pass
