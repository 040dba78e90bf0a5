"""Where the words of a filter stand in a text: what a list or a panel brightens."""

from __future__ import annotations

import re

from memtui.engine.query import ast
from memtui.engine.query.errors import FilterError
from memtui.engine.query.parser import parse

_ENDINGS = re.compile(r"(?:ies|es|s|ed|ing|ly)$")
"""What the text index takes off an English word before it looks for it."""

_COSTLY = re.compile(r"\)[*+{]|[*+}].*[*+{].*[*+{]")
"""Patterns that the store finds in linear time, and that Python's engine might not."""


def match_pattern(filter: str) -> re.Pattern[str] | None:
    """What finds in a text the words, phrases and patterns that `filter` asks for; None when it asks for none.

    Words that the filter leaves out are not among them. A word is found with other endings too, as the index finds it.
    """
    try:
        node = parse(filter)
    except FilterError:
        return None
    wanted: list[str] = []
    pending = [node]
    while pending:
        match pending.pop():
            case ast.Word(word):
                wanted += _forms(word)
            case ast.Phrase(text):
                wanted.append(re.escape(text))
            case ast.Regex(pattern) if not _COSTLY.search(pattern) and _valid(pattern):
                wanted.append(pattern)
            case ast.And(terms) | ast.Or(terms):
                pending += terms
            case _:
                pass
    longest = sorted({each for each in wanted if each.strip()}, key=lambda each: (-len(each), each))
    return re.compile("|".join(longest), re.IGNORECASE) if longest else None


def _forms(word: str) -> list[str]:
    stem = _ENDINGS.sub("", word)
    forms = [re.escape(word)]
    if word.isalpha() and word.isascii() and len(stem) >= 3:
        forms.append(rf"\b{re.escape(stem)}\w*")
    return forms


def _valid(pattern: str) -> bool:
    try:
        found = re.compile(pattern)
    except re.error:
        return False
    return found.groups == 0 and found.match("") is None
