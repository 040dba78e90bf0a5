"""Whether two statements say the same, or are about the same thing with another value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_WORDS = re.compile(
    r"[a-z0-9][a-z0-9._:/@+-]*[a-z0-9]|[a-z0-9]|[^\W_a-z0-9]+(?:['’-][^\W_]+)*", re.IGNORECASE
)

_CJK = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]+")

_FILLERS = frozenset(
    [
        "a",
        "an",
        "the",
        "is",
        "are",
        "am",
        "was",
        "were",
        "be",
        "been",
        "to",
        "of",
        "for",
        "in",
        "on",
        "at",
        "my",
        "our",
        "your",
        "i",
        "we",
        "you",
        "it",
        "that",
        "this",
        "and",
        "or",
        "but",
        "so",
        "also",
        "very",
        "really",
        "please",
        "just",
        "quite",
        "always",
        "usually",
        "have",
        "has",
        "had",
        "do",
        "does",
        "did",
        "will",
        "would",
        "as",
        "with",
        "by",
        "from",
        "than",
        "then",
        "now",
        "still",
        "only",
        "there",
        "here",
        "over",
        "any",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "ein",
        "eine",
        "einen",
        "einem",
        "einer",
        "ist",
        "sind",
        "war",
        "bin",
        "zu",
        "von",
        "für",
        "im",
        "in",
        "am",
        "an",
        "auf",
        "mein",
        "meine",
        "unser",
        "unsere",
        "ich",
        "wir",
        "du",
        "es",
        "und",
        "oder",
        "aber",
        "so",
        "auch",
        "sehr",
        "wirklich",
        "bitte",
        "nur",
        "ganz",
        "immer",
        "meist",
        "habe",
        "hat",
        "haben",
        "mit",
        "als",
        "dann",
        "el",
        "la",
        "los",
        "las",
        "un",
        "una",
        "de",
        "del",
        "es",
        "son",
        "en",
        "mi",
        "mis",
        "y",
        "o",
        "pero",
        "también",
        "muy",
        "le",
        "les",
        "des",
        "du",
        "est",
        "sont",
        "à",
        "mon",
        "ma",
        "mes",
        "nous",
        "je",
        "et",
        "no",
        "not",
        "sorry",
        "actually",
        "nein",
        "nicht",
        "eigentlich",
    ]
)

NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "nothing",
        "none",
        "don't",
        "dont",
        "doesn't",
        "isn't",
        "aren't",
        "won't",
        "can't",
        "cannot",
        "without",
        "nicht",
        "nie",
        "niemals",
        "kein",
        "keine",
        "keinen",
        "nunca",
        "jamás",
        "sin",
        "pas",
        "jamais",
        "sans",
    ]
)

_COPULA = re.compile(
    r"^(?P<what>.{2,80}?)(?:\s+(?:is|are|was|ist|sind|lautet|heißt|es|son|est|sont|is at|lives at)\s+|\s*(?:[:：=]|是|为|叫|は)\s*)(?P<value>.+)$",
    re.IGNORECASE,
)

_COPULAS = frozenset(
    ("is", "are", "was", "were", "ist", "sind", "lautet", "es", "son", "est", "sont", "lives")
)
"""One of these is in every match in ASCII that has no sign between."""

_UNIQUE = re.compile(
    r"\b(?:name|surname|address|number|port|e-?mail|phone|birthday|favou?rite|host|url|version|deadline|id|iban|server|limit|password|bucket|branch|ticket|editor|time ?zone"
    r"|name|adresse|nummer|geburtstag|lieblings\w*|frist|grenze|telefon|correo|dirección|número|cumpleaños|adresse|numéro|anniversaire)\b"
    r"|名字|地址|号码|编号|端口|邮箱|电话|生日|最喜欢|上限|版本|名前|アドレス|番号|ポート|メール|電話|誕生日|一番好き|上限|バージョン",
    re.IGNORECASE,
)


@lru_cache(maxsize=65_536)
def words_of(text: str) -> frozenset[str]:
    """The content words of a text in lower case; Chinese and Japanese give pairs of characters."""
    found: set[str] = set()
    if text.isascii():
        return frozenset(_stem(word) for word in _WORDS.findall(text.lower()) if word not in _FILLERS)
    for word in _WORDS.findall(text.lower()):
        run = _CJK.fullmatch(word)
        if run is None:
            if word not in _FILLERS:
                found.add(_stem(word))
            continue
        found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
    return frozenset(found)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") and word.isalpha() else word


@lru_cache(maxsize=65_536)
def key_of(text: str) -> str:
    """What stays of a text when case, punctuation and spaces do not count: equal keys are the same sentence."""
    return _NO_KEY.sub("", text.casefold()).strip(".:")


_NO_KEY = re.compile(r"[^\w@.:/+#-]+")

_NEGATIVE = re.compile(
    rf"(?<!\w)(?:{'|'.join(sorted(map(re.escape, NEGATIONS)))})(?!\w)|不|没|別|别|ない|ません|ぬ"
)


@lru_cache(maxsize=65_536)
def polarity(text: str) -> bool:
    """Whether it says that something is not so."""
    return _NEGATIVE.search(text.lower()) is not None


def same(left: str, right: str, cosine: float | None = None) -> bool:
    """Whether two texts say the same: the same content words with the same sign.

    A cosine of .96 lets a word or two differ, but never a name, a number, or what has no letters of a-z.
    """
    if key_of(left) == key_of(right):
        return True
    if polarity(left) != polarity(right):
        return False
    one, other = words_of(left), words_of(right)
    if not one or not other or _CJK.search(left) or _CJK.search(right):
        return False
    if one == other:
        return not _turned_round(left, right)
    if cosine is None or cosine < 0.96:
        return False
    differ = one ^ other
    if len(differ) > 2 or any(_is_particular(word, left, right) for word in differ):
        return False
    return not _turned_round(left, right)


_WAYS = frozenset(
    (
        *("over", "than", "to", "from", "before", "after", "instead", "into", "against", "via"),
        *("als", "vor", "nach", "von", "zu", "statt", "gegen"),
    )
)
"""What stands before the one of two that is behind, or meant: "tea over coffee", "reports to Mira"."""


def _turned_round(left: str, right: str) -> bool:
    """Whether two texts of the same words have them the other way round: coffee over tea is not tea over coffee."""
    one, other = _ways(left), _ways(right)
    all_one, all_other = words_of(left), words_of(right)
    return any(
        one[way] != other[way] and one[way] <= all_other and other[way] <= all_one
        for way in one.keys() & other.keys()
    )


@lru_cache(maxsize=65_536)
def _ways(text: str) -> Mapping[str, frozenset[str]]:
    """Of each word that has a direction the content words that come next."""
    words = _WORDS.findall(text.lower())
    found: dict[str, frozenset[str]] = {}
    for at, way in enumerate(words):
        if way in _WAYS:
            meant = next((_stem(word) for word in words[at + 1 :] if word not in _FILLERS), "")
            found[way] = found.get(way, frozenset()) | {meant}
    return found


def _is_particular(word: str, left: str, right: str) -> bool:
    """A name, a number, an address: another one is another thing."""
    if not word.isalpha():
        return True
    capital = word[:1].upper() + word[1:]
    return capital in left[1:] or capital in right[1:]


def share(left: str, right: str) -> float:
    """How much of the shorter one's content words the other has, 0 to 1."""
    one, other = words_of(left), words_of(right)
    return len(one & other) / max(1, min(len(one), len(other)))


