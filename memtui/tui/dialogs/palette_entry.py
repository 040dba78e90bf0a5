"""What the palette lists, and which of it answers to what was typed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

from memtui.tui.dialogs.palette_words import (
    AUXILIARIES,
    EXACT,
    FILLERS,
    REMOVING,
    SLIP,
    STEM,
    SYNONYM,
    WORD,
    met_by,
)

MOST = 200
"""Rows that are ranked and drawn; typing one more letter is quicker than scrolling further."""

LONGEST = 80
"""Letters of a name that are looked at."""


Group = Literal[
    "INTENT",
    "HERE",
    "RECENT",
    "COMMANDS",
    "TRANSFER",
    "WHAT IF",
    "RECIPES",
    "QUESTIONS",
    "VIEWS",
    "PANELS",
    "CHARTS",
    "HORIZON",
    "SCOPES",
    "MEMORIES",
    "TOPICS",
    "THEMES",
]
"""The headings, in their order; what cannot be done now stands before the themes.

Memories come late: they are found a moment after the rest, and what Enter takes must not depend on that moment.
"""

ORDER: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One row: a name, what it is about, the direct key, and what to do when it is taken.

    `preview` is called while the row is highlighted. Names are plain text, never markup, and short.
    """

    group: Group
    name: str
    run: Callable[[], object]
    about: str = ""
    key: str = ""
    preview: Callable[[], object] | None = None
    disabled: str = ""
    """Why it cannot be taken just now; empty when it can."""
    detail: str = ""
    """The whole of it, for the pane beside the rows; empty takes name and `about`."""
    aside: str = ""
    """What stands where the key would: an id, for one."""
    copies: str = ""
    """What copying it gives; empty takes the name."""
    also: str = ""
    """Other words by which it is found."""
    place: str = ""
    """Where it is done, when that is not here: by these words it is found too."""
    here: int = 0
    """Its place in the key bar of the screen below; 0 when it is not one of its keys."""
    near: int = 0
    """How near what it acts on is: 5 on the list of memories, less for a screen that must be opened first."""
    removes: bool = False
    """Whether it takes something away: it is found only by words that say so."""
    partly: bool = False
    """Whether it has only some of the words."""
    guessed: bool = False
    """Whether the words may mean something else: a command that has all of them comes first."""


Ranked = list[tuple[PaletteEntry, tuple[int, ...]]]
"""Entries with the matched character offsets of their names."""

PREFIXES = {">": "COMMANDS", "@": "MEMORIES", ":": "SCOPES", "/": "VIEWS", "?": "TOPICS", "%": "THEMES"}
"""What a first character narrows to."""


def split(query: str) -> tuple[str, str]:
    """The group that the query is narrowed to (empty for all), and the words."""
    group = PREFIXES.get(query[:1], "")
    return group, (query[1:] if group else query).strip()


HERE_ROWS = 5
"""Of the keys of the screen below, and of what was done last, before anything is typed."""


_ASKING = re.compile(
    r"^(?:(?:please|can you|could you|i (?:want|need) to|how (?:do i|can i|to)|let me|take me to|go (?:back )?to|"
    r"show me|see|view) )+"
)
"""What stands before the words that say what is meant."""

_ARTICLES = frozenset(("a", "an", "the", "my", "please"))


def _bare(words: str) -> str:
    """Words without what only asks for them: "how do I undo the last change" is "undo last change"."""
    asked = _ASKING.sub("", words)
    return " ".join(word for word in asked.split() if word not in _ARTICLES) or words


def content(query: str) -> list[str]:
    """The words of a query that say what is meant: without what says nothing, lower case."""
    return [word for word in WORD.findall(query.casefold()) if word not in FILLERS]


