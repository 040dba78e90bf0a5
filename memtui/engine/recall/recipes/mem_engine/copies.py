"""Which texts openclaw-mem-engine takes for one and the same."""

from __future__ import annotations

import re

LONG_ENOUGH = 30
"""Characters from which one text inside another makes them copies."""


def plain_words(text: str) -> str:
    """Letters and digits of a text in lower case, its tags left out: equal for what the importer takes for a copy."""
    without_tags = re.sub(r"<[^>]*>", " ", text.lower())
    return " ".join("".join(c if c.isalnum() or c.isspace() else " " for c in without_tags).split())


def near_duplicate(left: str, right: str, threshold: float = 0.92) -> tuple[bool, float]:
    """(copies?, shared words of all words): the same letters, one inside the other, or so many words shared."""
    one, other = plain_words(left), plain_words(right)
    words, others = set(one.split()), set(other.split())
    jaccard = len(words & others) / len(words | others) if words | others else 0.0
    if one and one == other:
        return True, 1.0
    short, long = sorted((one, other), key=len)
    if len(short) >= LONG_ENOUGH and short in long:
        return True, jaccard
    return jaccard >= threshold, jaccard
