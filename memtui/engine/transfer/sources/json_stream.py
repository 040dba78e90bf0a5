"""JSON of any size, item by item: a record array inside a document is never held whole."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memtui.engine.core.errors import MemtuiError
from memtui.engine.transfer.record import Rejected
from memtui.engine.transfer.sources.options import ReadProgress
from memtui.engine.transfer.sources.text import Readable, byte_order_mark, numbered, unzipped

# Why not ijson: a person is told the line of each record, the line and column of a mistake in the words of Python's own
# parser, and the keys that stand twice in an object; ijson knows none of them. tests/engine/test_transfer_text.py holds
# the places against json.loads, tests/engine/test_transfer_nasty.py the keys.

CHUNK = 1 << 18

MAX_ITEM = 64 * 1024**2
"""Characters of one item of an array; a larger one is no memory."""

_WHITE = " \t\n\r"

_LONGEST_INT = 400

_NEAR_END = 16


class BrokenJsonError(MemtuiError):
    """The document is not JSON; `line` and `column` count from 1, `reason` is the parser's."""

    def __init__(self, name: str, reason: str, line: int, column: int) -> None:
        super().__init__(
            f"{name} is not JSON: {reason.removesuffix(' at')} at line {line}, column {column}.",
            fix="Correct it there, or export it again; nothing was imported.",
        )
        self.reason, self.line, self.column = reason, line, column


def whole_number(digits: str) -> int | float:
    """An integer; as a float (perhaps infinite) when it has more digits than Python parses."""
    return int(digits) if len(digits) < _LONGEST_INT else float(digits)


class _Counting:
    """Makes an object of its pairs, and tells the meter of a key that stands in it twice: JSON keeps the last."""

    def __init__(self, meter: ReadProgress) -> None:
        self._meter = meter

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self._meter.repeat(key)
                seen.add(key)
        return made


Decoders = tuple[json.JSONDecoder, json.JSONDecoder]
"""The usual one, and one for integers of any length."""


def decoders(meter: ReadProgress | None) -> Decoders:
    """Decoders that tell `meter` of repeated keys; the plain ones without a meter."""
    if meter is None:
        return _fast, _patient
    hook = _Counting(meter)
    return json.JSONDecoder(object_pairs_hook=hook), json.JSONDecoder(
        object_pairs_hook=hook, parse_int=whole_number
    )


_fast = json.JSONDecoder()

_patient = json.JSONDecoder(parse_int=whole_number)


def loads(text: str, by: Decoders | None = None) -> Any:
    """`json.loads`, for integers of any length too. Raises json.JSONDecodeError or RecursionError."""
    fast, patient = by or (_fast, _patient)
    try:
        return fast.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:  # more digits than Python parses
        return patient.decode(text)


@dataclass(frozen=True, slots=True)
class JsonItem:
    """One value of an array: its place in it, the value, and the line where it begins."""

    index: int
    value: Any
    line: int


