"""What the palette lists, and which of it answers to what was typed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.fuzzy import FuzzySearch

MOST = 200
"""Rows that are ranked and drawn; typing one more letter is quicker than scrolling further."""

LONGEST = 80
"""Fuzzy matching may take seconds on a long name."""


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One row: a name, what it is about, the direct key, and what to do when it is taken.

    `preview` is called while the row is highlighted. Names are plain text, never markup, and short.
    """

    group: str
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


Ranked = list[tuple[PaletteEntry, tuple[int, ...]]]
"""Entries with the matched character offsets of their names."""

PREFIXES = {">": "COMMANDS", "@": "MEMORIES", ":": "SCOPES", "/": "VIEWS", "?": "TOPICS", "%": "THEMES"}
"""What a first character narrows to."""


def split(query: str) -> tuple[str, str]:
    """The group that the query is narrowed to (empty for all), and the words."""
    group = PREFIXES.get(query[:1], "")
    return group, (query[1:] if group else query).strip()


def rank(entries: list[PaletteEntry], query: str) -> Ranked:
    """The entries that match, grouped and best first; what cannot be taken comes last."""
    group, words = split(query)
    pool = [entry for entry in entries if not group or entry.group == group]
    if not words:
        return [(entry, ()) for entry in sorted(pool, key=lambda entry: bool(entry.disabled))[:MOST]]
    search = FuzzySearch()
    scored: list[tuple[float, int, PaletteEntry, tuple[int, ...]]] = []
    for order, entry in enumerate(pool):
        value, offsets = search.match(words, entry.name[:LONGEST])
        if value > 0:
            scored.append((value, order, entry, tuple(offsets)))
    best: dict[str, float] = {}
    for value, _, entry, _ in scored:
        best[entry.group] = max(value, best.get(entry.group, 0.0))
    scored.sort(
        key=lambda item: (bool(item[2].disabled), -best[item[2].group], item[2].group, -item[0], item[1])
    )
    return [(entry, offsets) for _, _, entry, offsets in scored[:MOST]]
