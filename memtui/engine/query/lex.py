"""From characters to tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memtui.engine.query.ast import Span
from memtui.engine.query.errors import FilterError

Kind = Literal["(", ")", "|", "-", "word", "phrase", "regex", "~", "name", "op", "value", ","]

MAX_LENGTH = 20_000
"""Longest filter in characters: a few hundred full ids; anything longer is a pasted document."""

_FIELD = re.compile(r"([A-Za-z][A-Za-z_-]*)(!=|>=|<=|[:=<>])")
_WORD_END = re.compile(r'[\s()|"]')
_VALUE_END = re.compile(r'[\s()|",]')
_BOUNDARY = re.compile(r"[\s()|]|\Z")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the filter: what it is, what it says (unescaped) and where it stands."""

    kind: Kind
    text: str
    span: Span
    quoted: bool = False
    """A value or `~` words in double quotes: no globs, no ranges."""


def lex(text: str, *, tolerant: bool = False) -> list[Token]:
    """Split `text` into tokens, in order.

    With `tolerant`, for colouring and completing what is still being typed, an unclosed quote or
    regular expression reaches to the end; otherwise it raises FilterError, like a filter that is too long.
    """
    if len(text) > MAX_LENGTH:
        raise FilterError(
            f"The filter is longer than {MAX_LENGTH:,} characters.",
            text=text,
            span=Span(MAX_LENGTH, len(text)),
            fix="Shorten it.",
        )
    return _Scanner(text, tolerant).run()


class _Scanner:
    def __init__(self, text: str, tolerant: bool) -> None:
        self.text = text
        self.tolerant = tolerant
        self.at = 0
        self.tokens: list[Token] = []

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char.isspace():
                self.at += 1
            elif char in "()|-":
                self.mark(char)  # type: ignore[arg-type]
            elif char == '"':
                self.quoted("phrase")
            elif char == "/":
                self.regex()
            elif char == "~":
                self.mark("~")
                if self.text.startswith('"', self.at):
                    self.quoted("phrase")
            elif match := _FIELD.match(self.text, self.at):
                self.field(match)
            else:
                self.bare("word", _WORD_END)
        return self.tokens

    def add(self, kind: Kind, text: str, start: int, *, quoted: bool = False) -> None:
        self.tokens.append(Token(kind, text, Span(start, self.at), quoted))

    def mark(self, kind: Kind) -> None:
        self.at += 1
        self.add(kind, kind, self.at - 1)

    def bare(self, kind: Kind, end: re.Pattern[str]) -> None:
        start = self.at
        match = end.search(self.text, start)
        self.at = match.start() if match else len(self.text)
        self.add(kind, self.text[start : self.at], start)

    def quoted(self, kind: Kind) -> None:
        start = self.at
        content, closed = self.until('"', start + 1)
        if not closed and not self.tolerant:
            raise FilterError(
                "The quote is never closed.", text=self.text, span=Span(start, self.at), fix='Add a ".'
            )
        self.add(kind, re.sub(r'\\(["\\])', r"\1", content), start, quoted=True)

    def regex(self) -> None:
        start = self.at
        pattern, closed = self.until("/", start + 1)
        if not closed and not self.tolerant:
            raise FilterError(
                "The regular expression is never closed.",
                text=self.text,
                span=Span(start, self.at),
                fix='Add a /, or put a path in quotes: "/etc".',
            )
        if not _BOUNDARY.match(self.text, self.at) and not self.tolerant:
            raise FilterError(
                "Something stands directly behind the regular expression.",
                text=self.text,
                span=Span(self.at, self.at + 1),
                fix='Put a space behind its /, write \\/ for a / inside it, or quote a path: "/etc/hosts".',
            )
        self.add("regex", re.sub(r"\\(.)", _unescaped_slash, pattern, flags=re.S), start)

    def until(self, end: str, start: int) -> tuple[str, bool]:
        """The characters up to an `end` without a backslash before it, and whether there was one."""
        at = start
        while at < len(self.text) and self.text[at] != end:
            at += 2 if self.text[at] == "\\" else 1
        at = min(at, len(self.text))
        self.at = min(at + 1, len(self.text))
        return self.text[start:at], at < len(self.text)

    def field(self, match: re.Match[str]) -> None:
        for group, kind in ((1, "name"), (2, "op")):
            self.at = match.end(group)
            self.add(kind, match[group], match.start(group))  # type: ignore[arg-type]
        while True:
            if self.text.startswith('"', self.at):
                self.quoted("value")
            else:
                self.bare("value", _VALUE_END)
            if not self.text.startswith(",", self.at):
                break
            self.mark(",")
        if not _BOUNDARY.match(self.text, self.at) and not self.tolerant:
            raise FilterError(
                "The value is only partly in quotes.",
                text=self.text,
                span=Span(self.tokens[-1].span.start, self.at + 1),
                fix="Put the whole value in quotes, or a space behind it.",
            )


def _unescaped_slash(match: re.Match[str]) -> str:
    return "/" if match[1] == "/" else match[0]
