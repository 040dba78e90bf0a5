"""What the palette lists, and which of it answers to what was typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

from textual.fuzzy import FuzzySearch

MOST = 200
"""Rows that are ranked and drawn; typing one more letter is quicker than scrolling further."""

LONGEST = 80
"""Fuzzy matching may take seconds on a long name."""


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

STRONG = 60
"""A word that matches like this is one of the name or of its other words, not of what it is about."""

_IGNORED = frozenset(
    ("the", "a", "an", "to", "of", "in", "on", "my", "for", "and", "with", "memory", "memories")
)
_SAYING_LITTLE = _IGNORED | {
    "what",
    "which",
    "this",
    "that",
    "how",
    "who",
    "use",
    "from",
    "week",
    "all",
    "are",
    "is",
    "does",
    "did",
    "do",
    "can",
    "i",
    "me",
    "store",
    "today",
    "now",
}
_WORD = re.compile(r"\w+")


def rank(entries: Sequence[PaletteEntry], query: str, recent: Sequence[str] = ()) -> Ranked:
    """The entries that match, under their headings in a fixed order and best first.

    A heading under which only descriptions match comes after those with names that do; what cannot be taken after
    those, and themes last of all: only by their own words, so that none is put on by a near match. Without a query,
    what the keys of the screen do comes first, then `recent`, ids of what was done last.
    """
    group, words = split(query)
    pool = [entry for entry in entries if not group or entry.group == group]
    if not words:
        return [(entry, ()) for entry in _offered(pool, recent if not group else ())[:MOST]]
    wanted = words.casefold().split()
    wanted = [word for word in wanted if word not in _IGNORED] or wanted
    scored = [(entry, found) for entry in pool if (found := _match(entry, wanted)) is not None]
    telling = [word for word in wanted if word not in _SAYING_LITTLE]
    if not scored and 0 < len(telling) < len(wanted):  # "what fades this week", "is the store healthy"
        scored = [(entry, found) for entry in pool if (found := _match(entry, telling)) is not None]
    if not scored:
        scored = [(entry, found) for entry in pool if (found := _near(entry, words)) is not None]
    strong = {entry.group for entry, (_, weakest, _) in scored if weakest >= STRONG and not entry.disabled}

    def key(item: tuple[PaletteEntry, tuple[float, float, tuple[int, ...]]]) -> tuple[object, ...]:
        entry, (score, _, _) = item
        last = 2 if entry.group == "THEMES" else 1 if entry.disabled else 0
        doubted = entry.guessed and "COMMANDS" in strong
        return (last, doubted, entry.group not in strong, ORDER.index(entry.group), -score)

    return [(entry, offsets) for entry, (_, _, offsets) in sorted(scored, key=key)[:MOST]]


FEW = 8

TAKING_AWAY = ("D", "X")
"""The letters of what removes: it is never offered for words that it does not have."""

_VERY = 66
"""A word that matches like this stands in the name or among the other words, from its first letter."""


def partly(entries: Sequence[PaletteEntry], words: str) -> Ranked:
    """The commands that have some of several words, those with most of them first; for words that nothing has."""
    wanted = [word for word in words.casefold().split() if len(word) > 2 and word not in _SAYING_LITTLE]
    found: list[tuple[int, float, PaletteEntry, tuple[int, ...]]] = []
    for entry in entries if len(words.split()) > 1 else ():
        if entry.group != "COMMANDS" or entry.disabled or entry.key in TAKING_AWAY:
            continue
        matches = [
            each for word in wanted if (each := _match(entry, [word])) is not None and each[1] >= _VERY
        ]
        if matches:
            met, where = sum(each[0] for each in matches), {at for each in matches for at in each[2]}
            found.append((len(matches), met, entry, tuple(sorted(where))))
    found.sort(key=lambda each: (-each[0], -each[1]))
    return [(entry, offsets) for _, _, entry, offsets in found[:FEW]]


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


def _match(entry: PaletteEntry, wanted: Sequence[str]) -> tuple[float, float, tuple[int, ...]] | None:
    """How well every word is met, how well the worst of them, and where in the name; None when one is not."""
    if entry.group in ("MEMORIES", "INTENT"):
        return 1000.0, 1000.0, match_offsets(entry.name, wanted)
    name = entry.name[:LONGEST].casefold()
    beside = entry.group != "THEMES"
    its, place = _words(name), _words(entry.place)
    also, about = (_words(entry.also), _words(entry.about)) if beside else ((), ())
    total, weakest = 0.0, 1000.0
    for word in wanted:
        met = max(
            100 if word in its else 0,
            80 if any(each.startswith(word) for each in its) else 0,
            60 if len(word) > 2 and word in name else 0,
            76 if word in also else 0,
            66 if any(each.startswith(word) for each in also) else 0,
            62 if word in place else 0,
            40 if word in about else 0,
            30 if any(each.startswith(word) for each in (*about, *place)) else 0,
        )
        if not met:
            return None
        total, weakest = total + met, min(weakest, met)
    total += 12 if name.startswith(wanted[0]) else 0
    total += 8 if entry.here else 4 if not entry.place else 0
    return total - len(its), weakest, match_offsets(entry.name[:LONGEST], wanted)


@lru_cache(8_192)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _near(entry: PaletteEntry, words: str) -> tuple[float, float, tuple[int, ...]] | None:
    """A name with the letters in this order, where nothing has the words."""
    if entry.group == "THEMES" or entry.key in TAKING_AWAY:
        return None
    value, offsets = FuzzySearch().match(words, entry.name[:LONGEST])
    return (value, STRONG, tuple(offsets)) if value > 0 else None


def match_offsets(text: str, wanted: Sequence[str]) -> tuple[int, ...]:
    """Where the words stand in the text, the beginnings of words before their middles."""
    low = text.casefold()
    if len(low) != len(text):
        low = text.lower()
    if len(low) != len(text):
        return ()
    found: set[int] = set()
    for word in wanted:
        starts = [each.start() for each in re.finditer(re.escape(word), low)]
        begun = [at for at in starts if at == 0 or not low[at - 1].isalnum()]
        for at in begun or starts:
            found.update(range(at, at + len(word)))
    return tuple(sorted(found))
