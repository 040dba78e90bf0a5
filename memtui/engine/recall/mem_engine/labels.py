"""Importance labels, the tiers that they make, and the label of the ladder that was climbed."""

from __future__ import annotations

import math
import re
from typing import Any

from memtui.engine.js import number, trim

MUST, NICE, UNKNOWN, IGNORE = "must_remember", "nice_to_have", "unknown", "ignore"
TIERS = {"must": MUST, "nice": NICE, "unknown": UNKNOWN, "ignore": IGNORE}
"""Tier to the label of its rows, in the order in which tiers are searched."""
TIER_OF = {label: tier for tier, label in TIERS.items()}
MUST_FROM, NICE_FROM = 0.8, 0.5
_ALIASES = {"none": UNKNOWN, "high": MUST, "medium": NICE, "low": IGNORE, "trivial": IGNORE}
_JOINTS = re.compile(r"[\s-]+")


def importance(value: Any) -> float | None:
    """Importance from 0 to 1; a numeric string counts, the empty one is 0, a boolean or a word is none."""
    if isinstance(value, bool) or value is None:
        return None
    n = number(value) if isinstance(value, int | float | str) else math.nan
    return None if math.isnan(n) else min(1.0, max(0.0, n))


def label_of(label: str | None, score: float | None) -> str:
    """The label as written, under its aliases; where it says nothing, that of the score."""
    word = _JOINTS.sub("_", trim(label or "").lower())
    word = _ALIASES.get(word, word)
    if word in TIER_OF:
        return word
    if score is None:
        return UNKNOWN
    return MUST if score >= MUST_FROM else NICE if score >= NICE_FROM else IGNORE


def ladder_label(*, enabled: bool = True, unknown: bool = False, ignore: bool = False) -> str:
    """How far down the ladder of importance a recall went; `ignore` alone is a recall without policy."""
    if not enabled:
        return "ignore"
    if ignore:
        return "must+nice+unknown+ignore"
    return "must+nice+unknown" if unknown else "must+nice"
