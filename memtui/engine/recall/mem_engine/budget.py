"""The block that goes into the prompt, and what is cut when it does not fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memtui.engine.js import utf16_len, utf16_slice
from memtui.engine.recall.mem_engine.prompts import CLOSE, OPEN, POLICY, escaped

DROPPED_IDS = 10
"""Ids of dropped memories that a receipt names."""
_BROKEN_ENTITY = re.compile(r"&[A-Za-z#0-9]{0,6}$")
Overflow = Literal["truncate_oldest", "truncate_tail"]


@dataclass(frozen=True, slots=True)
class BudgetRules:
    """The `contextBudget` block as resolved."""

    enabled: bool = True
    max_chars: int = 1800
    min_recent_slots: int = 1
    overflow: Overflow = "truncate_oldest"


@dataclass(frozen=True, slots=True)
class Slot:
    """One memory on its way into the prompt."""

    id: str
    created_ms: float
    category: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Packed:
    """The block, the slots that stand in it, and the receipt; lengths are UTF-16 units, as the program counts."""

    text: str
    kept: tuple[Slot, ...]
    receipt: dict[str, Any]
    cut: bool
    """Whether text was cut off, over and above whole memories."""


def block(slots: Sequence[Slot], comment: str = "") -> str:
    """Opening tag, policy line, a numbered line a memory, closing tag; the receipt comment in front."""
    lines = [f"{n}. [{slot.category}|{slot.label}] {escaped(slot.text)}" for n, slot in enumerate(slots, 1)]
    return "\n".join([*([comment] if comment else []), OPEN, POLICY, *lines, CLOSE])


def pack(slots: Sequence[Slot], rules: BudgetRules, *, comment: str = "", close_tag: bool = True) -> Packed:
    """Fit the block into the budget: first whole memories go (the newest few are protected), then the text is cut.

    With `close_tag` a block that must be cut loses its comment first, then text before the closing tag, never a
    part of an entity. Without, it is cut exactly as the program cuts it, which may lose memories and tag alike.
    """
    kept = list(slots)
    text = block(kept, comment)
    before = utf16_len(text)
    protected = min(rules.min_recent_slots, len(kept))
    dropped: list[Slot] = []
    truncated = 0
    if rules.enabled and before > rules.max_chars:
        for slot in _removable(slots, protected, rules.overflow):
            kept.remove(slot)
            dropped.append(slot)
            text = block(kept, comment)
            if utf16_len(text) <= rules.max_chars:
                break
        truncated = max(0, utf16_len(text) - rules.max_chars)
        if truncated:
            text = _closed(kept, rules.max_chars) if close_tag else utf16_slice(text, rules.max_chars)
    receipt = {
        "enabled": rules.enabled,
        "maxChars": rules.max_chars,
        "minRecentSlots": protected,
        "overflowAction": rules.overflow,
        "beforeChars": before,
        "afterChars": utf16_len(text),
        "droppedCount": len(dropped),
        "droppedIds": [slot.id for slot in dropped[:DROPPED_IDS]],
        "truncatedChars": truncated,
        "truncated": bool(dropped or truncated),
        "minRecentSlotsHonored": True,
    }
    return Packed(text, tuple(kept), receipt, bool(truncated))


def _removable(slots: Sequence[Slot], protected: int, overflow: Overflow) -> list[Slot]:
    """The slots that may go, in the order in which they go."""
    newest = sorted(slots, key=lambda slot: (-slot.created_ms, slot.id))[:protected]
    rest = [slot for slot in slots if slot not in newest]
    if overflow == "truncate_tail":
        return rest[::-1]
    return sorted(rest, key=lambda slot: (slot.created_ms, slot.id))


def _closed(slots: Sequence[Slot], room: int) -> str:
    """The block within `room` units, its last line the closing tag, no entity cut in two."""
    tail = f"\n{CLOSE}"
    text = block(slots)
    if utf16_len(text) <= room:
        return text
    body = text.removesuffix(tail)
    head = utf16_slice(body, max(0, room - utf16_len(tail)))
    return _BROKEN_ENTITY.sub("", head) + tail
