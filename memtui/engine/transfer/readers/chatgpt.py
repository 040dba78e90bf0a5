"""ChatGPT's data export: the sentences that the model wrote to its memory, mined from the conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import put_time, word
from memtui.engine.transfer.sources.files import archive_tree
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import JsonReader, Value, items_of, open_json
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import storable, unzipped, without_nul

WRITER = "bio"
"""Name of the tool that keeps memories."""

_DONE = "context updated"

FILE = "conversations.json"


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """`conversations.json` of an export."""
    with open_json(path, options.meter) as reader:
        yield from _conversations(reader, options)
        reader.finish()


def read_export(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The export archive."""
    file = next((file for file in archive_tree(path).files if file.path.name == FILE), None)
    if file is None:
        raise MemtuiError(f"{path.name} has no {FILE} in it.", fix="Ask for the export again.")
    handle = file.open()
    try:
        reader = JsonReader(unzipped(handle), file.name, options.meter)
        yield from _conversations(reader, options)
        reader.finish()
    finally:
        handle.close()
    options.meter.add(path.stat().st_size)


def _conversations(reader: JsonReader, options: ReadOptions) -> Iterator[Read]:
    yield SourceRemark(
        "Mined from conversations: what was deleted from the memory later cannot be seen here."
    )
    for item in items_of(reader):
        if isinstance(item.value, dict):
            yield from _written(item, options)
        else:
            yield Rejected(item.where, "it is no conversation")


def _written(item: Value, options: ReadOptions) -> Iterator[Read]:
    conversation: dict[str, Any] = item.value
    mapping = conversation.get("mapping")
    for node_id, node in mapping.items() if isinstance(mapping, dict) else ():
        message = _message(node)
        author = _object(message.get("author"))
        if author.get("role") != "tool" or author.get("name") != WRITER or _DONE not in _text(message):
            continue
        where = f"{item.where}, node {node_id}"
        before = _message(_object(mapping).get(node.get("parent")))
        text, nul = without_nul(_text(before))
        text, odd = storable(text)
        if _object(before.get("author")).get("role") != "assistant" or not text.strip():
            yield Rejected(where, "a memory was written, but its sentence is not in the file")
            continue
        record = Record(text=text.strip(), where=where, title=word(conversation.get("title")))
        record.key = f"{conversation.get('id') or conversation.get('title')}\n{node_id}\n{text}"
        for note in filter(None, (nul, odd)):
            record.lost("text", note)
        put_time(record, "timestamp_ms", before.get("create_time"), options.now_ms)
        record.notes = [note for note in record.notes if "in seconds" not in note.what]
        record.rest = {"node": node_id, "conversation": conversation.get("title")}
        yield record


def _message(node: Any) -> Mapping[str, Any]:
    return _object(_object(node).get("message"))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(message: Mapping[str, Any]) -> str:
    parts = _object(message.get("content")).get("parts")
    return "\n".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""


def detects(head: Head) -> Sighting | None:
    """Conversations that have a mapping, or an archive with them; Claude's archive has a file of that name, too."""
    if head.kind == "zip":
        has_them = any(file.path.name == FILE for file in head.members)
        return Sighting((f"{FILE} in the archive of an export",), 0.9) if has_them else None
    if head.document.share("mapping") > 0:
        return Sighting(("conversations with a `mapping` of messages",), 0.8)
    return None


FORMATS = (Format("chatgpt", "ChatGPT's data export", {"json": read, "zip": read_export}, detects, 130),)
