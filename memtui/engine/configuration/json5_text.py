"""JSON5 with places: where each value stands in the text, so that one is changed and every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

_SPACE = re.compile(r"(?:[\s\u00a0\u2028\u2029\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)

_TRIVIA = re.compile(r"//[^\n\r\u2028\u2029]*|/\*.*?\*/|,", re.DOTALL)

_LINE_ENDS = "\n\r\u2028\u2029"

_SPACES = " \t\n\r"

_NUMBER = re.compile(r"[+-]?(?:Infinity|NaN|0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")

_NAME = re.compile(r"(?:[$_\w\u200c\u200d]|\\u[0-9a-fA-F]{4})+")

_WORDS = {"true": True, "false": False, "null": None}

_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}

_DEEPEST = 200

_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$]*")


class Json5Error(ValueError):
    """A text that is no JSON5; `line` and `column` from 1."""

    def __init__(self, reason: str, text: str, at: int) -> None:
        before = text[:at]
        self.line = before.count("\n") + 1
        self.column = at - (before.rfind("\n") + 1) + 1
        self.reason = reason
        super().__init__(f"{reason} at line {self.line}, column {self.column}")


@dataclass(frozen=True, slots=True)
class Json5Member:
    """One key and its value in an object, keys as often as they stand there."""

    key: str
    start: int
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value in the text: characters `start` to `end`."""

    kind: Literal["object", "array", "string", "number", "word"]
    start: int
    end: int
    value: Any = None
    members: tuple[Json5Member, ...] = ()
    items: tuple[Node, ...] = ()

    def member(self, key: str) -> Json5Member | None:
        """The member with this key; of several the last, which is the one that counts."""
        return next((member for member in reversed(self.members) if member.key == key), None)

    def plain(self) -> Any:
        """The value without places."""
        if self.kind == "object":
            return {member.key: member.node.plain() for member in self.members}
        if self.kind == "array":
            return [item.plain() for item in self.items]
        return self.value


@dataclass(slots=True)
class _Reader:
    text: str
    at: int = 0
    depth: int = field(default=0)

    def fail(self, reason: str) -> Json5Error:
        return Json5Error(reason, self.text, self.at)

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def value(self) -> Node:
        self.space()
        if self.at >= len(self.text):
            raise self.fail("the text ends early")
        char, start = self.text[self.at], self.at
        if char == "{":
            return self.nested(self.object)
        if char == "[":
            return self.nested(self.array)
        if char in "\"'":
            text = self.string()
            return Node("string", start, self.at, text)
        if match := _NUMBER.match(self.text, start):
            self.at = match.end()
            return Node("number", start, self.at, _number(match[0]))
        if (match := _NAME.match(self.text, start)) and match[0] in _WORDS:
            self.at = match.end()
            return Node("word", start, self.at, _WORDS[match[0]])
        raise self.fail("an unexpected character")

    def nested(self, read: Any) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail("nested too deeply")
        node: Node = read()
        self.depth -= 1
        return node

    def object(self) -> Node:
        start = self.at
        self.at += 1
        members: list[Json5Member] = []
        while True:
            self.space()
            if self.peek("}"):
                return Node("object", start, self.at, members=tuple(members))
            begun = self.at
            key = self.key()
            self.space()
            if not self.peek(":"):
                raise self.fail("a colon is missing")
            members.append(Json5Member(key, begun, self.value()))
            self.space()
            if not self.peek(",") and self.text[self.at : self.at + 1] != "}":
                raise self.fail("a comma or } is missing")

    def array(self) -> Node:
        start = self.at
        self.at += 1
        items: list[Node] = []
        while True:
            self.space()
            if self.peek("]"):
                return Node("array", start, self.at, items=tuple(items))
            items.append(self.value())
            self.space()
            if not self.peek(",") and self.text[self.at : self.at + 1] != "]":
                raise self.fail("a comma or ] is missing")

    def peek(self, char: str) -> bool:
        if self.text[self.at : self.at + 1] != char:
            return False
        self.at += 1
        return True

    def key(self) -> str:
        if self.text[self.at : self.at + 1] in ("'", '"'):
            return self.string()
        match = _NAME.match(self.text, self.at)
        if match is None:
            raise self.fail("a key is missing")
        self.at = match.end()
        return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), match[0])

    def string(self) -> str:
        quote = self.text[self.at]
        out: list[str] = []
        self.at += 1
        while True:
            char = self.text[self.at : self.at + 1]
            if char in ("", "\n", "\r"):
                raise self.fail("a string does not end")
            self.at += 1
            if char == quote:
                return "".join(out)
            out.append(self.escape() if char == "\\" else char)

    def escape(self) -> str:
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if char == "\r" and self.text[self.at : self.at + 1] == "\n":
            self.at += 1
            return ""
        if char in ("\n", "\r", "\u2028", "\u2029"):
            return ""
        if char in ("x", "u"):
            length = 2 if char == "x" else 4
            digits = self.text[self.at : self.at + length]
            if not re.fullmatch(f"[0-9a-fA-F]{{{length}}}", digits):
                raise self.fail("an escape is cut short")
            self.at += length
            code = int(digits, 16)
            if 0xD800 <= code < 0xDC00 and (
                low := re.match(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})", self.text[self.at :])
            ):
                self.at += 6
                return chr(0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00)
            return chr(code)
        return _ESCAPES.get(char, char)


