"""A memory as it would be after a change, without writing it: its importance, tier, use, state, length."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memtui.engine.js import utf16_slice
from memtui.engine.recall.rows import Row

UNARCHIVED = {"state": "confirmed", "memory_layer": "working"}


def edited(row: Row, change: str, value: Any, *, now_ms: int) -> Row:
    """`row` after one change; `change` is one of

    `memory.importance` (0 to 1), `memory.tier` (a tier), `memory.touch` (used once more, now), `memory.used`
    (used `value` times more, the last time now), `memory.state` (confirmed again), `memory.suppressed_until`
    and `memory.valid_until` and `memory.invalidated_at` (removed),
    `memory.length` (its first `value` UTF-16 units; vector and words are taken to stay as they are).
    """
    if change == "memory.importance":
        return row.changed(importance=float(value))
    if change == "memory.length":
        return row.changed(text=utf16_slice(row.text, int(value)))
    return row.changed(raw_metadata=_patched(row, change, value, now_ms))


def metadata_after(raw: str | None, change: str, value: Any, *, now_ms: int) -> str:
    """The stored metadata string after a change of `edited`, for writing it for real."""
    stored = Row("", "", None, None, 0.0, 0, raw, None)
    return _patched(stored, change, value, now_ms)


def _patched(row: Row, change: str, value: Any, now_ms: int) -> str:
    values: dict[str, Any] = dict(row.metadata.values)
    if change == "memory.tier":
        values["tier"] = value
    elif change == "memory.touch":
        values.update(_touch(row, 1, now_ms))
    elif change == "memory.used":
        values.update(_touch(row, int(value), now_ms))
    elif change == "memory.state":
        values.update(UNARCHIVED)
    elif change == "memory.suppressed_until":
        values["suppressed_until_ms"] = 0
    elif change in ("memory.valid_until", "memory.invalidated_at"):
        values.pop(change.removeprefix("memory."), None)
        if change == "memory.invalidated_at" and row.metadata.valid_from > now_ms:
            values["valid_from"] = now_ms
    else:
        raise ValueError(change)
    return json.dumps(values, ensure_ascii=False)


def _touch(row: Row, times: int, now_ms: int) -> Mapping[str, Any]:
    """More uses, the last one now: both spellings of the keys where a row has both."""
    patch: dict[str, Any] = {
        "access_count": row.metadata.access_count + times,
        "last_accessed_at": now_ms,
    }
    if "accessCount" in row.metadata.values or "lastAccessedAt" in row.metadata.values:
        patch |= {"accessCount": row.reinforcement[0] + times, "lastAccessedAt": now_ms}
    return patch
