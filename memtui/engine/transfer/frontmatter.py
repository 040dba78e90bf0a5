"""The YAML head of a note, as far as notes use it: texts, numbers, lists and flat keys; never executed."""

from __future__ import annotations

import json
import re
from typing import Any

_KEY = re.compile(r"([A-Za-z_][\w .-]*?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)$")
_INT = re.compile(r"[+-]?\d{1,15}")
_FLOAT = re.compile(r"[+-]?\d+\.\d+(?:[eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_PARTS = re.compile(r"""\s*(?:"[^"]*"|'[^']*'|[^,"']+)\s*""")
_LONGEST = 2_000
"""Lines of a head; what goes on longer has none."""


def split(text: str) -> tuple[dict[str, Any], str, int]:
    """(keys of the head, the text after it, number of lines before that text); no keys without a head."""
    text = text.removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").split("\n", _LONGEST)
    if lines[0].rstrip() != "---":
        return {}, text, 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return _keys(lines[1:number]), "\n".join(lines[number + 1 :]), number + 1
    return {}, text, 0


def _keys(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    key = ""
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if key and (item := _ITEM.fullmatch(line)):
            held = found.get(key)
            found[key] = [*(held if isinstance(held, list) else []), _scalar(item[1])]
        elif match := _KEY.fullmatch(line):
            key = match[1].strip()
            found[key] = _scalar((match[2] or "").strip())
        elif key and line[:1] in " \t":
            held = found.get(key)
            found[key] = f"{held} {line.strip()}" if isinstance(held, str) else line.strip()
    return found


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
    if text[:1] == "[" and text[-1:] == "]":
        return _list(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _list(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list):
        return value
    return [_scalar(part) for part in _PARTS.findall(text[1:-1]) if part.strip()]
