"""What differs between two texts, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal

Part = tuple[Literal["same", "gone", "new"], str]
_WORDS = re.compile(r"\s+|[\w]+|[^\w\s]")
MOST_WORDS = 2_000
"""Longer texts are compared as a whole: the time grows with the square."""


def word_diff(before: str, after: str) -> tuple[Part, ...]:
    """The parts of both texts in order; "gone" stands in `before` only, "new" in `after` only."""
    a, b = _WORDS.findall(before), _WORDS.findall(after)
    if len(a) > MOST_WORDS or len(b) > MOST_WORDS:
        if before == after:
            return (("same", before),)
        return tuple(part for part in (("gone", before), ("new", after)) if part[1])
    parts: list[Part] = []
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(("same", "".join(a[a0:a1])))
            continue
        if a1 > a0:
            parts.append(("gone", "".join(a[a0:a1])))
        if b1 > b0:
            parts.append(("new", "".join(b[b0:b1])))
    return tuple(parts)
