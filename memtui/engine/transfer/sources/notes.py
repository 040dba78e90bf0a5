"""One Markdown note of an agent's workspace as records: MEMORY.md, daily files, mirrors, notes of any kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import one_line
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.fields import SPLIT, SPLIT_FROM, beginning, pieces, word, words
from memtui.engine.transfer.sources.files import TreeFile
from memtui.engine.transfer.sources.front_matter import split
from memtui.engine.transfer.sources.markdown import MarkdownEntry, entries
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import decode, storable, without_nul
from memtui.engine.transfer.sources.values import DAY_MS, read_date, read_time

DATED = re.compile(r"(\d{4}-\d{2}-\d{2})(?:-[^/]*)?\.md", re.IGNORECASE)

SESSION = re.compile(r"#[ \t]+Session:[ \t]+\d{4}-\d{2}-\d{2}[ \t]+\d{2}:\d{2}")

MIRROR = re.compile(
    r"- (?P<time>\d{4}-\d{2}-\d{2}T[\d:.]+Z) \[(?P<category>[^:\]\s]+):(?P<scope>[^\]]*)\] "
    r"agent=(?P<agent>\S*) source=(?P<source>\S*) (?P<text>.*)"
)

MIRROR_CUT = 500

_LEADING_DATE = re.compile(r"\[?(\d{4}-\d{2}-\d{2})\]?(?:[ \t]*[:–—]|[ \t]+-)[ \t]+(?=\S)")

_TIMES = ("created", "created_at", "date", "datum", "erstellt", "日期", "创建时间", "日付", "作成日", "날짜")
"""Keys of a head that say when a note was written."""

_TITLES = ("title", "Title", "titel", "标题", "標題", "タイトル", "제목")
"""Keys of a head that hold the title."""

_SECTION_SIGN = re.compile(r"^[ \t]*§[ \t]*$", re.MULTILINE)

FRONT_MATTER = 8_000
"""Characters of a head that are kept with every entry of its note."""

PROSE = "a paragraph, not a list entry (prose is taken on request)"

UNCERTAIN = "not in the source: the time of the file was taken"


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note that was read: its text without front matter, and what every record of it shares."""

    file: TreeFile
    head: dict[str, object]
    text: str
    first_line: int
    """Lines before the text."""
    scope: str | None
    remark: str = ""
    """What has to be said about how it was read."""


def read_note(file: TreeFile, options: ReadOptions, scope: str | None) -> NoteFile | Rejected:
    """The note in `file`, or why it cannot be read."""
    try:
        text, remark = decode(file.read(), one_line(file.name), options.encoding)
    except (MemtuiError, OSError) as error:
        return Rejected(file.name, getattr(error, "message", str(error)), broken=True)
    head, body, before = split(text)
    return NoteFile(file, head, body, before, scope, f"{file.name}: {remark}." if remark else "")


def note_records(file: TreeFile, options: ReadOptions, scope: str | None) -> Iterator[Read]:
    """The entries of one note, each a record; what is left out is said so."""
    note = read_note(file, options, scope)
    if isinstance(note, Rejected):
        yield note
        return
    if note.remark:
        yield SourceRemark(note.remark)
    if SESSION.match(note.text.lstrip("\n")):
        yield Rejected(file.name, "the record of a conversation, not a list of memories")
        return
    if _SECTION_SIGN.search(note.text):
        yield from _sections(note, options)
        return
    mirrored = _mirror(note)
    if mirrored is not None:
        yield from mirrored
        return
    for entry in entries(note.text):
        yield from entry_records(note, entry, options)


def entry_records(note: NoteFile, entry: MarkdownEntry, options: ReadOptions) -> Iterator[Read]:
    """The record (or several, of a very long one) of one entry."""
    where = f"{note.file.name}:{note.first_line + entry.line}"
    text, nul = without_nul(entry.text)
    text, odd = storable(text)
    if not text.strip():
        yield Rejected(where, "its text is empty")
        return
    if entry.kind == "paragraph" and not options.prose:
        yield Rejected(where, PROSE, text=beginning(text))
        return
    date, text = leading_date(text)
    parts = list(pieces(text)) if len(text) > SPLIT_FROM else [text.strip()]
    for number, part in enumerate(parts):
        record = Record(text=part, where=where, scope=note.scope, heading=entry.heading)
        record.key = f"{note.file.name}\n{part}"
        record.rest = {"path": note.file.name, "line": note.first_line + entry.line}
        put_note_time(record, note, date, options)
        if len(parts) > 1:
            record.lost("text", SPLIT)
            record.rest["piece"] = f"{number + 1} of {len(parts)}"
        for said in (nul, odd):
            if said:
                record.lost("text", said)
        if entry.under:
            record.rest["under"] = entry.under[:SPLIT_FROM]
        if entry.box:
            record.rest["checkbox"] = entry.box
        record.title = title_of(note.head)
        record.tags = words(note.head.get("tags"))
        put_front_matter(record, note)
        yield record


