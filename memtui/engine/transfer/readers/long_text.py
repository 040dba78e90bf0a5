"""Texts that are too long for one memory, cut where a person would cut them."""

from __future__ import annotations

import re
from collections.abc import Iterator

SPLIT_FROM = 4_000
"""Characters from which an entry of a note is split: more than any embedding model reads well."""
PIECE = 1_600
"""Longest piece: memory-core's own chunk size."""
_ENDS = tuple(
    re.compile(mark) for mark in (r"\n{2,}", r"\n", r"(?<=[.!?。！？])\s*", r"(?<=[;；、,，])\s*", r"\s+")
)
SPLIT = f"longer than {SPLIT_FROM:,} characters: split into pieces of at most {PIECE:,}"


def pieces(text: str, limit: int = PIECE) -> Iterator[str]:
    """`text` in pieces of at most `limit` characters, cut at the best place in the second half of each."""
    at = 0
    while len(text) - at > limit:
        window = text[at : at + limit]
        end = at + _cut(window)
        if piece := text[at:end].strip():
            yield piece
        at = end
    if piece := text[at:].strip():
        yield piece


def _cut(window: str) -> int:
    half = len(window) // 2
    for mark in _ENDS:
        end = max((match.end() for match in mark.finditer(window, half)), default=0)
        if end > half:
            return end
    return len(window)
