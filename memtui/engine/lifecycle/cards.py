"""The review queue as plain values: one card a memory, with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Settlement = Literal["keep", "fix", "merge", "archive", "pin", "forget", "skip"]
SETTLEMENTS: tuple[Settlement, ...] = ("keep", "fix", "merge", "archive", "pin", "forget", "skip")


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause of doubt: its name, how heavy it is (0 to 1), and a sentence with its numbers."""

    name: str
    doubt: float
    sentence: str
    other: str = ""
    """Id of the memory that it speaks of: the one that contradicts or replaces this one."""


@dataclass(frozen=True, slots=True)
class ReviewCard:
    """One memory to look at. `priority` is `exposure` (uses expected in 30 days) times `doubt`."""

    id: str
    exposure: float
    doubt: float
    reasons: tuple[Reason, ...]
    title: str = ""
    """Its text on one line."""
    tier: str = ""
    scope: str | None = None

    @property
    def priority(self) -> float:
        """Doubtful uses to be expected in 30 days."""
        return self.exposure * self.doubt

    def as_json(self) -> dict[str, Any]:
        """The card for the command line."""
        return {
            "id": self.id,
            "priority": self.priority,
            "exposure": self.exposure,
            "doubt": self.doubt,
            "tier": self.tier,
            "scope": self.scope,
            "text": self.title,
            "reasons": [
                {"name": r.name, "doubt": r.doubt, "sentence": r.sentence, "other": r.other or None}
                for r in self.reasons
            ],
        }


@dataclass(frozen=True, slots=True)
class Review:
    """The queue, the most pressing first. `waiting` counts all that are doubtful and not settled yet."""

    cards: tuple[ReviewCard, ...]
    waiting: int
    settled: int
    """In the last seven days."""
    at_stake: float
    """Doubtful uses to be expected in 30 days over all waiting memories."""

    def without(self, memory: str, *, settled: bool = True) -> Review:
        """The queue after this memory was decided on; a skipped one does not count as settled."""
        left = tuple(card for card in self.cards if card.id != memory)
        if len(left) == len(self.cards):
            return self
        gone = sum(card.priority for card in self.cards if card.id == memory)
        at_stake = max(0.0, self.at_stake - gone)
        return Review(left, self.waiting - 1, self.settled + int(settled), at_stake)

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui review --json`."""
        return {
            "schema": "memtui.review.v1",
            "waiting": self.waiting,
            "settled": self.settled,
            "at_stake": self.at_stake,
            "cards": [card.as_json() for card in self.cards],
        }
