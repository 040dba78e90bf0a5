"""The weekly review: which memories to look at first, and why."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memtui.engine.core.content_rules import instruction_like, noise_rule
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.memory import TIERS
from memtui.engine.core.private_file import write_private
from memtui.engine.core.secrets import find_secrets, mask
from memtui.engine.core.text import counted, day, days_between, one_line
from memtui.engine.lifecycle.crossings import Forecast
from memtui.engine.lifecycle.population import Floats, Mask, MemoryTraits, Places, PopulationEvidence

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog
    from memtui.engine.core.memory import Memory
    from memtui.engine.store.table import Store


# The review queue as plain values: one card a memory, with its reasons.

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


# How often a memory will be put before the agent, and how little it may be trusted: what is worth a look.

NEXT_DAYS = 30
"""Exposure counts the uses expected in so many days."""

YOUNG_DAYS = 7.0
"""A memory's rate of use is not measured over less than this: one use on the first day is no daily use."""

SELDOM = 0.1
"""Uses expected of a memory that was never used: any may come back once."""

MISSED = 3.0
"""Uses that fail to come when a memory of importance 1 fades or has expired."""

IMPORTANT = 0.7

LOW_CONFIDENCE = 0.5

DRIFTED = (0.47, 0.5, 0.55)
"""What usage feedback writes over an importance, whatever it was."""

REASONS = (
    "contradicted",
    "replaced",
    "bad recall",
    "never confirmed",
    "expired",
    "fading",
    "pending",
    "low confidence",
    "drifted",
)
"""In the order in which a card lists them."""


@dataclass(frozen=True, slots=True, eq=False)
class ReviewScore:
    """Per memory: expected uses, doubt 0 to 1 for each reason, and all reasons together, each [n].

    Reasons are independent witnesses: together 1 - product of (1 - doubt).
    """

    exposure: Floats
    by_reason: Mapping[str, Floats]
    doubt: Floats

    @property
    def priority(self) -> Floats:
        """Exposure times doubt: wrong uses to be expected."""
        return self.exposure * self.doubt


def weigh(
    traits: MemoryTraits, evidence: PopulationEvidence, pending: Mask, forecast: Forecast
) -> ReviewScore:
    """Exposure and doubts of n memories; `forecast` says which are about to fade."""
    now_ms = forecast.now_ms
    recalled = traits.recalled
    with np.errstate(invalid="ignore"):
        expired = traits.valid_until <= now_ms
    important = traits.importance >= IMPORTANT
    gone = expired & important & (traits.uses > 0)
    fading = recalled & important & ~np.isnan(forecast.stale_at)
    bad, injected = evidence.bad_recalls.astype(np.float64), evidence.injected.astype(np.float64)
    unconfirmed = (injected > 0) & np.isnan(evidence.confirmed)
    low = np.maximum(0.0, LOW_CONFIDENCE - traits.confidence) / LOW_CONFIDENCE
    drifted = np.isin(np.round(traits.importance, 6), DRIFTED) & ((injected > 0) | evidence.own_importance)
    by_reason = {
        "contradicted": np.where(recalled & (evidence.rival >= 0), 0.6, 0.0),
        "replaced": np.where(recalled & (evidence.replaced_by >= 0), 0.7, 0.0),
        "bad recall": np.where(recalled, 1 - 0.75**bad, 0.0),
        "never confirmed": np.where(recalled & unconfirmed, 0.3 * (1 - np.exp(-injected / 5)), 0.0),
        "expired": np.where(gone, 0.5, 0.0),
        "fading": np.where(fading, 0.4, 0.0),
        "pending": np.where(recalled & pending, 0.4, 0.0),
        "low confidence": np.where(recalled, 0.6 * low, 0.0),
        "drifted": np.where(recalled & drifted, 0.25, 0.0),
    }
    trust = np.ones(traits.n)
    for doubt in by_reason.values():
        trust *= 1 - doubt
    missed = np.where(fading | gone, MISSED * traits.importance, 0.0)
    exposure = np.where(recalled, np.maximum(expected_uses(traits, now_ms), missed), missed)
    return ReviewScore(exposure, by_reason, 1 - trust)


