"""Reading what a model decided about a candidate and its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

DECISIONS = ("skip", "create", "merge", "supersede", "support", "contextualize", "contradict")

_NAMED_ONLY = ("supersede", "contradict")
"""Decisions that count only when the model says which neighbour it means."""

UNREADABLE = "LLM response unparseable"


@dataclass(frozen=True, slots=True)
class DedupVerdict:
    """A decision; `match` is the id of the neighbour that it is about."""

    decision: str
    reason: str = ""
    match: str | None = None
    label: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Under the plugin's own names, absent ones left out."""
        found = {
            "decision": self.decision,
            "reason": self.reason,
            "matchId": self.match,
            "contextLabel": self.label,
        }
        return {key: value for key, value in found.items() if value is not None}


def dedup_verdict(entry: Any, neighbours: Sequence[str]) -> DedupVerdict:
    """The decision in one entry of a reply; `neighbours` are the ids that were shown, the first counts as 1."""
    if not isinstance(entry, dict):
        return DedupVerdict("create", UNREADABLE)
    given = entry.get("decision")
    decision = given.lower() if isinstance(given, str) and given else "create"
    reason = entry["reason"] if isinstance(entry.get("reason"), str) else ""
    if decision not in DECISIONS:
        return DedupVerdict("create", f"Unknown decision: {given}")
    index = entry.get("match_index")
    named = isinstance(index, int | float) and not isinstance(index, bool) and 1 <= index <= len(neighbours)
    if decision in _NAMED_ONLY and not named:
        return DedupVerdict("create", f"{decision} degraded: missing match_index")
    if decision in ("create", "skip"):
        match = None
    elif named and isinstance(index, int | float):
        match = neighbours[int(index) - 1] if index == int(index) else None
    else:
        match = neighbours[0] if neighbours else None
    label = entry.get("context_label")
    return DedupVerdict(decision, reason, match, label if isinstance(label, str) else None)
