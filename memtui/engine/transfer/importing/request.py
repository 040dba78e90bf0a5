"""What is to be imported, and how: everything that a person can decide, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memtui.engine.access import GLOBAL
from memtui.engine.core.errors import UsageError
from memtui.engine.transfer.format import Format

# The rules by which an incoming memory is taken or left: each has a name, a meaning, and can be switched.

Group = Literal["new", "same_id", "exact", "near", "conflict", "short", "noise", "secret", "invalid"]

GROUPS: tuple[Group, ...] = (
    "new",
    "same_id",
    "exact",
    "near",
    "conflict",
    "short",
    "noise",
    "secret",
    "invalid",
)
"""What becomes of the records of a source; each record is in one group."""

MEANINGS: Mapping[Group, str] = {
    "new": "will be added",
    "same_id": "exists: same id, same text",
    "exact": "exists: same text in the same scope",
    "near": "near duplicate of an existing memory",
    "conflict": "conflicts with an existing memory",
    "short": "too short to be a memory",
    "noise": "greetings, talk about memory, message headers",
    "secret": "holds a password or a key",
    "invalid": "not readable as a memory",
}

Switchable = Literal["exact", "near", "short", "noise", "secret"]

SWITCHABLE: tuple[Switchable, ...] = ("exact", "near", "short", "noise", "secret")
"""Rules that a person may switch off; their rows are then new."""

NEAR = 0.98
"""Cosine from which two texts are nearly the same: what memory-lancedb-pro itself refuses to store twice."""

SHORTEST = 5
"""Characters of the shortest text worth a memory, as the plugin counts."""


@dataclass(frozen=True, slots=True)
class ImportRules:
    """Which rules hold back, and their numbers."""

    on: frozenset[Switchable]
    near: float = NEAR
    shortest: int = SHORTEST

    @classmethod
    def of(
        cls, source: Format, off: Iterable[str] = (), *, near: float = NEAR, copies: bool = True
    ) -> ImportRules:
        """The rules for a format, without those in `off`; UsageError for a name that is no rule.

        Rows that stood in a store were judged there: nothing in them is too short or noise. A whole-row
        export is taken as it is. `copies` is False where the table's own importer looks for no near copies in what
        stood in a store.
        """
        switched = set(off)
        wrong = sorted(switched - set(SWITCHABLE))
        if wrong:
            raise UsageError(
                f"There is no rule {wrong[0]!r} to switch off.", fix=f"The rules are {', '.join(SWITCHABLE)}."
            )
        if not 0 < near <= 1:
            raise UsageError(f"A near copy cannot begin at {near}.", fix="Give a cosine above 0 and up to 1.")
        usual: frozenset[Switchable] = frozenset(SWITCHABLE)
        if source.own:
            usual = frozenset()
        elif source.stored:
            usual = frozenset(("exact", "near", "secret") if copies else ("exact", "secret"))
        return cls(usual - switched, near)

    def has(self, rule: Switchable) -> bool:
        """Whether the rule holds back."""
        return rule in self.on


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
    typed: bool = False
    """The memories were typed in one by one: they are the user's own, no other program's."""
    mask_secrets: bool = False
    """Take memories with secrets, the secrets masked."""
    prose: bool = False
    sessions: bool = False
    encoding: str | None = None
    parts: str = ""
    """Where a cluster left vectors of the source's texts; empty: they are made here."""

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