def rank(entries: Sequence[PaletteEntry], query: str, recent: Sequence[str] = ()) -> Ranked:
    """The entries that match, best first: those with all of the words, then those with most of what the words say.

    A sentence about memories that are there stands first unless a command has all of its words; memories come after
    what they are looked for beside; themes last, and only by their own words. What cannot be done now stands behind
    what can, unless several words say surely that it is meant: then why it cannot is the answer. What takes something
    away is there only for words that say so, exactly. Words that say nothing match nothing. Without a query, what the
    keys of the screen do comes first, then `recent`, ids of what was done last.
    """
    group, words = split(query)
    pool = [entry for entry in entries if not group or entry.group == group]
    if not words:
        return [(entry, ()) for entry in _offered(pool, recent if not group else ())[:MOST]]
    lowered = [word.casefold() for word in WORD.findall(words)]
    wanted = content(words) or (lowered if group else [])
    told = any(word in REMOVING for word in lowered)
    vocabulary: dict[str, int] = {}
    for entry in pool:
        for word in {
            *_words(entry.name[:LONGEST]),
            *_words(entry.also),
            *_words(entry.about),
            *_words(entry.place),
        }:
            vocabulary[word] = vocabulary.get(word, 0) + 1
    met = [met_by(word, vocabulary) for word in wanted]
    weights = [_weight(found, vocabulary, len(pool)) for found in met]
    plain = " ".join(lowered)
    said_so = tuple(dict.fromkeys(filter(None, (plain, _bare(plain), " ".join(wanted)))))
    mended = " ".join(_mended(word, vocabulary) for word in lowered)
    scored: list[tuple[tuple[float, ...], PaletteEntry, float]] = []
    for entry in pool:
        if entry.group in ("MEMORIES", "INTENT"):
            if wanted:
                scored.append(((-1.0,), entry, 0.0))
            continue
        share, whole, certain = _met(entry, said_so, mended, met, weights)
        if share <= 0 or (entry.removes and not (told and certain)):
            continue
        if not whole and (share < LEAST or not certain or entry.group in ("THEMES", "TOPICS")):
            continue
        last = 3 if entry.group == "THEMES" else 1 if not whole else 0
        shut = bool(entry.disabled) and (len(wanted) < 2 or share < SURE)
        scored.append(((last, shut, -share), entry if whole else replace(entry, partly=True), share))
    said = (*wanted, *(word for word in lowered if word in AUXILIARIES))
    doubted = any(key[0] == 0 and share >= SURE and _says(entry, said) for key, entry, share in scored)

    def place(item: tuple[tuple[float, ...], PaletteEntry, float]) -> tuple[float, ...]:
        key, entry, _ = item
        if entry.group == "INTENT":
            return (0.5 if doubted or entry.guessed else -1,)
        if entry.group == "MEMORIES":
            return (2,)
        return key

    if not scored and group == "SCOPES":  # ":q", ":sort": as vim and k9s have their commands
        return rank(entries, words, recent)
    ordered = [entry for _, entry, _ in sorted(scored, key=place)][:MOST]
    return [(entry, match_offsets(entry.name[:LONGEST], wanted or lowered)) for entry in ordered]


LEAST = 0.4
"""So much of what the words say a command has to have, where none has all of them."""

SURE = 0.8
"""A command that meets the words like this is what they mean: a sentence read in them comes after it, and it keeps its
place though it cannot be done now, where there is more than one word."""


OF_ONE_SCREEN = ("VIEWS", "QUESTIONS", "RECIPES", "PANELS", "CHARTS", "HORIZON", "WHAT IF", "TRANSFER")
"""Headings whose entries are offered by one screen: what Enter takes does not depend on where one is."""

BEHIND = 0.15
"""So much worse is an entry of one screen than a command met by the same word, unless its whole name is said."""


def _says(entry: PaletteEntry, wanted: Sequence[str]) -> bool:
    """Whether every word stands in the command's own words as it was typed, not by a synonym."""
    return set(wanted) <= {*WORD.findall(entry.name.casefold()), *WORD.findall(entry.also.casefold())}


def _mended(word: str, vocabulary: dict[str, int]) -> str:
    """The word that was meant by one that nothing has: that of a slip of the keys, the commonest of several."""
    found = (
        met_by(word, vocabulary) if word not in vocabulary and len(word) > 3 and word not in FILLERS else {}
    )
    slips = [meant for meant, value in found.items() if value == SLIP]
    return max(slips, key=lambda meant: vocabulary[meant]) if slips and max(found.values()) == SLIP else word


def _weight(found: dict[str, float], vocabulary: dict[str, int], entries: int) -> float:
    """How telling a word is: the fewer entries have it, the more; one that none has counts most."""
    having = sum(vocabulary[word] for word, value in found.items() if value >= SYNONYM)
    return 0.4 + math.log((entries + 2) / (having + 1)) / math.log(entries + 2)


