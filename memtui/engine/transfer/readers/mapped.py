"""Rows of a table that no program we know wrote, read through a mapping of its columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtui.engine.transfer.options import ReadOptions
from memtui.engine.transfer.readers.fields import (
    put_id,
    put_importance,
    put_time,
    put_vector,
    text_of,
    word,
    words,
)
from memtui.engine.transfer.record import Record, Rejected
from memtui.engine.transfer.text import storable

_BAR = "|"


def mapped_record(
    row: Mapping[str, Any],
    mapping: Mapping[str, str],
    where: str,
    options: ReadOptions,
    *,
    strip: bool = True,
) -> Record | Rejected:
    """One row; columns without a role are kept whole in `rest`."""

    def get(role: str) -> Any:
        return row.get(mapping[role]) if role in mapping else None

    found = text_of(get("text"), where)
    if isinstance(found, Rejected):
        return found
    record = Record(text=found[0].strip() if strip else found[0], where=where)
    if found[1]:
        record.lost("text", found[1])
    put_id(record, get("id"))
    record.foreign_id = record.foreign_id or record.id
    category = get("category")
    record.tags = _tags(get("tags"))
    if isinstance(category, list):
        record.tags = (*words(category), *record.tags)
        record.category = record.tags[0] if record.tags else None
    else:
        record.category = word(category)
    record.scope = word(get("scope"))
    for role in ("user", "agent"):
        if record.scope is None and (name := word(get(role))):
            record.scope = f"{role}:{name.strip()}"
    put_importance(record, get("importance"))
    put_time(record, "timestamp_ms", get("timestamp"), options.now_ms)
    put_vector(record, get("vector"))
    if isinstance(get("metadata"), str | dict):
        record.rest["metadata"] = get("metadata")
    used = set(mapping.values())
    left = {key: _plain(value) for key, value in row.items() if key not in used and value not in (None, "")}
    if left:
        record.rest["columns"] = left
    return record


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and _BAR in value:
        return tuple(part.strip() for part in value.split(_BAR) if part.strip())
    return words(value)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)[0]
    if isinstance(value, Mapping):
        return {storable(str(key))[0]: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)
