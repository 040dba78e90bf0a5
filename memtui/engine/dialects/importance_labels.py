"""The importance labels of openclaw-mem-engine: what the stored words mean, and the one that a score stands for."""

from __future__ import annotations

import math
import re
from typing import Any

from memtui.engine.core.javascript import number, trim

MUST, NICE, UNKNOWN, IGNORE = "must_remember", "nice_to_have", "unknown", "ignore"

TIERS = {"must": MUST, "nice": NICE, "unknown": UNKNOWN, "ignore": IGNORE}
"""Tier to the label of its rows, in the order in which tiers are searched."""

TIER_OF = {label: tier for tier, label in TIERS.items()}

LABELS = (MUST, NICE, IGNORE, UNKNOWN)
"""As they are listed, the unknown one last."""

MUST_FROM, NICE_FROM = 0.8, 0.5

_ALIASES = {"none": UNKNOWN, "high": MUST, "medium": NICE, "low": IGNORE, "trivial": IGNORE}

_JOINTS = re.compile(r"[\s-]+")


def importance(value: Any) -> float | None:
    """Importance from 0 to 1; a numeric string counts, the empty one is 0, a boolean or a word is none."""
    if isinstance(value, bool) or value is None:
        return None
    n = number(value) if isinstance(value, int | float | str) else math.nan
    return None if math.isnan(n) else min(1.0, max(0.0, n))


def label_word(written: str | None) -> str | None:
    """The label that a word means, under its aliases; None for every other word."""
    word = _JOINTS.sub("_", trim(written or "").lower())
    word = _ALIASES.get(word, word)
    return word if word in TIER_OF else None


def label_of(label: str | None, score: float | None) -> str:
    """The label as written, under its aliases; where it says nothing, that of the score."""
    word = label_word(label)
    if word is not None:
        return word
    if score is None:
        return UNKNOWN
    return MUST if score >= MUST_FROM else NICE if score >= NICE_FROM else IGNORE
