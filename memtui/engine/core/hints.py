"""Which of many short texts stand in another: looked for by its words, as most texts hold none of them.

And what a pattern's matches need, so that a text without it need not be searched; and a long text in pieces, so that
a pattern searches only those that have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_LONG = 600
"""Characters of a text from which on its words are looked at once each, and only where few of them are new."""

_KEPT = 16_384
"""Words whose hints are kept; then they are forgotten together."""

_NEW_WORDS, _LONGEST_WORD = 100, 64
"""A text with more new words, or a longer one, is quicker searched for each hint."""


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
        known = self._of
        words: Iterable[str] = lower.split(" ")
        if len(lower) > _LONG:
            words = set(words)
            new = words - known.keys()
            if len(new) > _NEW_WORDS or any(len(word) > _LONGEST_WORD for word in new):
                return [hint for hint in self._plain if hint in lower]
        if not self._by_word:
            return [hint for hint in self._plain if hint in lower]
        found: list[str] = []
        for word in words:
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


class Sieve:
    """Texts in lower case of which most stand in none of the texts looked at: quick also for a text seen once.

    Of a long text with letters of other scripts in it, one may be said to be there that is broken by such letters.
    """

    def __init__(self, hints: Iterable[str]) -> None:
        whole = tuple(dict.fromkeys(hints))
        self._foreign = tuple(hint for hint in whole if not hint.isascii())
        plain = tuple(hint for hint in whole if hint.isascii())
        self._signed = tuple(
            (
                sign,
                tuple(hint for hint in plain if sign == next((each for each in "_-:" if each in hint), "")),
            )
            for sign in ("_", "-", ":", "")
        )

    def any_in(self, lower: str) -> bool:
        """Whether one of them stands in a text in lower case."""
        if not lower.isascii():
            for hint in self._foreign:  # a loop: `any` over a generator takes twice the time
                if hint in lower:
                    return True
        lower = _plain(lower)
        for sign, hints in self._signed:
            if sign in lower:
                for hint in hints:
                    if hint in lower:
                        return True
        return False

    def found_in(self, lower: str) -> frozenset[str]:
        """Those that stand in a text in lower case."""
        found = [] if lower.isascii() else [hint for hint in self._foreign if hint in lower]
        lower = _plain(lower)
        for sign, hints in self._signed:
            if sign in lower:
                found += [hint for hint in hints if hint in lower]
        return frozenset(found)


def _plain(lower: str) -> str:
    """A long text without what is no ASCII: a text is searched several times as fast then."""
    return (
        lower if len(lower) <= _LONG or lower.isascii() else lower.encode("ascii", "ignore").decode("ascii")
    )


def near_hints(
    pattern: re.Pattern[str],
    hints: Iterable[str],
    text: str,
    start: int,
    stop: int,
    limit: int,
    lower: str,
    beside: re.Pattern[str] | None = None,
) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begin between `start` and `stop` of `text` and have one of the hints in them.

    `lower` is the text between `start` and `limit` in lower case. Where `beside` is given, it has to stand near them.
    """
    if len(lower) != limit - start:  # a letter that is two in lower case
        yield from (match for match in pattern.finditer(text, start, limit) if match.start() < stop)
        return
    places: set[int] = set()
    for hint in hints:
        at = lower.find(hint)
        while at >= 0:
            places.add(start + at)
            at = lower.find(hint, at + 1)
    begun = start
    for place in sorted(places):
        if place < begun or (
            beside is not None and not beside.search(text, max(0, place - _NEAR), min(limit, place + _NEAR))
        ):
            continue
        for match in pattern.finditer(text, max(begun, place - _BEFORE), min(limit, place + _NEAR)):
            if match.start() > place:
                break
            if match.end() > place and match.start() < stop:
                begun = match.end()
                yield match


_BEFORE, _NEAR = 40, 160
"""Characters that a match may have before its hint; how far from the hint a pattern may end and `beside` may stand."""


# What a text must have in it for a pattern to match, read off the pattern itself.

_LONG_ENOUGH = 5
"""A hint of so many letters is rare in other texts; more of them make it hardly rarer."""

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")

_FEW = 4
"""Characters of a set that are told apart at a beginning."""


