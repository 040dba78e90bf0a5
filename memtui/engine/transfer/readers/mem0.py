"""mem0: lists of its open-source class and its platform, answers of a search, and OpenMemory's backup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import others, put_id, put_time, record_of, text_of, word, words
from memtui.engine.transfer.sources.files import archive_tree
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import JsonReader, Value, items_of, lines_of, open_json
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import unzipped
from memtui.engine.transfer.sources.values import DAY_MS

_ITEM = frozenset(
    [
        "id",
        "memory",
        "hash",
        "metadata",
        "created_at",
        "updated_at",
        "user_id",
        "agent_id",
        "run_id",
        "session_id",
        "app_id",
        "actor_id",
        "role",
        "attributed_to",
        "expiration_date",
        "categories",
        "replaced_by",
        "score",
        "score_details",
    ]
)

_DEFAULT_PAGE = 20

_OPENMEMORY = frozenset(
    ["id", "content", "metadata", "created_at", "updated_at", "state", "app", "categories"]
)

BACKUP = ("memories.jsonl.gz", "memories.jsonl")
"""The file of the archive that has the memories, by its names in two versions."""

_STATES = {"active": "confirmed", "paused": "archived", "archived": "archived"}


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A list, or a document with `results`; a search's answer is unwrapped."""
    with open_json(path, options.meter) as reader:
        if reader.peek() == "[":
            yield from _items(reader, options)
        else:
            yield from _document(reader, options)
        reader.finish()


def _document(reader: JsonReader, options: ReadOptions) -> Iterator[Read]:
    count: Any = None
    following: Any = None
    rows = 0
    for key in reader.members():
        if key == "results" and reader.peek() == "[":
            for item in _items(reader, options):
                rows += 1
                yield item
        elif key == "result" and reader.peek() == "{":
            yield from _document(reader, options)
        elif key in ("relations", "entities"):
            if reader.value():
                yield SourceRemark("The graph relations in the file have no place here and are left out.")
        else:
            value = reader.value()
            count, following = (
                (value, following) if key == "count" else (count, value if key == "next" else following)
            )
    if following or (isinstance(count, int) and count > rows):
        yield SourceRemark(
            f"This is one page: it has {rows} of {counted(count, 'memory', 'memories')}, "
            "and a next page. Import the others too."
        )
    elif count is None and rows == _DEFAULT_PAGE:
        yield SourceRemark(
            f"It has exactly {_DEFAULT_PAGE} memories, mem0's default limit: there may be more."
        )


def _items(reader: JsonReader, options: ReadOptions) -> Iterator[Read]:
    for item in items_of(reader):
        yield _record(item, options)


def _record(item: Value, options: ReadOptions) -> Record | Rejected:
    row = item.value
    if not isinstance(row, dict):
        return Rejected(item.where, "it is no object with a text")
    record = record_of(row.get("memory"), item.where)
    if isinstance(record, Rejected):
        return record
    put_id(record, row.get("id"))
    record.foreign_id = record.id or record.foreign_id
    _put_owner(record, row)
    put_time(record, "timestamp_ms", row.get("created_at"), options.now_ms)
    put_time(record, "updated_ms", row.get("updated_at"), options.now_ms, name="updated_at")
    _put_expiry(record, row.get("expiration_date"), options)
    record.tags = words(row.get("categories"))
    record.category = record.tags[0] if record.tags else None
    if len(record.tags) > 1:
        record.lost("category", "several: the first is the category, all are kept as tags")
    if replaced := word(row.get("replaced_by")):
        record.superseded_by = replaced
        record.invalidated_ms = record.updated_ms or record.timestamp_ms or options.now_ms
    for key in ("hash", "actor_id", "role", "attributed_to", "run_id", "session_id", "app_id"):
        if row.get(key) is not None:
            record.rest[key] = row[key]
    if row.get("metadata") is not None:
        record.rest["metadata"] = row["metadata"]
    record.rest |= others(row, _ITEM)
    for key in ("score", "score_details"):
        if key in row:
            record.lost(key, "belongs to a search, not to the memory")
    return record


