"""One hand-over of turns to the extraction, and what it did, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.capture.stages.transcript import TranscriptTurn


@dataclass(slots=True)
class ExtractionStats:
    """What a run of the extraction did, counted."""

    created: int = 0
    merged: int = 0
    skipped: int = 0
    boundary_skipped: int = 0
    rejected: int = 0
    superseded: int = 0
    supported: int = 0
    no_input: bool = False
    failed: bool = False
    settled: bool | None = None
    """Whether any candidate came to an end; None where there was none."""

    def as_json(self) -> dict[str, Any]:
        """Under the plugin's own names; zeros of the later counts are left out."""
        found: dict[str, Any] = {
            "created": self.created,
            "merged": self.merged,
            "skipped": self.skipped,
            "boundarySkipped": self.boundary_skipped,
        }
        later = {
            "rejected": self.rejected,
            "superseded": self.superseded,
            "supported": self.supported,
            "skippedNoInput": self.no_input,
            "extractionFailed": self.failed,
        }
        found |= {key: value for key, value in later.items() if value}
        if self.settled is not None:
            found["settledOutcomes"] = self.settled
        return found


@dataclass(frozen=True, slots=True)
class ExtractionCall:
    """One hand-over to the extraction."""

    session: str
    agent: str
    scope: str
    scopes: Sequence[str] | None
    conversation: str
    turns: Sequence[TranscriptTurn]
    protected: int = 0

    @property
    def judged_scopes(self) -> Sequence[str]:
        """The scopes that admission looks in: where an agent may read everywhere, only that which it writes to."""
        return [self.scope] if self.scopes is None else self.scopes
