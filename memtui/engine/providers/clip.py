"""Long texts as openclaw-mem-engine sends them to be embedded: head and tail, with a mark between them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtui.engine.core.javascript import number

MOST_CHARS, HEAD_CHARS = 6_000, 500

FEWEST, LARGEST = 200, 200_000
"""Bounds of the longest input in characters."""

GAP = "\n...\n"
"""Stands between head and tail."""


@dataclass(frozen=True, slots=True)
class ClipRules:
    """`embedding.maxChars`, `headChars` and `maxBytes` as the program resolves them; lengths in characters."""

    most: int = MOST_CHARS
    head: int = HEAD_CHARS
    most_bytes: int | None = None
    """UTF-8 bytes; None: no limit beside the characters."""

    def clip(self, text: str) -> str:
        """`text`, or its head and tail with a mark between them."""
        if len(text) > self.most:
            tail = self.most - self.head - len(GAP) if self.head else self.most
            if not self.head:
                text = text[-tail:]
            else:
                text = text[: self.head] + GAP + text[-tail:] if tail > 0 else text[: self.head]
        if self.most_bytes is None or len(text.encode("utf-8", "replace")) <= self.most_bytes:
            return text
        before, mark, after = text.partition(GAP)
        if not mark or not self.head:
            return _last_bytes(text, self.most_bytes)
        before = _first_bytes(before, self.most_bytes - len(GAP))
        room = self.most_bytes - len(GAP) - len(before.encode("utf-8", "replace"))
        return before + GAP + _last_bytes(after, room) if room > 0 else _first_bytes(before, self.most_bytes)


def clip_rules(block: object) -> ClipRules:
    """The rules of an `embedding` block: a number out of its range goes to its end, no number is the usual one."""
    given = block if isinstance(block, Mapping) else {}
    most = _whole(given.get("maxChars"), MOST_CHARS, FEWEST, LARGEST)
    head = _whole(given.get("headChars"), HEAD_CHARS, 0, most)
    most_bytes = _number(given.get("maxBytes"))
    return ClipRules(most, min(head, most), math.floor(most_bytes) if most_bytes >= 1 else None)


def _whole(value: Any, usual: int, low: int, high: int) -> int:
    found = _number(value)
    return usual if math.isnan(found) else min(high, max(low, math.floor(found)))


def _number(value: Any) -> float:
    """A number, also one that is written as a text; NaN for everything else, and for what is not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    found = number(value)
    return found if math.isfinite(found) else math.nan


def _first_bytes(text: str, most: int) -> str:
    """The longest beginning of whole characters."""
    return text.encode("utf-8", "replace")[: max(0, most)].decode(errors="ignore")


def _last_bytes(text: str, most: int) -> str:
    """The longest end of whole characters."""
    data = text.encode("utf-8", "replace")
    return data[max(0, len(data) - max(0, most)) :].decode(errors="ignore")
