"""Where the lines of an indexed chunk are in its file now, also after the file went on since it was indexed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memtui.engine.notes.annotations import Annotations, read_annotations, strip_annotations
from memtui.engine.notes.entry_edit import content_lines
from memtui.engine.notes.index_file import IndexedChunk
from memtui.engine.notes.memory_files import CURATED, FileText, split_lines
from memtui.engine.notes.place_book import (
    Codes,
    PlacedLines,
    Range,
    carry_range,
    line_codes,
    line_mark,
)

State = Literal["indexed", "changed", "gone", "file gone", "unclear"]


@dataclass(frozen=True, slots=True)
class PlacedChunk:
    """A chunk and its lines in the file as it is now.

    "indexed": the file says what the index says; "changed": the lines differ, `text` and `fields` are the file's;
    "gone": the lines were removed; "file gone"; "unclear": which lines are meant cannot be told.
    """

    chunk: IndexedChunk
    state: State
    text: str
    fields: Annotations
    start: int = 0
    """First line, counted from 0."""
    end: int = 0
    """The line behind the last one."""
    whole: bool = True
    """Whether the chunk is made of whole lines: of a long line that was cut, a piece cannot be changed alone."""

    @property
    def shown_lines(self) -> tuple[int, int]:
        """First and last line, counted from 1: of an indexed chunk with the blank lines and marks that it holds."""
        if self.state not in ("indexed", "changed"):
            return self.chunk.start_line, self.chunk.end_line
        if self.state == "changed":
            return self.start + 1, self.end
        start = self.start - _own_lines(self.chunk)[1]
        return start + 1, start + 1 + self.chunk.end_line - self.chunk.start_line


def place_chunks(
    chunks: Sequence[IndexedChunk], file: FileText, indexed_hash: str, known: PlacedLines | None = None
) -> dict[str, PlacedChunk]:
    """Each chunk of one file, by its id, with where it is in the file's text of today.

    `known`: where memtui left the chunks of this index when it changed the file.
    """
    if file.text is None:
        state: State = "file gone" if not file.hash else "unclear"
        return {chunk.id: PlacedChunk(chunk, state, chunk.text, _fields(chunk)) for chunk in chunks}
    lines = split_lines(file.text)
    if file.hash == indexed_hash:
        return {chunk.id: _as_indexed(chunk, lines) for chunk in chunks}
    if known is not None and known.indexed == indexed_hash:
        codes = line_codes(known.marks, [line_mark(line) for line in lines])
        return {chunk.id: _placed(chunk, lines, codes, known.ranges.get(chunk.id)) for chunk in chunks}
    old: dict[int, str] = {}
    for chunk in chunks:
        written = split_lines(chunk.text)
        if len(written) == chunk.end_line - chunk.start_line + 1:
            old.update(enumerate((_plain(line) for line in written), chunk.start_line - 1))
    count = max(old, default=-1) + 1
    before = [old.get(number, f"\0{number}") for number in range(count)]
    codes = line_codes(before, [_visible(line) for line in lines])
    return {chunk.id: _placed(chunk, lines, codes, _own_range(chunk)) for chunk in chunks}


def _own_lines(chunk: IndexedChunk) -> tuple[list[str], int]:
    """The lines of a chunk that say something, and how many stand before them.

    Blank lines and marks around them are left out: what the agent adds there is not the chunk's.
    """
    lines = [_plain(line) for line in split_lines(chunk.text)]
    start, end = content_lines(lines)
    return (lines[start:end], start) if end > start else (lines, 0)


def _own_range(chunk: IndexedChunk) -> Range:
    lines, before = _own_lines(chunk)
    start = chunk.start_line - 1 + before
    return start, start + len(lines)


def _with_fields(end: int, lines: Sequence[str]) -> int:
    """The line behind the chunk's own and those below that hold nothing but its fields."""
    while end < len(lines) and lines[end].strip() and not _visible(lines[end]):
        end += 1
    return end


def _as_indexed(chunk: IndexedChunk, lines: Sequence[str]) -> PlacedChunk:
    start, end = _own_range(chunk)
    end = _with_fields(min(end, len(lines)), lines)
    stretch = lines[chunk.start_line - 1 : chunk.end_line]
    whole = [_visible(line) for line in stretch] == [_plain(line) for line in split_lines(chunk.text)]
    return PlacedChunk(chunk, "indexed", chunk.text, _fields(chunk), start, end, whole)


def _placed(chunk: IndexedChunk, lines: Sequence[str], codes: Codes, then: Range | None) -> PlacedChunk:
    found = None if then is None else carry_range(*then, codes)
    if found is None:
        return PlacedChunk(chunk, "unclear", chunk.text, _fields(chunk))
    start, end = found
    if end > start:
        end = _with_fields(end, lines)
    own = lines[start:end]
    visible = [_visible(line) for line in own]
    said, _ = _own_lines(chunk)
    if _says_nothing(visible) and not _says_nothing(said):
        return PlacedChunk(chunk, "gone", chunk.text, _fields(chunk), *found)
    fields = _read_fields(chunk.path, own)
    same = [line for line in visible if line] == [line for line in said if line]
    if same and (not _is_curated(chunk.path) or fields == _fields(chunk)):
        return PlacedChunk(chunk, "indexed", chunk.text, _fields(chunk), start, end)
    return PlacedChunk(chunk, "changed", "\n".join(visible), fields, start, end)


def _says_nothing(lines: Sequence[str]) -> bool:
    return content_lines(lines) == (0, 0)


def _is_curated(path: str) -> bool:
    return path in CURATED


def _read_fields(path: str, lines: Sequence[str]) -> Annotations:
    found = read_annotations(line.rstrip("\r") for line in lines)
    return found if _is_curated(path) else Annotations(project=found.project)


def _fields(chunk: IndexedChunk) -> Annotations:
    return Annotations(chunk.importance, chunk.triggers, chunk.project)


def _plain(line: str) -> str:
    return line.rstrip("\r").removeprefix("\ufeff")


def _visible(line: str) -> str:
    return strip_annotations(_plain(line))


def chunks_by_file(chunks: Sequence[IndexedChunk]) -> Mapping[str, list[IndexedChunk]]:
    """The chunks of files, sessions left out, by path."""
    found: dict[str, list[IndexedChunk]] = {}
    for chunk in chunks:
        if chunk.source != "sessions":
            found.setdefault(chunk.path, []).append(chunk)
    return found
