"""How much a conversation is worth to memory: the score of each text, what to drop when it is too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtui.engine.capture.stages.matching import CJK, pattern
from memtui.engine.core.javascript import trim, utf16_len

MIN_SCORE = 0.3

MIN_TEXTS = 3

LOW_VALUE = 0.2
"""Conversations of less are skipped where low value is skipped."""

_TOOL = pattern(
    r"\b(?:tool_use|tool_result|function_call|memory_store|memory_recall|memory_forget|memory_update)\b"
)

_CORRECTION = pattern(
    r"\Ano[,.\s]|\b(?:actually|instead|wrong|correct(?:ion)?|fix)\b|不对|应该是|應該是|错了|錯了|改成|不是.*而是"
)

_DECISION = pattern(
    r"\b(?:let'?s go with|confirmed?|approved?|decided?|we'?ll use|going forward|from now on|agreed)\b"
    r"|决定|決定|确认|確認|选择了|選擇了|就这样|就這樣"
)

_ACKNOWLEDGED = pattern(
    r"\A(?:ok|okay|k|sure|fine|thanks|thank\s*you|thx|ty|got\s*it|understood|cool|nice|great|good|perfect|awesome"
    r"|alright|yep|yup|yeah|right)[.!]?\Z"
    r"|\A(?:(?:好|好的|收到|了解|明白|谢谢|感谢)[。！]?|(?:嗯|👍)。?)\Z"
)

_ELEMENT = pattern(r"\A<[a-z][\w-]*[^>]*>[\s\S]*</[a-z][\w-]*>\Z")

_INTENT = pattern(
    r"\b(?:remember|recall|don'?t forget|note that|keep in mind)\b|记住|記住|别忘|不要忘|记一下|記一下"
)


def score_text(text: str) -> tuple[float, str]:
    """The score of one text, 0 to 1, and why."""
    s = trim(text)
    if not s:
        return 0.0, "empty"
    if _TOOL.search(s):
        return 1.0, "tool_call"
    if _CORRECTION.search(s):
        return 0.95, "correction"
    if _DECISION.search(s):
        return 0.85, "decision"
    if _ACKNOWLEDGED.search(s):
        return 0.1, "acknowledgment"
    if utf16_len(s) > (30 if CJK.search(s) else 80):
        return (0.3, "system_xml") if _ELEMENT.search(s) else (0.7, "substantive")
    if "?" in s or "？" in s:
        return 0.5, "short_question"
    return 0.4, "short_statement"


@dataclass(frozen=True, slots=True)
class Compressed:
    """Which texts of a conversation were kept, by place; how many were dropped; characters kept."""

    kept: tuple[int, ...]
    dropped: int
    chars: int


def compress_texts(texts: Sequence[str], max_chars: int, min_score: float = MIN_SCORE) -> Compressed:
    """Keep what fits into `max_chars`: the first, the last, then by score; a tool text pulls in the one after it."""
    lengths = [utf16_len(text) for text in texts]
    if sum(lengths) <= max_chars:
        return Compressed(tuple(range(len(texts))), 0, sum(lengths))
    scores = [score_text(text) for text in texts]
    chosen: set[int] = set()
    used = 0

    def take(at: int) -> bool:
        nonlocal used
        if at in chosen or not 0 <= at < len(texts) or used + lengths[at] > max_chars:
            return False
        chosen.add(at)
        used += lengths[at]
        return True

    take(0)
    take(len(texts) - 1)
    for at in sorted(range(len(texts)), key=lambda i: (-scores[i][0], i)):
        if (take(at) or at in chosen) and scores[at][1] == "tool_call":
            take(at + 1)
    if all(score < min_score for score, _ in scores):
        for at in reversed(range(len(texts))):
            if len(chosen) >= min(MIN_TEXTS, len(texts)):
                break
            take(at)
    return Compressed(tuple(sorted(chosen)), len(texts) - len(chosen), used)


def conversation_value(texts: Sequence[str]) -> float:
    """How much a conversation holds that memory is for, 0 to 1."""
    joined = "\n".join(texts)
    value = 0.0
    if _INTENT.search(joined):
        value += 0.5
    if _TOOL.search(joined):
        value += 0.4
    if any(_CORRECTION.search(trim(text)) or _DECISION.search(trim(text)) for text in texts):
        value += 0.3
    if sum(utf16_len(text) for text in texts if utf16_len(text) > 20) > 200:
        value += 0.2
    if len(texts) > 6:
        value += 0.1
    return min(1.0, value)
