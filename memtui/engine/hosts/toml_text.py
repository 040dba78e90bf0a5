"""TOML with places: the table of one server is written or taken out, every other byte stays."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.hosts.piece import ConfigPiece, NotReadableError

_BARE = re.compile(r"[A-Za-z0-9_-]+")

_SKIP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")

_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class TomlStatement:
    """A header of a table, or a key with its value: characters `start` to `end`, without the end of the line."""

    names: tuple[str, ...]
    start: int
    end: int
    value: int = -1
    """Where the value begins; -1 for a header."""
    is_list: bool = False
    """Whether it is the header of an item in a list of tables."""


def statements(text: str) -> Iterator[TomlStatement]:
    """The statements of a text that tomllib reads."""
    at = 0
    while True:
        match = _SKIP.match(text, at)
        at = match.end() if match else at
        if at >= len(text):
            return
        start = at
        if text[at] == "[":
            is_list = text.startswith("[[", at)
            names, at = _names(text, at + (2 if is_list else 1), "]")
            at += 2 if is_list else 1
            yield TomlStatement(names, start, at, is_list=is_list)
            continue
        names, at = _names(text, at, "=")
        at += 1
        while text[at] in " \t":
            at += 1
        value, at = at, _value_end(text, at)
        yield TomlStatement(names, start, at, value)


def _names(text: str, at: int, stop: str) -> tuple[tuple[str, ...], int]:
    """A dotted name up to `stop`, and where that stands."""
    names: list[str] = []
    while text[at] != stop:
        if text[at] in " \t.":
            at += 1
        elif match := _STRING.match(text, at):
            names.append(str(tomllib.loads(f"key = {match[0]}")["key"]))
            at = match.end()
        elif match := _BARE.match(text, at):
            names.append(match[0])
            at = match.end()
        else:
            raise NotReadableError(f"an unexpected character at {at}")
    return tuple(names), at


def _value_end(text: str, at: int) -> int:
    depth = 0
    end = at
    while at < len(text):
        char = text[at]
        if char in "\"'" and (match := _STRING.match(text, at)):
            at = end = match.end()
            continue
        if char == "#":
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
            if not depth:
                return end
            continue
        if char == "\n" and not depth:
            return end
        depth += (char in "[{") - (char in "]}")
        at += 1
        if not char.isspace():
            end = at
    return end


def _line_after(text: str, at: int) -> int:
    """Where the line after the one at `at` begins."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _rendered(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_name(key)} = {_rendered(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_rendered(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _name(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


class TomlFormat:
    """TOML; a piece is a table with a header of its own."""

    title = "TOML"
    new = ""

    def read(self, text: str) -> Any:
        """The values of a text. NotReadableError."""
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise NotReadableError(str(error)) from error

    def put(self, text: str, piece: ConfigPiece) -> str:
        """The text with the table's own keys set, at its end where the table is not there."""
        line_end = "\r\n" if "\r\n" in text else "\n"
        table = self._table(text, piece.place)
        if table is None:
            lead = "" if not text or text.endswith("\n") else line_end
            blank = line_end if text.strip() else ""
            rows = [f"{_name(name)} = {_rendered(value)}" for name, value in piece.value.items()]
            header = f"[{'.'.join(_name(name) for name in piece.place)}]"
            return text + lead + blank + "".join(f"{row}{line_end}" for row in (header, *rows))
        header_end, pairs = table
        splices: list[tuple[int, int, str]] = []
        known = {pair.names[0]: pair for pair in pairs if len(pair.names) == 1}
        before = self.read(text)
        for name in piece.place:
            before = before[name]
        for name, value in piece.value.items():
            pair = known.get(name)
            if pair is None:
                at = max(
                    [_line_after(text, pair.end) for pair in pairs], default=_line_after(text, header_end)
                )
                lead = "" if text[:at].endswith("\n") else line_end
                splices.append((at, at, f"{lead}{_name(name)} = {_rendered(value)}{line_end}"))
            elif before.get(name) != value:
                splices.append((pair.value, pair.end, _rendered(value)))
        for name, pair in known.items():
            if name in piece.ours and name not in piece.value:
                splices.append((pair.start, _line_after(text, pair.end), ""))
        return _spliced(text, splices)

    def take(self, text: str, piece: ConfigPiece) -> str:
        """The text without the table and the tables in it; comments behind it stay."""
        splices: list[tuple[int, int, str]] = []
        begun = stop = -1
        for statement in statements(text):
            inside = statement.value >= 0 and begun >= 0
            if statement.value < 0:
                if begun >= 0:
                    splices.append((begun, stop, ""))
                begun = statement.start if statement.names[: len(piece.place)] == piece.place else -1
                inside = begun >= 0
            if inside:
                stop = _line_after(text, statement.end)
        if begun >= 0:
            splices.append((begun, stop, ""))
        if splices:  # the empty line that was written before the table goes with it
            start, end, _ = splices[0]
            blank = re.search(r"(?:^|\n)(\r?\n)\Z", text[:start])
            if blank is not None and (end == len(text) or text[end] in "\r\n"):
                splices[0] = (start - len(blank[1]), end, "")
        return _spliced(text, splices)

    def _table(self, text: str, place: Sequence[str]) -> tuple[int, list[TomlStatement]] | None:
        """The end of the header of a table, and the keys under it; None where it has no header."""
        found: tuple[int, list[TomlStatement]] | None = None
        inside = False
        for statement in statements(text):
            if statement.value < 0:
                inside = statement.names == tuple(place) and not statement.is_list
                found = (statement.end, []) if inside else found
            elif inside and found is not None:
                found[1].append(statement)
        return found


def _spliced(text: str, splices: Sequence[tuple[int, int, str]]) -> str:
    """The text with parts replaced; those at the same place stay in their order."""
    for start, end, made in sorted(splices, key=lambda splice: splice[:2])[::-1]:
        text = text[:start] + made + text[end:]
    return text
