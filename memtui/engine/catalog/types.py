"""What a list of memories is asked with, and what it answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SORT_KEYS = (
    *("timestamp", "importance", "access", "used", "tier", "scope", "category", "confidence"),
    *("state", "layer", "source", "valid_from", "valid_until", "invalidated", "suppressed", "id"),
)
"""What every list can be ordered by; `StoreInfo.sorts` has what a store adds to it."""


AGES = ("0s..1d", "1d..1w", "1w..4w", "4w..26w", "26w..1000y")
"""Spans of age to count by, as the filter language writes them."""


@dataclass(frozen=True, slots=True)
class ListQuery:
    """A filter and an order over the whole table.

    `filter` is a text in the filter language (spec: fields, ranges, ages, lists, globs, words);
    `scopes` narrows to exact stored scopes on top of it (None entries mean NULL), as the scope tree does.
    `sort` is a key of `SORT_KEYS` or of `StoreInfo.sorts`, with a leading `-` for descending.
    """

    filter: str = ""
    scopes: tuple[str | None, ...] | None = None
    sort: str = "-timestamp"
    owners: tuple[str, ...] | None = None
    """Only rows of these agents, in tables whose rows have an owner."""
    veiled: bool = False
    """Whether nothing may be told of the rows beyond `scopes` and `owners`: no error names what they hold, and a
    term that compares rows with each other is refused."""


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts within the current filter, largest first; keys exactly as stored (None is NULL)."""

    scopes: tuple[tuple[str | None, int], ...] = ()
    categories: tuple[tuple[str | None, int], ...] = ()
    tiers: tuple[tuple[str, int], ...] = ()
    states: tuple[tuple[str, int], ...] = ()
    layers: tuple[tuple[str, int], ...] = ()
    sources: tuple[tuple[str | None, int], ...] = ()
    labels: tuple[tuple[str, int], ...] = ()
    """Importance labels as openclaw-mem-engine reads them; empty for every other table."""
    trust: tuple[tuple[str | None, int], ...] = ()
    """Trust tiers of openclaw-mem-engine as stored."""
    ages: tuple[tuple[str, int], ...] = ()
    """Counts by the spans of `AGES`, the youngest first."""


@dataclass(frozen=True, slots=True)
class ListView:
    """The answer to a `ListQuery`: which rows, in which order, at which table version.

    `positions` is opaque to the caller: hand the view back to `Engine.page`.
    """

    query: ListQuery
    version: int
    total: int
    table_total: int
    facets: Facets
    positions: Any = field(repr=False, compare=False, default=None)
    pending: str = ""
    """Non-empty while tier, access and state are still being read: what the numbers leave out."""
    partly: bool = False
    """Whether these are only the memories that were written last: the columns of all are still on their way."""
    note: str = ""
    """Why ~words were looked for as words; empty where they were compared by meaning, or there are none."""

    @property
    def ranked(self) -> bool:
        """Whether ~words decide the order, and not `query.sort`."""
        return getattr(self.positions, "scores", None) is not None

    def similarity(self, place: int) -> float | None:
        """Of a ranked list: how near the row at `place` is, 1 for the same; None where that is not known."""
        if not self.ranked or not 0 <= place < self.total:
            return None
        score = float(self.positions.scores[place])
        return None if score != score else score


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What is known of an opened store, for the top bar, Home and `memtui stats`."""

    name: str
    uri: str
    table: str
    dialect: str
    """Machine name: pro, builtin-g1, builtin-g2, builtin-g3, memtui, generic, engine."""
    dialect_title: str
    """For people: "memory-lancedb-pro", "built-in memory-lancedb (agentId, scope)"."""
    rows: int
    """Memories, the `__schema__` sentinel not counted."""
    dims: int | None
    version: int
    read_only: bool
    columns: tuple[str, ...]
    fts: str
    """The full-text index as data has it: "version 1, positions, 267 of 267 rows", "none"."""
    full_text: str
    """The same for people: "267 of 267 rows, format 1", "none"."""
    embedder: str
    """One phrase on where question vectors come from, or why there are none."""
    size_bytes: int
    warnings: tuple[str, ...] = ()
    sorts: tuple[str, ...] = ()
    """Sort keys that this store has beside `SORT_KEYS`: text, and the columns that are its own."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a store that a person may want to look at or fix.

    `severity` is "error" (agents lose memories), "warning" or "info". `title` continues `count`:
    "3" "memories without a scope". `filter` lists the rows in the filter language, empty where
    they cannot be listed; when there are many, some lists show the first of them only.
    """

    severity: str
    title: str
    count: int
    filter: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Stats:
    """A store in numbers. Counts are largest first, keys exactly as stored (None is NULL)."""

    rows: int
    scopes: tuple[tuple[str | None, int], ...]
    categories: tuple[tuple[str | None, int], ...]
    memory_categories: tuple[tuple[str | None, int], ...]
    tiers: tuple[tuple[str, int], ...]
    states: tuple[tuple[str, int], ...]
    labels: tuple[tuple[str, int], ...]
    """Importance labels as openclaw-mem-engine reads them; empty for every other table."""
    trust_tiers: tuple[tuple[str | None, int], ...]
    """Trust tiers of openclaw-mem-engine; empty for every other table."""
    added_7d: int
    daily: tuple[int, ...]
    """Memories of each of the last 90 days (UTC), oldest day first, today last."""
    daily_by_tier: tuple[tuple[str, tuple[int, ...]], ...]
    """The same for each tier, in the order of `memory.TIERS`."""
    oldest_ms: int | None
    newest_ms: int | None
    """The first and the last known creation time, future ones left out."""
    findings: tuple[Finding, ...]
    """The gravest first."""
    pending: str = ""
    """Non-empty while metadata is still to be read: what the numbers leave out."""
