"""Lines of a file of any size, one at a time: bounded, numbered, without the byte order mark."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from memtui.engine.clean import one_line
from memtui.engine.errors import MemtuiError
from memtui.engine.transfer.text import byte_order_mark

MAX_LINE = 64 * 1024**2
"""Bytes of one line; a longer one is left out and said so."""
_SKIPPED = 1 << 20
_GZIP = b"\x1f\x8b"
_BROKEN = (EOFError, OSError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError)
"""What the standard library raises for damaged archives, unknown methods and passwords among them."""


class Readable(Protocol):
    """A buffered binary file: of a folder, an archive or a gzip stream."""

    def peek(self, size: int = 0, /) -> bytes: ...

    def read(self, size: int = -1, /) -> bytes: ...

    def readline(self, size: int = -1, /) -> bytes: ...

    def close(self) -> None: ...


def open_bytes(path: Path) -> Readable:
    """The bytes of a file; of a gzip file what it unpacks to, which is never held whole."""
    return unzipped(path.open("rb"), path.name)


def unzipped(handle: Readable, name: str = "The file") -> Readable:
    """The same bytes, unpacked where they are a gzip stream; MemtuiError at the byte where it breaks off."""
    if handle.peek(2)[:2] != _GZIP:
        return handle
    return io.BufferedReader(WholeOnly(gzip.GzipFile(fileobj=handle), name, "gzip stream"))  # type: ignore[call-overload]


class WholeOnly(io.RawIOBase):
    """A packed stream whose damage is told as a MemtuiError: cut short, a wrong checksum, a broken block."""

    def __init__(self, packed: IO[bytes], name: str, what: str) -> None:
        self._packed, self._name, self._what = packed, name, what

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with what comes next; how many bytes that was."""
        try:
            data = self._packed.read(len(buffer))
        except _BROKEN as error:
            raise MemtuiError(
                f"{one_line(self._name)} is not a whole {self._what}: {one_line(str(error)).rstrip('.')}.",
                fix="Fetch it again, or make it again where it came from.",
                details=str(error),
            ) from error
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the packed stream, too."""
        self._packed.close()
        super().close()


def numbered(handle: Readable) -> Iterator[tuple[int, bytes | None]]:
    """(number from 1, bytes without the line end) of each line; None for one longer than `MAX_LINE`."""
    length, encoding = byte_order_mark(handle.peek(4)[:4])
    handle.read(length)
    if encoding not in ("", "utf-8"):  # a line feed is more than one byte here
        text = io.TextIOWrapper(handle, encoding, errors="replace", newline="\n")  # type: ignore[type-var]
        for at, each in enumerate(iter(lambda: text.readline(MAX_LINE), ""), 1):
            whole = len(each) < MAX_LINE or each.endswith("\n")
            yield at, each.rstrip("\r\n").encode("utf-8", "replace") if whole else None
        text.detach()
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
