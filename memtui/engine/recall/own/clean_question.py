"""The question without what is in every memory: the text that is embedded and compared word by word."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

COMMON_SHARE = 0.3
"""A word that more than this share of the rows contain says nothing about which row is meant."""
_WORD = re.compile(r"\w+(?:[-_./:@=+]+\w+)*")
QUESTION_WORDS = frozenset(("what", "when", "where", "which", "who", "whom", "whose", "why", "how"))
AUXILIARIES = frozenset(
    _WORD.findall("did does do is are was were has have had can could will would should might may must")
)
FUNCTION_WORDS = frozenset(
    _WORD.findall(
        """a about after again all also am an and any as at be because been before being but by could do does
        doing down each else for from get got had has have having he her here hers him his how i if in into is
        it its just like me more most much my no not now of off on once one only or other our out over own
        really she should so some such than that the their them then there these they this those to too under
        until up us very was we were what when where which while who whom whose why will with would yes you
        your yours"""
    )
)
"""Common in every text: they are no sign of a common subject, and the model gives them little weight anyway."""
_ALSO_WORDS = FUNCTION_WORDS | AUXILIARIES | QUESTION_WORDS
_POSSESSIVE = re.compile(r"['’]s\b")
_AS_NAME = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CleanQuestion:
    """`text` is what is left, the question itself when nothing would be; `removed` the words with the reason."""

    text: str
    removed: tuple[tuple[str, str], ...]
    named: tuple[str, ...]
    """The known speakers that the question names, as they are stored, in alphabetical order."""


def words_of(text: str) -> set[str]:
    """The different words of a text, lower case, identifiers whole and in parts."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        found.add(word)
        if not word.isalnum():
            found.update(_AS_NAME.findall(word))
    return found


def clean_question(
    question: str, *, share: Callable[[str], float], speakers: Sequence[str] = ()
) -> CleanQuestion:
    """Drop the question word, the auxiliary after it, names of speakers, and words that the rows have in common.

    `share` tells which part of the rows contains a word (lower case; a row's speaker counts as said by it).
    `speakers` are the names known in the scope.
    """
    named = named_speakers(question, speakers)
    names = {word for name in named for word in words_of(name)}
    cuts: list[tuple[int, int]] = []
    removed: list[tuple[str, str]] = []
    words = list(_WORD.finditer(question))

    def cut(match: re.Match[str], why: str) -> None:
        end = match.end()
        tail = _POSSESSIVE.match(question, end)
        cuts.append((match.start(), tail.end() if tail else end))
        removed.append((question[match.start() : cuts[-1][1]], why))

    asked = 0
    if words and words[0][0].lower() in QUESTION_WORDS:
        cut(words[0], "question word")
        asked = 1
        if len(words) > 1 and words[1][0].lower() in AUXILIARIES:
            cut(words[1], "auxiliary")
            asked = 2
    for match in words[asked:]:
        word = match[0].lower()
        if word in names:
            cut(match, "name of a speaker")
        elif word not in FUNCTION_WORDS and (part := share(word)) > COMMON_SHARE:
            cut(match, f"in {part:.0%} of the memories")
    text = question
    for start, end in reversed(cuts):
        text = f"{text[:start]} {text[end:]}"
    text = " ".join(text.split())
    kept = any(word[0].lower() not in FUNCTION_WORDS for word in _WORD.finditer(text))
    if not kept:
        text, removed = question, []
    return CleanQuestion(text, tuple(removed), named)


def named_speakers(question: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """The speakers whose whole name, or whose first name when it is nobody else's, stands in the question.

    A name that is a common word too (Will, May) needs its capital, and not at the beginning.
    """
    asked = [
        "" if word.lower() in _ALSO_WORDS and (at == 0 or not word[0].isupper()) else word.lower()
        for at, word in enumerate(_AS_NAME.findall(question))
    ]
    firsts = [name.split()[0].lower() if name.split() else "" for name in speakers]
    named = []
    for name, first in zip(speakers, firsts, strict=True):
        whole = [word.lower() for word in _AS_NAME.findall(name)]
        if not whole:
            continue
        spans = (asked[at : at + len(whole)] for at in range(len(asked) - len(whole) + 1))
        if any(span == whole for span in spans) or (firsts.count(first) == 1 and first in asked):
            named.append(name)
    return tuple(sorted(named))
