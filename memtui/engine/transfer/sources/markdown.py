"""Markdown as a list of entries: bullets at every depth, numbered items, paragraphs, with their headings.

Not a renderer: what matters is which lines belong together, where they stand, and what they stand under.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["bullet", "number", "paragraph"]

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)$")

_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")

_BULLET = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?$")

_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

_SECTION_SIGN = re.compile(r"[ \t]*§[ \t]*$")

_BOX = re.compile(r"\[([ xX-])\][ \t]+(.*)", re.DOTALL)

_BOLD_LINE = re.compile(r"(?:\*\*|__)(?P<words>[^*_]+?)(?:\*\*|__):?[ \t]*$")

_ESCAPED = re.compile(r"\\(?=\\*[-+*#>`~=§\d])")

_TAB = 4


@dataclass(slots=True)
class MarkdownEntry:
    """One list entry or paragraph. `line` counts from 1; `depth` is 0 for what stands at the margin."""

    kind: Kind
    text: str
    line: int
    depth: int = 0
    headings: tuple[str, ...] = ()
    """The headings that it stands under, outermost first."""
    under: str = ""
    """The list entry that it is nested in."""
    box: str = ""
    """The mark of a check box: " ", "x" or "-"; empty without one."""
    fenced: bool = field(default=False)
    """A code block."""

    @property
    def heading(self) -> str | None:
        """The nearest heading."""
        return self.headings[-1] if self.headings else None


@dataclass(slots=True)
class _Open:
    """A list entry that further lines may belong to."""

    indent: int
    entry: MarkdownEntry


class _Parser:
    def __init__(self, bold_headings: bool) -> None:
        self.bold_headings = bold_headings
        self.headings: list[tuple[int, str]] = []
        self.items: list[_Open] = []
        self.current: MarkdownEntry | None = None
        self.after_blank = False

    def entry(self, kind: Kind, text: str, line: int, **more: int | str | bool) -> MarkdownEntry:
        return MarkdownEntry(kind, text, line, headings=tuple(words for _, words in self.headings), **more)  # type: ignore[arg-type]

    def heading(self, level: int, words: str) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        if words:
            self.headings.append((level, words))
        self.items.clear()


def entries(text: str, *, bold_headings: bool = False) -> Iterator[MarkdownEntry]:
    """The entries of a Markdown text without front matter, in order.

    `bold_headings` takes a line that is bold as a whole for a heading. A line with a single section sign
    separates entries (Hermes writes so).
    """
    parser = _Parser(bold_headings)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if fence := _FENCE.match(line):
            end = _end_of_fence(lines, number, fence[1])
            if parser.current:
                yield parser.current
            parser.current = None
            body = "\n".join(lines[number : end - 1] if end <= len(lines) else lines[number:])
            if body.strip():
                yield parser.entry("paragraph", body, number, fenced=True)
            number = end
            continue
        if (done := _feed(parser, line, number, lines[number] if number < len(lines) else "")) is not None:
            yield done
    if parser.current:
        yield parser.current


def _end_of_fence(lines: list[str], start: int, mark: str) -> int:
    """The number of lines up to and with the closing fence."""
    for at in range(start, len(lines)):
        bare = lines[at].strip()
        if bare.startswith(mark) and not bare.strip(mark[0]):
            return at + 1
    return len(lines) + 1


def _feed(parser: _Parser, line: str, number: int, following: str) -> MarkdownEntry | None:
    """Take one line; the entry that it ends, if it ends one."""
    bare = line.strip()
    if not bare or _SECTION_SIGN.fullmatch(line):
        parser.after_blank = True
        if parser.current and parser.current.kind == "paragraph":
            return _close(parser)
        return None
    blank_before, parser.after_blank = parser.after_blank, False
    if match := _HEADING.match(line):
        done = _close(parser)
        parser.heading(len(match[1]), match[2].rstrip(" \t").rstrip("#").strip())
        return done
    if parser.current and parser.current.kind == "paragraph" and _UNDERLINE.match(line):
        words = parser.current.text
        parser.current = None
        parser.heading(1 if bare[0] == "=" else 2, words)
        return None
    if _RULE.match(line):
        return _close(parser)
    if parser.bold_headings and (match := _BOLD_LINE.fullmatch(bare)):
        done = _close(parser)
        parser.heading(6, match["words"].strip())
        return done
    if match := _BULLET.fullmatch(line.rstrip()):
        return _begin_item(parser, match, number)
    indent = _width(line)
    if parser.items and (indent > parser.items[-1].indent or not blank_before) and parser.current:
        parser.current.text += "\n" + _plain(bare)
        return None
    if parser.current and parser.current.kind == "paragraph":
        parser.current.text += "\n" + bare
        return None
    done = _close(parser)
    parser.items.clear()
    parser.current = parser.entry("paragraph", bare, number)
    return done


def _begin_item(parser: _Parser, match: re.Match[str], number: int) -> MarkdownEntry | None:
    done = _close(parser)
    indent = _width(match[1])
    while parser.items and parser.items[-1].indent >= indent:
        parser.items.pop()
    text = _plain((match[3] or "").strip())
    box = ""
    if found := _BOX.fullmatch(text):
        box, text = found[1].lower(), found[2]
    parser.current = parser.entry(
        "number" if match[2][0].isdigit() else "bullet",
        text,
        number,
        depth=len(parser.items),
        under=parser.items[-1].entry.text if parser.items else "",
        box=box,
    )
    parser.items.append(_Open(indent, parser.current))
    return done


def _plain(line: str) -> str:
    """A line without the backslash that keeps its first sign from meaning something."""
    escaped = _ESCAPED.match(line)
    return line[1:] if escaped else line


def _close(parser: _Parser) -> MarkdownEntry | None:
    done, parser.current = parser.current, None
    return done


def _width(text: str) -> int:
    """Columns that the leading white space takes."""
    width = 0
    for char in text:
        if char == "\t":
            width += _TAB - width % _TAB
        elif char == " ":
            width += 1
        else:
            break
    return width
