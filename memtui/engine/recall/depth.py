"""One line for a memory in a prompt, as long as the intent of the question asks for."""

from __future__ import annotations

import re

from memtui.engine.js import SPACE, to_fixed, utf16_len, utf16_slice

BRIEF = 80
MEDIUM = 300
_ELLIPSIS = "..."
_SENTENCE_END = re.compile(f"[.!?][{SPACE}]|[。！？]")
_LEAST_KEPT = 0.6
"""A cut goes back to a space only when more than this share of the length stays."""


def format_at_depth(
    text: str,
    *,
    category: str,
    scope: str,
    depth: str,
    score: float,
    bm25_hit: bool = False,
    reranked: bool = False,
) -> str:
    """A list item with category, text and score in percent; l0 is brief, l1 up to 300 units, full all."""
    ways = ("vector+BM25" if bm25_hit else "") + ("+reranked" if reranked else "")
    tail = f"({to_fixed(score * 100, 0)}%{', ' + ways if ways else ''})"
    if depth == "l0":
        return f"- [{category}] {_first_sentence(text)} {tail}"
    if depth == "l1" and utf16_len(text) > MEDIUM:
        text = utf16_slice(text, MEDIUM - len(_ELLIPSIS)) + _ELLIPSIS
    return f"- [{category}:{scope}] {text} {tail}"


def _first_sentence(text: str) -> str:
    """The first sentence when it ends within 80 units, else the first 80, back to a space if there is one."""
    end = _SENTENCE_END.search(text)
    if end and 0 < utf16_len(text[: end.start()]) < BRIEF:
        return text[: end.start() + 1]
    if utf16_len(text) <= BRIEF:
        return text
    cut = utf16_slice(text, BRIEF)
    space = cut.rfind(" ")
    kept = cut[:space] if space >= 0 and utf16_len(cut[:space]) > BRIEF * _LEAST_KEPT else cut
    return kept + _ELLIPSIS
