"""The two category vocabularies of memory-lancedb-pro, and how a request matches a row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memtui.engine.js import trim, utf16_len

SMART = ("profile", "preferences", "entities", "events", "cases", "patterns")
STORAGE = ("preference", "fact", "decision", "entity", "reflection", "other")

_ALIASES = {
    "preference": "preferences",
    "entity": "entities",
    "event": "events",
    "case": "cases",
    "pattern": "patterns",
}
_TO_STORAGE = {
    "profile": "fact",
    "preferences": "preference",
    "entities": "entity",
    "events": "decision",
    "cases": "fact",
    "patterns": "other",
}
_TO_SMART = {
    "preference": "preferences",
    "fact": "cases",
    "decision": "events",
    "entity": "entities",
    "reflection": "patterns",
    "other": "patterns",
}
_PROFILE_WORDS = re.compile(r"\b(?:my |i am |i'm |name is |叫我|我的|我是)", re.ASCII | re.IGNORECASE)
"""With the plugin's ASCII word boundary, so the Chinese words count only right after a Latin letter or digit."""
_PROFILE_LENGTH = 200


def normalise(name: str) -> str | None:
    """The six-word category that `name` means, singular aliases included; None for anything else."""
    word = trim(name).lower()
    return word if word in SMART else _ALIASES.get(word)


def storage_of(smart: str) -> str:
    """The category column for a six-word category; `other` for an unknown one."""
    return _TO_STORAGE.get(smart, "other")


def smart_of(stored: str | None, text: str = "", row_type: str | None = None) -> str:
    """The six-word category that a row without a stored one is read as.

    A fact shorter than 200 units that speaks of its user is a profile; a mapped reflection's decision is a case.
    """
    word = stored or "other"
    if word in SMART:
        return word
    as_fact = word == "fact" or (word == "decision" and row_type == "memory-reflection-mapped")
    return _fact(text) if as_fact else _TO_SMART.get(word, "patterns")


def _fact(text: str) -> str:
    speaks = utf16_len(text) < _PROFILE_LENGTH and _PROFILE_WORDS.search(text)
    return "profile" if speaks else "cases"


def matches(stored: str | None, requested: str, metadata: Mapping[str, Any]) -> bool:
    """Whether a row (category column, metadata object) answers a request for `requested` (spec/retrieval 11)."""
    have, want = trim(stored or "").lower(), trim(requested).lower()
    if have == want:
        return True
    smart_want = normalise(want)
    kept = metadata.get("memory_category")
    smart_have = normalise(kept) if isinstance(kept, str) else None
    if smart_have is not None and smart_want is not None:
        return smart_have == smart_want
    stored_as_smart = normalise(have)
    if stored_as_smart is not None and smart_want is not None:
        return stored_as_smart == smart_want
    if smart_want is not None and have in STORAGE:
        return _TO_SMART[have] == smart_want
    return False
