"""Whether an answer used what was recalled for it, by the words it is put in."""

from __future__ import annotations

from memtui.engine.core.javascript import utf16_len

SHORTEST_ANSWER = 24
"""Answers of at most this many UTF-16 units are never judged as using anything."""

_MARKS = (
    "remember", "之前", "记得", "according to", "based on what", "as you mentioned", "如前所述", "如您所說",
    "如您所说的", "我記得", "我记得", "之前你說", "之前你说", "之前提到", "之前提到的", "根据之前", "依据之前",
    "按照之前",
    "照您之前", "照你说的", "from previous", "earlier you", "in the memory", "the memory mentioned",
    "the memories show",
)  # fmt: skip


def recall_used(answer: str, ids: list[str]) -> bool:
    """Whether an answer longer than 24 units has one of the marks of a remembered thing; never without memories."""
    if not ids or utf16_len(answer) <= SHORTEST_ANSWER:
        return False
    lower = answer.lower()
    return any(mark in lower for mark in _MARKS)
