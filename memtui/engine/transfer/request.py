"""What is to be imported, and how: everything that a person can decide, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from memtui.engine.scopes import GLOBAL
from memtui.engine.transfer.rules import NEAR

Resolution = Literal["keep", "take", "both"]
"""What to do with a memory that says otherwise: keep ours, take theirs in its place, or have both."""
VectorPolicy = Literal["auto", "keep", "new"]


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """An import. `choices` decide single conflicts, by record number from 0; `conflicts` all others."""

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
    mask_secrets: bool = False
    """Take memories with secrets, the secrets masked."""
    prose: bool = False
    sessions: bool = False
    encoding: str | None = None

    @property
    def default_scope(self) -> str:
        """Where memories without a scope go."""
        return self.scope or (f"agent:{self.agent}" if self.agent else GLOBAL)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that decides what is written, as JSON values."""
        return {
            "sources": [str(source) for source in self.sources],
            "format": self.format,
            "mapping": dict(self.mapping),
            "scope": self.scope,
            "scopes": dict(self.scopes),
            "agent": self.agent,
            "rules_off": sorted(self.rules_off),
            "near": self.near,
            "vectors": self.vectors,
            "conflicts": self.conflicts,
            "choices": {str(number): choice for number, choice in sorted(self.choices.items())},
            "mask_secrets": self.mask_secrets,
            "prose": self.prose,
            "sessions": self.sessions,
        }
