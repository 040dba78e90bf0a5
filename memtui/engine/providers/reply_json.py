"""The JSON object in what a language model said: cut out, mended where models break it, read."""

from __future__ import annotations

import json
import re
from typing import Any

_THOUGHT_ENDS = re.compile(r"</think>", re.IGNORECASE)

_FENCE = re.compile(r"```(?:json)?\s*\n?([\s\S]*?)```", re.IGNORECASE)

_TRAILING_COMMA = re.compile(r",\s*([}\]])")

_CONTROL = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}

_AFTER_A_STRING = ",:}]"


def extract_json(text: str) -> str | None:
    """The first JSON object of `text` as it stands there, behind the last thought; None without one.

    What a code fence holds comes before what stands outside. Braces inside strings are counted, as memory-lancedb-pro
    counts them: `{"a":"}"}` is cut short there.
    """
    thoughts = list(_THOUGHT_ENDS.finditer(text))
    said = text[thoughts[-1].end() :] if thoughts else text
    fence = _FENCE.search(said)
    if fence:
        return fence[1].strip()
    start = said.find("{")
    if start < 0:
        return None
    depth = 0
    for at in range(start, len(said)):
        depth += {"{": 1, "}": -1}.get(said[at], 0)
        if not depth:
            return said[start : at + 1]
    return None


def repair_json(text: str) -> str:
    """`text` without trailing commas, with the quotes and line ends inside its strings escaped."""
    out: list[str] = []
    inside = escaped = False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif inside and char == "\\":
            escaped = True
        elif char == '"' and not inside:
            inside = True
        elif char == '"':
            behind = text[at + 1 :].lstrip()[:1]
            if behind and behind not in _AFTER_A_STRING:
                out.append("\\")
            else:
                inside = False
        elif inside and char < " ":
            char = _CONTROL.get(char, f"\\u{ord(char):04x}")
        out.append(char)
    return _TRAILING_COMMA.sub(r"\1", "".join(out))


def read_object(text: str) -> dict[str, Any] | None:
    """The object that a model answered with, None when there is none or it cannot be mended."""
    found = extract_json(text)
    for candidate in () if found is None else (found, repair_json(found)):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return _whole(text)


def _whole(text: str) -> dict[str, Any] | None:
    """An object whose strings hold braces: what a decoder that knows strings makes of it."""
    start = text.rfind("</think>") + 1
    start = text.find("{", start)
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text[start:])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def whole_items(text: str, key: str) -> list[dict[str, Any]]:
    """The whole objects of the list `key` in an answer that may be cut off: what came before a stream broke."""
    found = re.search(rf'"{re.escape(key)}"\s*:\s*\[', text)
    items: list[dict[str, Any]] = []
    at = found.end() if found else len(text)
    decoder = json.JSONDecoder(strict=False)
    while (start := text.find("{", at)) >= 0 and not text[at:start].strip(" \t\r\n,"):
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        if isinstance(value, dict):
            items.append(value)
    return items
