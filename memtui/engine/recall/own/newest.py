"""Whether a question asks for what is new, as against any time in the past."""

from __future__ import annotations

import re

_ASKS = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|currently|right now|at the moment|as of (?:now|today)|these days"
    r"|nowadays|up[- ]to[- ]date|the current|current(?= \w+\??$))\b",
    re.IGNORECASE,
)
"""`recently` and `last` are left out: in questions about the past they point at any time."""


def newest_wanted(question: str) -> str:
    """The words by which the question asks for what is new; empty when it does not."""
    found = _ASKS.search(question)
    return found[0] if found else ""
