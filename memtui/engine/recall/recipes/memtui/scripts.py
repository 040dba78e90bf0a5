"""Which of a question's words a model can tell apart, judged by its own vocabulary.

A model has learned a script where its vocabulary has whole words of it. English has some twenty thousand of them;
of a script that it never learned it has single letters: these meet the same letters in every text, and say nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol


class HasVocabulary(Protocol):
    """A model of words: its vocabulary, a continuation of a word with `##` before it."""

    def vocabulary(self) -> tuple[str, ...]: ...


ENOUGH = 500
"""Words of two letters and more that make a script a learned one."""

UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts that put no space between words; two letters count as a word."""

MOSTLY, RARELY = 0.65, 0.45
"""Shares of common words from which on a language is known, and below which it is not."""

_RUN = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Coverage:
    """How much of a question is written in scripts that the model never learned."""

    uncovered: float
    """The share of its words, 0 to 1."""
    scripts: tuple[str, ...]
    """Those scripts, by the first word of Unicode's names: CJK, HANGUL, ARABIC, ..."""


NOTHING = Coverage(0.0, ())


def coverage(text: str, model: HasVocabulary) -> Coverage:
    """The share of the words of `text` in scripts that `model` never learned; numbers and signs do not count."""
    learned = learned_scripts(model)
    weights: dict[str, float] = {}
    for run in _RUN.findall(text):
        for script, letters in _by_script(run).items():
            spaced = script not in UNSPACED
            weights[script] = weights.get(script, 0.0) + (letters / len(run) if spaced else letters / 2)
    total = sum(weights.values())
    unknown = {script: weight for script, weight in weights.items() if script not in learned}
    if not unknown or not total:
        return NOTHING
    return Coverage(sum(unknown.values()) / total, tuple(sorted(unknown)))


def unknown_language(text: str, common: Collection[str]) -> float:
    """How surely `text` is not in the language of the words `common`, 0 to 1.

    By the share of its words that are common ones: of English questions 5 in 100 have less than `MOSTLY`; of German,
    French, Spanish, Portuguese and Russian texts three in four have less than `RARELY`.
    """
    words = _RUN.findall(text.casefold())
    if not words:
        return 0.0
    share = sum(word in common for word in words) / len(words)
    return min(1.0, max(0.0, (MOSTLY - share) / (MOSTLY - RARELY)))


def learned_scripts(model: HasVocabulary) -> frozenset[str]:
    """The scripts of which the vocabulary of `model` has enough whole words."""
    return _learned(model.vocabulary())


@lru_cache(maxsize=4)
def _learned(words: tuple[str, ...]) -> frozenset[str]:
    counts: dict[str, int] = {}
    for word in words:
        if len(word) > 1 and word.isalpha():
            script = script_of(word[0])
            counts[script] = counts.get(script, 0) + 1
    return frozenset(script for script, count in counts.items() if count >= ENOUGH)


def _by_script(run: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for letter in run:
        script = script_of(letter)
        counts[script] = counts.get(script, 0) + 1
    return counts


@lru_cache(8192)
def script_of(letter: str) -> str:
    """The script of a letter: the first word of its Unicode name; LATIN for a letter without one."""
    return unicodedata.name(letter, "LATIN").replace("FULLWIDTH ", "").replace("-", " ").split()[0]