def _put_owner(record: Record, row: Mapping[str, Any]) -> None:
    """user before agent before run: the first that is there is the scope, the others are kept beside it."""
    owners = [(kind, word(row.get(f"{kind}_id"))) for kind in ("user", "agent", "run")]
    named = [(kind, name) for kind, name in owners if name]
    if named:
        kind, name = named[0]
        record.scope = f"{kind if kind != 'run' else 'custom'}:{name}"
        for other, value in named[1:]:
            record.rest[f"{other}_id"] = value
            if other == "agent":
                record.lost(
                    "scope", "owned by a user and an agent: the user's scope, the agent is kept in metadata"
                )


def _put_expiry(record: Record, value: Any, options: ReadOptions) -> None:
    """A date of expiry is the end of that day and may well lie ahead."""
    far = options.now_ms + 100 * 366 * DAY_MS
    put_time(record, "valid_until_ms", value, far, name="expiration_date")
    if (
        record.valid_until_ms is not None
        and isinstance(value, str)
        and len(value.strip()) == len("2026-06-30")
    ):
        record.valid_until_ms += DAY_MS - 1


def read_backup(path: Path, options: ReadOptions) -> Iterator[Read]:
    """OpenMemory's backup archive: its JSON lines, which have the categories by name."""
    tree = archive_tree(path)
    for refused in tree.refused:
        yield Rejected(refused.name, refused.why)
    lines = next((file for name in BACKUP for file in tree.files if file.path.name == name), None)
    if lines is None:
        raise MemtuiError(f"{path.name} has no memories.jsonl.gz in it.", fix="Export the backup again.")
    handle = lines.open()
    try:
        for line in lines_of(unzipped(handle), options.meter):
            yield line if isinstance(line, Rejected) else _backup_record(line, options)
    finally:
        handle.close()
    options.meter.add(path.stat().st_size)


def _backup_record(line: Value, options: ReadOptions) -> Record | Rejected:
    row = line.value
    if not isinstance(row, dict):
        return Rejected(line.where, "it is no object with a text")
    state = row.get("state")
    found = text_of(row.get("content"), line.where)
    if isinstance(found, Rejected):
        return found
    if state == "deleted":
        return Rejected(line.where, "it was deleted there", text=found[0][:80])
    record = Record(text=found[0], where=line.where)
    put_id(record, row.get("id"))
    record.foreign_id = record.id or record.foreign_id
    put_time(record, "timestamp_ms", row.get("created_at"), options.now_ms)
    put_time(record, "updated_ms", row.get("updated_at"), options.now_ms, name="updated_at")
    record.tags = words(row.get("categories"))
    record.category = record.tags[0] if record.tags else None
    record.state = _STATES.get(state) if isinstance(state, str) else None
    if state == "paused":
        record.lost("state", "paused: stored as archived, which recall leaves out too")
    if state is not None:
        record.rest["state"] = state
    if row.get("app") is not None:
        record.rest["app"] = row["app"]
    if row.get("metadata") is not None:
        record.rest["metadata"] = row["metadata"]
    record.rest |= others(row, _OPENMEMORY)
    return record


def detects(head: Head) -> Sighting | None:
    """Records with `memory`, or the archive of OpenMemory; mem0's history of changes is refused."""
    if head.kind == "zip":
        backup = any(file.path.name in BACKUP for file in head.members)
        return Sighting(("an OpenMemory backup: memories.jsonl in the archive",)) if backup else None
    document = head.document
    nested = [row for value in document.values.values() if isinstance(value, list) for row in value]
    is_history = bool(nested) and all(isinstance(row, dict) and "memory_id" in row for row in nested)
    if is_history or document.share("memory_id", "event") == 1:
        refusal = MemtuiError(
            "This is mem0's history of changes, not its memories.", fix="Export the memories with get_all."
        )
        return Sighting((), 0.9, refusal)
    if document.share("memory") == 1 and document.some("hash", "created_at", "user_id", "agent_id"):
        under = f" under `{document.under}`" if document.under else ""
        platform = " of the platform" if document.some("categories", "structured_attributes") else ""
        return Sighting((f"records{under} with `memory` and `created_at`{platform}",), 0.8)
    return None


PROTOCOL = 1

FORMATS = (Format("mem0", "mem0", {"json": read, "zip": read_backup}, detects, 50, stored=True),)
