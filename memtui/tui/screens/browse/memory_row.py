"""One line of the memory list, as pieces of text and the names of their styles."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len, set_cell_size

from memtui.engine import Memory, one_line
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import age, date, score, short
from memtui.tui.theme.tokens import brightness, category_code, category_style, scope_style, tier_style

Piece = tuple[str, str]
"""Text and style; the style is a string of tokens such as `bold $tier-core`."""

Name = Literal[
    "near", "flag", "tier", "cat", "imp", "text", "scope", "conf", "age", "used", "n", "source", "by"
]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the list: its heading and its width in cells."""

    name: Name
    head: str
    width: int
    sort: str = ""
    """The sort key that orders by it, empty where there is none."""


NEAR = Column("near", "sim", 4)

FLAG = Column("flag", "", 1)

TIER = Column("tier", "t", 1, "tier")

CATEGORY = Column("cat", "cat", 4, "category")

TIER_WORD = Column("tier", "tier", 12, "tier")
"""The tier with its word, where there is room."""

CATEGORY_WORD = Column("cat", "category", 11, "category")

IMPORTANCE = Column("imp", "imp", 4, "importance")

SCOPE = Column("scope", "scope", 16, "scope")

CONFIDENCE = Column("conf", "conf", 4, "confidence")

AGE = Column("age", "age", 4, "timestamp")

USED = Column("used", "used", 4, "used")

COUNT = Column("n", "n", 4, "access")

SOURCE = Column("source", "source", 12, "source")

TEXT_SORT = "text"

BY_WIDTH = 10
"""The column of what the list is sorted by, where no other shows it."""

LEAST_TEXT = 24
"""The text column is never narrower than this: other columns give way first."""

WANTED_TEXT = 60
"""Cells of text from which other columns are worth their room."""

_MORE = (IMPORTANCE, USED, COUNT, SCOPE, CONFIDENCE, SOURCE)
"""Columns beside the first ones, in the order in which they are worth their room."""


_OF_FIELDS = {
    "tier": TIER,
    "importance": IMPORTANCE,
    "confidence": CONFIDENCE,
    "last_accessed": USED,
    "access_count": COUNT,
}


def columns_of(fields: Collection[str]) -> frozenset[str]:
    """Names of the columns that show these fields of a memory."""
    return frozenset(_OF_FIELDS[field].name for field in fields)


