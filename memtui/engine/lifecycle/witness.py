"""Everything that speaks for or against each memory, and its reasons in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.engine.instructions import instruction_like
from memtui.engine.lifecycle.cards import Reason
from memtui.engine.lifecycle.doubt import LOW_CONFIDENCE, REASONS, Doubts
from memtui.engine.lifecycle.evidence import Evidence
from memtui.engine.lifecycle.forecast import Forecast
from memtui.engine.lifecycle.population import Traits
from memtui.engine.recall.noise import noise_rule
from memtui.engine.secrets import find_secrets
from memtui.engine.when import day, days_between

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.store.catalog import Catalog

HAZARDS = ("instruction", "secret")
"""Reasons that make a single use harmful."""


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """A catalog with what is known of each of its rows."""

    catalog: Catalog
    traits: Traits
    evidence: Evidence
    forecast: Forecast
    doubts: Doubts

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
                return f"put before the agent {evidence.bad_recalls[place] + 1} times in a row without a use"
            case "never confirmed":
                times = evidence.injected[place]
                often = "once" if times == 1 else f"{times} times"
                return f"put before the agent {often}, never confirmed as used"
            case "expired":
                left = day(traits.valid_until[place])
                return (
                    f"{importance}, used {traits.uses[place]:.0f} times, left recall on {left} by its expiry"
                )
            case "fading":
                stale = self.forecast.stale_at[place]
                return (
                    f"{importance}, goes stale {days_between(self.forecast.now_ms, stale)}, on {day(stale)}"
                )
            case "pending":
                return "pending: automatic recall leaves it out until somebody confirms it"
            case "low confidence":
                return f"confidence {traits.confidence[place]:.2f}, below {LOW_CONFIDENCE:g}"
            case _:
                return f"{importance}, the value that usage feedback writes over any other"


def _in_words(text: str) -> list[Reason]:
    """Doubts that only the text gives."""
    found = []
    if order := instruction_like(text):
        found.append(Reason("instruction", 0.8, f"reads like an order to the agent: {order}"))
    if secrets := find_secrets(text):
        found.append(Reason("secret", 0.8, f"holds what looks like a {secrets[0].kind}"))
    if rule := noise_rule(text):
        found.append(Reason("noise", 0.5, f"the agent's noise filter drops it: {rule}"))
    return found