def expected_uses(traits: MemoryTraits, now_ms: int) -> Floats:
    """Uses to come in the next 30 days: the rate so far, halved for every 30 days without a use."""
    known = traits.created > 0
    age = np.maximum(YOUNG_DAYS, (now_ms - traits.created) / DAY_MS)
    idle = np.maximum(0.0, (now_ms - traits.last_used) / DAY_MS)
    expected = NEXT_DAYS * traits.uses / age * np.exp2(-idle / NEXT_DAYS)
    return np.maximum(SELDOM, np.where(known, expected, 0.0))


# Everything that speaks for or against each memory, and its reasons in words.

HAZARDS = ("instruction", "secret")
"""Reasons that make a single use harmful."""


@dataclass(frozen=True, slots=True, eq=False)
class ReviewEvidence:
    """A catalog with what is known of each of its rows."""

    catalog: Catalog
    traits: MemoryTraits
    evidence: PopulationEvidence
    forecast: Forecast
    doubts: ReviewScore

    def reasons(self, place: int, memory: Memory) -> tuple[Reason, ...]:
        """Why one memory is doubtful, the heaviest reason first."""
        found = [
            Reason(name, float(doubt), self._sentence(name, place), self._other(name, place))
            for name in REASONS
            if (doubt := self.doubts.by_reason[name][place]) > 0
        ]
        if self.traits.recalled[place]:
            found += _in_words(memory.raw_text)
        return tuple(sorted(found, key=lambda reason: -reason.doubt))

    def _other(self, name: str, place: int) -> str:
        rows = {"contradicted": self.evidence.rival, "replaced": self.evidence.replaced_by}.get(name)
        return "" if rows is None else self.catalog.ids.texts([int(rows[place])])[0] or ""

    def _sentence(self, name: str, place: int) -> str:
        traits, evidence = self.traits, self.evidence
        importance = f"importance {traits.importance[place]:.2f}"
        match name:
            case "contradicted":
                return f"another memory says otherwise: {self._other(name, place)[:8]}"
            case "replaced":
                return f"{self._other(name, place)[:8]} claims to replace it, yet it is still recalled"
            case "bad recall":
                return f"injected {counted(evidence.bad_recalls[place] + 1, 'time')} in a row without a use"
            case "never confirmed":
                times = evidence.injected[place]
                often = "once" if times == 1 else f"{times} times"
                return f"injected {often}, never confirmed as used"
            case "expired":
                left = day(traits.valid_until[place])
                return (
                    f"{importance}, used {counted(round(traits.uses[place]), 'time')}, "
                    f"left recall on {left} by its expiry"
                )
            case "fading":
                stale = self.forecast.stale_at[place]
                return (
                    f"{importance}, goes stale {days_between(self.forecast.now_ms, stale)}, on {day(stale)}"
                )
            case "pending":
                return "pending: auto-recall leaves it out until somebody confirms it"
            case "low confidence":
                return f"confidence {traits.confidence[place]:.2f}, below {LOW_CONFIDENCE:g}"
            case _:
                return f"{importance}, the value that usage feedback writes over any other"


def _in_words(text: str) -> list[Reason]:
    """Doubts that only the text gives."""
    found = []
    if order := instruction_like(text):
        found.append(Reason("instruction", 0.8, f"looks like prompt injection: {order}"))
    if secrets := find_secrets(text):
        found.append(Reason("secret", 0.8, f"holds what looks like a {secrets[0].kind}"))
    if rule := noise_rule(text):
        found.append(Reason("noise", 0.5, f"the agent's noise filter drops it: {rule}"))
    return found


READ = 1_000
"""Texts that are read to look for doubts in the words: of the most exposed memories, and of the most doubtful."""

ONCE = 1.0
"""Uses expected at the least of a memory that does harm when it is used a single time."""


