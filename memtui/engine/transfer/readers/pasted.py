"""A list that an assistant printed of what it remembers: `[date] - memory` a line, in a code fence or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted, quoted
from memtui.engine.transfer.format import Format, Sighting
from memtui.engine.transfer.record import Read, Record, Rejected, SourceRemark
from memtui.engine.transfer.sources.column_mapping import value_kind
from memtui.engine.transfer.sources.files import single_file
from memtui.engine.transfer.sources.head import Head
from memtui.engine.transfer.sources.options import ReadOptions
from memtui.engine.transfer.sources.text import decode, storable, without_nul
from memtui.engine.transfer.sources.values import BRACKETED, read_time

_FENCE = re.compile(r"[ \t]*(?:```|~~~)")

_LEAD = re.compile(r"[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+")

DATED = re.compile(r"(?P<date>\d{4}-\d{2}-\d{2})[ \t]*[-–—:][ \t]+(?P<text>.*)")

_UNKNOWN = re.compile(r"unknown|n/?a|none|no date.*|date unknown|unbekannt|不明|未知", re.IGNORECASE)

TRUST = "low (pasted model output)"

_LIST_FROM = 0.5
"""Share of lines that begin with a bracketed date from which every other line continues the one before."""


def read(path: Path, options: ReadOptions) -> Iterator[Read]:
    """The entries of the list, in order; sentences around a code fence are none."""
    text, remark = decode(single_file(path).read(), path.name, options.encoding)
    if remark:
        yield SourceRemark(f"{path.name}: {remark}.")
    yield SourceRemark("The list is what a model printed: it may be incomplete or reworded.")
    lines = list(enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1))
    fenced, around = _inside_fence(lines)
    for number, line in around:
        yield Rejected(f"line {number}", "a sentence around the list, not an entry", text=line.strip()[:80])
    for entry in _joined(fenced):
        yield _record(*entry, options)
    options.meter.add(path.stat().st_size)


def _inside_fence(lines: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """(lines of the list, other lines that are not blank): inside of a code fence when there is one."""
    fences = [at for at, (_, line) in enumerate(lines) if _FENCE.match(line)]
    if not fences:
        return [pair for pair in lines if pair[1].strip()], []
    end = fences[1] if len(fences) > 1 else len(lines)
    inside = [pair for pair in lines[fences[0] + 1 : end] if pair[1].strip()]
    outside = [pair for pair in (*lines[: fences[0]], *lines[end + 1 :]) if pair[1].strip()]
    return inside, [pair for pair in outside if not _FENCE.match(pair[1])]


def _joined(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """(line number, entry) with continuation lines joined to the entry that they belong to."""
    bare = [_bare(line) for _, line in lines]
    begins = [BRACKETED.match(line) is not None or DATED.match(line) is not None for line in bare]
    is_list = bool(lines) and sum(begins) >= _LIST_FROM * len(lines)
    held: tuple[int, str] | None = None
    for (number, line), stripped, begin in zip(lines, bare, begins, strict=True):
        has_mark = stripped != line.lstrip()
        if held is not None and not begin and not has_mark and (is_list or line[:1] in " \t"):
            held = (held[0], f"{held[1]} {stripped.strip()}")
            continue
        if held is not None:
            yield held
        held = (number, stripped.strip())
    if held is not None:
        yield held


def _bare(line: str) -> str:
    """The line without a leading bullet or number."""
    match = _LEAD.match(line)
    return line[match.end() :] if match else line.lstrip()


def _record(number: int, entry: str, options: ReadOptions) -> Record | Rejected:
    match = BRACKETED.match(entry) or DATED.match(entry)
    date, text = (match["date"].strip(), match["text"]) if match else ("", entry)
    text, nul = without_nul(text)
    text, odd = storable(text)
    where = f"line {number}"
    if not text.strip():
        return Rejected(where, "its text is empty")
    record = Record(text=text.strip(), where=where, trust=TRUST)
    record.key = text.strip()
    for said in (nul, odd):
        if said:
            record.lost("text", said)
    if date and not _UNKNOWN.fullmatch(date):
        record.timestamp_ms, note = read_time(date, options.now_ms)
        if note:
            record.lost("timestamp", note)
        if record.timestamp_ms is None:
            record.rest["date_as_given"] = date
    return record


def _dated_lines(head: str) -> tuple[int, int]:
    """(lines that begin with a date in brackets or before a dash, lines that are not blank) of a text's beginning."""
    lines = [_bare(line) for line in head.splitlines() if line.strip() and not _FENCE.match(line)]
    dated = sum(1 for line in lines if DATED.match(line) or _is_bracketed(line))
    return dated, len(lines)


def _is_bracketed(line: str) -> bool:
    match = BRACKETED.match(line)
    return match is not None and (
        _UNKNOWN.fullmatch(match["date"]) is not None or match["date"][:4].isdigit()
    )


