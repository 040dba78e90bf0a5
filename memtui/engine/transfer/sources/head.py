"""The beginning of a source, as readers look at it to recognise their format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Literal

from memtui.engine.core.errors import MemtuiError
from memtui.engine.transfer.sources.files import Tree, TreeFile, tree_of
from memtui.engine.transfer.sources.front_matter import split
from memtui.engine.transfer.sources.json_stream import (
    TOO_LONG,
    JsonReader,
    Value,
    json_lines,
    open_json,
    unwrapped,
)
from memtui.engine.transfer.sources.options import ReadProgress
from memtui.engine.transfer.sources.text import beginning_of, byte_order_mark, is_wide, wide

Kind = Literal["json", "lines", "text", "zip", "folder", "sqlite", "parquet", "lance"]
"""What a source is physically: a JSON document, JSON lines, other text, an archive, a folder, ..."""

KINDS: Mapping[Kind, str] = {
    "json": "a JSON document",
    "lines": "JSON lines",
    "text": "a text file",
    "zip": "a zip archive",
    "folder": "a folder",
    "sqlite": "an SQLite file",
    "parquet": "a Parquet file",
    "lance": "a LanceDB folder",
}

HEAD = 1 << 16
"""Bytes of a text that are looked at."""

_RECORDS, _NOTES = 20, 40
"""How many records, and how many notes of a folder, are looked at."""

_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\S")

_HEADING = re.compile(r" {0,3}#{1,6}\s")


def head_text(head: bytes) -> str:
    """The first characters of a text whose end may be cut."""
    length, encoding = byte_order_mark(head)
    return head[length:].decode(encoding or "utf-8", "replace")


@dataclass(slots=True)
class JsonHead:
    """The beginning of a document: its keys in order, and the first records of its first array of records.

    Of JSON lines: the first objects, as records.
    """

    keys: list[str] = field(default_factory=list)
    under: str = ""
    """The key of the array; empty when the document is one."""
    records: list[Any] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)

    def share(self, *names: str) -> float:
        """Share of the records that have all these keys."""
        having = sum(isinstance(row, dict) and all(name in row for name in names) for row in self.records)
        return having / len(self.records) if self.records else 0.0

    def some(self, *names: str) -> bool:
        """Whether some record has one of these keys."""
        return any(isinstance(row, dict) and any(name in row for name in names) for row in self.records)

    def some_value(self, key: str, value: Any) -> bool:
        """Whether some record has this value under `key`."""
        return any(isinstance(row, dict) and row.get(key) == value for row in self.records)

    def record_keys(self) -> list[str]:
        """The keys of the records, in the order of their first use."""
        return list(dict.fromkeys(key for row in self.records if isinstance(row, dict) for key in row))


@dataclass(frozen=True, slots=True)
class TextHead:
    """The beginning of a text, with the front matter taken off, and its lines counted."""

    text: str
    front: dict[str, object]
    """The front matter; empty where there is none."""
    body: str
    lines: int
    """Lines of the body that are not blank."""
    bullets: int
    headings: int
    whole: bool
    """Whether the text is all of it."""


@dataclass(frozen=True, slots=True)
class NotesHead:
    """The Markdown files of a folder or archive, with the beginnings of the first of them."""

    tree: Tree
    files: list[TreeFile]
    heads: list[tuple[dict[str, object], str]]
    """(front matter, text below it)."""

    def most(self, count: int) -> bool:
        """Whether `count` are more than half of the beginnings."""
        return count * 2 > len(self.heads)


class Head:
    """The beginning of the source at `path`; each view of it is read once, when the first reader asks for it."""

    def __init__(self, path: Path, kind: Kind) -> None:
        self.path, self.kind = path, kind

    @cached_property
    def document(self) -> JsonHead:
        """Of a JSON document or of JSON lines. Raises BrokenJsonError where it cannot be read so far."""
        return _of_lines(self.path) if self.kind == "lines" else _of_document(self.path)

    @cached_property
    def text(self) -> TextHead:
        """Of a text. Raises MemtuiError for a tar archive, and for what is no text."""
        data, whole = beginning_of(self.path)
        _refuse_binary(data, self.path.name)
        text = head_text(data)
        front, body, _ = split(text)
        lines = [line for line in body.splitlines() if line.strip()]
        return TextHead(
            text,
            front,
            body,
            len(lines),
            sum(_BULLET.match(line) is not None for line in lines),
            sum(_HEADING.match(line) is not None for line in lines),
            whole,
        )

    @cached_property
    def members(self) -> tuple[TreeFile, ...]:
        """The files of an archive."""
        return tree_of(self.path, ()).files

    @cached_property
    def export(self) -> Tree:
        """The files that a service's export may have: JSON of a folder, any of an archive."""
        return tree_of(self.path, (".json", ".json.gz"))

    @cached_property
    def notes(self) -> NotesHead:
        """The Markdown files of a folder or archive."""
        tree = tree_of(self.path, (".md",))
        files = [file for file in tree.files if file.name.lower().endswith(".md")]
        heads = [split(_read(file)) for file in files[:_NOTES]]
        return NotesHead(tree, files, [(front, text) for front, text, _ in heads])

    @cached_property
    def parquet(self) -> tuple[Any, int]:
        """(Arrow schema, number of rows) of a Parquet file. Raises MemtuiError for one that is not whole."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(self.path) as file:
                return file.schema_arrow, file.metadata.num_rows
        except (pa.ArrowInvalid, OSError) as error:
            raise MemtuiError(
                f"{self.path.name} is no whole Parquet file.", fix="Export it again.", details=str(error)
            ) from error


def _of_document(path: Path) -> JsonHead:
    head = JsonHead()
    with open_json(path, ReadProgress()) as reader:
        if reader.peek() == "[":
            head.records = [unwrapped(item.value) for item in islice(reader.items(), _RECORDS)]
        elif reader.peek() == "{":
            _read_keys(reader, head, "")
        else:
            head.values[""] = reader.value()
    return head


def _read_keys(reader: JsonReader, head: JsonHead, lead: str) -> None:
    for key in reader.members():
        head.keys.append(lead + key)
        nested = reader.peek()
        if nested == "[" and not any(isinstance(row, dict) for row in head.records):
            values = reader.items()
            records = [unwrapped(item.value) for item in islice(values, _RECORDS)]
            holds_objects = any(isinstance(row, dict) for row in records)
            if records and (holds_objects or not head.records):
                head.records, head.under = records, lead + key
            if len(records) == _RECORDS:
                if holds_objects:
                    return
                for _ in values:  # names, tags and the like before what they belong to
                    pass
        elif nested == "{" and key == "result":
            _read_keys(reader, head, "result.")
        else:
            head.values[lead + key] = reader.value()


def _of_lines(path: Path) -> JsonHead:
    lines = takewhile(
        lambda line: isinstance(line, Value) or line.why != TOO_LONG, json_lines(path, ReadProgress())
    )
    values = (line.value for line in lines if isinstance(line, Value))
    return JsonHead(records=list(islice(_objects(values), _RECORDS)))


def _objects(values: Iterator[Any]) -> Iterator[Any]:
    return (value for value in values if isinstance(value, dict))


def _read(file: TreeFile) -> str:
    handle = file.open()
    try:
        return head_text(handle.read(HEAD))
    finally:
        handle.close()


def _refuse_binary(data: bytes, name: str) -> None:
    if data[257:262] == b"ustar":
        raise MemtuiError(f"{name} is a tar archive.", fix="Unpack it, and import the folder.")
    if data.count(0) > len(data) // 8 and not byte_order_mark(data)[0]:
        if is_wide(data) and _looks_wide(data):
            raise wide(name)
        raise MemtuiError(f"{name} is no text, and no form that we know.", fix="Export it again as text.")


def _looks_wide(data: bytes) -> bool:
    """Whether it is a text once it is read as UTF-16: hardly any NUL is left in it."""
    return any(
        data.decode(each, "replace").count("\0") < len(data) // 64 for each in ("utf-16-le", "utf-16-be")
    )