def _number(text: str) -> int | float:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if digits[:2] in ("0x", "0X"):
        return sign * int(digits, 16)
    if digits in ("Infinity", "NaN"):
        return sign * float(digits.lower())
    return sign * (int(digits) if digits.isdigit() else float(digits))


def parse(text: str) -> Node:
    """The value of a JSON5 text with the place of each part. Raises Json5Error."""
    reader = _Reader(text)
    node = reader.value()
    reader.space()
    if reader.at != len(text):
        raise reader.fail("something follows the value")
    return node


@dataclass(frozen=True, slots=True)
class Splice:
    """Characters `start` to `end` of a text become `text`."""

    start: int
    end: int
    text: str


def apply_splices(text: str, splices: Sequence[Splice]) -> str:
    """`text` with all splices made; they do not overlap."""
    for each in sorted(splices, key=lambda splice: (splice.start, splice.end), reverse=True):
        text = text[: each.start] + each.text + text[each.end :]
    return text


def set_value(text: str, path: Sequence[str | int], value: Any) -> str:
    """`text` with the value at `path` set: an existing one in its place, a new one behind the last member.

    A number in the path is the position of an item that is there. Objects on the way that are not there are made.
    Raises Json5Error, or KeyError where something else than an object stands in the way.
    """
    return apply_splices(text, _set_splices(text, parse(text), list(path), value))


def _set_splices(text: str, node: Node, path: list[str | int], value: Any) -> list[Splice]:
    for depth, key in enumerate(path):
        if isinstance(key, int) and node.kind == "array" and key < len(node.items):
            node = node.items[key]
            continue
        if node.kind != "object" or isinstance(key, int):
            raise KeyError(".".join(str(name) for name in path[:depth]))
        member = node.member(key)
        if member is None:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _insert(text, node, key, value)
        node = member.node
    if node.kind == "array" and isinstance(value, list) and len(value) > len(node.items):
        old = [item.plain() for item in node.items]
        if old and value[: len(old)] == old:
            return _append(text, node, value[len(old) :])
    return [Splice(node.start, node.end, _render(value, _indent_at(text, node.start), _style(text, node)))]


def _append(text: str, node: Node, items: Sequence[Any]) -> list[Splice]:
    """More items at the end of a list that has some: the others, and what is said beside them, stay."""
    last = node.items[-1]
    own = _own_line(text, last.start)
    lead = " " if own is None else f"{_style(text, node).newline}{own}"
    made = ",".join(f"{lead}{_render(item, own or '', _style(text, last))}" for item in items)
    return _behind_last(text, last.end, node.end - 1, made, broken=own is not None)


def _behind_last(text: str, last: int, stop: int, made: str, *, broken: bool) -> list[Splice]:
    """`made` as one more part behind the one that ends at `last`, and the comma that belongs between them.

    `broken`: it begins on a line of its own, so that a comment may stand before it. Otherwise it stands before them.
    """
    trailing = _comma_after(text, last, stop)
    at = _behind(text, last, stop)
    if not broken and "//" in text[last:at]:
        at = last if trailing is None else trailing + 1
    if trailing is not None:
        return [Splice(at, at, f"{made},")]
    if at == last:
        return [Splice(at, at, f",{made}")]
    return [Splice(last, last, ","), Splice(at, at, made)]


def _insert(text: str, node: Node, key: str, value: Any) -> list[Splice]:
    """A new last member behind everything that stands in the object, and one comma behind the member before it."""
    style = _style(text, node)
    lines = any(line_end in text[node.start : node.end] for line_end in _LINE_ENDS)
    indent = _indent_at(text, node.start)
    if not node.members:
        at = _behind(text, node.start + 1, node.end - 1)
        inner = indent + style.step
        if lines:
            return [Splice(at, at, f"{style.newline}{inner}{_member(key, value, inner, style)}")]
        made = f" {_member(key, value, indent, style)}"
        return [Splice(at, at, made if text[at] in _SPACES else f"{made} ")]
    last = node.members[-1].node.end
    if lines:
        own = _own_line(text, node.members[-1].start)
        inner = indent + style.step if own is None else own
        made = f"{style.newline}{inner}{_member(key, value, inner, style)}"
    else:
        made = f" {_member(key, value, indent, style)}"
    return _behind_last(text, last, node.end - 1, made, broken=lines)


