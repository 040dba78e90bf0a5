"""The words that open a wallet: runs of twelve or more from the public list of BIP-39, or told as such."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from memtui.engine.core.hints import Sieve, near_hints
from memtui.engine.core.late_pattern import late

_FEWEST, _MOST = 12, 24

_DICTIONARY = 120
"""Words in a row above which they are the list, or a part of it."""

_WORD = late(r"[^\W\d_]+")

_BETWEEN = late(r"(?:[\s,;.:|/_\"'`*#()\[\]-]|[0-9]{1,2}(?![0-9])){1,8}")

_LEAST = _FEWEST * 4 - 1

_EVERYDAY = frozenset(
    [
        "this",
        "that",
        "have",
        "there",
        "they",
        "then",
        "when",
        "what",
        "where",
        "will",
        "can",
        "one",
        "two",
        "you",
        "must",
        "now",
        "only",
        "other",
        "over",
        "same",
        "such",
        "try",
        "use",
        "very",
        "about",
        "above",
        "again",
        "all",
        "also",
        "always",
        "any",
        "because",
        "before",
        "between",
        "easy",
        "either",
        "end",
        "few",
        "first",
        "good",
        "great",
        "into",
        "just",
        "keep",
        "like",
        "little",
        "make",
        "more",
        "most",
        "much",
        "need",
        "never",
        "next",
        "off",
        "often",
        "old",
        "once",
        "only",
        "own",
        "people",
        "right",
        "some",
        "still",
        "than",
        "think",
        "until",
        "under",
        "want",
        "way",
        "well",
        "work",
        "year",
    ]
)
"""Words of the list of which a sentence is made; a phrase that a machine drew has few of them."""

_LABEL = late(
    r"(?i:(?:seed|recovery|backup|mnemonic|secret recovery|wallet)[ -]?(?:phrase|words?|seed)|mnemonic|(?<![^\W\d_])(?:seed|semilla)(?![^\W\d_])"
    r"|(?:wiederherstellungs|sicherungs|seed|wallet|backup)[ -]?(?:phrase|wörter|woerter|worte|satz|schlüssel)"
    r"|(?:phrase|mots?|mots-clés)\s+(?:de\s+|secrète\s+de\s+)?(?:récupération|recuperation|secours|sauvegarde|mnémonique)"
    r"|phrase\s+(?:secrète|mnémonique|seed)|(?:frase|palabras|palavras|parole)\s+(?:semilla|semente|seed|mnemónica|mnemônica"
    r"|mnemonica|(?:secreta\s+)?(?:de|di)\s+(?:recuperación|recuperacion|recuperação|recupero|respaldo|backup))"
    r"|сид-?фраза|мнемоническая фраза|助记词|助記詞|シードフレーズ)"
)

_HELD = late(r"(?i)\b(?:wallet|ledger|trezor|metamask|bitcoin|btc|ethereum|bip-?39|electrum)\b")


@cache
def _words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("seed_words.txt").read_text(encoding="ascii").split())


@cache
def phrase_sieve(*, json: bool) -> str:
    """For engines that look at a whole column at once: twelve words in a row as long as those of the list.

    The short ones have to be of the list: "the", "and" and "for", which most sentences have in them, are not.
    With `json` the words stand within one string of a JSON object.
    """
    word = f"(?:{'|'.join(sorted(word for word in _words() if len(word) == 3))}|[a-z]{{4,8}})"
    between = r"(?:[^a-z\"\\]|\\.){1,8}" if json else "[^a-z]{1,8}"
    return f"(?i)(?:{word}{between}){{11}}{word}"


def may_hold_phrase(lower: str) -> bool:
    """Whether a text in lower case has twelve words of the list in a row; False is certain."""
    if len(lower) < _LEAST:
        return False
    listed = _words()
    if "," in lower or "-" in lower:
        words = lower.replace(",", " ").replace("-", " ").split()
    else:
        words = lower.split()
    if len(words) >= len(_NEARLY) and _NEARLY in bytes(map(listed.__contains__, words)):
        return True
    for number in _NUMBERS:  # a loop: `any` over a generator takes twice the time
        if number in lower:
            return _ROW in bytes(map(listed.__contains__, _WORD.findall(lower)))
    return False


_ROW = b"\x01" * _FEWEST

_NUMBERS = ("12.", "12)", "12:", '", "', "|")
"""What a list has in it whose words do not stand alone."""

_NEARLY = b"\x01" * (_FEWEST - 2)
"""The first and the last word may have a quotation mark or a stop beside them."""


def find_phrases(text: str, start: int, stop: int, limit: int) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of the phrases that begin between two places of `text`; they are followed up to `limit`."""
    listed = _words()
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text, start, limit):
        follows = bool(run) and _BETWEEN.fullmatch(text, run[-1].end(), word.start()) is not None
        if word.group().lower() in listed and (follows or not run):
            run.append(word)
            continue
        yield from _told(run)
        run = [word] if word.group().lower() in listed else []
        if not run and word.start() >= stop:
            break
    else:
        yield from _told(run)


