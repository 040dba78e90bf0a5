"""How often a memory will be put before the agent, and how little it may be trusted: what is worth a look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from memtui.engine.lifecycle.evidence import Evidence
from memtui.engine.lifecycle.forecast import Forecast
from memtui.engine.lifecycle.population import Floats, Mask, Traits

DAY_MS = 86_400_000
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
class Doubts:
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


def weigh(traits: Traits, evidence: Evidence, pending: Mask, forecast: Forecast) -> Doubts:
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
    return Doubts(exposure, by_reason, 1 - trust)


def expected_uses(traits: Traits, now_ms: int) -> Floats:
    """Uses to come in the next 30 days: the rate so far, halved for every 30 days without a use."""
    known = traits.created > 0
    age = np.maximum(YOUNG_DAYS, (now_ms - traits.created) / DAY_MS)
    idle = np.maximum(0.0, (now_ms - traits.last_used) / DAY_MS)
    expected = NEXT_DAYS * traits.uses / age * np.exp2(-idle / NEXT_DAYS)
    return np.maximum(SELDOM, np.where(known, expected, 0.0))
