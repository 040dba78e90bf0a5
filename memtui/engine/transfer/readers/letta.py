"""Letta: archival passages of one agent, its memory blocks, and agent files (which have blocks only)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import others, put_id, put_time, record_of, text_of, word, words
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import Value, items_of, open_json
from memtui.engine.transfer.sources.options import ReadOptions

_PASSAGE = frozenset(
    [
        "id",
        "text",
        "created_at",
        "updated_at",
        "metadata",
        "tags",
        "archive_id",
        "source_id",
        "file_id",
        "file_name",
        "is_deleted",
        "organization_id",
        "embedding",
        "embedding_config",
    ]
)

_LIMIT = 100

_PROFILE = "profile"


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A list of passages or blocks."""
    scope = f"agent:{options.agent}" if options.agent else None
    rows = 0
    with open_json(path, options.meter) as reader:
        for item in items_of(reader):
            rows += 1
            row = item.value
            if not isinstance(row, dict):
                yield Rejected(item.where, "it is no object with a text")
            elif "label" in row and "value" in row:
                yield block(item, scope)
            else:
                yield _passage(item, scope, options)
        reader.finish()
    if scope is None:
        yield SourceRemark("The list does not say which agent it belongs to: name it, or choose a scope.")
    if rows == _LIMIT:
        yield SourceRemark(f"It has exactly {_LIMIT} passages, Letta's default page: there may be more.")


def read_agent_file(path: Path, options: ReadOptions) -> Iterator[Read]:
    """An `.af` file: it holds no passages; its blocks are offered."""
    scope = f"agent:{options.agent}" if options.agent else None
    with open_json(path, options.meter) as reader:
        for key in reader.members():
            if key == "agents":
                agents = reader.value()
                if scope is None and isinstance(agents, list) and agents and isinstance(agents[0], dict):
                    name = word(agents[0].get("name"))
                    scope = f"agent:{name}" if name else None
            elif key == "blocks":
                blocks = reader.value()
                for number, each in enumerate(blocks if isinstance(blocks, list) else [], 1):
                    yield block(Value(each, f"block {number}"), scope)
            else:
                reader.value()
        reader.finish()
    yield SourceRemark(
        "An agent file holds no archival passages: fetch them from the server to have them too."
    )


def block(item: Value, scope: str | None) -> Record | Rejected:
    """A memory block: what the agent knows of its human; what it is told about itself is left out."""
    row = item.value
    if not isinstance(row, dict):
        return Rejected(item.where, "it is no object with a text")
    found = text_of(row.get("value"), item.where)
    if isinstance(found, Rejected):
        return found
    if row.get("read_only") is True or row.get("label") == "persona":
        return Rejected(item.where, "what the agent is told about itself, not a memory", text=found[0][:80])
    if len(found[0].strip()) < 2:
        return Rejected(item.where, "its text is shorter than 2 characters")
    record = Record(
        text=found[0], where=item.where, scope=scope, category=_PROFILE, title=word(row.get("label"))
    )
    record.foreign_id = word(row.get("id"))
    record.rest = {"block": row.get("label")}
    return record


def _passage(item: Value, scope: str | None, options: ReadOptions) -> Record | Rejected:
    row: dict[str, Any] = item.value
    record = record_of(row.get("text"), item.where)
    if isinstance(record, Rejected):
        return record
    if row.get("is_deleted") is True:
        return Rejected(item.where, "it was deleted there", text=record.text[:80])
    record.scope = scope
    put_id(record, row.get("id"))
    record.foreign_id = record.id or record.foreign_id
    put_time(record, "timestamp_ms", row.get("created_at"), options.now_ms)
    put_time(record, "updated_ms", row.get("updated_at"), options.now_ms, name="updated_at")
    record.tags = words(row.get("tags"))
    for key in ("archive_id", "source_id", "file_id", "file_name", "metadata"):
        if row.get(key) is not None:
            record.rest[key] = row[key]
    if row.get("embedding") is not None:
        record.lost("vector", "padded with zeros by Letta: never reused, embedded anew")
    if row.get("organization_id") is not None:
        record.lost("organization_id", "has no place here")
    record.rest |= others(row, _PASSAGE)
    return record


def detects(head: Head) -> Sighting | None:
    """Passages with the keys of an archive, or blocks with a label and a value."""
    document = head.document
    if document.share("text") and document.some("archive_id", "is_deleted", "embedding_config"):
        return Sighting(("passages with `archive_id` and `is_deleted`",), 0.8)
    if document.share("label", "value") == 1:
        return Sighting(("memory blocks with `label` and `value`",), 0.8)
    return None


def detects_agent_file(head: Head) -> Sighting | None:
    """The keys that an agent file always has."""
    if {"agents", "blocks", "tools"} <= set(head.document.keys):
        return Sighting(("the keys agents, blocks and tools of a Letta agent file",))
    return None


FORMATS = (
    Format("letta", "Letta's archival passages or blocks", {"json": read}, detects, 60, stored=True),
    Format(
        "letta-agent", "a Letta agent file", {"json": read_agent_file}, detects_agent_file, 70, stored=True
    ),
)