def find_labelled_phrases(
    text: str, start: int, stop: int, limit: int, lower: str
) -> Iterator[tuple[int, int, str]]:
    """(start, end, kind) of the words that are told as a phrase between two places of `text`, in any language."""
    found = _stems().found_in(lower)
    if found:
        for label in near_hints(_LABEL, found, text, start, stop, limit, lower):
            yield from _labelled(text, label.end())


@cache
def _stems() -> Sieve:
    return Sieve(
        (
            "seed", "recovery p", "recovery w", "backup p", "backup w", "mnemonic", "wallet p", "wallet w", "wallet-", "wiederherstell", "sicherungs", "récup", "recup", "secours",
            "sauvegarde", "phrase s", "phrase m", "semilla", "semente", "frase", "palabras", "palavras", "parole", "助记", "助記", "シード", "фраза",
        )
    )  # fmt: skip


def _told(run: list[re.Match[str]]) -> Iterator[tuple[int, int, str]]:
    if _FEWEST <= len(run) <= _DICTIONARY and len({word.group().lower() for word in run}) > 3:
        everyday = sum(word.group().lower() in _EVERYDAY for word in run)
        if everyday * 4 <= len(run):
            yield run[0].start(), run[-1].end(), "seed phrase"


_SIGNS = late(r"[\u4e00-\u9fff](?:[ 、,，][\u4e00-\u9fff]){11,23}")

_COPULA = late(
    r"[^\n:=]{0,60}?(?:[:=：＝]|\b(?:is|are|ist|lautet|lauten|sind|est|sont|es|son|è|é|são|sono)\b|[是は])\s*[\"'`„“«»*]*\s*(?:[0-9]{1,2}[.)]\s*)?"
)


def _labelled(text: str, at: int) -> Iterator[tuple[int, int, str]]:
    """The words behind `at` that are said to be a phrase, in whatever language: in lower case, no end of a sentence."""
    said = _COPULA.match(text, at)
    if said is None:
        return
    signs = _SIGNS.match(text, said.end())
    if signs is not None:
        yield *signs.span(), "seed phrase"
        return
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text, said.end(), said.end() + 400):
        gap = text[run[-1].end() if run else said.end() : word.start()]
        plain = 2 < len(word.group()) <= 10 and (word.group().islower() or word.group().isupper())
        if (
            not plain
            or (gap and not _BETWEEN.fullmatch(gap))
            or re.search(r"[.:;(]\s", re.sub(r"[0-9]+[.:)]", "", gap))
        ):
            break
        run.append(word)
        if len(run) > _MOST:
            break
    if len(run) >= _FEWEST and not any(word.group().lower() in _FUNCTION for word in run):
        yield run[0].start(), run[-1].end(), "seed phrase"


_FUNCTION = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "from",
        "are",
        "was",
        "not",
        "you",
        "your",
        "must",
        "have",
        "has",
        "und",
        "der",
        "die",
        "das",
        "ist",
        "nicht",
        "mit",
        "für",
        "den",
        "dem",
        "ein",
        "eine",
        "les",
        "des",
        "est",
        "une",
        "pour",
        "dans",
        "avec",
        "qui",
        "que",
        "los",
        "las",
        "una",
        "para",
        "con",
        "por",
        "del",
        "não",
        "uma",
        "com",
        "che",
        "per",
        "non",
        "sono",
        "gli",
    ]
)
