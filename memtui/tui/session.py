"""What the app knows of its store: one frozen value, replaced as the work goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from memtui.engine import Engine, MemtuiError, Progress, StoreInfo


Phase = Literal["none", "looking", "opening", "reading", "ready", "failed"]
"""none: no store is known. looking: discovery runs. opening: the store is being opened. reading: rows can be
listed, tiers and counters are still being read. ready: everything is known. failed: `error` says why."""


@dataclass(frozen=True, slots=True)
class Session:
    """The store, how far it is, and what is known of it.

    `revision` grows with every change of what a screen would show (opened, metadata read, reloaded):
    a screen asks again when it differs from the one it has shown.
    """

    phase: Phase = "none"
    target: str = ""
    place: str = ""
    """The address of a store far away that `target` only names; else the same."""
    engine: Engine | None = None
    info: StoreInfo | None = None
    stats: Any = None
    """The engine's `Stats`, once everything has been read."""
    progress: Progress | None = None
    early: bool = False
    """Whether what was written last is all that can be listed yet: the store is far away."""
    error: MemtuiError | None = None
    looked_at: tuple[str, ...] = ()
    """Where discovery looked, when it found nothing."""
    choices: tuple[tuple[str, str, str], ...] = ()
    """Name, place and reason of the stores to choose from, when discovery found several."""
    why: str = ""
    """Why none of them was chosen."""
    revision: int = 0
    newer: str = ""
    """Non-empty when another writer changed the store: what changed, "3 new"."""
    staged: int = 0
    """Memories whose changes wait to be applied together."""

    @property
    def open(self) -> bool:
        """Whether there is an engine that can list rows."""
        return self.engine is not None and self.phase in ("reading", "ready")

    @property
    def busy(self) -> bool:
        """Whether a thread works on the store."""
        return self.phase in ("looking", "opening", "reading")