def detects(head: Head) -> Sighting:
    """Lines that begin with a date and a dash; another text is taken a line a memory where nothing else fits.

    What calls itself something else, or reads like it, is refused by that name: a person who knows better names the
    form.
    """
    dated, lines = _dated_lines(head.text.body)
    if dated and dated * 2 >= lines - 2:
        return Sighting((f"{dated} of {counted(lines, 'line')} begin with a date and a dash",), 0.6)
    if other := _other_form(head):
        refusal = MemtuiError(
            f"{head.path.name} is {other}.",
            fix="Export it in a form that we know, or take each line as a memory with --format pasted.",
        )
        return Sighting((), 0.1, refusal)
    if talk := _talk(head.text.body):
        refusal = MemtuiError(
            f"{head.path.name} is a conversation: {talk} of {counted(lines, 'line')} begin with who speaks.",
            fix=f"Let Capture find what is worth keeping in it: memtui capture {quoted(head.path)}",
        )
        return Sighting((), 0.1, refusal)
    return Sighting((f"{counted(lines, 'line')} of plain text, taken as one memory each",), 0.1)


_FORMS = {
    ".csv": "no table that can be read", ".tsv": "no table that can be read", ".tab": "no table that can be read",
    ".json": "no JSON", ".jsonl": "no JSON lines", ".ndjson": "no JSON lines", ".xml": "XML", ".opml": "XML",
    ".html": "a web page", ".htm": "a web page", ".yaml": "YAML", ".yml": "YAML", ".toml": "TOML",
    ".ini": "settings", ".env": "settings", ".sql": "SQL", ".rtf": "RTF", ".eml": "a mail", ".mbox": "a mailbox",
    ".ics": "a calendar", ".vcf": "a list of contacts", ".srt": "subtitles", ".vtt": "subtitles", ".tex": "LaTeX",
    ".bib": "a bibliography", ".log": "a log", ".py": "code", ".js": "code", ".ts": "code", ".sh": "code",
    ".svg": "a picture",
}  # fmt: skip

_BEGINNINGS = (
    (re.compile(r"<\?xml|<!|<[a-z][\w:-]*[\s>/]", re.IGNORECASE), "XML or a web page"),
    (re.compile(r"[\[{]"), "no JSON that can be read"),
    (re.compile(r'"[^"\n]{0,80}"[ \t]*:'), "no JSON that can be read"),
    (re.compile(r"BEGIN:V(?:CARD|CALENDAR|EVENT)"), "a list of contacts or a calendar"),
    (re.compile(r"WEBVTT|\d+\r?\n\d\d:\d\d:\d\d[,.]\d+ -->"), "subtitles"),
    (re.compile(r"-----BEGIN "), "a key or a certificate"),
    (re.compile(r"(?:INSERT INTO|CREATE TABLE|PRAGMA|BEGIN TRANSACTION)\b", re.IGNORECASE), "SQL"),
    (re.compile(r"%PDF|%!PS"), "a document for printing"),
)

_MOST = 0.6
"""Share of lines that are all of one kind, from which a text is no list of memories."""

_KIND_WORDS = {
    "number": "numbers",
    "time": "dates and times",
    "id": "ids",
    "address": "addresses",
    "path": "paths of files",
    "word": "single words",
    "json": "JSON",
}

_SPEAKER = re.compile(
    r"[ \t>*_#]{0,6}(?P<who>user|human|you|me|assistant|ai|bot|chatgpt|claude|gemini|system)[ \t*_]{0,4}[:：]",
    re.IGNORECASE,
)


def _other_form(head: Head) -> str:
    """What a text is that is no list of memories; "" for one that may be one."""
    suffixes = [suffix.lower() for suffix in head.path.suffixes[-2:] if suffix.lower() != ".gz"]
    if suffixes and suffixes[-1] in _FORMS:
        return _FORMS[suffixes[-1]]
    body = head.text.body.lstrip()
    for beginning, what in _BEGINNINGS:
        if beginning.match(body) and not BRACKETED.match(body):
            return what
    lines = [line.strip() for line in body.splitlines() if line.strip() and not _FENCE.match(line)]
    kinds = Counter(kind for line in lines if (kind := value_kind(_bare(line).strip())))
    kind, count = kinds.most_common(1)[0] if kinds else ("", 0)
    if count and count >= _MOST * len(lines):
        many = f"{count} of its {counted(len(lines), 'line')}"
        return f"no list of memories that we know: {many} hold only {_KIND_WORDS[kind]}"
    return ""


def _talk(text: str) -> int:
    """How many lines begin with who speaks, where two or more speak; 0 for any other text."""
    said = [match["who"].lower() for line in text.splitlines() if (match := _SPEAKER.match(line))]
    return len(said) if len(said) > 1 and len(set(said)) > 1 else 0


PROTOCOL = 1

FORMATS = (
    Format("pasted", "a list that an assistant printed", {"text": read}, detects, 150, asks=("encoding",)),
)