def _behind(text: str, at: int, stop: int) -> int:
    """The end of the last comment or comma between `at` and `stop`; `at` where there is neither."""
    found = at
    for match in _TRIVIA.finditer(text, at, stop):
        found = match.end()
    return found


def remove_value(text: str, path: Sequence[str | int]) -> str:
    """`text` without the member at `path` (the last of that key, which counts); itself where there is none.

    A number in the path is the position of an item. The comma that belonged to it goes with it, its own line where it
    stood alone; comments stay.
    """
    node = owner = parse(text)
    start = place = -1
    for key in path:
        found = _part(node, key)
        if found is None:
            return text
        owner, (place, start, node) = node, found
    if start < 0:
        return text
    ends = [member.node.end for member in owner.members] or [item.end for item in owner.items]
    end = node.end
    comma = _comma_after(text, end, owner.end - 1)
    splices = []
    if comma is not None:
        if text[end:comma].strip():
            splices.append(Splice(comma, comma + 1, ""))
        else:
            end = comma + 1
    elif place:
        before = _comma_after(text, ends[place - 1], start)
        if before is not None:
            splices.append(Splice(before, before + 1, ""))
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        stop = end
        while stop < len(text) and text[stop] in " \t":
            stop += 1
        if text[stop : stop + 1] in ("\n", "\r"):
            stop += 2 if text[stop : stop + 2] == "\r\n" else 1
            start, end = line, stop
    return apply_splices(text, [*splices, Splice(start, end, "")])


def _part(node: Node, key: str | int) -> tuple[int, int, Node] | None:
    """A part of an object or a list: its position, where it starts, its value."""
    if isinstance(key, int):
        return (key, node.items[key].start, node.items[key]) if 0 <= key < len(node.items) else None
    member = node.member(key) if node.kind == "object" else None
    return None if member is None else (node.members.index(member), member.start, member.node)


@dataclass(frozen=True, slots=True)
class _Style:
    quote: str
    bare_keys: bool
    step: str
    newline: str
    inline: bool = False
    """Whether the whole file stands on one line."""


def _style(text: str, node: Node) -> _Style:
    """How strings and keys are written around a value: its own quotes, else those of the file."""
    if node.kind == "string":
        quote = text[node.start]
    else:
        quote = "'" if text.count("'") > 2 * text.count('"') else '"'
    keys = re.findall(r"[{,]\s*(?:([A-Za-z_$][\w$]*)|([\"'])[^\"'\n]*\2)\s*:", text)
    bare = sum(bool(name) for name, _ in keys)
    step = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    tabs = step is not None and step[1].startswith("\t")
    inline = bool(keys) and not any(line_end in text.strip() for line_end in _LINE_ENDS)
    newline = "\r\n" if "\r\n" in text else "\n"
    return _Style(quote, bare > len(keys) / 2, "\t" if tabs else "  ", newline, inline)


def _member(key: str, value: Any, indent: str, style: _Style) -> str:
    name = key if style.bare_keys and _PLAIN_NAME.fullmatch(key) else _quoted(key, style.quote)
    return f"{name}: {_render(value, indent, style)}"


def _render(value: Any, indent: str, style: _Style) -> str:
    if isinstance(value, str):
        return _quoted(value, style.quote)
    if isinstance(value, dict) and value and style.inline:
        return "{ " + ", ".join(_member(key, each, indent, style) for key, each in value.items()) + " }"
    if isinstance(value, dict) and value:
        inner = indent + style.step
        members = f",{style.newline}".join(
            f"{inner}{_member(key, each, inner, style)}" for key, each in value.items()
        )
        return f"{{{style.newline}{members}{style.newline}{indent}}}"
    if isinstance(value, list):
        return "[" + ", ".join(_render(item, indent, style) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _quoted(text: str, quote: str) -> str:
    made = json.dumps(text, ensure_ascii=False)
    if quote == '"':
        return made
    return "'" + made[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"


def _indent_at(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    match = re.match(r"[ \t]*", text[line:at])
    return match[0] if match else ""


def _own_line(text: str, at: int) -> str | None:
    """The white space before `at` on its line; None where something else stands there, too."""
    lead = text[text.rfind("\n", 0, at) + 1 : at]
    return None if lead.strip() else lead


def _comma_after(text: str, at: int, stop: int) -> int | None:
    """Where the next comma stands, comments left out; None when something else comes before it."""
    match = _SPACE.match(text, at, stop)
    place = match.end() if match else at
    return place if place < stop and text[place] == "," else None
