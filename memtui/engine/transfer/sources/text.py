"""From bytes to text: byte order marks, UTF-8, and what to do when it is neither."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import one_line

_SURROGATE = re.compile("[\ud800-\udfff]")

_NUL = re.compile("\x00+")

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before the mark of UTF-16, which it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_HEAD = 1 << 16

_NO_ENCODINGS = (
    "idna",
    "punycode",
    "undefined",
    "unicode_escape",
    "raw-unicode-escape",
    "raw_unicode_escape",
)
"""Codecs of Python that no file is in."""

WINDOWS = "cp1252"

READ_AS_WINDOWS = "not UTF-8: read as Windows-1252; name another encoding where letters are wrong"


class UnreadableTextError(MemtuiError):
    """Bytes that are no text in the encoding that they should be in; `offset` is the first bad byte, from 0."""

    def __init__(self, message: str, *, offset: int, fix: str) -> None:
        super().__init__(message, fix=fix)
        self.offset = offset


def byte_order_mark(head: bytes) -> tuple[int, str]:
    """(length of the mark, encoding) of a text that begins with `head`; (0, "") without a mark."""
    return next(((len(mark), name) for mark, name in _MARKS if head.startswith(mark)), (0, ""))


def encoding_named(name: str, marked: str = "") -> str:
    """The encoding that a person names, for the bytes behind the mark; MemtuiError when there is none of that name.

    `marked` is what the byte order mark says: it knows which way round UTF-16 is.
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    if found is None or not getattr(found, "_is_text_encoding", True) or found.name in _NO_ENCODINGS:
        raise MemtuiError(f"There is no encoding {name}.", fix="Try utf-8, cp1252 or utf-16.")
    plain = found.name.removesuffix("-sig")
    if plain in ("utf-16", "utf-32"):
        return marked if marked.startswith(plain) else f"{plain}-le"
    return plain


def is_wide(head: bytes) -> bool:
    """Whether bytes without a mark look like UTF-16 or UTF-32: every second one or more is a NUL."""
    return head.count(0) > len(head) // 4


def decode(data: bytes, name: str, encoding: str | None = None) -> tuple[str, str]:
    """The text of a whole file and what has to be said about it.

    A byte order mark decides, then `encoding`, then UTF-8; what is no UTF-8 and has no mark is read as
    Windows-1252, said so. Raises UnreadableTextError with the offset of the first bad byte.
    """
    length, marked = byte_order_mark(data)
    wanted = encoding_named(encoding, marked) if encoding else marked or "utf-8"
    if not encoding and not marked and is_wide(data[:_HEAD]):
        raise wide(name)
    try:
        return data[length:].decode(wanted), ""
    except UnicodeDecodeError as error:
        if not encoding and not marked:
            try:
                return data.decode(WINDOWS), READ_AS_WINDOWS
            except UnicodeDecodeError:
                pass
        raise unreadable(name, wanted, marked, length + error.start) from None


def wide(name: str) -> UnreadableTextError:
    """What is said of a text in UTF-16 without a byte order mark: nothing tells which way round it is."""
    return UnreadableTextError(
        f"{name} has NULs between its characters: probably UTF-16 without a byte order mark.",
        offset=0,
        fix="Save it as UTF-8, or name its encoding and form, for example --encoding utf-16-le --format csv.",
    )


def unreadable(name: str, wanted: str, marked: str, offset: int) -> UnreadableTextError:
    """What is said of a text whose byte `offset` does not fit its encoding."""
    begins = " though it begins with its byte order mark" if marked == wanted else ""
    return UnreadableTextError(
        f"{name} is not {wanted.upper()}{begins}: byte {offset} is the first that does not fit.",
        offset=offset,
        fix="Name its real encoding with --encoding, for example cp1252, or save it as UTF-8.",
    )


def storable(text: str) -> tuple[str, str]:
    """`text` as UTF-8 can hold it, and what has to be said: lone surrogates become U+FFFD."""
    if text.isascii():
        return text, ""
    sound = _SURROGATE.sub("\ufffd", text)
    return sound, "" if sound == text else "half of a character pair: shown as U+FFFD"


def without_nul(text: str) -> tuple[str, str]:
    """`text` without NUL characters, and what has to be said about it."""
    if "\x00" not in text:
        return text, ""
    return _NUL.sub("", text), "NUL characters removed"


_LINES, _LONGEST_HEAD = 4, 16 * 1024**2


def beginning_of(path: Path) -> tuple[bytes, bool]:
    """(the first bytes of a file, whether that is all): 64 KiB, more where that is less than four lines of a text."""
    handle = open_bytes(path)
    try:
        data = handle.read(_HEAD)
        while data.count(b"\n") + data.count(b"\r") < _LINES and len(data) < _LONGEST_HEAD:
            more = handle.read(len(data) or 1)
            if not more:
                return data, True
            data += more
        return data, not handle.peek(1)
    finally:
        handle.close()


# Lines of a file of any size, one at a time: bounded, numbered, without the byte order mark.

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