class JsonReader:
    """A forward reader of one document. `name` names the file in messages; `meter` is told of repeated keys."""

    def __init__(self, handle: Readable, name: str, meter: ReadProgress | None = None) -> None:
        self._handle = handle
        self._fast, self._patient = decoders(meter)
        self._name = name
        length, encoding = byte_order_mark(handle.peek(4)[:4])
        handle.read(length)
        self._decoder = codecs.getincrementaldecoder(encoding or "utf-8")("strict")
        self._text = ""
        self._at = self._begin = 0
        self._end = False
        self._line, self._column, self._counted = 1, 1, 0
        self._offset = length

    def peek(self) -> str:
        """The next character that is not white space, "" at the end; stays there."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _WHITE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, mark: str) -> None:
        """Go past `mark`; BrokenJsonError when something else is there."""
        if self.peek() != mark:
            raise self._broken(f"Expecting '{mark}'", self._at)
        self._at += 1

    def value(self) -> Any:
        """The next value, whole."""
        self.peek()
        wanted = CHUNK
        while True:
            try:
                value, end = self._decode()
            except RecursionError:
                raise self._broken("it is nested deeper than any memory is", self._at) from None
            except json.JSONDecodeError as error:
                held = len(self._text) - self._at
                cut_off = error.pos >= len(self._text) - _NEAR_END or error.msg.startswith("Unterminated")
                if not cut_off or self._end:
                    raise self._broken(error.msg, error.pos) from None
                if held > MAX_ITEM:
                    raise self._broken(f"one value has more than {MAX_ITEM:,} characters", self._at) from None
            else:
                # A number at the end of what was read may go on.
                if end < len(self._text) or self._end or isinstance(value, str | list | dict):
                    self._begin, self._at = self._at, end
                    return value
            self._more(wanted)
            wanted *= 2

    @property
    def written(self) -> str:
        """The last value, right after it was taken, as it is written in the document."""
        return self._text[self._begin : self._at]

    def items(self) -> Iterator[JsonItem]:
        """The values of the array that comes next."""
        self.take("[")
        if self.peek() == "]":
            self._at += 1
            return
        index = 0
        while True:
            self.peek()
            line = self._here()[0]
            yield JsonItem(index, self.value(), line)
            index += 1
            if self.peek() == "]":
                self._at += 1
                return
            if self.peek() != ",":
                raise self._broken("Expecting ',' delimiter", self._at)
            self._at += 1

    def members(self) -> Iterator[str]:
        """The keys of the object that comes next; after each the caller takes its value before going on."""
        self.take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self._broken("Expecting property name enclosed in double quotes", self._at)
            key = self.value()
            self.take(":")
            yield key
            if self.peek() == "}":
                self._at += 1
                return
            if self.peek() != ",":
                raise self._broken("Expecting ',' delimiter", self._at)
            self._at += 1

    def finish(self) -> None:
        """Check that nothing follows; BrokenJsonError when something does."""
        if self.peek():
            raise self._broken("Extra data", self._at)

    def _decode(self) -> tuple[Any, int]:
        try:
            return self._fast.raw_decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except ValueError:
            return self._patient.raw_decode(self._text, self._at)

    def _more(self, wanted: int = CHUNK) -> bool:
        """Read on; False at the end. What lies before the place is dropped."""
        if self._end:
            return False
        self._forget()
        data = self._handle.read(wanted)
        try:
            self._text += self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise MemtuiError(
                f"{self._name} is not UTF-8: byte {self._offset + error.start} is the first that does not fit.",
                fix="Save it as UTF-8 and try again; nothing was imported.",
            ) from None
        self._offset += len(data)
        self._end = not data
        return not self._end

    def _forget(self) -> None:
        """Drop the text before the place; lines stay counted."""
        self._here()
        self._text = self._text[self._at :]
        self._at = self._counted = 0

    def _here(self) -> tuple[int, int]:
        self._line, self._column = self._position(self._at)
        self._counted = self._at
        return self._line, self._column

    def _position(self, at: int) -> tuple[int, int]:
        """Line and column of a place that is not before the last one counted."""
        lines = self._text.count("\n", self._counted, at)
        if not lines:
            return self._line, self._column + at - self._counted
        return self._line + lines, at - self._text.rfind("\n", 0, at)

    def _broken(self, reason: str, at: int) -> BrokenJsonError:
        return BrokenJsonError(self._name, reason, *self._position(at))


# The two ways in which JSON sources hold records: an array in a document, or one a line.

TOO_LONG = "the line is longer than 64 MiB"

_BUFFER = 1 << 20
"""Bytes that are read at once: a line of gigabytes is otherwise put together of many small pieces."""


@dataclass(frozen=True, slots=True)
class Value:
    """One parsed value and its place in words."""

    value: Any
    where: str


@contextmanager
def opened(path: Path, meter: ReadProgress) -> Iterator[Readable]:
    """The bytes of a file, unpacked where they are gzip; the meter follows the file itself."""
    with io.BufferedReader(path.open("rb", buffering=0), _BUFFER) as handle:
        meter.watch(handle)
        yield unzipped(handle)
    meter.add(path.stat().st_size)


@contextmanager
def open_json(path: Path, meter: ReadProgress) -> Iterator[JsonReader]:
    """A reader of one JSON document."""
    with opened(path, meter) as handle:
        reader = JsonReader(handle, path.name, meter)
        if reader.peek() == '"':  # a document that was written into a text, and that once more as JSON
            inner = reader.value().encode("utf-8", "surrogatepass")
            reader = JsonReader(cast(Readable, io.BufferedReader(io.BytesIO(inner))), path.name, meter)
        yield reader


def unwrapped(value: Any) -> Any:
    """An object or list that was written into a text; any other value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            inner = loads(value)
        except (json.JSONDecodeError, RecursionError):
            return value
        return inner if isinstance(inner, dict) else value
    return value


def items_of(reader: JsonReader) -> Iterator[Value]:
    """The values of the array that comes next."""
    for item in reader.items():
        yield Value(unwrapped(item.value), f"record {item.index + 1}, line {item.line}")


def json_lines(path: Path, meter: ReadProgress) -> Iterator[Value | Rejected]:
    """The values of a file with one JSON value a line; blank lines are none, broken ones are said so."""
    with opened(path, meter) as handle:
        yield from lines_of(handle, meter)


def lines_of(handle: Readable, meter: ReadProgress | None = None) -> Iterator[Value | Rejected]:
    """The same of an open file."""
    by = decoders(meter)
    for number, line in numbered(handle):
        where = f"line {number}"
        if line is None:
            yield Rejected(where, TOO_LONG, broken=True)
            continue
        if not line.strip():
            continue
        parsed = _parsed(line, by)
        if isinstance(parsed, str):
            yield Rejected(where, parsed, broken=True, text=line[:80].decode("utf-8", "replace"))
        else:
            yield Value(unwrapped(parsed[0]), where)


def _parsed(line: bytes, by: Decoders) -> tuple[Any] | str:
    """The value in a tuple, or what is wrong with the line."""
    try:
        return (loads(line.decode("utf-8"), by),)
    except UnicodeDecodeError as error:
        if error.end >= len(line):
            return f"it is cut off inside a character, at byte {error.start + 1}"
        return f"byte {error.start + 1} is not UTF-8"
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg.removesuffix(' at')} at column {error.pos + 1}"
    except RecursionError:
        return "nested deeper than any memory is"
