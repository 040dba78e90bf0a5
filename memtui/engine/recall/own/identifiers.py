"""Words that must be met to the letter: ports, hosts, paths, hashes, settings, camelCase names."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[^\s\"'`“”‘’()\[\]{}<>,;!?]+")
_EDGE = ".:-/="
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
_JOINED = re.compile(r"\w[_./:@=+]\w")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)", re.IGNORECASE)
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d(?:am|pm)?", re.IGNORECASE)
_AND_OR = re.compile(r"[A-Za-z]{1,12}(?:/[A-Za-z]{1,12}){1,2}")
"""`and/or`, `him/her`: two words, no path."""
SHORTEST = 3


def identifiers(question: str) -> tuple[str, ...]:
    """The identifiers in a question, in its order, without repetition.

    A token counts when it has a digit, an inner capital, or `_ . / : @ = +` between word characters. Years,
    ordinals, clock times and numbers of one or two digits do not.
    """
    found = (token.strip(_EDGE) for token in _TOKEN.findall(question))
    return tuple(dict.fromkeys(token for token in found if is_identifier(token)))


def is_identifier(token: str) -> bool:
    """Whether a token without spaces is an identifier by its shape."""
    if len(token) < SHORTEST or any(p.fullmatch(token) for p in (_YEAR, _ORDINAL, _CLOCK, _AND_OR)):
        return False
    has_digit = any(character.isdigit() for character in token)
    return has_digit or bool(_INNER_CAPITAL.search(token) or _JOINED.search(token))
