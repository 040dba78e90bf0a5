"""Changing keys of a JSON object without touching the rest of its text.

A row's metadata belongs to another program: key order, spacing, the spelling of numbers and keys that we
do not know must come through byte for byte, so the text is edited and never written anew.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from memtui.engine.core.javascript import SAFE_INTEGER

_GAP = r"[ \t\n\r]*"

_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*"'

_PLAIN = r'[^\s,{}\[\]"]+'

_SPACE = re.compile(_GAP)

_STRING = re.compile(_TEXT, re.DOTALL)

_MEMBER = re.compile(rf"({_TEXT}){_GAP}:{_GAP}(?:({_TEXT}|{_PLAIN}){_GAP}([,}}]){_GAP})?", re.DOTALL)
"""A key and what comes before its value; where that is a text or a number, all up to the next key at once."""

_NEXT = re.compile(rf"{_GAP}([,}}]){_GAP}")

_INSIDE = re.compile(r'[^{}\[\]"]*')


class Removal(Enum):
    """The one value that takes a key out of an object."""

    REMOVED = "removed"


REMOVED = Removal.REMOVED


@dataclass(frozen=True, slots=True)
class Raw:
    """A JSON value as text, to be written exactly so."""

    text: str


class JsonMember(NamedTuple):
    """One `"key": value` of the outermost object: where it stands in the text."""

    key: str
    start: int
    value_start: int
    end: int


def members(text: str) -> list[JsonMember]:
    """The members of the object that `text` is, in order; ValueError when it is not a JSON object.

    Only the outermost level is looked at; whether the nested values are well-formed is for a parser to say.
    """
    at = _space(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("not a JSON object")
    found: list[JsonMember] = []
    at = _space(text, at + 1)
    if text[at : at + 1] == "}":
        return _ended(text, _space(text, at + 1), found)
    while True:
        match = _MEMBER.match(text, at)
        if match is None:
            raise ValueError(f"no key at {at}")
        start, word = at, match[1]
        key = word[1:-1] if "\\" not in word else json.loads(word, strict=False)
        if match[2] is not None:
            value_start, end = match.span(2)
            mark, at = match[3], match.end()
        else:
            value_start = match.end()
            end = _skip_value(text, value_start)
            after = _NEXT.match(text, end)
            if after is None:
                raise ValueError(f"no comma at {end}")
            mark, at = after[1], after.end()
        found.append(JsonMember(key, start, value_start, end))
        if mark == "}":
            return _ended(text, at, found)


def _ended(text: str, at: int, found: list[JsonMember]) -> list[JsonMember]:
    if at != len(text):
        raise ValueError(f"more text at {at}")
    return found


def raw_values(text: str | None) -> dict[str, str]:
    """Each key's value as the text that stands there; of a key that is there twice, the last, as readers do."""
    if not text or not text.strip():
        return {}
    return {member.key: text[member.value_start : member.end] for member in members(text)}


def changed_keys(before: str | None, after: str | None) -> dict[str, tuple[str | None, str | None]]:
    """The keys whose values differ, with the text of both values (None: absent).

    Raises ValueError when one of them is not a JSON object.
    """
    old, new = raw_values(before), raw_values(after)
    return {key: (old.get(key), new.get(key)) for key in (old | new) if old.get(key) != new.get(key)}


def patch(text: str | None, changes: Mapping[str, Any], there: list[JsonMember] | None = None) -> str:
    """`text` with these keys set (to a value, or the text of a `Raw`) or `REMOVED`; all else as it was.

    No text, or an empty one, counts as an empty object. New keys are added at the end, spaced as the others
    are. `there` are its `members`, when somebody has looked already. Raises ValueError when `text` is not a JSON
    object.
    """
    text = text if text and text.strip() else "{}"
    there = members(text) if there is None else there
    last = {each.key: n for n, each in enumerate(there)}
    new = [(key, value) for key, value in changes.items() if value is not REMOVED and key not in last]
    head = text[: there[0].start] if there else text[: text.index("{") + 1]
    tail = text[there[-1].end :] if there else text[len(head) :]
    out: list[str] = []
    for n, each in enumerate(there):
        if changes.get(each.key) is REMOVED:
            continue
        if out:  # the first that is left has no comma before it
            out.append(text[there[n - 1].end : each.start])
        if each.key in changes and last[each.key] == n:
            out.append(text[each.start : each.value_start] + dump(changes[each.key]))
        else:
            out.append(text[each.start : each.end])
    comma, colon = _separators(text, there)
    for key, value in new:
        out += [comma] if out else []
        out.append(f"{dump(key)}{colon}{dump(value)}")
    return "".join((head, *out, tail))


def dump(value: Any) -> str:
    """A value as `JSON.stringify` writes it: no spaces, whole numbers without a point, text as it is."""
    if isinstance(value, Raw):
        return value.text
    text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
    return "".join(f"\\u{ord(ch):04x}" if "\ud800" <= ch <= "\udfff" else ch for ch in text)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value == value // 1 and abs(value) <= SAFE_INTEGER else value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _separators(text: str, there: list[JsonMember]) -> tuple[str, str]:
    """What stands between two members, and between a key and its value."""
    if not there:
        return ",", ":"
    colon = text[there[0].start : there[0].value_start]
    colon = colon[_STRING.match(colon).end() :] if _STRING.match(colon) else ":"  # type: ignore[union-attr]
    comma = text[there[0].end : there[1].start] if len(there) > 1 else (", " if colon.endswith(" ") else ",")
    return comma, colon


def _skip_value(text: str, at: int) -> int:
    """The end of the value that begins at `at`; brackets are counted, so depth does not matter."""
    first = text[at : at + 1]
    if first not in ("{", "["):
        raise ValueError(f"no value at {at}")
    depth = 0
    while at < len(text):
        mark = text[at]
        if mark == '"':
            match = _STRING.match(text, at)
            if match is None:
                raise ValueError(f"a string without an end at {at}")
            at = match.end()
        else:
            depth += 1 if mark in "{[" else -1 if mark in "}]" else 0
            at += 1
            if not depth:
                return at
        inside = _INSIDE.match(text, at)
        at = inside.end() if inside else at
    raise ValueError("a value without an end")


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
