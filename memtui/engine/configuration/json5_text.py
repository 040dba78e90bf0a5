"""JSON5 with places: where each value stands in the text, so that one is changed and every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

_SPACE = re.compile(r"(?:[\s\u00a0\u2028\u2029\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)*", re.DOTALL)

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
class Member:
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
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def member(self, key: str) -> Member | None:
        """The member with this key; of several the last, which is the one that counts."""
        return next((each for each in reversed(self.members) if each.key == key), None)

    def plain(self) -> Any:
        """The value without places."""
        if self.kind == "object":
            return {each.key: each.node.plain() for each in self.members}
        if self.kind == "array":
            return [each.plain() for each in self.items]
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
        members: list[Member] = []
        while True:
            self.space()
            if self.peek("}"):
                return Node("object", start, self.at, members=tuple(members))
            begun = self.at
            key = self.key()
            self.space()
            if not self.peek(":"):
                raise self.fail("a colon is missing")
            members.append(Member(key, begun, self.value()))
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


def set_value(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with the value at `path` set: an existing one in its place, a new one behind the last member.

    Objects on the way that are not there are made. Raises Json5Error, or KeyError where something else than an
    object stands in the way.
    """
    return apply_splices(text, _set_splices(text, parse(text), list(path), value))


def _set_splices(text: str, node: Node, path: list[str], value: Any) -> list[Splice]:
    for depth, key in enumerate(path):
        if node.kind != "object":
            raise KeyError(".".join(path[:depth]))
        member = node.member(key)
        if member is None:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _insert(text, node, key, value)
        node = member.node
    return [Splice(node.start, node.end, _render(value, _indent_at(text, node.start), _style(text, node)))]


def _insert(text: str, node: Node, key: str, value: Any) -> list[Splice]:
    """A new last member: one comma behind the member before it, and the member before the closing brace."""
    style = _style(text, node)
    lines = "\n" in text[node.start : node.end] or "\r" in text[node.start : node.end]
    newline = _newline(text)
    if not node.members:
        inside = text[node.start + 1 : node.end - 1]
        if inside.strip():  # a comment stands in the empty object
            at = node.start + 1 + len(inside.rstrip())
            indent = _indent_at(text, node.start) + style.step
            return [
                Splice(
                    at,
                    at,
                    f"{newline}{indent}{_member(key, value, indent, style)}" + ("" if lines else newline),
                )
            ]
        indent = _indent_at(text, node.start)
        if lines:
            at = node.start + 1
            return [
                Splice(
                    at, at, f"{newline}{indent}{style.step}{_member(key, value, indent + style.step, style)}"
                )
            ]
        return [Splice(node.start + 1, node.start + 1, f" {_member(key, value, indent, style)} ")]
    last = node.members[-1].node.end
    rest = text[last : node.end - 1]
    trailing = _has_comma(rest)
    splices = [] if trailing else [Splice(last, last, ",")]
    at = last + len(rest.rstrip())
    if lines:
        indent = _indent_at(text, node.members[-1].start)
        made = f"{newline}{indent}{_member(key, value, indent, style)}"
        if (
            "\n" not in text[at : node.end - 1]
            and "\r" not in text[at : node.end - 1]
            and _ends_in_comment(rest)
        ):
            made += newline
    else:
        made = f" {_member(key, value, '', style)}"
    if at == last:
        comma = splices.pop().text if splices else ""
        return [Splice(at, at, comma + made + ("," if trailing else ""))]
    return [*splices, Splice(at, at, made + ("," if trailing else ""))]


def remove_value(text: str, path: Sequence[str]) -> str:
    """`text` without the member at `path` (the last of that key); itself where there is none.

    The comma that belonged to it goes with it, its own line where it stood alone; comments stay.
    """
    node = parse(text)
    member: Member | None = None
    owner = node
    for key in path:
        if node.kind != "object" or (member := node.member(key)) is None:
            return text
        owner, node = node, member.node
    if member is None:
        return text
    place = owner.members.index(member)
    start, end = member.start, member.node.end
    comma = _comma_after(text, end, owner.end - 1)
    splices = []
    if comma is not None:
        if text[end:comma].strip():
            splices.append(Splice(comma, comma + 1, ""))
        else:
            end = comma + 1
    elif place:
        before = _comma_after(text, owner.members[place - 1].node.end, start)
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


@dataclass(frozen=True, slots=True)
class _Style:
    quote: str
    bare_keys: bool
    step: str


def _style(text: str, node: Node) -> _Style:
    """How strings and keys are written around a value: its own quotes, else those of the file."""
    if node.kind == "string":
        quote = text[node.start]
    else:
        quote = "'" if text.count("'") > 2 * text.count('"') else '"'
    keys = re.findall(r"[{,]\s*(?:([A-Za-z_$][\w$]*)|([\"'])[^\"'\n]*\2)\s*:", text)
    bare = sum(bool(name) for name, _ in keys)
    step = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return _Style(quote, bare > len(keys) / 2, "\t" if step and step[1].startswith("\t") else "  ")


def _member(key: str, value: Any, indent: str, style: _Style) -> str:
    name = key if style.bare_keys and _PLAIN_NAME.fullmatch(key) else _quoted(key, style.quote)
    return f"{name}: {_render(value, indent, style)}"


def _render(value: Any, indent: str, style: _Style) -> str:
    if isinstance(value, str):
        return _quoted(value, style.quote)
    if isinstance(value, dict) and value:
        inner = indent + style.step
        members = ",\n".join(f"{inner}{_member(key, each, inner, style)}" for key, each in value.items())
        return f"{{\n{members}\n{indent}}}"
    if isinstance(value, list):
        return "[" + ", ".join(_render(each, indent, style) for each in value) + "]"
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


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _has_comma(rest: str) -> bool:
    return _comma_after(rest, 0, len(rest)) is not None


def _comma_after(text: str, at: int, stop: int) -> int | None:
    """Where the next comma stands, comments left out; None when something else comes before it."""
    match = _SPACE.match(text, at, stop)
    place = match.end() if match else at
    return place if place < stop and text[place] == "," else None


def _ends_in_comment(rest: str) -> bool:
    """Whether what follows the last member ends in a comment that runs to the end of its line."""
    line = rest.rstrip().rpartition("\n")[2]
    return "//" in line and not line.rstrip().endswith("*/")
