"""From bytes to text: byte order marks, UTF-8, and what to do when it is neither."""

from __future__ import annotations

import codecs
import re

from memtui.engine.errors import MemtuiError

_SURROGATE = re.compile("[\ud800-\udfff]")
_NUL = re.compile("\x00+")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
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


def decode(data: bytes, name: str, encoding: str | None = None) -> tuple[str, str]:
    """The text of a whole file and what has to be said about it.

    A byte order mark decides, then `encoding`, then UTF-8; what is no UTF-8 and has no mark is read as
    Windows-1252, said so. Raises UnreadableTextError with the offset of the first bad byte.
    """
    length, marked = byte_order_mark(data)
    wanted = encoding or marked or "utf-8"
    try:
        return data[length:].decode(wanted), ""
    except LookupError:
        raise MemtuiError(f"There is no encoding {wanted}.", fix="Try utf-8, cp1252 or utf-16.") from None
    except UnicodeDecodeError as error:
        if not encoding and not marked:
            try:
                return data.decode(WINDOWS), READ_AS_WINDOWS
            except UnicodeDecodeError:
                pass
        raise _unreadable(name, wanted, marked, length + error.start) from None


def _unreadable(name: str, wanted: str, marked: str, offset: int) -> UnreadableTextError:
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
