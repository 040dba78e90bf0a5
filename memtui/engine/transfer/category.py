"""From a source's word for a category to the two vocabularies that agents' programs know."""

from __future__ import annotations

from dataclasses import dataclass

from memtui.engine.categories import SMART, STORAGE, resolve_input, smart_of, storage_of
from memtui.engine.js import trim
from memtui.engine.transfer.record import Record

_HEADINGS = {
    "preferences": "preferences", "preference": "preferences", "likes": "preferences", "style": "preferences",
    "settings": "preferences", "habits": "preferences",
    "decisions": "events", "decision": "events", "events": "events", "history": "events",
    "people": "entities", "contacts": "entities", "team": "entities", "projects": "entities", "places": "entities",
    "profile": "profile", "about me": "profile", "about": "profile", "user": "profile", "me": "profile",
    "facts": "cases", "knowledge": "cases", "notes": "cases",
    "lessons": "patterns", "patterns": "patterns", "learned": "patterns",
    "偏好": "preferences", "设置": "preferences", "決定": "events", "决定": "events", "好み": "preferences",
}  # fmt: skip
"""Headings that say what stands under them, lower case."""
_UNKNOWN = "a word that no agent's program knows: stored as other, kept in metadata"
_CHANGED = "written another way: the usual word is stored, theirs kept in metadata"


@dataclass(frozen=True, slots=True)
class Category:
    """The stored column, the six-word category, and what has to be said. `kept` is theirs, where ours differs."""

    column: str
    smart: str
    note: str = ""
    kept: str | None = None


def category_of(record: Record) -> Category:
    """The category of a record: its own word, else what its heading says, else other."""
    word = record.category
    if word is None:
        hint = _HEADINGS.get(trim(record.heading or "").rstrip(":").lower())
        if hint is None:
            return Category("other", record.memory_category or "patterns")
        return Category(storage_of(hint) or "other", hint, "none in the source: taken from the heading")
    plain = trim(word).lower()
    smart, column = resolve_input(word)
    known = plain in STORAGE or (smart, column) != ("patterns", "other") or plain in ("patterns", "pattern")
    if not known:
        return Category("other", record.memory_category or "patterns", _UNKNOWN, word)
    if plain in STORAGE:
        smart = record.memory_category or smart_of(column, record.text)
        return Category(column, smart, "" if word == column else _CHANGED, None if word == column else word)
    if plain in SMART and word == plain:
        return Category(column, smart, f"{plain} is stored as {column}, its own word in metadata")
    return Category(column, smart, _CHANGED, word)
