"""basic-memory's notes: observations become memories, relations their links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memtui.engine.core.text import counted
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import beginning, word, words
from memtui.engine.transfer.sources.files import tree_of
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.markdown import MarkdownEntry, entries
from memtui.engine.transfer.sources.notes import PROSE, NoteFile, put_note_time, read_note
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import storable, without_nul

_CATEGORY = re.compile(r"\[(?P<category>[^\[\]()\n]+)\][ \t]+(?P<rest>\S.*)", re.DOTALL)

_TAG = re.compile(r"(?:(?<=\s)|^)#([^\s#]+)")

_CONTEXT = re.compile(r"\s*\((?P<context>[^()]*)\)\s*$")

_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")

_RELATION = re.compile(r"(?P<kind>[^\[\]]*?)\s*\[\[(?P<target>[^\[\]]+)\]\]\s*(?:\([^()]*\))?")

_HEAD = frozenset(("title", "type", "permalink", "tags", "schema", "created", "created_at", "date"))

UNTAGGED = "note"
"""Category of a bullet that has tags and no category, as basic-memory itself stores it."""

BARE_LINK = "links_to"


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The notes of a project folder, in order of their names."""
    tree = tree_of(path, (".md",))
    for refused in tree.refused:
        yield Rejected(refused.name, refused.why)
    options.meter.total = len(tree.files)
    notes = [read_note(file, options, None) for file in tree.files]
    project = _project(path, [note for note in notes if isinstance(note, NoteFile)])
    for note in notes:
        options.meter.add(1)
        if isinstance(note, Rejected):
            yield note
        else:
            if note.remark:
                yield SourceRemark(note.remark)
            yield from _note_records(note, project, options)


def _project(path: Path, notes: list[NoteFile]) -> str:
    """The name that stands before most permalinks and is no folder of the project, else the folder's name."""
    leads: Counter[str] = Counter()
    for note in notes:
        parts = str(note.head.get("permalink") or "").split("/")
        if len(parts) > len(note.file.path.parts):
            leads[parts[0]] += 1
    return leads.most_common(1)[0][0] if leads else path.resolve().name


def _note_records(note: NoteFile, project: str, options: ReadOptions) -> Iterator[Read]:
    found = list(entries(note.text))
    links = tuple(dict.fromkeys(link for entry in found for link in _links(entry)))
    observations = 0
    for entry in found:
        where = f"{note.file.name}:{note.first_line + entry.line}"
        record = _observation(note, entry, where)
        if record is None:
            if entry.kind == "paragraph":
                if options.prose and not entry.fenced:
                    record = Record(text=entry.text, where=where)
                else:
                    yield Rejected(where, PROSE, text=beginning(entry.text))
            elif not _is_relation(entry):
                why = (
                    "a check box, not an observation"
                    if entry.box
                    else "no observation: neither category nor tags"
                )
                yield Rejected(where, why, text=beginning(entry.text))
        if record is None:
            continue
        observations += 1
        _put_note(record, note, project, links, options)
        yield record
    if links and not observations:
        yield SourceRemark(
            f"{note.file.name} has {len(links)} relations and no observation to keep them with."
        )


def _observation(note: NoteFile, entry: MarkdownEntry, where: str) -> Record | None:
    if entry.kind == "paragraph" or entry.box:
        return None
    match = _CATEGORY.fullmatch(entry.text)
    tags = tuple(_TAG.findall(entry.text))
    if match is None and not tags:
        return None
    body = match["rest"] if match else entry.text
    context = _CONTEXT.search(body)
    if context:
        body = body[: context.start()]
    text, nul = without_nul(" ".join(_TAG.sub("", body).split(" ")).strip())
    text, odd = storable(re.sub(r"[ \t]{2,}", " ", text))
    if not text:
        return None
    record = Record(
        text=text, where=where, category=match["category"].strip() if match else UNTAGGED, tags=tags
    )
    record.heading = entry.heading
    for said in (nul, odd):
        if said:
            record.lost("text", said)
    if context:
        record.rest["context"] = context["context"]
    if entry.under:
        record.rest["under"] = entry.under
    return record


def _put_note(
    record: Record, note: NoteFile, project: str, links: tuple[tuple[str, str], ...], options: ReadOptions
) -> None:
    head = note.head
    record.title = word(head.get("title")) or note.file.path.stem
    permalink = word(head.get("permalink")) or note.file.name.removesuffix(".md")
    record.foreign_id = permalink
    record.key = f"{permalink}\n{record.text}"
    record.scope = f"project:{project}"
    record.links = links
    put_note_time(record, note, None, options)
    record.rest |= {
        "path": note.file.name,
        "note_type": head.get("type"),
        "note_tags": list(words(head.get("tags"))),
    }
    custom = {key: value for key, value in head.items() if key not in _HEAD}
    if custom:
        record.rest["front_matter"] = custom
    if "schema" in head:
        record.lost("schema", "the note's schema has no meaning here")


def _is_relation(entry: MarkdownEntry) -> bool:
    return not entry.box and _RELATION.fullmatch(entry.text) is not None


def _links(entry: MarkdownEntry) -> Iterator[tuple[str, str]]:
    """(kind, target) of a relation, and of each link inside an observation."""
    if entry.box or entry.kind == "paragraph":
        return
    if match := _RELATION.fullmatch(entry.text):
        yield (match["kind"].strip() or BARE_LINK, match["target"].strip())
        return
    if _CATEGORY.fullmatch(entry.text) or _TAG.search(entry.text):
        for target in _LINK.findall(entry.text):
            yield (BARE_LINK, target.strip())


def detects(head: Head) -> Sighting | None:
    """A permalink in the front matter: of the text, or of most notes."""
    if head.kind == "text":
        return Sighting(("a permalink in the front matter",), 0.8) if "permalink" in head.text.front else None
    notes = head.notes
    count = sum("permalink" in front for front, _ in notes.heads)
    if not notes.most(count):
        return None
    shown = f"{count} of {counted(len(notes.heads), 'note')} have a permalink in their front matter"
    return Sighting((shown,), 0.8)


PROTOCOL = 1

FORMATS = (
    Format(
        "basic-memory",
        "basic-memory notes",
        {"folder": read, "text": read, "zip": read},
        detects,
        110,
        asks=("prose", "encoding"),
    ),
)