def title_of(head: Mapping[str, object]) -> str | None:
    """The title that a head gives its note, in any of the languages known; None where it gives none."""
    return next(filter(None, (word(head.get(key)) for key in _TITLES)), None)


def put_front_matter(record: Record, note: NoteFile) -> None:
    """Keep the keys of the head that no field of the record is for; what is too long for that is told as lost."""
    fields = {"title": word(note.head.get("title")), "tags": words(note.head.get("tags"))}
    own = {key: value for key, value in note.head.items() if not fields.get(key)}
    if not own:
        return
    kept = json.dumps(own, ensure_ascii=False, default=str)
    if len(kept) > FRONT_MATTER:
        record.lost("front matter", f"longer than {FRONT_MATTER:,} characters: not kept with each entry")
    else:
        record.rest["front_matter"] = json.loads(storable(kept)[0])


def leading_date(text: str) -> tuple[int | None, str]:
    """(UTC midnight, the text after it) of a text that begins with a date and a colon or dash; else (None, text)."""
    match = _LEADING_DATE.match(text)
    ms = read_date(match[1]) if match else None
    return (ms, text[match.end() :]) if match and ms is not None else (None, text)


def put_note_time(record: Record, note: NoteFile, date: int | None, options: ReadOptions) -> None:
    """The entry's own date, else the front matter's, else the file name's, else the file's time."""
    for key in _TIMES:
        if date is None and note.head.get(key) is not None:
            found = read_time(note.head[key], options.now_ms)[0]
            if found is not None:
                record.timestamp_ms, record.time_from = found, "front matter"
                return
    named = DATED.fullmatch(note.file.path.name)
    from_name = read_date(named[1]) if named else None
    latest = options.now_ms + DAY_MS
    if date is not None and date <= latest:
        record.timestamp_ms, record.time_from = date, "date at line start"
    elif from_name is not None and from_name <= latest:
        record.timestamp_ms, record.time_from = from_name, "file name"
    elif note.file.mtime_ms is not None:
        record.timestamp_ms, record.time_from = note.file.mtime_ms, "file time"
        record.lost("timestamp", UNCERTAIN)


def _sections(note: NoteFile, options: ReadOptions) -> Iterator[Read]:
    """Entries that are separated by lines with a section sign, as Hermes keeps its MEMORY.md."""
    at = 0
    for part in _SECTION_SIGN.split(note.text):
        body = part.strip()
        line = note.text.count("\n", 0, at) + 1 + part[: len(part) - len(part.lstrip())].count("\n")
        at += len(part) + 1
        if body and not body.startswith("#"):
            yield from entry_records(note, MarkdownEntry("bullet", body, line), options)


def _mirror(note: NoteFile) -> Iterator[Read] | None:
    """The records of a Markdown mirror, None when this is none."""
    lines = note.text.replace("\r\n", "\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    return _mirror_lines(note, lines) if MIRROR.fullmatch(first) else None


def _mirror_lines(note: NoteFile, lines: list[str]) -> Iterator[Read]:
    for number, line in enumerate(lines, note.first_line + 1):
        where = f"{note.file.name}:{number}"
        if not line.strip():
            continue
        match = MIRROR.fullmatch(line)
        if match is None:
            yield Rejected(where, "no line of a mirror", text=beginning(line))
            continue
        text = storable(match["text"])[0]
        if not text.strip():
            yield Rejected(where, "its text is empty")
            continue
        record = Record(
            text=text, where=where, category=match["category"], scope=match["scope"] or note.scope
        )
        record.timestamp_ms = read_time(match["time"], 1 << 60)[0]
        record.key = f"{match['time']}\n{text}"
        record.rest = {
            "path": note.file.name,
            "line": number,
            "agent": match["agent"],
            "stored_by": match["source"],
        }
        if len(text) >= MIRROR_CUT:
            record.lost("text", f"cut at {MIRROR_CUT} characters by the mirror")
        record.lost("text", "one line in the mirror: line breaks that it had became spaces")
        yield record
