"""memory-lancedb-pro's own files: its export, its daily backup (JSON lines), and bare lists of its rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.engine.metadata.read import finite
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import (
    others,
    put_id,
    put_importance,
    put_time,
    put_vector,
    put_word,
    text_of,
)
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import JsonReader, items_of, json_lines, open_json
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import storable

KNOWN = frozenset(
    ("id", "text", "category", "scope", "importance", "timestamp", "metadata", "vector", "score")
)

_LIMIT = 1000


def read_export(path: Path, options: ReadOptions) -> Iterator[Read]:
    """An export document `{"memories": [...]}`; a bare array of the same rows is taken too."""
    with open_json(path, options.meter) as reader:
        if reader.peek() == "[":
            yield from _rows(reader, options)
        else:
            rows = 0
            for key in reader.members():
                if key != "memories" or reader.peek() != "[":
                    reader.value()
                    continue
                for row in _rows(reader, options):
                    rows += 1
                    yield row
            if rows == _LIMIT:
                yield SourceRemark(
                    f"The file has exactly {_LIMIT:,} memories, where the plugin's export stops without a word: "
                    "compare with the store."
                )
        reader.finish()


def read_lines(path: Path, options: ReadOptions) -> Iterator[Read]:
    """One row a line, as the plugin's daily backup has it."""
    for line in json_lines(path, options.meter):
        yield line if isinstance(line, Rejected) else pro_record(line.value, line.where, options)


def _rows(reader: JsonReader, options: ReadOptions) -> Iterator[Read]:
    for item in items_of(reader):
        yield pro_record(item.value, item.where, options)


def pro_record(row: Any, where: str, options: ReadOptions) -> Record | Rejected:
    """One row with the plugin's keys as a record; the metadata string stays exactly as it is."""
    if not isinstance(row, dict):
        return Rejected(where, "it is no object with a text")
    found = text_of(row.get("text"), where)
    if isinstance(found, Rejected):
        return found
    text, note = found
    record = Record(text=text, where=where, source=None)
    if note:
        record.lost("text", note)
    put_id(record, row.get("id"), stable=True)
    put_word(record, "category", row.get("category"))
    put_word(record, "scope", row.get("scope"))
    put_importance(record, row.get("importance"))
    put_time(record, "timestamp_ms", row.get("timestamp"), options.now_ms)
    if record.timestamp_ms is None and "timestamp" in row and row["timestamp"] in (None, 0):
        record.time_unknown = True  # and stays so: it is not the time of the import
    put_vector(record, row.get("vector"))
    _put_metadata(record, row.get("metadata"))
    record.rest |= others(row, KNOWN)
    return record


def _put_metadata(record: Record, value: Any) -> None:
    if isinstance(value, str):
        record.metadata = storable(value)[0]
    elif isinstance(value, dict):
        sound = finite(value)
        record.metadata = storable(json.dumps(sound, ensure_ascii=False))[0]
        if sound != value:
            record.lost("metadata", "a value in it is not a number or infinite, which JSON cannot hold: null")
    elif value is not None:
        record.rest["metadata_as_given"] = value
        record.lost("metadata", "not an object: kept as it is under one key")


def detects(head: Head) -> Sighting | None:
    """The plugin's document with its `memories`, or rows with its keys and no document around them."""
    document = head.document
    if document.under == "memories" and document.share("text"):
        version = document.values.get("version")
        as_text = any(
            isinstance(row, dict) and isinstance(row.get("metadata"), str) for row in document.records
        )
        return Sighting(
            (
                "an object with an array `memories` of rows with a text",
                *((f"version {version!r}",) if version is not None else ()),
                *(("metadata is JSON in a text",) if as_text else ()),
            ),
            0.9,
        )
    if not document.records and {"version", "exportedAt", "memories"} <= set(document.keys):
        return Sighting(("the plugin's own export, without a memory in it",), 0.9)
    if not document.share("text") or not document.some("scope", "category"):
        return None
    if head.kind == "lines" and document.some("timestamp", "metadata"):
        return Sighting(("lines with the plugin's own keys",), 0.6)
    if head.kind == "json" and document.some("timestamp", "metadata", "importance"):
        under = f" under `{document.under}`" if document.under else ""
        return Sighting((f"rows{under} with the plugin's own keys, without its document around them",), 0.6)
    return None


PROTOCOL = 1

FORMATS = (
    Format(
        "memory-lancedb-pro",
        "memory-lancedb-pro's export or backup",
        {"json": read_export, "lines": read_lines},
        detects,
        30,
        stored=True,
        bare_scopes=True,
    ),
)
