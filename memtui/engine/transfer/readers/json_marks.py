"""Which program wrote a JSON document or JSON lines: by the keys of its records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.transfer.readers.registry import Kind
from memtui.engine.transfer.record import SCHEMA
from memtui.engine.transfer.sources.json_stream import (
    TOO_LONG,
    JsonReader,
    Value,
    json_lines,
    loads,
    open_json,
)
from memtui.engine.transfer.sources.options import ReadProgress

_LOOKED_AT = 20

_LINES = (".jsonl", ".ndjson")

Found = tuple[str, tuple[str, ...]]


def is_lines(head: str, suffix: str) -> bool:
    """Whether a text that begins with `head` has one JSON value a line, not one document."""
    first, newline, rest = head.lstrip().partition("\n")
    try:
        value = loads(first)
    except (json.JSONDecodeError, RecursionError):
        return suffix in _LINES and len(first) > 2
    if not isinstance(value, dict):
        return suffix in _LINES and not isinstance(value, list)
    return bool(newline and rest.strip()) or suffix in _LINES


@dataclass(slots=True)
class _Head:
    """The beginning of a document: its keys in order, and the first records of its first array of records."""

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

    def some_text(self) -> bool:
        """Whether some record is an object with a text in it."""
        return any(
            isinstance(row, dict) and any(isinstance(value, str) and value.strip() for value in row.values())
            for row in self.records
        )


def json_format(path: Path, kind: Kind) -> Found:
    """The format and the evidence for it; MemtuiError for what holds no memories."""
    if kind == "lines":
        return _of_lines(path)
    head = _read_head(path)
    found = _document(head) or _of_records(head)
    if found:
        return found
    if head.records and all(isinstance(row, str) for row in head.records):
        return "json", ("an array of texts",)
    if head.some_text():
        keys = list(dict.fromkeys(key for row in head.records if isinstance(row, dict) for key in row))
        return "json", (f"an array of objects with the keys {', '.join(keys[:12])}",)
    shape = f"an object with the keys {', '.join(head.keys[:8])}" if head.keys else "no array of records"
    raise MemtuiError(
        f"{path.name} holds no memories that we can see: it is {shape}.",
        fix="Name its form, or export it again.",
    )


def _read_head(path: Path) -> _Head:
    head = _Head()
    with open_json(path, ReadProgress()) as reader:
        if reader.peek() == "[":
            head.records = [item.value for item in islice(reader.items(), _LOOKED_AT)]
        elif reader.peek() == "{":
            _keys(reader, head, "")
        else:
            head.values[""] = reader.value()
    return head


def _keys(reader: JsonReader, head: _Head, lead: str) -> None:
    for key in reader.members():
        head.keys.append(lead + key)
        nested = reader.peek()
        if nested == "[" and not head.records:
            values = reader.items()
            head.records = [item.value for item in islice(values, _LOOKED_AT)]
            if head.records:
                head.under = lead + key
            if len(head.records) == _LOOKED_AT:
                return
        elif nested == "{" and key == "result":
            _keys(reader, head, "result.")
        else:
            head.values[lead + key] = reader.value()


def _document(head: _Head) -> Found | None:
    if {"agents", "blocks", "tools"} <= set(head.keys):
        return "letta-agent", ("the keys agents, blocks and tools of a Letta agent file",)
    if head.under == "memories" and head.share("text"):
        version = head.values.get("version")
        return "memory-lancedb-pro", (
            "an object with an array `memories` of rows with a text",
            *((f"version {version!r}",) if version is not None else ()),
            *(("metadata is JSON in a text",) if _has(head, "metadata", str) else ()),
        )
    if not head.records and {"version", "exportedAt", "memories"} <= set(head.keys):
        return "memory-lancedb-pro", ("the plugin's own export, without a memory in it",)
    if head.under == "items" and head.share("text"):
        return "mem-engine", ("an object with an array `items`", *_engine_marks(head))
    history = head.records and head.share("memory_id", "event") == 1
    nested = [row for value in head.values.values() if isinstance(value, list) for row in value]
    if history or (nested and all(isinstance(row, dict) and "memory_id" in row for row in nested)):
        raise MemtuiError(
            "This is mem0's history of changes, not its memories.", fix="Export the memories with get_all."
        )
    return None


def _of_records(head: _Head) -> Found | None:
    under = f" under `{head.under}`" if head.under else ""
    if head.share("memory") == 1 and head.some("hash", "created_at", "user_id", "agent_id"):
        platform = " of the platform" if head.some("categories", "structured_attributes") else ""
        return "mem0", (f"records{under} with `memory` and `created_at`{platform}",)
    if head.some("conversations_memory", "project_memories"):
        return "claude", ("accounts with `conversations_memory`",)
    if head.share("mapping") > 0:
        return "chatgpt", ("conversations with a `mapping` of messages",)
    if head.share("text") and head.some("archive_id", "is_deleted", "embedding_config"):
        return "letta", ("passages with `archive_id` and `is_deleted`",)
    if head.records and head.share("label", "value") == 1:
        return "letta", ("memory blocks with `label` and `value`",)
    if head.share("text", "createdAt") and head.some("trust_tier", "importance_label"):
        return "mem-engine", _engine_marks(head)
    if (
        head.share("text")
        and head.some("timestamp", "metadata", "importance")
        and head.some("scope", "category")
    ):
        return "memory-lancedb-pro", (
            f"rows{under} with the plugin's own keys, without its document around them",
        )
    return None


def _engine_marks(head: _Head) -> tuple[str, ...]:
    marks = [name for name in ("createdAt", "importance_label", "trust_tier") if head.some(name)]
    return (f"rows with {', '.join(marks)}",) if marks else ()


def _of_lines(path: Path) -> Found:
    head = _Head()
    lines = takewhile(
        lambda line: isinstance(line, Value) or line.why != TOO_LONG, json_lines(path, ReadProgress())
    )
    values = (line.value for line in lines if isinstance(line, Value))
    head.records = list(islice(_objects(values), _LOOKED_AT))
    if any(isinstance(row, dict) and row.get("schema") == SCHEMA for row in head.records):
        dialects = sorted({str(row.get("dialect")) for row in head.records if isinstance(row, dict)})
        return "memtui", (f"lines marked {SCHEMA}", f"rows of a {', '.join(dialects)} table")
    if head.share("text", "createdAt") and head.some("trust_tier", "importance_label"):
        return "mem-engine", _engine_marks(head)
    if head.some("type") and any(
        isinstance(row, dict) and row.get("type") == "session" for row in head.records
    ):
        raise MemtuiError(
            f"{path.name} is the record of a conversation, not of memories.",
            fix="Import the memories that came of it, or the agent's notes.",
        )
    if head.share("text") and head.some("timestamp", "metadata") and head.some("scope", "category"):
        return "memory-lancedb-pro", ("lines with the plugin's own keys",)
    keys = list(dict.fromkeys(key for row in head.records if isinstance(row, dict) for key in row))
    if not keys:
        raise MemtuiError(
            f"{path.name} holds no objects, one a line.", fix="Name its form, or export it again."
        )
    return "json", (f"lines with the keys {', '.join(keys[:12])}",)


def _objects(values: Iterator[Any]) -> Iterator[Any]:
    return (value for value in values if isinstance(value, dict))


def _has(head: _Head, key: str, kind: type) -> bool:
    return any(isinstance(row, dict) and isinstance(row.get(key), kind) for row in head.records)