class HintedPattern(NamedTuple):
    """A pattern; texts of which one stands in each match, and with which each begins, all in lower case.

    `begins` is empty where a match may begin with anything. `sieve` are the hints as patterns of RE2, which know where
    one is a whole word: for a column at once.
    """

    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    begins: tuple[str, ...]
    sieve: tuple[str, ...]


class _Needed(NamedTuple):
    """A text that has to be there, and whether no letter can stand before it and behind it."""

    text: str
    opens: bool
    closes: bool

    def as_pattern(self) -> str:
        """For RE2, whose letters are those of ASCII."""
        before = r"\b" if self.opens and self.text[0] in _LETTERS else ""
        behind = r"\b" if self.closes and self.text[-1] in _LETTERS else ""
        return f"{before}{re.escape(self.text)}{behind}"


def hinted(pattern: str, flags: int = 0) -> HintedPattern:
    """A pattern with what it needs. Raises ValueError for one that needs nothing."""
    parsed = _parser.parse(pattern, flags)
    needed, begins = sorted(_needed(list(parsed))), _begun(list(parsed))
    if not needed:
        raise ValueError(f"nothing is needed by {pattern}")
    return HintedPattern(
        re.compile(pattern, flags),
        tuple(dict.fromkeys(each.text for each in needed)),
        () if "" in begins else tuple(sorted(begins)),
        tuple(each.as_pattern() for each in needed),
    )


class HintedPatterns:
    """Several patterns by name, each searched only in texts that hold what its matches need."""

    def __init__(self, **patterns: re.Pattern[str]) -> None:
        self._patterns = patterns
        self._needed = {
            name: frozenset(hinted(each.pattern, each.flags & ~re.UNICODE).hints)
            for name, each in patterns.items()
        }
        self._hints = Hints(sorted(frozenset().union(*self._needed.values())))

    def search(self, text: str) -> dict[str, re.Match[str]]:
        """The first match of each pattern that stands in a text, by name."""
        names = iter(self._patterns)
        if text.isascii():  # of other scripts words are hardly quicker looked for than the patterns searched
            there = self._hints.found_in(text.lower())
            names = iter([name for name, needed in self._needed.items() if not needed.isdisjoint(there)])
        found = ((name, self._patterns[name].search(text)) for name in names)
        return {name: match for name, match in found if match is not None}


def _needed(parsed: list[Any], opens: bool = False, closes: bool = False) -> frozenset[_Needed]:
    """The best choice among the parts of a sequence, each of which has to be there; empty where none is.

    `opens` and `closes` say whether no letter can stand before and behind the sequence.
    """
    before = [opens, *map(_parts_words, parsed)]
    behind = [*map(_parts_words, parsed[1:]), closes]
    choices: list[frozenset[_Needed]] = []
    run, begun = "", False
    for at, (kind, value) in enumerate(parsed):
        if kind is not _constants.LITERAL:
            choices.append(_needed_part(kind, value, before[at], behind[at]))
            continue
        begun = begun if run else before[at]
        run += chr(value).lower()
        if at + 1 == len(parsed) or parsed[at + 1][0] is not _constants.LITERAL:
            choices.append(frozenset((_Needed(run, begun, behind[at]),)))
            run = ""
    return max((choice for choice in choices if choice), key=_worth, default=frozenset())


def _parts_words(part: tuple[Any, Any]) -> bool:
    """Whether a letter beside this part of a pattern has no other letter on its side."""
    kind, value = part
    if kind is _constants.MAX_REPEAT and value[0] >= 1 and len(value[2]) == 1:
        kind, value = value[2][0]
        return kind is _constants.IN and value == [(_constants.CATEGORY, _constants.CATEGORY_SPACE)]
    return kind is _constants.AT and value is _constants.AT_BOUNDARY


def _needed_part(kind: Any, value: Any, opens: bool, closes: bool) -> frozenset[_Needed]:
    if kind is _constants.SUBPATTERN:
        return _needed(list(value[3]), opens, closes)
    if kind is _constants.BRANCH:
        parts = [_needed(list(each), opens, closes) for each in value[1]]
        return frozenset().union(*parts) if all(parts) else frozenset()
    if kind is _constants.MAX_REPEAT and value[0] >= 1:
        return _needed(list(value[2]), opens, closes and value[1] == 1)
    if kind is _constants.ASSERT:
        return _needed(list(value[1]), opens and value[0] > 0)
    return frozenset()


