"""ChatGPT's data export: the sentences that the model wrote to its memory, mined from the conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.exports import (
    CONVERSATIONS,
    export_tree,
    files_of,
    json_member,
    no_memory_in,
    service_of,
)
from memtui.engine.transfer.sources.fields import put_time, word
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import JsonReader, Value, items_of, open_json
from memtui.engine.transfer.sources.options import ReadOptions, ReadProgress
from memtui.engine.transfer.sources.text import storable, without_nul

WRITER = "bio"
"""Name of the tool that keeps memories."""

_DONE = "context updated"


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """A file of conversations of an export."""
    yield _MINED
    found = _Count()
    with open_json(path, options.meter) as reader:
        yield from _conversations(reader, options, found)
        reader.finish()
    if not found.memories:
        yield no_memory_in(path, found.conversations)


def read_export(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The export, as an archive or unpacked: every file of conversations in it."""
    tree = export_tree(path)
    for refused in tree.refused:
        yield Rejected(refused.name, refused.why)
    files = files_of(tree, CONVERSATIONS)
    if not files:
        raise MemtuiError(f"{path.name} has no conversations.json in it.", fix="Ask for the export again.")
    options.meter.total = sum(file.size for file in files)
    yield _MINED
    found = _Count()
    for file in files:
        with json_member(file, ReadProgress()) as reader:
            for conversation in _conversations(reader, options, found):
                if len(files) > 1 and isinstance(conversation, Record | Rejected):
                    yield replace(conversation, where=f"{file.name}, {conversation.where}")
                else:
                    yield conversation
            reader.finish()
        options.meter.add(file.size)
    if not found.memories:
        yield no_memory_in(path, found.conversations)


_MINED = SourceRemark("Mined from conversations: what was deleted from the memory later cannot be seen here.")


@dataclass(slots=True)
class _Count:
    """What was found so far."""

    conversations: int = 0
    memories: int = 0


def _conversations(reader: JsonReader, options: ReadOptions, found: _Count) -> Iterator[Read]:
    for item in items_of(reader):
        if isinstance(item.value, dict):
            found.conversations += 1
            for each in _written(item, options):
                found.memories += 1
                yield each
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
    content = _object(message.get("content"))
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(part for part in parts if isinstance(part, str))
    return content["text"] if isinstance(content.get("text"), str) else ""


def detects(head: Head) -> Sighting | None:
    """Conversations that have a mapping, or an archive or folder with files of them; Claude's are called the same."""
    if head.kind in ("zip", "folder"):
        files = files_of(head.export, CONVERSATIONS)
        service = service_of(files)
        if not files or service == "claude" or (head.kind == "folder" and service != "chatgpt"):
            return None
        where = "the archive of an export" if head.kind == "zip" else "the folder of an export"
        shown = files[0].path.name if len(files) == 1 else f"conversations in {counted(len(files), 'file')}"
        return Sighting((f"{shown} in {where}",), 0.9)
    if head.document.share("mapping") > 0:
        return Sighting(("conversations with a `mapping` of messages",), 0.8)
    return None


PROTOCOL = 1

FORMATS = (
    Format(
        "chatgpt",
        "ChatGPT's data export",
        {"json": read, "zip": read_export, "folder": read_export},
        detects,
        130,
    ),
)
