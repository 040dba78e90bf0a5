"""What is to be imported, and how: everything that a person can decide, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memtui.engine.access import GLOBAL
from memtui.engine.errors import UsageError
from memtui.engine.transfer.rules import NEAR

Resolution = Literal["keep", "take", "both"]
"""What to do with a memory that says otherwise: keep ours, take theirs in its place, or have both."""
MOST_NAMED = 1_000_000
"""Records in one range of `parse_numbers`."""
VectorPolicy = Literal["auto", "keep", "new"]


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """An import. `choices` decide single conflicts, by record number from 0; `conflicts` all others.

    `left_out` are new records that are not wanted, by the same numbers.
    """

    sources: tuple[Path, ...]
    format: str = "auto"
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Role to column, for tables of other programs; empty: guessed."""
    scope: str | None = None
    """Where memories without a scope go; None: the usual one of the store."""
    scopes: Mapping[str, str] = field(default_factory=dict)
    """Scope of the source to scope of ours, for those that are to change."""
    agent: str | None = None
    """The agent that the source belongs to, where it does not say so."""
    rules_off: frozenset[str] = frozenset()
    near: float = NEAR
    find_near: bool | None = None
    """Look for near copies: None, when that asks no service."""
    vectors: VectorPolicy = "auto"
    without_embedding: bool = False
    """Store zeros where a vector would have to be made; `reembed --missing` makes them later."""
    conflicts: Resolution = "keep"
    choices: Mapping[int, Resolution] = field(default_factory=dict)
    left_out: frozenset[int] = frozenset()
    mask_secrets: bool = False
    """Take memories with secrets, the secrets masked."""
    prose: bool = False
    sessions: bool = False
    encoding: str | None = None

    @property
    def default_scope(self) -> str:
        """Where memories without a scope go."""
        return self.scope or (f"agent:{self.agent}" if self.agent else GLOBAL)


def parse_numbers(text: str) -> frozenset[int]:
    """Record numbers as people count them, "3,7-9", as numbers from 0; UsageError for anything else."""
    found: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, _, last = part.partition("-")
        try:
            low, high = int(first), int(last or first)
        except ValueError:
            low, high = 0, 0
        if not 0 < low <= high <= low + MOST_NAMED:
            raise UsageError(f"{part} names no record.", fix="Give numbers from 1 and ranges, such as 3,7-9.")
        found.update(range(low - 1, high))
    return frozenset(found)