def _worth(needed: frozenset[_Needed]) -> tuple[int, int]:
    """Long texts in few ways are rarest; a text in another script counts double."""
    shortest = min(sum(1 if each.isascii() else 2 for each in text) for text, _, _ in needed)
    return min(shortest, _LONG_ENOUGH), -len({text for text, _, _ in needed})


def _begun(parsed: list[Any]) -> set[str]:
    """What a match of a sequence begins with: one of these; "" stands for anything."""
    begins = {""}
    for at, (kind, value) in enumerate(parsed):
        if kind is _constants.LITERAL:
            begins = {begin + chr(value).lower() for begin in begins}
        elif kind is _constants.IN and _few(value):
            begins = {begin + chr(each).lower() for begin in begins for _, each in value}
        elif kind not in (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT):  # those take no character
            ends = _begun_part(kind, value, parsed[at + 1 :])
            return {begin + end for begin in begins for end in ends}
    return begins


def _few(several: list[Any]) -> bool:
    return len(several) <= _FEW and all(kind is _constants.LITERAL for kind, _ in several)


def _begun_part(kind: Any, value: Any, rest: list[Any]) -> set[str]:
    if kind is _constants.SUBPATTERN:
        return _begun([*value[3], *rest])
    if kind is _constants.BRANCH:
        return set().union(*(_begun(list(each)) for each in value[1]))
    if kind in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
        part = _begun(list(value[2]))
        return part if value[0] else part | _begun(rest)
    return {""}


# Long texts a piece at a time: megabytes cost what the pieces cost that have something in them.

_PIECE, _BEYOND = 8_192, 2_048

_SHORT = 600
"""Characters up to which a search costs less than looking for where its matches may begin."""


class Piece(NamedTuple):
    """Where matches begin, from `start` up to `stop`; how far they are followed; all of that in lower case."""

    start: int
    stop: int
    limit: int
    lower: str


def pieces(text: str) -> Iterator[Piece]:
    """`text` in pieces; a short one is one piece."""
    size = len(text) if len(text) <= _PIECE + _BEYOND else _PIECE
    for start in range(0, len(text), max(size, 1)):
        stop = min(start + size, len(text))
        limit = min(stop + _BEYOND, len(text))
        yield Piece(start, stop, limit, text[start:limit].lower())


def matches(hinted: HintedPattern, text: str, among: Iterable[Piece]) -> Iterator[re.Match[str]]:
    """The matches of a pattern that begin in some pieces of `text`, whole, however far they go on; none in another.

    Of a text in several pieces, one that needs more than `_BEYOND` characters to be told from none is not found.
    """
    pattern, at = hinted.pattern, 0
    for piece in among:
        if not any(hint in piece.lower for hint in hinted.hints):
            continue
        if len(text) <= _SHORT:
            yield from pattern.finditer(text)
            return
        for start in _starts(hinted, text, piece):
            if start < at:
                continue
            match = pattern.match(text, start)
            if match is not None:
                at = max(match.end(), start + 1)
                yield match


def found_in(hinted: HintedPattern, text: str, piece: Piece) -> bool:
    """Whether a pattern whose hints stand in a piece of `text` has a match that begins there."""
    if len(text) <= _SHORT:
        return hinted.pattern.search(text) is not None
    return any(hinted.pattern.match(text, start) for start in _starts(hinted, text, piece))


def _starts(hinted: HintedPattern, text: str, piece: Piece) -> Iterator[int]:
    """Where matches may begin in a piece, ascending."""
    if hinted.begins and len(piece.lower) == piece.limit - piece.start:
        places: set[int] = set()
        for begin in hinted.begins:
            place = piece.lower.find(begin)
            while 0 <= place < piece.stop - piece.start:
                places.add(piece.start + place)
                place = piece.lower.find(begin, place + 1)
        yield from sorted(places)
        return
    start = piece.start
    while start < piece.stop:
        match = hinted.pattern.search(text, start, piece.limit)
        if match is None or match.start() >= piece.stop:
            return
        yield match.start()
        start = max(match.end(), match.start() + 1)
