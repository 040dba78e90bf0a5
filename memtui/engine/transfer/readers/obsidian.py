"""Obsidian vaults: notes that an exporter wrote (one memory each), and any other notes (their entries)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from memtui.engine.core.text import counted
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import put_id, put_importance, put_time, put_word, words
from memtui.engine.transfer.sources.files import tree_of
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.markdown import entries
from memtui.engine.transfer.sources.notes import NoteFile, entry_records, put_note_time, read_note, title_of
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import storable, without_nul

EXPORTERS = ("memory-lancedb-pro", "memtui")
"""Values of the key `source` of notes that are one memory each."""

FIELDS = frozenset(
    (
        "id",
        "category",
        "scope",
        "importance",
        "created",
        "source",
        "tags",
        "timestamp_ms",
        "metadata",
        "dialect",
    )
)

_TITLE = re.compile(r"\n?# [^\n]*\n\n?")

_TAG = re.compile(r"(?:(?<=\s)|^)#([^\s#]*[^\s#\d][^\s#]*)")

_LINK = re.compile(r"\[\[([^\[\]|#]++)[^\[\]]*+\]\]")


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The notes below a folder, in order of their names."""
    tree = tree_of(path, (".md",))
    for refused in tree.refused:
        yield Rejected(refused.name, refused.why)
    options.meter.total = len(tree.files)
    scope = f"agent:{options.agent}" if options.agent else None
    for file in tree.files:
        options.meter.add(1)
        note = read_note(file, options, scope)
        if isinstance(note, Rejected):
            yield note
            continue
        if note.remark:
            yield SourceRemark(note.remark)
        if note.head.get("source") in EXPORTERS and note.head.get("id"):
            yield exported(note, options)
        else:
            yield from _entries(note, options)


def exported(note: NoteFile, options: ReadOptions) -> Record | Rejected:
    """A note that is one memory: the text below its title."""
    head = note.head
    text, nul = without_nul(_TITLE.sub("", note.text, count=1))
    text, odd = storable(text.removesuffix("\n"))
    if not text.strip():
        return Rejected(note.file.name, "its text is empty")
    record = Record(text=text, where=note.file.name, title=note.file.path.stem)
    put_id(record, head.get("id"), stable=True)
    put_word(record, "category", head.get("category"))
    put_word(record, "scope", head.get("scope"))
    put_importance(record, head.get("importance"))
    record.tags = words(head.get("tags"))
    if head.get("timestamp_ms") is not None:
        put_time(record, "timestamp_ms", head["timestamp_ms"], options.now_ms)
    else:
        put_time(record, "timestamp_ms", head.get("created"), options.now_ms)
        record.lost("timestamp", "only its day is in the note: the time of day is lost")
    if isinstance(head.get("metadata"), str):
        record.metadata = str(head["metadata"])
    elif head.get("source") == "memtui":
        record.lost("metadata", "none in the source: derived from the text")
    elif head.get("source") == "memory-lancedb-pro":
        record.lost("metadata", "not in the note: tier, counters, summaries and validity are lost")
    for said in (nul, odd):
        if said:
            record.lost("text", said)
    custom = {key: value for key, value in head.items() if key not in FIELDS}
    if custom:
        record.rest["front_matter"] = json.loads(json.dumps(custom, default=str))
    return record


def _entries(note: NoteFile, options: ReadOptions) -> Iterator[Read]:
    """The entries of a person's own note, with its tags and links."""
    title = title_of(note.head) or note.file.path.stem
    note_tags = words(note.head.get("tags"))
    for entry in entries(note.text):
        for record in entry_records(note, entry, options):
            if isinstance(record, Record):
                record.title = title
                record.tags = tuple(dict.fromkeys((*_TAG.findall(record.text), *note_tags)))
                record.links = tuple(("links_to", target.strip()) for target in _LINK.findall(record.text))
                if record.timestamp_ms is None:
                    put_note_time(record, note, None, options)
            yield record


def detects(head: Head) -> Sighting | None:
    """Notes that an exporter wrote; else a vault's folder, or front matter in most notes."""
    if head.kind == "text":
        front = head.text.front
        is_exported = front.get("source") in EXPORTERS and front.get("id")
        return Sighting((f"a note written by {front['source']}",), 0.9) if is_exported else None
    notes = head.notes
    total = counted(len(notes.heads), "note")
    exporters = [
        str(front["source"])
        for front, _ in notes.heads
        if front.get("source") in EXPORTERS and front.get("id")
    ]
    if notes.most(len(exporters)):
        return Sighting(
            (f"{len(exporters)} of {total} were written by {exporters[0]}, one memory each",), 0.8
        )
    if notes.files and not notes.tree.is_archive and (head.path / ".obsidian").is_dir():
        return Sighting(("the folder .obsidian of a vault",), 0.4)
    with_front = sum(bool(front) for front, _ in notes.heads)
    if notes.most(with_front):
        return Sighting((f"{with_front} of {total} have front matter",), 0.4)
    return None


PROTOCOL = 1

FORMATS = (
    Format(
        "obsidian",
        "an Obsidian vault",
        {"folder": read, "text": read, "zip": read},
        detects,
        120,
        bare_scopes=True,
        asks=("prose", "encoding"),
    ),
)
