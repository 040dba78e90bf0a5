"""Dialects whose rows carry a lifecycle: tier, access, state and validity in a metadata JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.core.memory import STATES, TIERS, Memory
from memtui.engine.core.text import clean
from memtui.engine.dialects.base import Dialect

_DEEP = 64
"""What lies deeper than this is left out of the tree that is shown; the stored text has it all."""


@dataclass(frozen=True, slots=True)
class LifecycleDialect(Dialect):
    """memory-lancedb-pro's way of reading a row: seven columns and a metadata object."""

    def importance(self, stored: Any) -> float | None:
        """0 to 1; a NULL reads as 0, what is not a number as 0.7."""
        from memtui.engine.metadata.read import coerce_importance

        return 0.0 if stored is None else coerce_importance(stored)

    def to_memory(self, row: Mapping[str, Any], extras: Sequence[str], now_ms: int) -> Memory:
        """One row with its metadata normalised; columns of our own win over the object."""
        from memtui.engine.metadata.read import normalise

        columns = self.columns
        raw_text, stamp = self.raw_text(row), self.timestamp_ms(row)
        raw = self.value(row, columns.metadata)
        category = self.value(row, columns.category)
        meta = normalise(raw, text=raw_text, category=category, timestamp_ms=stamp, now_ms=now_ms)
        tier, state = self.value(row, columns.tier), self.value(row, columns.state)
        accesses, used = self.value(row, columns.access_count), self.value(row, columns.last_accessed)
        suppressed_until = meta.suppressed_until_ms
        return Memory(
            id=self.row_id(row),
            text=clean(raw_text),
            raw_text=raw_text,
            dialect=self.name,
            scope=self.value(row, columns.scope),
            category=category,
            memory_category=clean(meta.memory_category),
            tier=tier if tier in TIERS else meta.tier,
            importance=self.importance(self.value(row, columns.importance)),
            confidence=meta.confidence,
            access_count=_whole(accesses, meta.access_count),
            timestamp_ms=stamp,
            last_accessed_ms=_whole(used, meta.last_accessed_at),
            state=state if state in STATES else meta.state,
            layer=meta.memory_layer,
            source=meta.source,
            active=meta.active(now_ms),
            expired=meta.expired(now_ms),
            suppressed=suppressed_until is not None and suppressed_until > now_ms,
            l0_abstract=clean(meta.l0_abstract),
            l1_overview=clean(meta.l1_overview),
            l2_content=clean(meta.l2_content),
            valid_from_ms=meta.valid_from,
            valid_until_ms=meta.valid_until,
            invalidated_at_ms=meta.invalidated_at,
            supersedes=meta.supersedes,
            superseded_by=meta.superseded_by,
            fact_key=None if meta.fact_key is None else clean(meta.fact_key),
            source_session=None if meta.source_session is None else clean(meta.source_session),
            metadata=raw,
            metadata_valid=meta.valid,
            metadata_values=meta.values if _is_plain(raw) else clean_values(meta.values, 0),
            extra=self.extra(row, extras),
        )


def _is_plain(raw: str | None) -> bool:
    """Whether a JSON text can hold nothing that would have to be cleaned: most are plain ASCII."""
    return raw is None or (raw.isascii() and raw.isprintable() and "\\" not in raw)


def clean_values(value: Any, depth: int) -> Any:
    """A parsed JSON value with every text in it cleaned, keys included."""
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, Mapping | list):
        return value
    if depth >= _DEEP:
        return "…"
    if isinstance(value, list):
        return [clean_values(item, depth + 1) for item in value]
    return {clean(str(key)): clean_values(item, depth + 1) for key, item in value.items()}


def _whole(stored: float | None, instead: int) -> int:
    """A stored number without its fraction; `instead` where there is none, or none that is finite."""
    return int(stored) if stored is not None and math.isfinite(stored) else instead
