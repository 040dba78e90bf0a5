"""Claude's data export: the memory text, cut at its headings and paragraphs; never one memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.exports import (
    CONVERSATIONS,
    MEMORIES,
    export_tree,
    files_of,
    json_member,
    no_memory_in,
    service_of,
)
from memtui.engine.transfer.sources.fields import SPLIT, SPLIT_FROM, pieces
from memtui.engine.transfer.sources.files import Tree, TreeFile
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import JsonReader, Value, items_of, open_json
from memtui.engine.transfer.sources.markdown import entries
from memtui.engine.transfer.sources.options import ReadOptions, ReadProgress
from memtui.engine.transfer.sources.text import storable, without_nul

TALK = "chat_messages"
"""Key of a conversation."""

TEXT, PROJECTS, FILES = "conversations_memory", "project_memories", "memory_files"


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """`memories.json` of an export; a file of its conversations holds none, which is said."""
    with open_json(path, options.meter) as reader:
        talks = 0
        for item in [Value(reader.value(), "account")] if reader.peek() == "{" else items_of(reader):
            if isinstance(item.value, dict) and TALK in item.value:
                talks += 1
            else:
                yield from _account(item)
        reader.finish()
    if talks:
        yield no_memory_in(path, talks)


def read_export(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The export, packed or not: every memory file in it; its conversations and projects are left alone."""
    tree = export_tree(path)
    for refused in tree.refused:
        yield Rejected(refused.name, refused.why)
    files, talks = _memory_files(tree), files_of(tree, CONVERSATIONS)
    if not files and not talks:
        raise MemtuiError(
            f"{path.name} has no memories.json in it.", fix="Ask for the export with memories again."
        )
    options.meter.total = sum(file.size for file in files)
    found = 0
    for file in files:
        with json_member(file, ReadProgress()) as reader:
            for account in _accounts(reader):
                found += 1
                yield account
            reader.finish()
        options.meter.add(file.size)
    if talks and found:
        yield SourceRemark("The conversations in the export are no memories and were left alone.")
    elif talks:
        yield no_memory_in(path, sum(_length(file) for file in talks))


def _length(file: TreeFile) -> int:
    """How many conversations a file holds."""
    with json_member(file, ReadProgress()) as reader:
        return sum(1 for _ in reader.items()) if reader.peek() == "[" else 1


def _memory_files(tree: Tree) -> tuple[TreeFile, ...]:
    """The files with the memories of accounts: one for all, in parts, or one an account in a folder."""
    return (
        *files_of(tree, MEMORIES),
        *(file for file in tree.files if file.path.parts[:-1] == (MEMORIES,) and file.path.suffix == ".json"),
    )


def _accounts(reader: JsonReader) -> Iterator[Read]:
    if reader.peek() == "{":
        yield from _account(Value(reader.value(), "account"))
        return
    for item in items_of(reader):
        yield from _account(item)


def _account(item: Value) -> Iterator[Read]:
    account = item.value
    if not isinstance(account, dict):
        yield Rejected(item.where, "it is no account with memories")
        return
    yield from _split(account.get(TEXT), TEXT, None, {})
    projects = account.get(PROJECTS)
    if isinstance(projects, dict):
        for project, text in projects.items():
            yield from _split(text, f"{PROJECTS}, {project}", f"project:{project}", {"project": project})
    files = account.get(FILES)
    for number, file in enumerate(files if isinstance(files, list) else [], 1):
        text = next(
            (file[key] for key in ("content", "text", "body") if isinstance(file, dict) and key in file), file
        )
        yield from _split(text, f"{FILES}, {number}", None, {"file": number})


def _split(text: Any, where: str, scope: str | None, rest: dict[str, Any]) -> Iterator[Read]:
    if not isinstance(text, str):
        if text is not None:
            yield Rejected(where, "it is no text")
        return
    for entry in entries(text, bold_headings=True):
        sound, nul = without_nul(entry.text)
        sound, odd = storable(sound)
        place = f"{where}, line {entry.line}"
        if not sound.strip():
            yield Rejected(place, "its text is empty")
            continue
        parts = list(pieces(sound)) if len(sound) > SPLIT_FROM else [sound.strip()]
        for part in parts:
            record = Record(text=part, where=place, scope=scope, heading=entry.heading, rest=dict(rest))
            record.key = f"{scope}\n{part}"
            if len(parts) > 1:
                record.lost("text", SPLIT)
            for note in filter(None, (nul, odd)):
                record.lost("text", note)
            if entry.under:
                record.rest["under"] = entry.under
            yield record


def detects(head: Head) -> Sighting | None:
    """Accounts with their memory text, or an export with files of them; its conversations are known, too."""
    if head.kind in ("zip", "folder"):
        return _in_export(head)
    if head.document.some(TEXT, PROJECTS):
        return Sighting((f"accounts with `{TEXT}`",), 0.8)
    if head.document.share(TALK) > 0:
        return Sighting((f"conversations with `{TALK}`",), 0.8)
    return None


def _in_export(head: Head) -> Sighting | None:
    where = "the archive of an export" if head.kind == "zip" else "the folder of an export"
    files = _memory_files(head.export)
    if files and (head.kind == "zip" or _has_accounts(files[0])):
        name = f"{MEMORIES}/<account>.json" if len(files[0].path.parts) > 1 else files[0].path.name
        return Sighting((f"{name} in {where}",))
    if service_of(files_of(head.export, CONVERSATIONS)) == "claude":
        return Sighting((f"conversations with `{TALK}` in {where}",), 0.9)
    return None


def _has_accounts(file: TreeFile) -> bool:
    try:
        with json_member(file, ReadProgress()) as reader:
            first = next(reader.items(), None) if reader.peek() == "[" else None
            row = reader.value() if first is None and reader.peek() == "{" else first and first.value
    except MemtuiError:
        return False
    return isinstance(row, dict) and any(key in row for key in (TEXT, PROJECTS, FILES))


PROTOCOL = 1

FORMATS = (
    Format(
        "claude",
        "Claude's data export",
        {"json": read, "zip": read_export, "folder": read_export},
        detects,
        140,
    ),
)
