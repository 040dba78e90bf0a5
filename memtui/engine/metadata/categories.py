"""The two vocabularies of a memory's category: the stored column and the six smart words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memtui.engine.core.javascript import trim, utf16_len

SMART = ("profile", "preferences", "entities", "events", "cases", "patterns")

STORAGE = ("preference", "fact", "decision", "entity", "reflection", "other")

TEMPORAL_VERSIONED = ("preferences", "entities")
"""A change of such a memory supersedes the old row instead of rewriting it."""

MAPPED_REFLECTION = "memory-reflection-mapped"

_SINGULAR = {
    "preference": "preferences",
    "entity": "entities",
    "event": "events",
    "case": "cases",
    "pattern": "patterns",
}

_NORMAL = {word: word for word in SMART} | _SINGULAR

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

_FROM_COLUMN = {word: word for word in SMART} | _TO_SMART

_OF_THE_USER = re.compile(r"\b(?:my |i am |i'm |name is |叫我|我的|我是)\b", re.ASCII | re.IGNORECASE)
"""The word boundaries are ASCII, so the Chinese phrases only count between ASCII letters or digits."""

_PROFILE_LENGTH = 200


def normalise_category(name: Any) -> str | None:
    """The smart word that `name` stands for (case, padding and singular ignored), None for any other."""
    return _NORMAL.get(_word(name)) if isinstance(name, str) else None


def storage_of(smart: str) -> str | None:
    """The column value in which a smart category is stored, None for an unknown word."""
    return _TO_STORAGE.get(smart)


def smart_of(stored: str | None, text: str = "", *, row_type: Any = None) -> str:
    """The smart category of a row without `memory_category`: from its column, its text and metadata `type`.

    A fact that speaks of the user is a profile; mapped reflections stored as decisions read like facts.
    """
    if stored == "fact" or (stored == "decision" and row_type == MAPPED_REFLECTION):
        about_user = utf16_len(text) < _PROFILE_LENGTH and _OF_THE_USER.search(text)
        return "profile" if about_user else "cases"
    return _FROM_COLUMN.get(stored or "", "patterns")


def resolve_input(name: str) -> tuple[str, str]:
    """(smart category, column) for a category that a tool was given; unknown ones become patterns/other."""
    word = _word(name)
    if smart := _NORMAL.get(word):
        return smart, _TO_STORAGE[smart]
    return (_TO_SMART[word], word) if word in _TO_SMART else ("patterns", "other")


def filter_candidates(name: str) -> list[str]:
    """The column values that may hold a memory of the requested category, for a pre-filter."""
    word = _word(name)
    smart = _NORMAL.get(word)
    if smart is None:
        return [word]
    aliases = [alias for alias, target in _SINGULAR.items() if target == smart and alias in STORAGE]
    return list(dict.fromkeys([word, smart, _TO_STORAGE[smart], *aliases]))


def matches(stored: str | None, requested: str, metadata_values: Mapping[str, Any]) -> bool:
    """Whether a row of column category `stored` answers a request for a category.

    Equal words always match; else a valid `memory_category` in the metadata decides; else the column
    does, in the smart vocabulary. So `fact` matches every row stored as fact, whatever its smart word.
    """
    column, wanted = _word(stored or ""), _word(requested)
    if column == wanted:
        return True
    smart = _NORMAL.get(wanted)
    if smart is None:
        return False
    if stamped := normalise_category(metadata_values.get("memory_category")):
        return stamped == smart
    return (_NORMAL.get(column) or _TO_SMART.get(column)) == smart


def _word(name: str) -> str:
    return trim(name).lower()
