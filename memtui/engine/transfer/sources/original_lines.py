"""A record as it stands in its source: the lines of the file itself, beside what was read of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken
from memtui.engine.transfer.sources.text import WINDOWS, Readable, numbered, open_bytes

if TYPE_CHECKING:
    from memtui.engine.transfer.detection import Detected
    from memtui.engine.transfer.sources.json_stream import JsonItem, JsonReader


MOST_LINES = 40

MOST_CHARS = 4_000
"""Characters of one line that are shown: a vector as a list of numbers is longer."""

_LOOK = 4_096

_RECORD = re.compile(r"record (\d+), line (\d+)")

_LINE = re.compile(r"line (\d+)$")

_IN_FILE = re.compile(r"(.+?)(?::(\d+))?$")

_ENDS = re.compile(r"\s*$|\s{0,3}(?:[-*+]|\d+[.)]|#{1,6})\s")
"""Begins another entry of a Markdown list."""


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Some lines of `name`, the first with its number (from 1), without line ends; not made safe to show."""

    name: str
    first: int
    lines: tuple[str, ...]
    cut: bool = False
    """There is more of it than is here."""


def source_lines(
    sources: Sequence[Detected], where: str, encoding: str | None = None, cancel: CancelToken | None = None
) -> SourceLines | None:
    """The lines of the record at `where` (`Record.where`); None for a source that has none, or is gone."""
    source = sources[0]
    if len(sources) > 1:
        for each in sources:
            if where.startswith(lead := f"{each.path.name}, "):
                source, where = each, where.removeprefix(lead)
                break
    try:
        return _found(source, where, encoding, cancel)
    except (OSError, EOFError, MemtuiError):
        return None


def _found(
    source: Detected, where: str, encoding: str | None, cancel: CancelToken | None
) -> SourceLines | None:
    path = source.path
    if source.kind == "json":
        named = _RECORD.match(where)
        return _of_document(path, int(named[1]), int(named[2]), cancel) if named else None
    if source.kind in ("lines", "text") and (named := _LINE.match(where)):
        whole = _of_table if source.kind == "text" and source.format.maps else _of_one_line
        with closing(open_bytes(path)) as handle:
            return whole(path.name, _from(handle, int(named[1]), encoding, cancel))
    if source.kind in ("text", "folder", "zip") and (named := _IN_FILE.match(where)):
        file = _opened(path, named[1])
        if file is not None:
            with closing(file):
                at = int(named[2] or 1)
                return _of_note(named[1], _from(file, at, encoding, cancel), whole=named[2] is None)
    return None


def _opened(path: Path, name: str) -> Readable | None:
    """A file of the source by its name below it; nothing outside of it."""
    from memtui.engine.transfer.sources.files import tree_of

    if path.is_dir():
        file = path / name
        inside = file.is_file() and file.resolve().is_relative_to(path.resolve())
        return open_bytes(file) if inside else None
    found = tree_of(path, ()).named(name)
    return found.open() if found is not None else None


def _from(
    handle: Readable, first: int, encoding: str | None, cancel: CancelToken | None
) -> Iterator[tuple[int, str]]:
    """Lines from number `first` on."""
    for number, line in numbered(handle):
        if cancel is not None and number % _LOOK == 0:
            cancel.check()
        if number >= first:
            yield number, "" if line is None else _decoded(line, encoding)


def _decoded(line: bytes, encoding: str | None) -> str:
    try:
        return line.decode(encoding or "utf-8")
    except (UnicodeDecodeError, LookupError):
        return line.decode(WINDOWS, "replace")


def _lines(name: str, first: int, lines: Sequence[str], *, more: bool = False) -> SourceLines | None:
    if not lines:
        return None
    cut = more or len(lines) > MOST_LINES or any(len(line) > MOST_CHARS for line in lines)
    return SourceLines(name, first, tuple(line[:MOST_CHARS] for line in lines[:MOST_LINES]), cut)


def _of_one_line(name: str, lines: Iterator[tuple[int, str]]) -> SourceLines | None:
    found = next(lines, None)
    return _lines(name, found[0], [found[1]]) if found else None


def _of_table(name: str, lines: Iterator[tuple[int, str]]) -> SourceLines | None:
    """A row of a table: more lines while a quote is open."""
    row: list[str] = []
    first = quotes = 0
    for number, line in islice(lines, MOST_LINES):
        first = first or number
        row.append(line)
        quotes += line.count('"')
        if quotes % 2 == 0:
            break
    return _lines(name, first, row, more=quotes % 2 == 1)


def _of_note(name: str, lines: Iterator[tuple[int, str]], *, whole: bool) -> SourceLines | None:
    """An entry of a note up to the next one, or the whole note."""
    entry: list[str] = []
    first = 0
    for number, line in islice(lines, MOST_LINES + 1):
        if entry and not whole and _ENDS.match(line):
            break
        first = first or number
        entry.append(line)
    return _lines(name, first, entry)


def _of_document(path: Path, number: int, line: int, cancel: CancelToken | None) -> SourceLines | None:
    """An item of an array of a JSON document, as it is written there."""
    from memtui.engine.transfer.sources.json_stream import JsonReader

    with closing(open_bytes(path)) as handle:
        reader = JsonReader(handle, path.name)
        for item in _items(reader):
            if cancel is not None and item.index % _LOOK == 0:
                cancel.check()
            if item.index + 1 == number and item.line == line:
                return _lines(path.name, line, reader.written.splitlines())
    return None


def _items(reader: JsonReader) -> Iterator[JsonItem]:
    """The items of the document's array, or of every array of its members."""
    if reader.peek() == "[":
        return reader.items()
    return chain.from_iterable(_of_members(reader))


def _of_members(reader: JsonReader) -> Iterator[Iterator[JsonItem]]:
    for _ in reader.members():
        if reader.peek() == "[":
            yield reader.items()
        else:
            reader.value()
