"""Textual's stylesheet, but every style sheet is parsed once for one set of colours.

Textual parses all of them anew when a screen is opened for the first time, and from the 65th on with every widget of a
new kind: a tenth of a second in which no key is heard. The parsed rules are never changed, so apps can share them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

SOURCES = 2_000
"""More style sheets than there are widgets and screens."""


class CachedStylesheet(Stylesheet):
    """A stylesheet that remembers its rules across `reparse` and across apps of the same colours."""

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._parse_cache = _rules(frozenset(variables.items()))

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            self._parse_cache = LRUCache(1)  # the shared one must survive that it is cleared
            super().set_variables(variables)
            self._parse_cache = _rules(frozenset(variables.items()))

    def reparse(self) -> None:
        self.parse()  # replaces the rules only if there is no error, and forgot them if the variables changed


@lru_cache(maxsize=16)
def _rules(variables: frozenset[tuple[str, str]]) -> LRUCache[tuple[Any, ...], list[Any]]:
    return LRUCache(SOURCES)
