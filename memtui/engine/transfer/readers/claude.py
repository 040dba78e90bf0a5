"""Claude's data export: the memory text, cut at its headings and paragraphs; never one memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import SPLIT, SPLIT_FROM, pieces
from memtui.engine.transfer.sources.files import archive_tree
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.json_stream import JsonReader, Value, items_of, open_json
from memtui.engine.transfer.sources.markdown import entries
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import storable, unzipped, without_nul

TEXT, PROJECTS, FILES = "conversations_memory", "project_memories", "memory_files"


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """`memories.json` of an export."""
    with open_json(path, options.meter) as reader:
        yield from _accounts(reader)
        reader.finish()


def read_export(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The export archive: every memory file in it; its conversations and projects are left alone."""
    tree = archive_tree(path)
    for refused in tree.refused:
        yield Rejected(refused.name, refused.why)
    names = [f for f in tree.files if f.path.name == "memories.json" or f.path.parts[:-1] == ("memories",)]
    if not names:
        raise MemtuiError(
            f"{path.name} has no memories.json in it.", fix="Ask for the export with memories again."
        )
    for file in names:
        handle = file.open()
        try:
            reader = JsonReader(unzipped(handle), file.name, options.meter)
            yield from _accounts(reader)
            reader.finish()
        finally:
            handle.close()
    if any(file.path.name == "conversations.json" for file in tree.files):
        yield SourceRemark("The conversations in the archive are no memories and were left alone.")
    options.meter.add(path.stat().st_size)


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
    """Accounts with their memory text, or an archive with a file of them."""
    if head.kind == "zip":
        if any(file.path.name == "memories.json" for file in head.members):
            return Sighting(("memories.json in the archive of an export",))
        folders = (
            file.path.parts[:-1] == ("memories",) for file in head.members if file.path.suffix == ".json"
        )
        return Sighting(("memories/<account>.json in the archive of an export",)) if any(folders) else None
    if head.document.some(TEXT, PROJECTS):
        return Sighting((f"accounts with `{TEXT}`",), 0.8)
    return None


FORMATS = (Format("claude", "Claude's data export", {"json": read, "zip": read_export}, detects, 140),)