def make_review(
    store: Store, witness: ReviewEvidence, *, settled: Collection[str], lately: int, limit: int | None
) -> Review:
    """The queue without the memories in `settled`, at most `limit` cards; `lately` is passed on."""
    from memtui.engine.catalog.views import memories_at

    catalog = witness.catalog
    at = candidates(witness.doubts)
    memories = memories_at(store, catalog, at, now_ms=witness.forecast.now_ms)
    place_of = dict(zip(catalog.ids.texts(at), at.tolist(), strict=True))
    cards = [_card(memory, place_of[memory.id], witness) for memory in memories if memory.id in place_of]
    waiting = sorted(
        (card for card in cards if card.reasons and card.id not in settled),
        key=lambda card: (-card.priority, card.id),
    )
    return Review(tuple(waiting[:limit]), len(waiting), lately, sum(card.priority for card in waiting))


def candidates(doubts: ReviewScore) -> Places:
    """The most doubtful and the most exposed memories, by their place."""
    priority = doubts.priority
    doubtful = np.flatnonzero(priority > 0)
    first = doubtful[np.argsort(-priority[doubtful], kind="stable")[:READ]]
    exposed = np.argsort(-doubts.exposure, kind="stable")[:READ]
    return np.union1d(first, exposed[doubts.exposure[exposed] > 0])


def _card(memory: Memory, place: int, witness: ReviewEvidence) -> ReviewCard:
    reasons = witness.reasons(place, memory)
    exposure = float(witness.doubts.exposure[place])
    if any(reason.name in HAZARDS for reason in reasons):
        exposure = max(exposure, ONCE)
    return ReviewCard(
        memory.id,
        exposure,
        1 - prod(1 - reason.doubt for reason in reasons),
        reasons,
        title=one_line(mask(memory.text[:1200])[0][:400]),
        tier=TIERS[witness.traits.tier[place]],
        scope=memory.scope,
    )


# What was decided in the review, kept in a file beside memtui's other state.

DAY_MS = 86_400_000

VERSION = 1

SKIP_DAYS = 7

KEEP_DAYS = 90
"""A memory that was kept is not asked about again for so long."""

WEEK_DAYS = 7


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of one memory, and when."""

    settlement: Settlement
    at_ms: int

    def holds(self, now_ms: int) -> bool:
        """Whether the memory stays out of the queue; what was written (fix, archive, ...) speaks for itself."""
        days = SKIP_DAYS if self.settlement == "skip" else KEEP_DAYS
        return now_ms - self.at_ms < days * DAY_MS


class ReviewProgress:
    """The decisions of one store in `path` (it need not exist); each is written at once, atomically."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def decisions(self) -> dict[str, Decision]:
        """The decisions by memory id, the oldest first. Raises MemtuiError when the file is none of ours."""
        try:
            value = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise MemtuiError(
                f"The progress of the review in {self.path} cannot be read.",
                fix="Repair or move the file away.",
                details=str(error),
            ) from None
        found = value.get("decisions") if isinstance(value, dict) else None
        if not isinstance(found, dict):
            raise MemtuiError(
                f"{self.path} does not hold the progress of a review.", fix="Repair or move the file away."
            )
        return {
            key: Decision(each["settlement"], int(each["at_ms"]))
            for key, each in found.items()
            if isinstance(each, dict)
            and each.get("settlement") in SETTLEMENTS
            and isinstance(each.get("at_ms"), int)
        }

    def settle(self, memory: str, settlement: Settlement, now_ms: int) -> None:
        """Note a decision; a later one replaces an earlier one."""
        self._write({**self.decisions(), memory: Decision(settlement, now_ms)})

    def reopen(self, memory: str) -> None:
        """Take a decision back; the memory is in the queue again."""
        self._write({key: decision for key, decision in self.decisions().items() if key != memory})

    def _write(self, decisions: Mapping[str, Decision]) -> None:
        document = {
            "version": VERSION,
            "decisions": {
                key: {"settlement": decision.settlement, "at_ms": decision.at_ms}
                for key, decision in decisions.items()
            },
        }
        write_private(self.path, json.dumps(document, indent=1) + "\n")


def settled_lately(decisions: Mapping[str, Decision], now_ms: int) -> int:
    """How many memories were settled in the last seven days; a skipped one is not settled."""
    week = now_ms - WEEK_DAYS * DAY_MS
    return sum(
        1 for decision in decisions.values() if decision.settlement != "skip" and decision.at_ms > week
    )
