"""The words that memory-core looks for one by one where it has no vectors. Source: spec B7."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

_SPLIT = re.compile(r"[\s!-/:-@\[-^`{-~¡-¿‐-‧、-〃〈-】〔-〟！-／：-＠［-｀｛-･]+")

_KANA, _HAN, _HANGUL = re.compile("[぀-ヿ]"), re.compile("[一-鿿]"), re.compile("[가-힣ㄱ-ㆎ]")

_JAPANESE = re.compile("[a-z0-9_]+|[゠-ヿ]+|[一-鿿]+|[぀-ゟ]{2,}")

_LATIN = re.compile("[a-z]+")

PARTICLES = (
    *("에서", "으로", "에게", "한테", "처럼", "같이", "보다", "까지", "부터", "마다", "밖에", "대로"),
    *("은", "는", "이", "가", "을", "를", "의", "에", "로", "와", "과", "도", "만"),
)
"""What follows a Korean noun, the longer ones first."""


@cache
def stop_words() -> frozenset[str]:
    """Words that ask rather than name, of seven languages."""
    text = files(__package__).joinpath("stop_words.toml").read_text(encoding="utf-8")
    return frozenset(word for words in tomllib.loads(text).values() for word in words.split())


def keywords(question: str) -> list[str]:
    """The words of a question that name something, each once, in order; pairs of letters for Chinese."""
    found: dict[str, None] = {}
    for part in _SPLIT.split(question.lower()):
        for word in _words_of(part) if part else ():
            if _names_something(word):
                found[word] = None
    return list(found)


def _words_of(part: str) -> list[str]:
    if _KANA.search(part):
        words: list[str] = []
        for run in _JAPANESE.findall(part):
            words.append(run)
            words += _pairs(run) if _HAN.match(run) and len(run) > 1 else []
        return words
    if _HAN.search(part):
        letters = _HAN.findall(part)
        return [*letters, *_pairs("".join(letters))]
    if _HANGUL.search(part):
        return [part, *_stem(part)]
    return [part]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _stem(word: str) -> list[str]:
    """A Korean word without its particle, where two letters are left; nothing for a word that is left out itself."""
    if word in stop_words():
        return []
    for particle in PARTICLES:
        if word.endswith(particle) and len(word) > len(particle):
            stem = word.removesuffix(particle)
            return [stem] if not _HANGUL.search(stem) or len(stem) > 1 else []
    return []


def _names_something(word: str) -> bool:
    if word in stop_words() or word.isdigit():
        return False
    return not (len(word) < 3 and _LATIN.fullmatch(word))
