"""The rows that a capture makes and ends, with every field of the table's own program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.draft import Draft, StoredRow, Write
from memtui.engine.decay.validity import temporal_type
from memtui.engine.metadata.categories import storage_of
from memtui.engine.metadata.patch import append_relation, stringify
from memtui.engine.metadata.read import fact_key, parse_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.engine.core.errors import MemtuiError


IMPORTANCE = {
    "profile": 0.9,
    "preferences": 0.8,
    "entities": 0.7,
    "events": 0.6,
    "cases": 0.8,
    "patterns": 0.85,
}

CONFIDENCE = 0.7

_DURABLE = ("profile", "preferences", "events")

_OLD_WORDS = {"preferences": "preference", "entities": "entity", "events": "decision", "profile": "fact"}


def new_row(
    row_id: str,
    text: str,
    category: str,
    scope: str,
    *,
    now_ms: int,
    at_ms: int | None = None,
    session: str = "",
    vector: Any = None,
    content: str = "",
    more: Mapping[str, Any] | None = None,
) -> StoredRow:
    """A row for a new statement: its vector is of the text that is stored.

    A word of time in it ends nothing: "from next month" would else expire when it begins to hold.
    """
    stamp = at_ms if at_ms is not None and 0 < at_ms <= now_ms else now_ms
    values: dict[str, Any] = {
        "l0_abstract": text,
        "l1_overview": f"- {text}",
        "l2_content": content or text,
        "memory_category": category,
        "tier": "working",
        "access_count": 0,
        "confidence": CONFIDENCE,
        "last_accessed_at": stamp,
        "valid_from": stamp,
        "memory_temporal_type": temporal_type(text),
        "fact_key": fact_key(category, text),
        "source_session": session or None,
        "state": "confirmed",
        "source": "auto-capture",
        "memory_layer": "durable" if category in _DURABLE else "working",
        "injected_count": 0,
        "bad_recall_count": 0,
        "suppressed_until_turn": 0,
        **(more or {}),
    }
    kept = {name: value for name, value in values.items() if value is not None}
    return StoredRow(
        row_id,
        text,
        storage_of(category) or _OLD_WORDS.get(category, "other"),
        scope,
        IMPORTANCE.get(category, 0.7),
        stamp,
        stringify(kept),
        vector,
    )


def supersede(draft: Draft, old: StoredRow, new: StoredRow, now_ms: int) -> tuple[Write, ...]:
    """The new row in the old one's place: linked both ways, the old one no longer valid."""
    meta = old.meta(now_ms)
    key = meta.fact_key or fact_key(str(meta.memory_category), meta.l0_abstract)
    values = parse_object(new.metadata)[0]
    values |= {"supersedes": old.id, "relations": [{"type": "supersedes", "targetId": old.id}]}
    if key is not None:
        values["fact_key"] = key
    added = draft.add(replace(new, metadata=stringify(values)), f"replaces {old.id}")
    was = parse_object(old.metadata)[0]
    ended = {
        **was,
        "invalidated_at": now_ms,
        "superseded_by": new.id,
        "relations": append_relation(was.get("relations"), {"type": "superseded_by", "targetId": new.id}),
    }
    change = draft.change(old.id, f"replaced by {new.id}", metadata=stringify(ended))
    return (added,) if change is None else (added, change)


def merge(draft: Draft, old: StoredRow, text: str, category: str, vector: Any, now_ms: int) -> Write | None:
    """One row of two: it keeps tier, uses and category; summaries, vector and key follow the new text."""
    was = parse_object(old.metadata)[0]
    meta = old.meta(now_ms)
    kept_category = str(meta.memory_category or category)
    values: dict[str, Any] = {
        **was,
        "l0_abstract": text,
        "l1_overview": f"- {text}",
        "l2_content": text,
        "memory_category": kept_category,
        "confidence": max(meta.confidence, 0.8),
        "memory_temporal_type": temporal_type(text),
    }
    key = fact_key(kept_category, text)
    values.pop("fact_key", None)
    if key is not None:
        values["fact_key"] = key
    return draft.change(old.id, "merged", text=text, vector=vector, metadata=stringify(values))


def bare_words(draft: Draft, error: MemtuiError) -> str:
    """What it means that no vector was to be had, for people."""
    from memtui.engine.core.errors import WithheldError

    harm = draft.store.dialect.can.bare_rows
    if isinstance(error.__cause__, WithheldError):
        return f"{error.message}: once it is written; until then copies are recognised by their text."
    if harm:
        return f"{error.message} Without a vector no memory is written here: {harm}."
    return (
        f"{error.message} Memories are stored without a vector and found by keyword search only; copies are recognised "
        "by their text, too."
    )
