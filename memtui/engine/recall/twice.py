"""Metadata that was encoded twice: a JSON string that holds a JSON object. The plugin reads nothing of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memtui.engine.metadata import parse_object

if TYPE_CHECKING:
    from memtui.engine.recall.rows import Row


def unwrapped(raw: str | None) -> str | None:
    """The JSON object that a JSON string holds, as text; None for any other metadata."""
    if not raw or not raw.lstrip().startswith('"'):
        return None
    try:
        inner = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(inner, str) or not inner.lstrip().startswith("{"):
        return None
    return inner if parse_object(inner)[1] else None


def once(row: Row) -> Row:
    """The row with such metadata read as what it holds; itself where it has none."""
    inner = unwrapped(row.raw_metadata)
    return row if inner is None else row.changed(raw_metadata=inner)


def unread(rows: Iterable[Row]) -> tuple[str, ...]:
    """A finding for a recipe that reads nothing of such metadata; none where no candidate has it."""
    count = sum(1 for row in rows if unwrapped(row.raw_metadata) is not None)
    if not count:
        return ()
    which = "1 candidate" if count == 1 else f"{count} candidates"
    return (f"metadata is encoded twice in {which}: the plugin reads nothing of it.",)
