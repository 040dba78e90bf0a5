"""The words by which texts state values or deny something, read from `lexicon.toml`, folded for comparison."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("lexicon.toml")


_OTHER_WORDS = ("once", "due", "sei", "um", "media", "six-", "cent")
"""Numbers of one language that are everyday words of another."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The tables of `lexicon.toml`; words are folded."""

    numbers: Mapping[str, float]
    """Number words below a hundred that are one word, of every language."""
    scales: Mapping[str, float]
    """Hundred, thousand, million."""
    units: Mapping[str, tuple[str, float]]
    """A unit's word: its dimension, and what one of it is in the dimension's own unit."""
    measures: frozenset[str]
    """Chinese words that count things: a numeral before one is a number."""
    weekdays: Mapping[str, int]
    """0 is Monday."""
    months: Mapping[str, int]
    hedges: frozenset[str]
    hedge_signs: tuple[str, ...]
    denials: frozenset[str]
    denial_signs: tuple[str, ...]
    approvals: frozenset[str]
    approval_phrases: tuple[str, ...]
    denied_approvals: tuple[str, ...]
    common: frozenset[str]
    common_signs: frozenset[str]


def folded(text: str) -> str:
    """The text in lower case and without accents, each letter at its place: offsets stay those of `text`."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


class _Folding(dict[int, str]):
    """The folded letter of each code, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = _folded_letter(chr(code))
        return self[code]


_FOLDING = _Folding()


def _folded_letter(letter: str) -> str:
    if letter.isascii():
        return letter.lower()
    plain = (
        unicodedata.normalize("NFD", letter)[0]
        if letter not in "ßøæ"
        else {"ß": "s", "ø": "o", "æ": "a"}[letter]
    )
    low = plain.lower()
    return low if len(low) == 1 else letter


@cache
def lexicon() -> Lexicon:
    """The tables, read once."""
    told = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    numbers = {folded(word): float(value) for word, value in told["more"].items()}
    for line in told["numbers"].values():
        numbers |= {folded(word): float(value) for value, word in enumerate(line.split())}
    for line in told["tens"].values():
        numbers |= {folded(word): 10.0 * place for place, word in enumerate(line.split(), 1)}
    numbers["dreisig"] = 30.0
    for word in _OTHER_WORDS:
        numbers.pop(word, None)
    for ten in ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"):
        for one, word in enumerate(told["numbers"]["en"].split()[1:10], 1):
            numbers[f"{ten}-{word}"] = numbers[ten] + one
    units: dict[str, tuple[str, float]] = {}
    for dimension, line in told["units"].items():
        words = line.split()
        for word, factor in zip(words[::2], words[1::2], strict=True):
            units.setdefault(folded(word.replace("_", " ")), (dimension, float(factor)))
    weekdays = {
        folded(word): day for day, line in enumerate(told["weekdays"].values()) for word in line.split()
    }
    months = {
        folded(word): month for month, line in enumerate(told["months"].values(), 1) for word in line.split()
    }
    denials = told["denials"]
    common = told["common"]
    return Lexicon(
        numbers,
        {folded(word): float(value) for word, value in told["scales"].items()},
        units,
        frozenset(told["measures"]["zh"].split()),
        weekdays,
        months,
        frozenset(folded(told["hedges"]["words"]).split()),
        tuple(told["hedges"]["signs"].split()),
        frozenset(folded(denials["words"]).split()),
        tuple(denials["signs"].split()),
        frozenset(folded(denials["approvals"]).split()),
        tuple(denials["approval_phrases"].split("|")),
        tuple(denials["denied_approvals"].split("|")),
        frozenset(
            folded(word) for language, line in common.items() if language != "signs" for word in line.split()
        ),
        frozenset(common["signs"]),
    )