def columns(
    width: int, sort: str, screen: int = 0, *, tall: bool = False, absent: Collection[str] = ()
) -> tuple[Column, ...]:
    """The columns that fit into `width` cells; the one that is sorted by is always among them (`~`: similarity).

    The text has half of the `screen` before any column is shown that the list can do without. Rows of two lines
    (`tall`) have the scope on the second, and their text has its half over both: words stand in such rows sooner.
    No memory here has the columns that are `absent`, by their names.
    """
    half = -(-screen // 2)
    key = sort.removeprefix("-")
    shown = [each for each in (FLAG, TIER, CATEGORY) if each.name not in absent]
    if key == "~":
        shown.append(NEAR)
    by_key = {column.sort: column for column in (*_MORE, AGE)}
    if key in by_key:
        shown.append(by_key[key])
    elif key not in ("~", TEXT_SORT, *(column.sort for column in shown)):
        head = {"valid_from": "valid from", "valid_until": "valid until"}.get(key, one_line(key))
        shown.append(Column("by", crop(head, BY_WIDTH - 1, ""), BY_WIDTH, key))
    if AGE not in shown and _room([*shown, AGE], width) >= max(LEAST_TEXT, half):
        shown.append(AGE)
    for column in _MORE:
        below = (tall and column in (SCOPE, SOURCE)) or column.name in absent
        if not below and column not in shown and _room([*shown, column], width) >= max(WANTED_TEXT, half):
            shown.append(column)
    least = WANTED_TEXT if tall else max(WANTED_TEXT, half)
    for short_one, whole in ((CATEGORY, CATEGORY_WORD), (TIER, TIER_WORD)):
        if short_one in shown and _room(shown, width) - whole.width + short_one.width >= least:
            shown[shown.index(short_one)] = whole
    if _room(shown, width) < LEAST_TEXT and key != CATEGORY.sort:
        shown.remove(CATEGORY)
    order: tuple[Name, ...] = (
        "near",
        "flag",
        "tier",
        "cat",
        "imp",
        "by",
        "text",
        "scope",
        "source",
        "conf",
        "age",
        "used",
        "n",
    )
    shown.append(Column("text", "memory", max(1, _room(shown, width)), TEXT_SORT))
    return tuple(sorted(shown, key=lambda column: order.index(column.name)))


def _room(shown: list[Column], width: int) -> int:
    """What is left for the text after the cursor, every column and the gaps between them."""
    return width - 1 - sum(column.width for column in shown) - len(shown) - 1


def heading(shown: tuple[Column, ...], sort: str, glyphs: Glyphs) -> list[Piece]:
    """The line of headings; the one that is sorted by carries an arrow."""
    key, falling = sort.removeprefix("-"), sort.startswith("-")
    pieces: list[Piece] = [(" ", "")]
    for column in shown:
        text, style = column.head, "$dim"
        if column.sort == key and column.sort:
            arrow = glyphs.down if falling else glyphs.up
            style = "bold $primary"
            text = (text.strip() + arrow)[-column.width :] if column.width < 5 else text + arrow
        put = right if column.name in ("age", "used", "n", "conf", "near") else fit
        pieces += [(put(text, column.width, ""), style), (" ", "")]
    return pieces


STAGED: dict[str, Piece] = {
    "edit": ("~", "bold $stale"),
    "delete": ("-", "bold $delta-down"),
    "add": ("+", "bold $delta-up"),
}
"""The mark of a staged change, in the place of the flag: as it stands before its row in the change set."""


def row(
    memory: Memory,
    shown: tuple[Column, ...],
    *,
    now_ms: int,
    glyphs: Glyphs,
    near: float | None = None,
    staged: str | None = None,
    sought: re.Pattern[str] | None = None,
    below: int = 0,
) -> list[Piece]:
    """A memory as one line, without the cursor cell; weight follows importance of the tier.

    `near` is its similarity, where the list is in that order; `staged` is the change that waits for it; `sought`
    finds what the filter asks for, which is brightened and, where it stands far to the right, brought into sight.
    `below` are the cells of a second line on which the text goes on (`second_line`).
    """
    faded = _faded(memory)
    pieces: list[Piece] = []
    for column in shown:
        if column.name == "text" and (sought is not None or below):
            style = "$dim" if faded else _text_style(memory)
            text = memory.title
            if below:
                text = two_lines(text, column.width, below, sought, glyphs)[0]
            pieces += [*found_text(text, sought, column.width, style, glyphs), (" ", "")]
            continue
        text, style = _cell(memory, column, now_ms, glyphs, near)
        if staged is not None and column.name == "flag":
            text, style = STAGED[staged]
        if faded and column.name != "flag":
            style = "$bar-low" if column.name == "imp" else "$dim"
        pieces += [(text, style), (" ", "")]
    return pieces


def _faded(memory: Memory) -> bool:
    return not memory.active or memory.expired or memory.state == "archived"


def found_text(
    text: str, sought: re.Pattern[str] | None, width: int, style: str, glyphs: Glyphs
) -> list[Piece]:
    """`text` in `width` cells with what is `sought` brightened, from shortly before the first where that is far on."""
    if sought is not None:
        text = _shifted(text, sought, width, glyphs)
    return _brightened(fit(text, width, glyphs.ellipsis), sought, style)


def _shifted(text: str, sought: re.Pattern[str], width: int, glyphs: Glyphs) -> str:
    """`text` from shortly before what is `sought`, where that would not be seen in `width` cells."""
    first = sought.search(text)
    if first is None or cell_len(text[: first.end()]) <= width - 1:
        return text
    start, room = first.start(), width // 3
    while start > 0 and cell_len(text[start - 1 : first.start()]) < room:
        start -= 1
    return glyphs.ellipsis + text[start:]


def _brightened(shown: str, sought: re.Pattern[str] | None, style: str) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for match in sought.finditer(shown) if sought is not None else ():
        if match.end() > match.start():
            pieces += [(shown[at : match.start()], style), (match[0], "bold $match")]
            at = match.end()
    return [*pieces, (shown[at:], style)]


def _before_text(shown: tuple[Column, ...]) -> int:
    """Cells before the text, without the cursor's."""
    at = next(i for i, column in enumerate(shown) if column.name == "text")
    return sum(column.width + 1 for column in shown[:at])


def below_width(shown: tuple[Column, ...], width: int) -> int:
    """Cells for the text on the second line of a row: from where it begins on the first to the end of the row."""
    return max(1, width - 1 - _before_text(shown) - 1)


def two_lines(
    text: str, first: int, second: int, sought: re.Pattern[str] | None, glyphs: Glyphs
) -> tuple[str, str]:
    """`text` on a line of `first` cells and one of `second`, parted between two words where that is possible."""
    if sought is not None:
        text = _shifted(text, sought, first + second - second // 8, glyphs)
    if cell_len(text) <= first:
        return text, ""
    head = set_cell_size(text, first)
    if not text[len(head.rstrip()) :].startswith(" ") and " " in head.strip():
        head = head[: head.rstrip().rindex(" ")] if cell_len(head[: head.rindex(" ")]) > first // 2 else head
    head = head.rstrip()
    return head, crop(text[len(head) :].lstrip(), second, glyphs.ellipsis)


def second_line(
    memory: Memory,
    shown: tuple[Column, ...],
    width: int,
    *,
    glyphs: Glyphs,
    sought: re.Pattern[str] | None = None,
) -> list[Piece]:
    """What a row of two lines says below: the text as it goes on, and where there is room whose it is."""
    room = below_width(shown, width)
    column = next(column for column in shown if column.name == "text")
    _, text = two_lines(memory.title, column.width, room, sought, glyphs)
    style = "$dim" if _faded(memory) else _text_style(memory)
    pieces = [(" " * _before_text(shown), ""), *_brightened(text, sought, style)]
    told = any(column.name == "scope" for column in shown)
    scope = "" if told else one_line(memory.scope or "no scope")
    left = room - cell_len(text)
    if scope and left >= cell_len(scope) + 2:
        pieces.append((right(scope, left), "$dim" if _faded(memory) else scope_style(memory.scope)))
    return pieces


def skeleton(shown: tuple[Column, ...], index: int, glyphs: Glyphs) -> list[Piece]:
    """A row whose page has not arrived: the shape of one, a little different from line to line."""
    pieces: list[Piece] = []
    for column in shown:
        bones = column.width if column.name != "text" else column.width * (55 + index * 37 % 40) // 100
        bones = 0 if column.name == "flag" else min(bones, column.width)
        pieces += [((glyphs.skeleton * bones).ljust(column.width), "$faint"), (" ", "")]
    return pieces


def _cell(memory: Memory, column: Column, now_ms: int, glyphs: Glyphs, near: float | None) -> Piece:
    width = column.width
    match column.name:
        case "near":
            return right(score(near), width), brightness(near or 0.0)
        case "flag":
            return flag(memory, glyphs)
        case "tier":
            tier = _rank(memory)
            sign = glyphs.tier(tier)
            label = memory.tier or str(memory.extra.get("importance_label") or "").replace("_", " ")
            named = fit(f"{sign} {one_line(label)}", width, glyphs.ellipsis)
            return (named if width > TIER.width else sign), tier_style(tier)
        case "cat":
            whole = width > CATEGORY.width
            said = one_line(memory.category or "-") if whole else category_code(memory.category)
            return fit(said, width, glyphs.ellipsis if whole else ""), category_style(memory.category)
        case "imp":
            value = memory.importance or 0.0
            return padded_bar(value, width, glyphs), brightness(value)
        case "text":
            return fit(memory.title, width, glyphs.ellipsis), _text_style(memory)
        case "scope":
            return fit(one_line(memory.scope or "-"), width, glyphs.ellipsis), scope_style(memory.scope)
        case "conf":
            return right(score(memory.confidence), width), "$dim"
        case "age":
            return right(age(memory.timestamp_ms, now_ms), width), "$dim"
        case "used":
            return right(age(memory.last_used_ms, now_ms), width), "$dim"
        case "n":
            return right(short(memory.access_count), width), "$dim"
        case "source":
            return fit(one_line(memory.source or "-"), width, glyphs.ellipsis), "$dim"
        case "by":
            return _sorted_value(memory, column.sort, width, glyphs), "$dim"


def _sorted_value(memory: Memory, key: str, width: int, glyphs: Glyphs) -> str:
    """What a memory is sorted by, as one cell: numbers to the right, times as days."""
    value: Any
    match key:
        case "id":
            value = memory.id[:8]  # as everywhere else
        case "state" | "layer":
            value = getattr(memory, key)
        case "valid_from":
            value = date(memory.valid_from_ms)[:width]
        case "valid_until":
            value = date(memory.valid_until_ms)[:width]
        case "invalidated":
            value = date(memory.invalidated_at_ms)[:width]
        case "suppressed":
            until = memory.metadata_values.get("suppressed_until_ms")
            value = date(until if isinstance(until, (int, float)) else None)[:width]
        case _:
            value = memory.extra.get(key)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, (int, float)):
        said = f"{value:.{width - 3}g}" if isinstance(value, float) else f"{value}"
        return right(said, width, glyphs.ellipsis)
    return fit("-" if value is None else one_line(str(value)), width, glyphs.ellipsis)


def flag(memory: Memory, glyphs: Glyphs) -> Piece:
    """The one thing about a memory that changes what it is worth, or a space: signs that differ without colour."""
    if memory.superseded_by or memory.invalidated_at_ms is not None:
        return glyphs.replaced, "$delta-down"
    if not memory.active or memory.expired:
        return glyphs.expired, "$delta-down"
    if memory.state == "archived":
        return glyphs.cross, "$stale"
    if not memory.metadata_valid:
        return glyphs.warn, "$danger"
    if memory.state == "pending":
        return glyphs.pending, "$stale"
    if memory.suppressed:
        return glyphs.asleep, "$stale"
    return " ", ""


_RANKS = {"must_remember": "core", "nice_to_have": "working", "ignore": "peripheral"}
"""Importance labels of openclaw-mem-engine by the tier whose mark they take: its memories have no tier."""


def _rank(memory: Memory) -> str | None:
    """The tier of a memory, or what its importance label comes to."""
    return memory.tier or _RANKS.get(str(memory.extra.get("importance_label")))


def legend(glyphs: Glyphs) -> tuple[tuple[str, str], ...]:
    """(sign, what it means) of the list's columns: the flag, the tier, and the four letters of a category."""
    return (
        (glyphs.core, "tier core"),
        (glyphs.working, "tier working"),
        (glyphs.peripheral, "tier peripheral"),
        (glyphs.replaced, "superseded"),
        (glyphs.expired, "expired, or not active"),
        (glyphs.cross, "archived"),
        (glyphs.pending, "pending: not confirmed yet"),
        (glyphs.asleep, "held back from recall for now"),
        (glyphs.warn, "its metadata cannot be read"),
        *((category_code(name), f"category {name}") for name in CODED),
    )


CODED = (
    "preference",
    "fact",
    "decision",
    "entity",
    "event",
    "reflection",
    "other",
    "profile",
    "case",
    "pattern",
)
"""Categories whose four letters the legend explains."""


def _text_style(memory: Memory) -> str:
    rank = _rank(memory)
    if rank == "core":
        return "bold $foreground"
    return "$dim" if rank == "peripheral" else "$foreground"
