"""The two ways in which JSON sources hold records: an array in a document, or one a line."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.engine.transfer.json_text import JsonReader, loads
from memtui.engine.transfer.lines import Readable, numbered, unzipped
from memtui.engine.transfer.options import Meter
from memtui.engine.transfer.record import Rejected

TOO_LONG = "the line is longer than 64 MiB"
_BUFFER = 1 << 20
"""Bytes that are read at once: a line of gigabytes is otherwise put together of many small pieces."""


@dataclass(frozen=True, slots=True)
class Value:
    """One parsed value and its place in words."""

    value: Any
    where: str


@contextmanager
def opened(path: Path, meter: Meter) -> Iterator[Readable]:
    """The bytes of a file, unpacked where they are gzip; the meter follows the file itself."""
    with io.BufferedReader(path.open("rb", buffering=0), _BUFFER) as handle:
        meter.watch(handle)
        yield unzipped(handle)
    meter.add(path.stat().st_size)


@contextmanager
def open_json(path: Path, meter: Meter) -> Iterator[JsonReader]:
    """A reader of one JSON document."""
    with opened(path, meter) as handle:
        yield JsonReader(handle, path.name)


def items_of(reader: JsonReader) -> Iterator[Value]:
    """The values of the array that comes next."""
    for item in reader.items():
        yield Value(item.value, f"record {item.index + 1}, line {item.line}")


def json_lines(path: Path, meter: Meter) -> Iterator[Value | Rejected]:
    """The values of a file with one JSON value a line; blank lines are none, broken ones are said so."""
    with opened(path, meter) as handle:
        yield from lines_of(handle)


def lines_of(handle: Readable) -> Iterator[Value | Rejected]:
    """The same of an open file."""
    for number, line in numbered(handle):
        where = f"line {number}"
        if line is None:
            yield Rejected(where, TOO_LONG, broken=True)
            continue
        if not line.strip():
            continue
        parsed = _parsed(line)
        if isinstance(parsed, str):
            yield Rejected(where, parsed, broken=True, text=line[:80].decode("utf-8", "replace"))
        else:
            yield Value(parsed[0], where)


def _parsed(line: bytes) -> tuple[Any] | str:
    """The value in a tuple, or what is wrong with the line."""
    try:
        return (loads(line.decode("utf-8")),)
    except UnicodeDecodeError as error:
        if error.end >= len(line):
            return f"it is cut off inside a character, at byte {error.start + 1}"
        return f"byte {error.start + 1} is not UTF-8"
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg.removesuffix(' at')} at column {error.pos + 1}"
    except RecursionError:
        return "nested deeper than any memory is"
