"""Reading an importance, 0 to 1, from whatever a source writes; unknown stays unknown, never 0."""

from __future__ import annotations

import math
import re
from typing import Any

_WORDS = {
    "must_remember": 0.8,
    "critical": 0.9,
    "high": 0.8,
    "nice_to_have": 0.5,
    "medium": 0.5,
    "normal": 0.5,
    "low": 0.2,
    "trivial": 0.2,
    "ignore": 0.2,
}
_NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?")


def read_importance(value: Any) -> tuple[float | None, str]:
    """(0 to 1 or None, what has to be said about it). Numbers are clamped; "high", "86%" and "0,8" are read."""
    if isinstance(value, str):
        return _of_text(value.strip())
    if value is None:
        return None, ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, "not a number: left unknown"
    return _of_number(value)


def _of_text(text: str) -> tuple[float | None, str]:
    if not text:
        return None, ""
    if _NUMBER.fullmatch(text):
        return _of_number(float(text.replace(",", ".")))
    if text.endswith("%") and _NUMBER.fullmatch(text[:-1].strip()):
        share, note = _of_number(float(text[:-1].strip().replace(",", ".")) / 100)
        return share, note or "a percentage: read as a share"
    word = re.sub(r"[\s-]+", "_", text.lower())
    if word in _WORDS:
        return _WORDS[word], "a word: high reads as 0.8, medium as 0.5, low as 0.2"
    return None, "not a number: left unknown"


def _of_number(value: float) -> tuple[float | None, str]:
    try:
        number = float(value)
    except OverflowError:
        return None, "not a finite number: left unknown"
    if not math.isfinite(number):
        return None, "not a finite number: left unknown"
    if 0 <= number <= 1:
        return number, ""
    return min(1.0, max(0.0, number)), "outside 0 to 1: moved to the nearer end"
