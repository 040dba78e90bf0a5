"""Changing a row's metadata as memory-lancedb-pro changes it: a patch over the normalised object."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from memtui.engine.core.javascript import SAFE_INTEGER
from memtui.engine.core.memory import LAYERS, STATES
from memtui.engine.metadata.read import (
    SOURCES,
    TEMPORAL_TYPES,
    Metadata,
    count,
    fact_key,
    normalise,
    one_of,
    positive,
    share,
    text_or,
    tier_of,
)

LAST_SOURCES = 20

LAST_HISTORY = 50

FIRST_RELATIONS = 16

_NORMALISED = tuple(name for name in Metadata._fields if name not in ("values", "valid"))

_TEXTS = ("l0_abstract", "l1_overview", "l2_content")

_COUNTS = ("access_count", "injected_count", "bad_recall_count", "suppressed_until_turn")

_TIMES = ("valid_until", "last_injected_at", "last_confirmed_use_at")

_LINKS = ("supersedes", "superseded_by", "canonical_id")

_WORDS = {"state": STATES, "source": SOURCES, "memory_layer": LAYERS}

_DEFAULT_WORDS = {"state": "confirmed", "source": "legacy", "memory_layer": "working"}


def as_object(meta: Metadata) -> dict[str, Any]:
    """All keys that were stored, with the normalised ones as they are read; absent ones left out."""
    known = {name: getattr(meta, name) for name in _NORMALISED}
    return _without_absent({**meta.values, **known})


def build_metadata(
    raw: str | None,
    patch: Mapping[str, Any],
    *,
    text: str,
    category: str | None,
    timestamp_ms: float | None,
    now_ms: int,
) -> dict[str, Any]:
    """The metadata object after `patch`: what it gives is normalised, what it gives badly keeps its old value.

    A key that the patch does not know keeps what it holds; unknown keys of the patch are taken as they are.
    """
    base = normalise(raw, text=text, category=category, timestamp_ms=timestamp_ms, now_ms=now_ms)
    built: dict[str, Any] = {**as_object(base), **patch}
    for name in _TEXTS:
        built[name] = text_or(patch.get(name), getattr(base, name))
    for name in _COUNTS:
        built[name] = _given(patch, name, base, count, getattr(base, name))
    for name in _TIMES:
        built[name] = _given(patch, name, base, positive, None)
    for name in _LINKS:
        built[name] = _given(patch, name, base, text_or, None)
    for name, words in _WORDS.items():
        default = _DEFAULT_WORDS[name]
        built[name] = one_of(words, patch[name], None, default) if name in patch else getattr(base, name)
    category_word, session = patch.get("memory_category"), patch.get("source_session")
    built["memory_category"] = category_word if isinstance(category_word, str) else base.memory_category
    built["source_session"] = session if isinstance(session, str) else base.source_session
    built["tier"] = tier_of(patch["tier"]) if patch.get("tier") is not None else base.tier
    built["confidence"] = (
        share(patch["confidence"], base.confidence) if "confidence" in patch else base.confidence
    )
    accessed = base.last_accessed_at or timestamp_ms or now_ms
    built["last_accessed_at"] = (
        count(patch["last_accessed_at"], accessed) if "last_accessed_at" in patch else accessed
    )
    built["valid_from"] = positive(patch.get("valid_from"), base.valid_from)
    invalidated = _given(patch, "invalidated_at", base, positive, None)
    built["invalidated_at"] = invalidated if invalidated and invalidated >= built["valid_from"] else None
    if "memory_temporal_type" in patch:
        word = patch["memory_temporal_type"]
        built["memory_temporal_type"] = word if word in TEMPORAL_TYPES else None
    key = text_or(patch.get("fact_key"), base.fact_key)
    built["fact_key"] = key or fact_key(built["memory_category"], built["l0_abstract"])
    suppressed = patch.get("suppressed_until_ms")
    built["suppressed_until_ms"] = base.suppressed_until_ms if suppressed is None else count(suppressed, 0)
    return _without_absent(built)


def append_relation(existing: Any, relation: Mapping[str, str]) -> list[dict[str, Any]]:
    """The well-formed relations of `existing` and, unless it is among them, `relation` (type, targetId)."""
    rows = [
        row
        for row in (existing if isinstance(existing, list) else [])
        if isinstance(row, dict) and isinstance(row.get("type"), str) and isinstance(row.get("targetId"), str)
    ]
    same = any(all(row[key] == relation[key] for key in ("type", "targetId")) for row in rows)
    return rows if same else [*rows, dict(relation)]


def capped(values: Mapping[str, Any]) -> dict[str, Any]:
    """The object with its lists cut to what the plugin keeps: last sources and history, first relations."""
    cuts = {
        "sources": slice(-LAST_SOURCES, None),
        "history": slice(-LAST_HISTORY, None),
        "relations": slice(FIRST_RELATIONS),
    }
    lists = {key: values[key][cut] for key, cut in cuts.items() if isinstance(values.get(key), list)}
    return {**values, **lists}


def stringify(values: Mapping[str, Any]) -> str:
    """The metadata text to store: `capped`, written as `JSON.stringify` writes it."""
    simple = all(
        type(value) in _AS_IS or (type(value) is float and 0 < value < 1) for value in values.values()
    )
    text = _encode(values if simple else _plain(capped(values)))
    return text if text.isascii() else _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_SURROGATE = re.compile("[\ud800-\udfff]")


def _given(patch: Mapping[str, Any], name: str, base: Metadata, read: Any, default: Any) -> Any:
    return read(patch[name], default) if name in patch else getattr(base, name)


def _without_absent(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None or key not in _NORMALISED}


_AS_IS = frozenset((str, int, bool, type(None)))


def _plain(value: Any) -> Any:
    """Numbers as JavaScript writes them: whole ones without a point, what is not finite as null."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value == value // 1 and abs(value) <= SAFE_INTEGER else value
    if isinstance(value, Mapping):
        return {key: item if type(item) in _AS_IS else _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
