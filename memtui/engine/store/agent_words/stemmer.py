"""The English stemmer (Porter 2) as it was until 2024: the one in the engine of the plugin's index.

Later releases of Snowball stem some words otherwise ("evening", "past", "internal"), and with them LanceDB from
0.36 on; an index keeps the words as its own engine stemmed them, so the older rules are needed to read it.
Source of the rules: snowballstem.org/algorithms/english/stemmer.html, as of Snowball 2.
"""

from __future__ import annotations

from functools import lru_cache

_VOWELS = frozenset("aeiouy")

_DOUBLES = frozenset(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"))

_LI = frozenset("cdeghkmnrt")

_WHOLE = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "idly": "idl",
    "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
    "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias",
    "andes": "andes",
}  # fmt: skip

_AFTER_PLURAL = frozenset(
    ("inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed")
)

_STEP_2 = tuple(
    sorted(
        {
            "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "izer": "ize",
            "ization": "ize", "ational": "ate", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al",
            "alli": "al", "fulness": "ful", "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive",
            "biliti": "ble", "bli": "ble", "ogi": "og", "fulli": "ful", "lessli": "less", "li": "",
        }.items(),
        key=lambda rule: -len(rule[0]),
    )
)  # fmt: skip

_STEP_3 = tuple(
    sorted(
        {
            "tional": "tion", "ational": "ate", "alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic",
            "ful": "", "ness": "", "ative": "",
        }.items(),
        key=lambda rule: -len(rule[0]),
    )
)  # fmt: skip

_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "ion", "al", "er", "ic",
)  # fmt: skip


@lru_cache(65_536)
def stem(word: str) -> str:
    """The stem of a word in lower case; words of one or two letters stay as they are."""
    if word in _WHOLE:
        return _WHOLE[word]
    if len(word) <= 2:
        return word
    word = _with_consonant_y(word.removeprefix("'"))
    first, second = _regions(word)
    word = _without_plural(_without_apostrophe(word))
    if word not in _AFTER_PLURAL:
        word = _step_1c(_step_1b(word, first))
        word = _step_3(_step_2(word, first), first, second)
        word = _step_5(_step_4(word, second), first, second)
    return word.lower()


def _with_consonant_y(word: str) -> str:
    """The word with each y that is a consonant as Y: at the beginning, and after a vowel."""
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Where the regions R1 and R2 begin: after the first consonant that follows a vowel, and once more."""
    prefix = next((len(p) for p in ("gener", "commun", "arsen") if word.startswith(p)), None)
    first = _after_consonant(word, 0) if prefix is None else prefix
    return first, _after_consonant(word, first)


def _after_consonant(word: str, start: int) -> int:
    seen = False
    for at in range(start, len(word)):
        if word[at] in _VOWELS:
            seen = True
        elif seen:
            return at + 1
    return len(word)


def _has_vowel(text: str) -> bool:
    return any(letter in _VOWELS for letter in text)


def _short_syllable(word: str) -> bool:
    """Whether the word ends in one: consonant, vowel, consonant other than w, x, Y; or is vowel, consonant."""
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return (
        len(word) > 2
        and word[-1] not in _VOWELS
        and word[-1] not in "wxY"
        and word[-2] in _VOWELS
        and word[-3] not in _VOWELS
    )


def _without_apostrophe(word: str) -> str:
    for ending in ("'s'", "'s", "'"):
        if word.endswith(ending):
            return word[: -len(ending)]
    return word


def _without_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")):
        return word
    return word[:-1] if word.endswith("s") and _has_vowel(word[:-2]) else word


def _step_1b(word: str, first: int) -> str:
    for ending in ("eedly", "eed"):
        if word.endswith(ending):
            return word[: -len(ending)] + "ee" if len(word) - len(ending) >= first else word
    for ending in ("ingly", "edly", "ing", "ed"):
        if not word.endswith(ending):
            continue
        rest = word[: -len(ending)]
        if not _has_vowel(rest):
            return word
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if rest[-2:] in _DOUBLES:
            return rest[:-1]
        return rest + "e" if len(rest) <= first and _short_syllable(rest) else rest
    return word


def _step_1c(word: str) -> str:
    ends = len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS
    return word[:-1] + "i" if ends else word


def _step_2(word: str, first: int) -> str:
    for ending, instead in _STEP_2:
        if not word.endswith(ending):
            continue
        rest = word[: -len(ending)]
        fits = len(rest) >= first
        if ending == "ogi":
            fits = fits and rest.endswith("l")
        if ending == "li":
            fits = fits and rest[-1:] in _LI
        return rest + instead if fits else word
    return word


def _step_3(word: str, first: int, second: int) -> str:
    for ending, instead in _STEP_3:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + instead if len(rest) >= (second if ending == "ative" else first) else word
    return word


def _step_4(word: str, second: int) -> str:
    for ending in _STEP_4:
        if not word.endswith(ending):
            continue
        rest = word[: -len(ending)]
        if len(rest) < second or (ending == "ion" and rest[-1:] not in ("s", "t")):
            return word
        return rest
    return word


def _step_5(word: str, first: int, second: int) -> str:
    rest = word[:-1]
    if word.endswith("e"):
        return rest if len(rest) >= second or (len(rest) >= first and not _short_syllable(rest)) else word
    return rest if word.endswith("l") and len(rest) >= second and rest.endswith("l") else word
