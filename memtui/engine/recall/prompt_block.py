"""The block of memories that goes into a prompt, whoever wrote it, and what was left out of it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memtui.engine.core.javascript import utf16_len

CHARS_PER_TOKEN = 4.0

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}

_SPECIAL = re.compile(r"[&<>\"']")


@dataclass(frozen=True, slots=True)
class BlockPart:
    """One memory and its line in the block."""

    id: str
    line: str
    """As injected; empty when it was left out."""
    full: str
    """The line as it would be without any cut."""
    left_out: str = ""
    """Why it is not in the block."""
    gate: str = ""
    """The gate that left it out: prompt_gate, governance, repeat, prompt_score, prompt_items, prompt_chars."""
    value: float | None = None
    limit: float | None = None
    """What the gate looked at, and what it allows: a place, characters, turns."""

    @property
    def cut(self) -> int:
        """UTF-16 units of the memory that the agent does not see."""
        return utf16_len(self.full) - utf16_len(self.line)


@dataclass(frozen=True, slots=True)
class PromptBlock:
    """The block of memories as a prompt gets it, and its parts."""

    block: str
    """Empty when nothing is injected."""
    parts: tuple[BlockPart, ...]
    chars: int
    """UTF-16 units that the budget counts: of the plugin's block the texts alone, of others the whole lines."""
    budget: int | None
    tokens: int
    """Estimated: one for four characters, one for each Chinese, Japanese or Korean character."""
    why_nothing: str = ""
    note: str = ""
    """What a person should know of the block."""
    items: int | None = None
    """How many memories it may hold; None where nothing limits them."""


def nothing_injected(parts: Sequence[BlockPart], why: str) -> PromptBlock:
    """An empty block, and why it is empty."""
    return PromptBlock("", tuple(parts), 0, None, 0, why)


def estimated_tokens(text: str) -> int:
    """About how many tokens a model counts: one for each CJK character, one for four of the others."""
    wide = sum("\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" for char in text)
    return wide + math.ceil((len(text) - wide) / CHARS_PER_TOKEN)


def escaped(text: str) -> str:
    """`text` with & < > and quotes as entities; line breaks stay."""
    return _SPECIAL.sub(lambda found: _ENTITIES[found[0]], text)
