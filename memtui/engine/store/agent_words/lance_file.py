"""Columns of a file that Lance 2.0 wrote without compression: what a full-text index of version 1 is made of.

The file ends in a footer (where the columns' descriptions stand), each column is a list of pages, each page a list
of buffers (protobuf messages of lance.file.v2 and lance.encodings). Only what an index holds is read: plain
numbers, byte strings, and lists of byte strings.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]


_FOOTER = struct.Struct("<QQQIIHH4s")

_MAGIC = b"LANC"

_VERSIONS = ((0, 3), (2, 0))
"""The two ways in which a file says that it has format 2.0."""

_FLAT, _NULLABLE, _LIST, _BINARY = 1, 2, 4, 6
"""Field numbers of the encodings in lance.encodings.ArrayEncoding."""

Message = dict[int, list[Any]]


class NotReadable(Exception):  # noqa: N818 - an outcome: another reader has to be asked
    """The file is not of the form that is read here; the text says what was met."""


@dataclass(frozen=True, slots=True)
class ColumnPage:
    """One page of a column: where its buffers stand in the file, its rows, and how they are encoded."""

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    rows: int
    encoding: Message


class LanceFile:
    """The columns of the file at `path`, by their order in its schema, and its metadata."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        if path.stat().st_size < _FOOTER.size:
            raise NotReadable(f"{path.name} is too short")
        self.name = path.name
        self.bytes: Numbers = np.memmap(path, dtype=np.uint8, mode="r")
        footer = _FOOTER.unpack(self.raw(len(self.bytes) - _FOOTER.size, _FOOTER.size))
        _, self._columns, self._buffers, self._global, self.width, major, minor, magic = footer
        if magic != _MAGIC or (major, minor) not in _VERSIONS:
            raise NotReadable(f"{path.name} has format {major}.{minor}")

    def raw(self, offset: int, size: int) -> bytes:
        """`size` bytes from `offset`."""
        return self.bytes[offset : offset + size].tobytes()

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The key-value pairs of the schema."""
        offset, size = struct.unpack("<QQ", self.raw(self._buffers, 16))
        described = message(self.raw(offset, size))
        schema = message(described[1][0]) if 1 in described else {}
        pairs = [message(pair) for pair in schema.get(5, [])]
        return {pair[1][0].decode(): pair.get(2, [b""])[0].decode() for pair in pairs}

    def pages(self, column: int) -> list[ColumnPage]:
        """The pages of a column, in order."""
        if column >= self.width:
            raise NotReadable(f"{self.name} has no column {column}")
        offset, size = struct.unpack("<QQ", self.raw(self._columns + 16 * column, 16))
        return [_page(raw) for raw in message(self.raw(offset, size)).get(2, [])]

    def numbers(self, column: int, kind: str) -> Numbers:
        """A column of plain numbers; `kind` is numpy's name of their type ("<u4", "<u8", "<f4")."""
        import numpy as np

        parts = [self._flat(page, _values(page.encoding), kind, page.rows) for page in self.pages(column)]
        return np.concatenate(parts) if parts else np.array([], kind)

    def binary(self, column: int) -> Binary:
        """A column of byte strings."""
        return Binary(self, self.pages(column))

    def list_ends(self, column: int) -> Numbers:
        """For a column of lists: how many items all lists up to and with each one have."""
        import numpy as np

        parts, before = [], 0
        for page in self.pages(column):
            encoded = _only(page.encoding, _LIST, "a list")
            adjustment, items = _number(encoded, 2), _number(encoded, 3)
            ends = self._flat(page, _values(message(encoded[1][0])), "<u8", page.rows)
            parts.append((ends % adjustment if adjustment else ends) + np.uint64(before))
            before += items
        return np.concatenate(parts) if parts else np.array([], "<u8")

    def _flat(self, page: ColumnPage, encoding: Message, kind: str, rows: int) -> Numbers:
        import numpy as np

        flat = _only(encoding, _FLAT, "plain numbers")
        width = np.dtype(kind).itemsize
        if _number(flat, 1) != 8 * width or 3 in flat:
            raise NotReadable(f"{self.name}: numbers of {_number(flat, 1)} bits")
        buffer = _number(message(flat[2][0]), 1) if 2 in flat else 0
        start = page.offsets[buffer]
        return self.bytes[start : start + rows * width].view(kind)


class Binary:
    """A column of byte strings, each read when it is asked for."""

    def __init__(self, file: LanceFile, pages: list[ColumnPage]) -> None:
        self._file = file
        self._pages: list[tuple[int, int, Numbers]] = []
        first = 0
        for page in pages:
            encoded = _only(page.encoding, _BINARY, "byte strings")
            ends = file._flat(page, _values(message(encoded[1][0])), "<u8", page.rows)
            values = _only(message(encoded[2][0]), _FLAT, "plain bytes")
            buffer = _number(message(values[2][0]), 1) if 2 in values else 0
            adjustment = _number(encoded, 3)
            self._pages.append((first, page.offsets[buffer], ends % adjustment if adjustment else ends))
            first += page.rows
        self.rows = first

    def __getitem__(self, row: int) -> bytes:
        """The bytes of a row."""
        first, start, ends = next(page for page in reversed(self._pages) if page[0] <= row)
        at = row - first
        begin = int(ends[at - 1]) if at else 0
        return self._file.raw(start + begin, int(ends[at]) - begin)


def message(raw: bytes) -> Message:
    """A protobuf message: its values by field number, in order; bytes for nested messages."""
    found: Message = {}
    value: int | bytes
    at = 0
    while at < len(raw):
        key, at = _varint(raw, at)
        if key & 7 == 0:
            value, at = _varint(raw, at)
        elif key & 7 == 2:
            size, at = _varint(raw, at)
            value, at = raw[at : at + size], at + size
        elif key & 7 in (1, 5):
            size = 8 if key & 7 == 1 else 4
            value, at = raw[at : at + size], at + size
        else:
            raise NotReadable(f"a message with wire type {key & 7}")
        found.setdefault(key >> 3, []).append(value)
    return found


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(raw):
            raise NotReadable("a message that ends early")
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _packed(values: list[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            number, at = _varint(value, at)
            yield number


def _page(raw: bytes) -> ColumnPage:
    fields = message(raw)
    try:
        direct = message(message(fields[4][0])[2][0])
        encoding = message(message(direct[1][0])[2][0])  # a google.protobuf.Any: its type, then its value
    except KeyError as error:
        raise NotReadable("a page without an encoding") from error
    offsets, sizes = tuple(_packed(fields.get(1, []))), tuple(_packed(fields.get(2, [])))
    return ColumnPage(offsets, sizes, _number(fields, 3), encoding)


def _values(encoding: Message) -> Message:
    """The encoding of the values where no value is missing."""
    if _NULLABLE not in encoding:
        return encoding
    nullable = message(encoding[_NULLABLE][0])
    if 1 not in nullable:
        raise NotReadable("a column with missing values")
    return message(message(nullable[1][0])[1][0])


def _only(encoding: Message, kind: int, name: str) -> Message:
    if kind not in (encoding := _values(encoding)):
        raise NotReadable(f"a column that is not {name}: encoding {sorted(encoding)}")
    return message(encoding[kind][0])


def _number(fields: Message, field: int) -> int:
    value = fields.get(field, [0])[0]
    if not isinstance(value, int):
        raise NotReadable("a number that is none")
    return value
