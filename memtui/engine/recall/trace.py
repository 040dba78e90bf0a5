"""The trace of a recall: its result and its complete account.

Stages are recorded in columns (arrays over the candidate pool) and turned into the plain values
below only when somebody looks. A trace is immutable; screen, JSON, receipt and proof are views of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA = "memtui.recall.v1"

StageKind = Literal["operation", "search", "score", "filter", "order"]


@dataclass(frozen=True, slots=True)
class StageSummary:
    """One stage: how many candidates went in and came out, and how long it took."""

    name: str
    title: str
    kind: StageKind
    n_in: int
    n_out: int
    ms: float
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Drop reason (a gate name) to number of candidates."""
    note: str = ""
    """What a person should know about this run of the stage: "cosine fallback: no API key"."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The parameters the stage ran with."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one stage did to one candidate. `after` is None when the stage dropped it."""

    stage: str
    before: float | None
    after: float | None
    rank_before: int | None
    rank_after: int | None
    rule: str
    """The name of the rule that made `after` from `before` and `inputs`."""
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The step as in the command-line contract."""
        return {
            "stage": self.stage,
            "before": self.before,
            "after": self.after,
            "rank_before": self.rank_before,
            "rank_after": self.rank_after,
            "rule": self.rule,
            "inputs": dict(self.inputs),
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory that any lane found, with everything that happened to it."""

    id: str
    disposition: str
    """"returned", or the stage that dropped it."""
    reason: str
    """Empty when returned, else the gate: min_score, expired, rerank_window, hard_cutoff, ..."""
    score: float | None
    """The last score it had."""
    limit: float | None
    """The limit that it missed, where the gate has one."""
    rank: int | None
    """1-based final rank when returned."""
    sources: Mapping[str, Mapping[str, float | int | None]]
    """vector, bm25, fused, reranked: score and rank, where present."""
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a recall failed as a whole, so that its caller got nothing."""

    stage: str
    """Where, by the plugin's names: hybrid.embedQuery, vector.embedQuery."""
    reason: str
    """What the service said, whole."""

    @property
    def words(self) -> str:
        """One sentence for people, the reason left out."""
        return "embedding failed: the agent got nothing"

    def as_json(self) -> dict[str, str]:
        """As in the command-line contract."""
        return {"stage": self.stage, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether recomputing every step from its recorded inputs gives the recorded scores."""

    recomputed: bool
    max_error: float
    checked: int = 0
    """Number of steps recomputed."""
    failures: tuple[str, ...] = ()
    """One sentence for each step that does not agree, at most twenty."""
