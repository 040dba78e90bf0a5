"""The metadata object that a memory from elsewhere gets in memory-lancedb-pro's form."""

from __future__ import annotations

import json
import math
from typing import Any

from memtui.engine.core.secrets import find_secrets, mask
from memtui.engine.metadata.json_patch import patch
from memtui.engine.metadata.read import fact_key, finite, parse_object
from memtui.engine.transfer.record import Record

KEY = "imported"
"""Where everything that the form has no key for is kept, whole."""

_ABSTRACT = 200

_DURABLE = ("profile", "preferences", "events")

_CONFIDENCE = 0.7


def stored_metadata(record: Record, extra: dict[str, Any]) -> tuple[str, str]:
    """The metadata that a record brought with it, with `extra` under `KEY`; and what has to be said.

    Without `extra`, and when it is a JSON object, it stays exactly as it is.
    """
    raw = record.metadata
    if not parse_object(raw)[1]:
        kept = dumps({"metadata_as_given": raw})
        return patch(kept, {KEY: extra}) if extra else kept, "not a JSON object: kept as it is under one key"
    return patch(raw or "{}", {KEY: extra}) if extra else raw or "{}", ""


def new_metadata(record: Record, smart: str, timestamp_ms: int, extra: dict[str, Any]) -> str:
    """The object that the plugin itself would have written for this memory, and `extra` under `KEY`."""
    abstract = record.abstract or abstract_of(record.text)
    accessed = record.last_accessed_ms or timestamp_ms
    key = record.fact_key or fact_key(smart, abstract)
    state = record.state or "confirmed"
    layer = "archive" if state == "archived" else "durable" if smart in _DURABLE else "working"
    values: dict[str, Any] = {
        "l0_abstract": abstract,
        "l1_overview": record.overview or f"- {abstract}",
        "l2_content": record.content or record.text,
        "memory_category": smart,
        "tier": record.tier or "working",
        "access_count": record.access_count or 0,
        "confidence": _CONFIDENCE if record.confidence is None else record.confidence,
        "last_accessed_at": accessed,
        "valid_from": record.valid_from_ms or timestamp_ms,
        "valid_until": record.valid_until_ms,
        "invalidated_at": record.invalidated_ms,
        "fact_key": key,
        "supersedes": record.supersedes,
        "superseded_by": record.superseded_by,
        "state": state,
        "source": record.source or "legacy",
        "memory_layer": layer,
        "injected_count": 0,
        "bad_recall_count": 0,
        "suppressed_until_turn": 0,
        "tags": list(record.tags) or None,
        KEY: extra or None,
    }
    return dumps({name: value for name, value in values.items() if value is not None})


def extra_of(record: Record, origin: dict[str, Any], kept_category: str | None) -> dict[str, Any]:
    """What has no key of its own: where the memory came from, and the rest of its record."""
    own = {
        "id": record.foreign_id,
        "category": kept_category,
        "title": record.title,
        "heading": record.heading,
        "time_from": record.time_from,
        "updated_at": record.updated_ms,
        "trust": record.trust,
        "masked": record.masked,
        "links": [list(link) for link in record.links],
    }
    return {**origin, **{name: value for name, value in own.items() if value}, **_in_words(record.rest)}


def _in_words(value: Any) -> Any:
    """What was given, with a number that JSON cannot hold as the word for it: kept, and no fault in the object."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {key: _in_words(item) for key, item in value.items()}
    return [_in_words(item) for item in value] if isinstance(value, list) else value


def abstract_of(text: str) -> str:
    """L0 without a language model: the text on one line, cut after a sentence or a word at 200 characters."""
    line = " ".join(text.split())
    if len(line) <= _ABSTRACT:
        return line
    window = line[:_ABSTRACT]
    ends = [window.rfind(mark) + len(mark) for mark in (". ", "! ", "? ", "。", "！", "？") if mark in window]
    end = max(ends, default=0)
    if end >= _ABSTRACT // 3:
        return window[:end].rstrip()
    cut = window.rfind(" ")
    return (window[:cut] if cut > _ABSTRACT // 2 else window).rstrip() + "…"


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False).encode


def dumps(values: dict[str, Any]) -> str:
    """JSON as JavaScript writes it: no spaces, readable characters, no lone surrogates, null for no number."""
    try:
        text = _encode(values)
    except ValueError:
        text = _encode(finite(values))
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


# Secrets out of rows that leave or enter: the text, and the copies of it in the metadata.


def mask_json(raw: str | None) -> tuple[str | None, int]:
    """A metadata string with the secrets in its texts masked, and how many; untouched when there are none.

    What is no JSON object is masked as the text that it is.
    """
    if not raw or ("\\" not in raw and not find_secrets(raw)):
        return raw, 0  # with line ends written as two characters, a text is told by its value alone
    values, valid = parse_object(raw)
    if not valid:
        return mask(raw)
    found, count = _masked(values)
    return (dumps(found), count) if count else (raw, 0)


def _masked(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        parts = [_masked(item) for item in value]
        return [part for part, _ in parts], sum(count for _, count in parts)
    if isinstance(value, dict):
        pairs = {key: _masked(item) for key, item in value.items()}
        return {key: part for key, (part, _) in pairs.items()}, sum(count for _, count in pairs.values())
    return value, 0


_FROM_THE_TEXT = ("l0_abstract", "l1_overview", "l2_content", "fact_key", "title", "tags")

_WORD_CHARS = 64
"""A string without a blank and not longer than this is a name, an id or a word of a vocabulary."""


def redact_row(row: dict[str, Any], text: str, metadata: str | None) -> None:
    """Take the texts out of a row: lengths stand for them; sentences in the metadata go too, names and numbers stay."""
    row[text] = _length(row[text] or "")
    if metadata is None or not row.get(metadata):
        return
    values, valid = parse_object(row[metadata])
    row[metadata] = dumps(_redacted(values)) if valid else dumps({"metadata": _length(row[metadata])})


def _length(text: str) -> str:
    return f"[{len(text)} characters]"


def _redacted(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _redacted(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_redacted(item, key) for item in value]
    if not isinstance(value, str):
        return value
    plain = len(value) <= _WORD_CHARS and not any(char.isspace() for char in value) and value.isascii()
    return value if plain and key not in _FROM_THE_TEXT else _length(value)
