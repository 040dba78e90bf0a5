"""The JSON object in what a model wrote: found, and mended where it is almost one."""

from __future__ import annotations

import json
import re
from typing import Any

from memtui.engine.capture.stages.matching import pattern

_THOUGHT = re.compile(r"</think>", re.IGNORECASE)

_FENCE = pattern(r"```(?:json)?\s*([\s\S]*?)```", re.IGNORECASE)

_TRAILING = pattern(r",\s*([}\]])", re.NOFLAG)

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def extract_json(text: str) -> str | None:
    """The first code block, else the first balanced {...}, after the model's last thought; None without one.

    Braces inside strings are counted like any other, as the plugin counts them.
    """
    thoughts = list(_THOUGHT.finditer(text))
    rest = text[thoughts[-1].end() :] if thoughts else text
    if fence := _FENCE.search(rest):
        return fence[1].strip()
    start = rest.find("{")
    depth = 0
    for at in range(start, len(rest)) if start >= 0 else ():
        depth += {"{": 1, "}": -1}.get(rest[at], 0)
        if depth == 0:
            return rest[start : at + 1]
    return None


def repair_json(text: str) -> str:
    """The text with trailing commas taken out, inner quotes escaped and raw control characters written as escapes."""
    source = _TRAILING.sub(r"\1", text)
    out: list[str] = []
    quoted = escaped = False
    for at, ch in enumerate(source):
        if escaped:
            out.append(ch)
            escaped = False
        elif ch == "\\" and quoted:
            out.append(ch)
            escaped = True
        elif ch == '"':
            if not quoted:
                quoted = True
                out.append(ch)
            elif source[at + 1 :].lstrip()[:1] in ("", ",", "}", "]", ":"):
                quoted = False
                out.append(ch)
            else:
                out.append('\\"')
        elif quoted and ch < " ":
            out.append(_ESCAPES.get(ch, f"\\u{ord(ch):04x}"))
        else:
            out.append(ch)
    return "".join(out)


def read_reply(text: str) -> dict[str, Any] | None:
    """The object that a model answered with; None where there is none to be read, even mended."""
    found = extract_json(text)
    if found is None:
        return None
    for attempt in (found, repair_json(found)):
        try:
            value = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None
