"""One line of the memory list, as pieces of text and the names of their styles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len

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


def columns(width: int, sort: str, screen: int = 0) -> tuple[Column, ...]:
    """The columns that fit into `width` cells; the one that is sorted by is always among them (`~`: similarity).

    The text has half of the `screen` before any column is shown that the list can do without.
    """
    half = -(-screen // 2)
    key = sort.removeprefix("-")
    shown = [FLAG, TIER, CATEGORY]
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
        if column not in shown and _room([*shown, column], width) >= max(WANTED_TEXT, half):
            shown.append(column)
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
) -> list[Piece]:
    """A memory as one line, without the cursor cell; weight follows importance of the tier.

    `near` is its similarity, where the list is in that order; `staged` is the change that waits for it; `sought`
    finds what the filter asks for, which is brightened and, where it stands far to the right, brought into sight.
    """
    faded = not memory.active or memory.expired or memory.state == "archived"
    pieces: list[Piece] = []
    for column in shown:
        if column.name == "text" and sought is not None:
            style = "$dim" if faded else _text_style(memory)
            pieces += [*found_text(memory.title, sought, column.width, style, glyphs), (" ", "")]
            continue
        text, style = _cell(memory, column, now_ms, glyphs, near)
        if staged is not None and column.name == "flag":
            text, style = STAGED[staged]
        if faded and column.name != "flag":
            style = "$bar-low" if column.name == "imp" else "$dim"
        pieces += [(text, style), (" ", "")]
    return pieces


def found_text(text: str, sought: re.Pattern[str], width: int, style: str, glyphs: Glyphs) -> list[Piece]:
    """`text` in `width` cells with what is `sought` brightened, from shortly before the first where that is far on."""
    first = sought.search(text)
    if first is None:
        return [(fit(text, width, glyphs.ellipsis), style)]
    if cell_len(text[: first.end()]) > width - 1:
        start, room = first.start(), width // 3
        while start > 0 and cell_len(text[start - 1 : first.start()]) < room:
            start -= 1
        text = glyphs.ellipsis + text[start:]
    shown = fit(text, width, glyphs.ellipsis)
    pieces: list[Piece] = []
    at = 0
    for match in sought.finditer(shown):
        if match.end() > match.start():
            pieces += [(shown[at : match.start()], style), (match[0], "bold $match")]
            at = match.end()
    return [*pieces, (shown[at:], style)]


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
            return glyphs.tier(memory.tier), tier_style(memory.tier)
        case "cat":
            return fit(category_code(memory.category), width, ""), category_style(memory.category)
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


def _text_style(memory: Memory) -> str:
    if memory.tier == "core":
        return "bold $foreground"
    return "$dim" if memory.tier == "peripheral" else "$foreground"