@lru_cache(maxsize=65_536)
def slot(text: str) -> str | None:
    """What a statement of one value is about ("staging port"), None where several values may hold at once."""
    plain = text.isascii() and ":" not in text and "=" not in text
    if plain and _COPULAS.isdisjoint(text.lower().split()):
        return None
    match = _COPULA.match(text)
    if match is None or _UNIQUE.search(match["what"]) is None:
        return None
    words = sorted(words_of(match["what"]) - {"new", "neu", "neue", "current", "now"})
    return " ".join(words) or None


def says(text: str, value: str) -> bool:
    """Whether a text has this value as a whole word."""
    if _CJK.search(value):
        return value in text
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


class SharedWordIndex:
    """Finds among many texts those that share rare words with one."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._often = Counter(word for text in texts for word in words_of(text))
        self._at: dict[str, list[int]] = {}
        self._words: dict[int, frozenset[str]] = {}

    def add(self, number: int, text: str) -> None:
        """Text `number` can be found from now on."""
        words = self._words[number] = words_of(text)
        for word in words:
            self._at.setdefault(word, []).append(number)

    def near(self, text: str, most: int = 24) -> list[int]:
        """Numbers of texts that share one of the three rarest words, the newest first."""
        known = [word for word in words_of(text) if word in self._at]
        rare = sorted(known, key=lambda word: (self._often[word], word))[:3]
        found: dict[int, None] = {}
        for word in rare:
            found.update(dict.fromkeys(reversed(self._at.get(word, [])[-most:])))
        return sorted(found, reverse=True)[:most]

    def alike(self, text: str) -> list[int]:
        """Numbers of texts that `same` may find the same by their vectors or words, the newest first.

        Names with signs and numbers never differ there, so texts without the rarest one of them need no look;
        Chinese and Japanese are the same by their keys only.
        """
        words = words_of(text)
        if not words or _CJK.search(text):
            return []
        signed = [word for word in words if not word.isalpha()]
        if not signed:
            return [at for at in self.near(text) if len(words ^ self._words[at]) <= 2]
        rarest = min(signed, key=lambda word: (len(self._at.get(word, ())), word))
        found = self._at.get(rarest, [])[-24:]
        return [at for at in reversed(found) if len(words ^ self._words[at]) <= 2]


def all_words(texts: Iterable[str]) -> frozenset[str]:
    """The content words of several texts together."""
    return frozenset(word for text in texts for word in words_of(text))
