"""What the plugin's auto-recall asks for and how much of it goes into a prompt: its settings, limits and budget."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.javascript import SPACE, number, trim, utf16_len, utf16_slice

if TYPE_CHECKING:
    from memtui.engine.recall.recipes.pro.question import QuestionIntent

Mode = Literal["full", "summary", "adaptive", "off"]

MOST_ASKED = 20
"""Memories that auto-recall asks for at most, however many a prompt may hold."""

BRIEF, LONGEST = 80, 1000
"""UTF-16 units of a memory shown in brief, and at most where a question asks for all of it."""


HARD_CUT = 300
"""Every content is cut to this many UTF-16 units first, so no budget above it is ever reached."""

_NEWLINES = re.compile(r"[\r\n]+")

_TAG = re.compile(r"</?[a-zA-Z][^>]*>")

_SPACES = re.compile(f"[{SPACE}]+")


@dataclass(frozen=True, slots=True)
class PromptBlockSettings:
    """The plugin's auto-recall settings that decide the block (autoRecall..., recallMode, maxRecallPerTurn)."""

    mode: Mode = "full"
    max_items: int = 3
    max_per_turn: int = 10
    max_chars: int = 600
    """UTF-16 units of the memories' texts together: prefixes and line ends are not counted."""
    per_item_chars: int = 180
    min_repeated: int = 8
    """Turns before a memory may be injected again."""

    @property
    def items(self) -> int:
        """Memories that a prompt may hold."""
        return min(self.max_items, self.max_per_turn)

    @property
    def asked(self) -> int:
        """Memories that auto-recall asks the store for."""
        return min(MOST_ASKED, 2 * self.items)

    def per_item(self, intent: QuestionIntent | None) -> int:
        """UTF-16 units of one memory; `intent` is that of the question in the adaptive mode, else None."""
        cap = self.per_item_chars
        if self.mode == "summary":
            return min(cap, BRIEF)
        if intent is None:
            return cap
        return {"l0": min(cap, BRIEF), "l1": cap, "full": min(3 * cap, LONGEST)}[intent.depth]


def settings_of(block: Mapping[str, Any]) -> PromptBlockSettings:
    """The settings that a plugin's configuration gives; what is missing or no number from 1 on is its default."""
    usual = PromptBlockSettings()

    def whole(key: str, otherwise: int, low: int, high: int) -> int:
        value = block.get(key)
        if isinstance(value, str) and trim(value):  # the plugin reads a number written as text
            value = number(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return otherwise
        return max(low, min(high, int(value))) if value >= 1 else otherwise

    mode = block.get("recallMode")
    return PromptBlockSettings(
        mode=mode if mode in ("full", "summary", "adaptive", "off") else usual.mode,
        max_items=whole("autoRecallMaxItems", usual.max_items, 1, 20),
        max_per_turn=whole("maxRecallPerTurn", usual.max_per_turn, 1, 50),
        max_chars=whole("autoRecallMaxChars", usual.max_chars, 64, 8000),
        per_item_chars=whole("autoRecallPerItemMaxChars", usual.per_item_chars, 32, 1000),
        min_repeated=whole("autoRecallMinRepeated", usual.min_repeated, 0, 100),
    )


@dataclass(frozen=True, slots=True)
class Fitted:
    """What goes into the prompt of one memory's text, or which limit keeps it out."""

    text: str
    gate: Literal["", "prompt_items", "prompt_chars"] = ""
    """Empty where the text goes in."""
    needed: int = 0
    """For prompt_items the place in the list, for prompt_chars the characters that it would have come to."""


def shortened(text: str, length: int) -> str:
    """A text cut to UTF-16 units; what is cut loses the spaces at its ends."""
    return text if utf16_len(text) <= length else trim(utf16_slice(text, length))


def fitted(texts: Sequence[str], items: int, chars: int) -> list[Fitted]:
    """What of each text goes in, in order: the first that does not fit is cut to what is left and is the last.

    Only the texts count against `chars` (UTF-16 units); one without a text takes no place.
    """
    out: list[Fitted] = []
    used = taken = 0
    cut = False
    for place, text in enumerate(texts, 1):
        needed = used + utf16_len(text)
        if taken >= items:
            out.append(Fitted("", "prompt_items", place))
        elif cut or used >= chars:
            out.append(Fitted("", "prompt_chars", needed))
        else:
            cut = needed > chars
            kept = shortened(text, chars - used)
            out.append(Fitted(kept) if kept else Fitted("", "prompt_chars", needed))
            taken += bool(kept)
            used += utf16_len(kept)
    return out


def is_injected(agent: str, settings: Mapping[str, Any]) -> bool:
    """Whether auto-recall runs for an agent by the include list, else by the exclude list of the plugin."""
    include, exclude = settings.get("autoRecallIncludeAgents"), settings.get("autoRecallExcludeAgents")
    if isinstance(include, list) and include:
        return any(_names(each, agent) for each in include)
    return not (isinstance(exclude, list) and any(_names(each, agent) for each in exclude))


def _names(entry: Any, agent: str) -> bool:
    """Whether a list's entry means the agent: exactly, or `prefix-` and `temp:*` by their beginning."""
    if not isinstance(entry, str) or not entry.strip():
        return False
    entry = entry.strip()
    if entry.endswith("*"):
        return agent.startswith(entry[:-1])
    return agent == entry or (entry.endswith("-") and agent.startswith(entry))


def sanitised(text: str) -> str:
    """A memory's content as a line of the block shows it.

    Line ends become `\\n`, tags go, angle brackets become harmless, spaces collapse.
    """
    text = _TAG.sub("", _NEWLINES.sub(r"\\n", text))
    return trim(_SPACES.sub(" ", text.replace("<", "＜").replace(">", "＞")))
