"""Which of many short texts stand in another: looked for by its words, as most texts hold none of them."""

from __future__ import annotations

from collections.abc import Iterable

_LONG = 600
"""Characters of a text from which on each hint is looked for by itself."""

_KEPT = 16_384
"""Words whose hints are kept; then they are forgotten together."""


class Hints:
    """Texts in lower case to be looked for in others. What is found is exact, whatever the way."""

    def __init__(self, hints: Iterable[str]) -> None:
        self._all = tuple(dict.fromkeys(hints))
        self._plain = tuple(hint for hint in self._all if hint.isascii())
        self._begun: dict[str, list[str]] = {}
        for hint in self._plain:
            self._begun.setdefault(hint.lstrip(" ")[:2], []).append(hint)
        self._by_word = all(len(begin) == 2 for begin in self._begun)
        self._of: dict[str, tuple[str, ...]] = {}

    def found_in(self, lower: str) -> list[str]:
        """The hints that stand in a text in lower case."""
        if not lower.isascii():
            return [hint for hint in self._all if hint in lower]
        if len(lower) > _LONG or not self._by_word:
            return [hint for hint in self._plain if hint in lower]
        known = self._of
        found: list[str] = []
        for word in lower.split(" "):
            begun = known.get(word)
            if begun is None:
                begun = self._looked_at(word)
            if begun:
                found += begun
        return [hint for hint in dict.fromkeys(found) if hint in lower] if found else found

    def _looked_at(self, word: str) -> tuple[str, ...]:
        """The hints that may begin in a word: what stands whole in it, and what goes on behind its end."""
        if len(self._of) >= _KEPT:
            self._of.clear()
        spaced, begun = f"{word} ", self._begun
        found = [
            hint
            for at in range(len(word))
            for hint in begun.get(spaced[at : at + 2], ())
            if _may_begin(hint.lstrip(" "), spaced, at)
        ]
        self._of[word] = tuple(dict.fromkeys(found))
        return self._of[word]


def _may_begin(hint: str, spaced: str, at: int) -> bool:
    return hint.startswith(spaced[at:]) if len(hint) > len(spaced) - at else spaced.startswith(hint, at)
