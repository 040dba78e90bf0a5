"""Splitting a text that is too long for a model into overlapping pieces, as memory-lancedb-pro does.

The row's vector is then the mean of the pieces' vectors, so equal pieces make equal vectors. One difference
on purpose: the peer stops after a fixed number of pieces and silently drops the end of a long bullet list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from memtui.engine.js import trim

CONTEXT: Mapping[str, int] = MappingProxyType(
    {
        "gemini-embedding-001": 2048,
        "all-MiniLM-L6-v2": 512,
        "all-mpnet-base-v2": 512,
    }
)
"""Context length by exact model name; every other model counts as 8,192."""
MAX_LINES = 50
CJK_DIVISOR = 2.5
"""A Chinese, Japanese or Korean character is two to three tokens."""
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SENTENCE_ENDS = ".!?。！？"


def split(text: str, model: str, limit: int | None = None) -> list[str]:
    """Trimmed pieces of `text`, none longer than `limit` characters where one is given.

    A piece has at most 0.7 of the model's context in characters, ends at a sentence, a line or a word, and
    begins 0.05 of the context before the end of the last one.
    """
    context = CONTEXT.get(model, 8192)
    solid = "".join(text.split())
    divisor = CJK_DIVISOR if solid and len(_CJK.findall(solid)) / len(solid) > 0.3 else 1.0
    most = max(200, int(context * 0.7 / divisor))
    overlap = int(context * 0.05 / divisor)
    least = max(100, int(context * 0.1 / divisor))

    found = []
    start = 0
    while len(text) - start > most:
        end = _end(text, start, start + least, start + most)
        if len(trim(text[start:end])) < least:
            end = start + most
        found.append(trim(text[start:end]))
        start = max(end - overlap, start + 1)
    found.append(trim(text[start:]))
    if limit is not None:
        found = [trim(piece[at : at + limit]) for piece in found for at in range(0, len(piece), limit)]
    return [piece for piece in found if piece]


def _end(text: str, start: int, low: int, high: int) -> int:
    """The best place in [low, high] to end the piece that begins at `start`."""
    if text.count("\n", start, high) >= MAX_LINES:
        after = start
        for _ in range(MAX_LINES):
            after = text.index("\n", after) + 1
        return max(after, low)
    sentence = max(text.rfind(mark, low, high) for mark in _SENTENCE_ENDS)
    if sentence >= 0:
        end = sentence + 1
        while end < high and text[end].isspace():
            end += 1
        return end
    line = text.rfind("\n", low, high)
    if line >= 0:
        return line + 1
    return next((at for at in range(high - 1, low - 1, -1) if text[at].isspace()), high)