def _met(
    entry: PaletteEntry,
    said_so: Sequence[str],
    mended: str,
    met: Sequence[dict[str, float]],
    weights: Sequence[float],
) -> tuple[float, bool, bool]:
    """How well an entry is met, whether by every word, and whether by the words themselves, not by a slip."""
    name, also = _words(entry.name[:LONGEST]), _words(entry.also) if entry.group != "THEMES" else ()
    phrases = (" ".join(name), *(" ".join(_words(phrase)) for phrase in entry.also.split(",")))
    nearness = 0.02 * entry.near - 0.004 * len(name)
    for less, plain in enumerate(said_so):  # as typed, without what only asks, without what says nothing
        if plain in phrases[1:] or (plain == phrases[0] and (len(name) > 1 or entry.near > 3)):
            return 1.5 - 0.02 * less + nearness + (0.1 if plain == phrases[0] else 0.0), True, True
    if mended in phrases[1:]:
        return 1.4 + nearness, True, False
    if not met:
        return 0.0, False, False
    about, place = (_words(entry.about), _words(entry.place)) if entry.group != "THEMES" else ((), ())
    total = whole = 0.0
    certain, every, own = True, True, len(met) > 1
    for found, weight in zip(met, weights, strict=True):
        best = max(
            max((found.get(word, 0.0) for word in name), default=0.0),
            0.93 * max((found.get(word, 0.0) for word in also), default=0.0),
            0.86 * max((found.get(word, 0.0) for word in place), default=0.0),
            0.45 * max((found.get(word, 0.0) for word in about), default=0.0),
        )
        whole += weight
        total += weight * best
        every = every and best > 0.3
        own = own and any(found.get(word) == EXACT for word in (*name, *also, *place))
        if 0.0 < best <= SLIP:
            slips = (found.get(word, 0.0) for word in (*name, *also, *about, *place))
            certain = certain and not any(SLIP * SYNONYM <= value <= SLIP for value in slips)
    share = total / whole
    if share <= 0:
        return 0.0, False, False
    leading = 0.03 if met and name and met[0].get(name[0], 0.0) >= STEM else 0.0
    covered = sum(any(found.get(word, 0.0) >= SYNONYM for found in met) for word in name) / max(1, len(name))
    named = all(any(found.get(word) == EXACT for found in met) for word in name)
    away = BEHIND if entry.group in OF_ONE_SCREEN and not named else 0.0
    return share + nearness + leading + 0.05 * covered + (0.25 if own else 0.0) - away, every, certain


def _offered(pool: Sequence[PaletteEntry], recent: Sequence[str]) -> list[PaletteEntry]:
    """Before anything is typed: what can be done here, what was done last, then everything by its heading."""
    keys = sorted((each for each in pool if each.here and not each.disabled), key=lambda each: each.here)
    here = keys[:HERE_ROWS] if len(pool) > 2 * HERE_ROWS else []
    by_id = {each.copies: each for each in pool if each.group == "COMMANDS" and not each.disabled}
    again = [by_id[id] for id in recent if id in by_id and by_id[id] not in here][:HERE_ROWS]
    rest = [each for each in pool if each not in here and each not in again]
    rest.sort(key=lambda each: (bool(each.disabled), ORDER.index(each.group)))
    return [
        *(replace(each, group="HERE") for each in here),
        *(replace(each, group="RECENT") for each in again),
        *rest,
    ]


@lru_cache(8_192)
def _words(text: str) -> tuple[str, ...]:
    return tuple(WORD.findall(text.casefold()))


def match_offsets(text: str, wanted: Sequence[str]) -> tuple[int, ...]:
    """Where the words stand in the text, the beginnings of words before their middles."""
    low = text.casefold()
    if len(low) != len(text):
        low = text.lower()
    if len(low) != len(text):
        return ()
    found: set[int] = set()
    for word in wanted:
        starts = [match.start() for match in re.finditer(re.escape(word), low)]
        begun = [at for at in starts if at == 0 or not low[at - 1].isalnum()]
        for at in begun or starts:
            found.update(range(at, at + len(word)))
    return tuple(sorted(found))
