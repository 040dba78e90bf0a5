"""A memory, as every part of memtui sees it: plain values, no arrays, no library types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.core.origin import is_untrusted
from memtui.engine.core.secrets import one_line

TIERS = ("core", "working", "peripheral")

ARCHIVED = "archived"

STATES = ("confirmed", "pending", ARCHIVED)

LAYERS = ("durable", "working", "reflection", "archive")

GOVERNANCE = ("importance_label", "trust_tier")
"""Columns of openclaw-mem-engine that say how much a memory counts, and where it came from or how far to trust it."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One row of a store, read through its dialect.

    Times are milliseconds since the epoch (UTC), 0 when the store has none. `text` is cleaned for
    the screen, `raw_text` is exactly what is stored. Fields that a dialect does not have hold the
    value its own program would assume, or None.
    """

    id: str
    text: str
    raw_text: str
    dialect: str
    scope: str | None = None
    """As stored; None for a NULL. Padded or blank scopes stay as they are: they are findings."""
    category: str | None = None
    """The stored category column."""
    memory_category: str | None = None
    """The six-word category (profile, preferences, entities, events, cases, patterns), stored or derived."""
    tier: str | None = None
    importance: float | None = None
    """0 to 1, as its own program reads the column."""
    confidence: float | None = None
    access_count: int | None = None
    timestamp_ms: int = 0
    last_accessed_ms: int = 0
    state: str | None = None
    layer: str | None = None
    source: str | None = None
    active: bool = True
    """valid_from <= now and not invalidated."""
    expired: bool = False
    """valid_until <= now."""
    suppressed: bool = False
    l0_abstract: str = ""
    l1_overview: str = ""
    l2_content: str = ""
    valid_from_ms: int = 0
    valid_until_ms: int | None = None
    invalidated_at_ms: int | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    fact_key: str | None = None
    source_session: str | None = None
    metadata: str | None = None
    """The metadata column exactly as stored, None for NULL or where the dialect has no such column."""
    metadata_valid: bool = True
    """False when the stored metadata is not a JSON object."""
    metadata_values: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The parsed metadata object with every key it had, known and unknown; cleaned for the screen."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Columns that the dialect does not know, and dialect-only ones (agentId, trust_tier, ...)."""

    @property
    def untrusted(self) -> bool:
        """Whether its host itself says that it came from untrusted content."""
        return is_untrusted(self.extra, self.metadata_values)

    @property
    def last_used_ms(self) -> int:
        """When it was last used, 0 for never: its program writes the creation there until then."""
        touched = self.access_count or self.last_accessed_ms > self.timestamp_ms
        return self.last_accessed_ms if touched else 0

    @property
    def title(self) -> str:
        """The text on one line, its secrets masked."""
        return one_line(self.text)

    def as_json(self) -> dict[str, Any]:
        """The row of the command-line contract; text and metadata exactly as stored."""
        return {
            "id": self.id,
            "text": self.raw_text,
            "scope": self.scope,
            "category": self.category,
            "memory_category": self.memory_category,
            "tier": self.tier,
            "importance": self.importance,
            "confidence": self.confidence,
            "access_count": self.access_count,
            "timestamp_ms": self.timestamp_ms,
            "last_accessed_ms": self.last_accessed_ms,
            "state": self.state,
            "active": self.active,
            "expired": self.expired,
            "metadata": self.metadata,
            "dialect": self.dialect,
            **{name: self.extra[name] for name in GOVERNANCE if name in self.extra},
            **({"extra": dict(self.extra)} if self.extra else {}),
        }
