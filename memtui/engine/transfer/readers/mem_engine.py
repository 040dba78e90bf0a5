"""openclaw-mem-engine's export: JSON lines, an array, or `{"items": [...]}`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.engine.core.secrets import is_masked
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected
from memtui.engine.transfer.sources.fields import (
    others,
    put_id,
    put_importance,
    put_time,
    put_vector,
    put_word,
    record_of,
    word,
)
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import Value, items_of, json_lines, open_json
from memtui.engine.transfer.sources.options import ReadOptions

_KNOWN = frozenset(
    ["id", "text", "category", "importance", "importance_label", "scope", "trust_tier", "createdAt", "vector"]
)


def read_lines(path: Path, options: ReadOptions) -> Iterator[Read]:
    """One memory a line."""
    for line in json_lines(path, options.meter):
        yield line if isinstance(line, Rejected) else _record(line, options)


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """An array, alone or under `items`."""
    with open_json(path, options.meter) as reader:
        if reader.peek() == "[":
            for item in items_of(reader):
                yield _record(item, options)
        else:
            for key in reader.members():
                if key == "items" and reader.peek() == "[":
                    for item in items_of(reader):
                        yield _record(item, options)
                else:
                    reader.value()
        reader.finish()


def _record(item: Value, options: ReadOptions) -> Record | Rejected:
    row: Any = item.value
    if not isinstance(row, dict):
        return Rejected(item.where, "it is no object with a text")
    record = record_of(row.get("text"), item.where)
    if isinstance(record, Rejected):
        return record
    put_id(record, row.get("id"))
    put_word(record, "category", row.get("category"))
    put_word(record, "scope", row.get("scope"))
    put_importance(record, row.get("importance"))
    put_time(record, "timestamp_ms", row.get("createdAt"), options.now_ms)
    record.given = {key: row[key] for key in _KNOWN - {"text", "vector"} if key in row}
    record.trust = word(row.get("trust_tier"))
    if label := word(row.get("importance_label")):
        record.rest["importance_label"] = label
    if (record.trust or "").endswith("_noembed"):
        record.lost("vector", "embedding it failed there: re-embedded")
    else:
        put_vector(record, row.get("vector"))
    record.masked = is_masked(record.text)
    if record.masked:
        record.lost("text", "a secret was masked by the export: what stood there is lost")
    record.rest |= others(row, _KNOWN)
    return record


def detects(head: Head) -> Sighting | None:
    """An array `items` of rows with a text, or rows with the keys of its table."""
    document = head.document
    marks = [name for name in ("createdAt", "importance_label", "trust_tier") if document.some(name)]
    seen = (f"rows with {', '.join(marks)}",) if marks else ()
    if head.kind == "json" and document.under == "items" and document.share("text"):
        return Sighting(("an object with an array `items`", *seen), 0.9)
    if document.share("text", "createdAt") and document.some("trust_tier", "importance_label"):
        return Sighting(seen, 0.9 if head.kind == "lines" else 0.7)
    return None


PROTOCOL = 1

FORMATS = (
    Format(
        "mem-engine",
        "openclaw-mem-engine's export",
        {"lines": read_lines, "json": read},
        detects,
        40,
        stored=True,
    ),
)
