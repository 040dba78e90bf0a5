"""A text taken apart for comparison: its values, the words that say something, and what each clause denies."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from memtui.engine.blame.lexicon import folded, lexicon
from memtui.engine.blame.reading import values_of
from memtui.engine.blame.values import Values

UNSPACED = r"\u3040-\u30ff\u3400-\u9fff"
"""Letters of scripts that put no space between words."""

_TOKEN = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:['’][^\W_{UNSPACED}]+)?")

_CLAUSE = re.compile(
    r"[,;:.!?，。；：！？、()（）\n]+(?=\s|$|[^\d\w]|(?<=[，。；：！？、])|[A-Za-z\u3400-\u9fff])"
)

STEM = 4
"""Letters that two forms of a word share at least: Haselnuss and Haselnüsse, dark and darkness."""

SHORT_FORMS = re.compile(r"n['’]t$")

SAME_WORD = 0.5
"""Likeness from which two words are taken for one."""

ONE_LETTER = 0.35
"""What one letter of Chinese or Japanese counts against a pair."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its words, and whether it denies or allows what it says."""

    words: frozenset[str]
    sign: int
    """-1 where it denies, forbids or does harm, 1 where it allows or does none, 0 where it says neither."""
    values: Values

    @property
    def denies(self) -> bool:
        """Whether it denies what it says."""
        return self.sign < 0


@dataclass(frozen=True, slots=True)
class TakenApart:
    """What a text states."""

    text: str
    values: Values
    words: tuple[str, ...]
    """The different words that say something, folded, in their order; of Chinese pairs of letters and single ones."""
    shown: dict[str, str]
    """Each word as the text has it."""
    clauses: tuple[Clause, ...]

    @property
    def denies(self) -> bool:
        """Whether any clause denies something."""
        return any(clause.denies for clause in self.clauses)


@lru_cache(maxsize=4096)
def statement_of(text: str) -> TakenApart:
    """Take a text apart; compatibility forms (full-width digits) are read as plain ones."""
    text = unicodedata.normalize("NFKC", text)
    values = values_of(text)
    spans = [(value.start, value.end) for value in values.values]
    shown: dict[str, str] = {}
    for start, end, token in _tokens(text):
        if any(start < stop and begin < end for begin, stop in spans) and token[:1].isascii():
            continue
        for word, as_written in _words(token, text[start:end]):
            shown.setdefault(word, as_written)
    clauses = tuple(_clause(part) for part in _CLAUSE.split(text) if part.strip())
    return TakenApart(text, values, tuple(shown), shown, clauses)


@lru_cache(maxsize=200_000)
def likeness_of_words(one: str, two: str) -> float:
    """How much two words are the same one: 1 equal, less for other forms, slips and parts, 0 for none of these."""
    if one == two:
        return 1.0
    if not one.isascii() and not two.isascii() and (_is_unspaced(one) or _is_unspaced(two)):
        return 0.0
    short, long = sorted((one, two), key=len)
    if len(short) < 3:
        return 0.0
    if long.startswith(short) and len(long) - len(short) <= 2:
        return 0.9
    common = _shared_beginning(one, two)
    if common >= STEM and common >= 0.6 * len(long):
        return 0.8
    if common >= STEM + 1 and common >= 0.7 * len(short):
        return 0.6
    if len(short) >= 5 and abs(len(long) - len(short)) <= 1 and _one_slip(one, two):
        return 0.8
    if len(short) >= 4 and (long.startswith(short) or long.endswith(short)):
        return 0.6
    return 0.0


def best_likeness(word: str, others: Collection[str]) -> float:
    """The likeness of a word to the one of `others` that it is most like."""
    if word in others:
        return 1.0
    if not word.isascii() and _is_unspaced(word):
        return 0.0
    return max((likeness_of_words(word, other) for other in others), default=0.0)


def signs_of(statement: TakenApart, word: str) -> frozenset[int]:
    """The signs of the clauses that have a word, in some form; empty where none has it."""
    return frozenset(
        clause.sign for clause in statement.clauses if best_likeness(word, clause.words) >= SAME_WORD
    )


def is_weighty(word: str) -> float:
    """What a word counts before it is known how rare it is."""
    return ONE_LETTER if len(word) == 1 else 1.0


def _tokens(text: str) -> list[tuple[int, int, str]]:
    return [(match.start(), match.end(), folded(match[0])) for match in _TOKEN.finditer(text)]


def _words(token: str, as_written: str) -> list[tuple[str, str]]:
    told = lexicon()
    if _is_unspaced(token):
        kept = [(at, letter) for at, letter in enumerate(token) if letter not in told.common_signs]
        single = [(letter, letter) for _, letter in kept]
        pairs = [
            (a + b, a + b)
            for (at, a), (then, b) in itertools.pairwise(kept)
            if then == at + 1 and a + b not in told.common
        ]
        return pairs + single
    token = re.sub(r"['’](?:s|re|ve|ll|d|m)$", "", token)
    token = token.replace("'", "").replace("’", "")
    if len(token) < 2 or token.isdecimal() or token in told.common or token in told.denials:
        return []
    return [(token, as_written)]


def _clause(text: str) -> Clause:
    told = lexicon()
    low = folded(text)
    tokens = [token for _, _, token in _tokens(text)]
    plain = {token.replace("'", "").replace("’", "") for token in tokens}
    words = frozenset(word for token in tokens for word, _ in _words(token, token))
    denies = bool(plain & told.denials) or any(SHORT_FORMS.search(token) for token in tokens)
    denies = denies or any(sign in low for sign in told.denial_signs) or "nich mehr" in low
    rest = low
    for phrase in told.approval_phrases:
        rest = rest.replace(phrase, " ")
    harmless = rest != low
    if harmless and not any(phrase in rest for phrase in told.denied_approvals):
        return Clause(words, 1, values_of(text))
    if denies:
        return Clause(words, -1, values_of(text))
    return Clause(words, 1 if harmless or plain & told.approvals else 0, values_of(text))


def _is_unspaced(word: str) -> bool:
    return re.match(rf"[{UNSPACED}]", word) is not None


def _shared_beginning(one: str, two: str) -> int:
    at = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        at += 1
    return at


def _one_slip(one: str, two: str) -> bool:
    """Whether one letter was left out, added, changed, or two changed places."""
    if len(one) == len(two):
        off = [at for at, (a, b) in enumerate(zip(one, two, strict=True)) if a != b]
        if len(off) == 1:
            return True
        return (
            len(off) == 2
            and off[1] == off[0] + 1
            and one[off[0]] == two[off[1]]
            and one[off[1]] == two[off[0]]
        )
    short, long = sorted((one, two), key=len)
    at = _shared_beginning(short, long)
    return short[at:] == long[at + 1 :]
