"""The YAML head of a note, as far as notes use it: texts, blocks of text, numbers, lists, keys in keys; never executed.

Why not PyYAML: `yes` would be true, 010 eight, 12:30 the number 750, and one wrong line would take all keys with it.
tests/engine/test_transfer_text.py (test_a_head_is_read_as_it_was_typed) holds that they stay what was typed.
"""

from __future__ import annotations

import json
import re
from typing import Any

_ITEM = re.compile(r"-(?:[ \t]+(.*))?$")

_BLOCK = re.compile(r"([|>])[-+0-9]{0,3}(?:[ \t]+#.*)?$")

_INT = re.compile(r"[+-]?\d{1,15}")

_FLOAT = re.compile(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?")

_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}

_NO_KEY = frozenset("-[]{},#&*!|>%@`?:")
"""What a key without quotes cannot begin with."""

_LONGEST = 2_000
"""Lines of a head; what goes on longer has none."""

_DEEPEST = 12
"""Keys in keys in keys; what is deeper stays the text that it is."""

STRAY = "lines without a key"
"""Key of what stands in a head and belongs to no key."""


def split(text: str) -> tuple[dict[str, Any], str, int]:
    """(keys of the head, the text after it, number of lines before that text); no keys without a head.

    Text between two rules that holds no key at all is text, not a head.
    """
    text = text.removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").split("\n", _LONGEST)
    if lines[0].rstrip() != "---":
        return {}, text, 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            keys = _keys(lines[1:number], 0)
            if set(keys) == {STRAY}:
                return {}, text, 0
            return keys, "\n".join(lines[number + 1 :]), number + 1
    return {}, text, 0


def _keys(lines: list[str], depth: int) -> dict[str, Any]:
    """The keys that stand at the margin of `lines`, each with what is below it."""
    found: dict[str, Any] = {}
    stray: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, value = _key_of(line)
        begin = at
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t" or _ITEM.match(lines[at])):
            at += 1
        if key:
            found[key] = _below(value, lines[begin:at], depth)
        else:
            stray += [each.strip() for each in (line, *lines[begin:at]) if each.strip()]
    if stray:
        found[STRAY] = stray
    return found


def _key_of(line: str) -> tuple[str, str]:
    """(key, what follows on its line); no key for a line that has none."""
    if line[0] in "\"'":
        end = line.find(line[0], 1)
        rest = line[end + 1 :].lstrip(" \t") if end > 0 else ""
        if rest.startswith(":") and rest[1:2] in ("", " ", "\t"):
            return line[1:end], rest[1:].strip()
        return "", ""
    if line[0] in _NO_KEY or line[0].isspace():
        return "", ""
    colon = line.find(":")
    while colon >= 0 and line[colon + 1 : colon + 2] not in ("", " ", "\t"):
        colon = line.find(":", colon + 1)
    return ("", "") if colon < 0 else (line[:colon].rstrip(), line[colon + 1 :].strip())


def _below(value: str, lines: list[str], depth: int) -> Any:
    """What a key holds: `value` on its own line, `lines` under it."""
    if block := _BLOCK.fullmatch(value):
        return _block(lines, folded=block[1] == ">")
    below = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not below:
        return _scalar(value)
    margin = min(len(line) - len(line.lstrip()) for line in below)
    inner = [line[margin:] for line in below]
    if not value and _ITEM.match(inner[0]):
        return _items(inner)
    if not value and depth < _DEEPEST and _key_of(inner[0])[0]:
        return _keys(inner, depth + 1)
    if _ITEM.match(inner[0]) and all(_ITEM.match(line) for line in inner):
        return _items(inner)
    return _scalar(" ".join([value, *(line.strip() for line in inner)]).strip())


def _items(lines: list[str]) -> list[Any]:
    """The entries of a list; a line further in belongs to the entry before it."""
    texts: list[str] = []
    for line in lines:
        if item := _ITEM.match(line):
            texts.append((item[1] or "").strip())
        else:
            texts[-1] = f"{texts[-1]} {line.strip()}".strip()
    return [_scalar(text) for text in texts]


def _block(lines: list[str], *, folded: bool) -> str:
    """A block of text: its lines as they are, or joined where they are only wrapped."""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    plain = [line[margin:].rstrip() for line in lines]
    text = "\n".join(plain).strip("\n")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text).replace("\n\n", "\n") if folded else text


def _scalar(text: str) -> Any:
    """One value: quoted, a list in brackets, a number, true, false, null, else the text itself."""
    text = text.strip()
    if text[:1] == '"':
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text.strip('"')
    if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if (text[:1], text[-1:]) in (("[", "]"), ("{", "}")):
        return _flow(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _flow(text: str, depth: int = 0) -> Any:
    """A list in brackets or an object in braces; the text itself where it is not whole."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    parts = _parts(text[1:-1])
    if parts is None or depth >= _DEEPEST:
        return text
    if text[0] == "[":
        return [_inner(part, depth) for part in parts]
    pairs = [_key_of(part) for part in parts]
    if any(not key for key, _ in pairs):
        return text
    return {key: _inner(value, depth) for key, value in pairs}


def _inner(text: str, depth: int) -> Any:
    is_flow = (text[:1], text[-1:]) in (("[", "]"), ("{", "}"))
    return _flow(text, depth + 1) if is_flow else _scalar(text)


def _parts(text: str) -> list[str] | None:
    """What commas divide, outside of quotes and brackets; None where these do not match."""
    parts: list[str] = []
    open_marks: list[str] = []
    quote, begin = "", 0
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not text[begin:at].strip():
            quote = char
        elif char in "[{":
            open_marks.append("]" if char == "[" else "}")
        elif char in "]}":
            if not open_marks or open_marks.pop() != char:
                return None
        elif char == "," and not open_marks:
            parts.append(text[begin:at].strip())
            begin = at + 1
    if quote or open_marks:
        return None
    return [part for part in (*parts, text[begin:].strip()) if part]
