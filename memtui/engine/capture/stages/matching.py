"""Patterns as JavaScript matches them: any case of any letter, but words of ASCII letters, digits and underscores."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memtui.engine.core.javascript import LINE, SPACE

W = "[A-Za-z0-9_]"

EDGE = f"(?:(?<!{W})(?={W})|(?<={W})(?!{W}))"
"""A word boundary that knows ASCII words only."""

S = f"[{SPACE}]"

CJK = re.compile("[\u3040-\u309f\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def pattern(text: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """A compiled pattern in which `\\b`, `\\w`, `\\s` and `.` mean what they mean in JavaScript."""
    out, at, inside = [], 0, False
    while at < len(text):
        two = text[at : at + 2]
        if two == "\\b" and not inside:
            out.append(EDGE)
            at += 2
        elif two == "\\w":
            out.append("A-Za-z0-9_" if inside else W)
            at += 2
        elif two == "\\d":
            out.append("0-9" if inside else "[0-9]")
            at += 2
        elif two == "\\s":
            out.append(SPACE if inside else S)
            at += 2
        elif two == "\\S" and not inside:
            out.append(f"[^{SPACE}]")
            at += 2
        elif two[:1] == "\\":
            out.append(two)
            at += 2
        else:
            ch = text[at]
            if ch == "[" and not inside:
                inside = True
                out.append(ch)
            elif ch == "]" and inside:
                inside = False
                out.append(ch)
            elif ch == "." and not inside:
                out.append(LINE)
            else:
                out.append(ch)
            at += 1
    return re.compile("".join(out), flags)


def any_of(words: Iterable[str]) -> str:
    """The words as alternatives of a pattern, taken literally."""
    return "|".join(re.escape(word) for word in words)
