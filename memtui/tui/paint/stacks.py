"""Counts by tier as stacked bars, and a calendar of shades: told apart by shade, not by hue alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from textual.content import Content

from memtui.tui.paint.glyphs import UNICODE, Glyphs
from memtui.tui.theme.tokens import TIER_TOKENS

TIER_SHADES = (4, 3, 1)
"""Of core, working and peripheral, in `Glyphs.shades`."""
WEEK = 7


def stacked_bar(counts: Sequence[int], most: int, width: int, glyphs: Glyphs = UNICODE) -> Content:
    """One bar of counts by tier, `most` filling `width` cells; counts above zero get a cell while there are any."""
    total = sum(counts)
    if width <= 0 or most <= 0 or total <= 0:
        return Content()
    cells = max(1, min(width, round(total / most * width)))
    styles = [f"${token}" for token in TIER_TOKENS.values()]
    parts = [
        (glyphs.shades[shade] * size, style)
        for size, shade, style in zip(_shares(counts, cells), TIER_SHADES, styles, strict=True)
        if size
    ]
    return Content.assemble(*parts)


def _shares(counts: Sequence[int], cells: int) -> list[int]:
    """`cells` shared out by count: every count above zero gets one, the largest first where they do not suffice."""
    total = sum(counts)
    shares = [0] * len(counts)
    for i in sorted(range(len(counts)), key=lambda i: -counts[i])[:cells]:
        shares[i] = 1 if counts[i] else 0
    for _ in range(cells - sum(shares)):
        wanting = [count / total * cells - share for count, share in zip(counts, shares, strict=True)]
        shares[wanting.index(max(wanting))] += 1
    return shares


def shade_legend(glyphs: Glyphs = UNICODE) -> Content:
    """Which shade is which tier."""
    parts = [
        Content.styled(f"{glyphs.shades[shade]} {tier}", f"${token}")
        for (tier, token), shade in zip(TIER_TOKENS.items(), TIER_SHADES, strict=True)
    ]
    return Content("  ").join(parts)


def calendar_lines(days: Sequence[int], now_ms: int, width: int, glyphs: Glyphs = UNICODE) -> list[Content]:
    """Months above, then seven rows (Monday first) of one cell a week, the present week at the right.

    `days` are counts a day, oldest first, today last. Shades are thirds of the largest count.
    """
    label = 4
    weeks = max(1, min(width - label, (len(days) + WEEK - 1) // WEEK))
    today = datetime.fromtimestamp(now_ms / 1000, UTC)
    monday = today - timedelta(days=today.weekday())
    first = monday - timedelta(weeks=weeks - 1)
    most = max(days, default=0)
    rows = []
    for weekday in range(WEEK):
        cells = []
        for week in range(weeks):
            ago = (today.date() - (first + timedelta(weeks=week, days=weekday)).date()).days
            count = days[len(days) - 1 - ago] if 0 <= ago < len(days) else -1
            cells.append(_shade(count, most, glyphs))
        name = ("Mon", "", "Wed", "", "Fri", "", "")[weekday]
        rows.append(Content.assemble((name.ljust(label), "$dim"), ("".join(cells), "$primary")))
    return [_months(first, weeks, label), *rows]


def _shade(count: int, most: int, glyphs: Glyphs) -> str:
    if count < 0:
        return " "
    if count == 0:
        return glyphs.dot
    return glyphs.shades[1 + min(3, int(count / most * 4))] if most else glyphs.dot


def _months(first: datetime, weeks: int, label: int) -> Content:
    line = [" "] * (label + weeks)
    last, free = -1, 0
    for week in range(weeks):
        month = (first + timedelta(weeks=week)).month
        at = label + week
        if month != last and at >= free and at + 3 <= len(line):
            line[at : at + 3] = (first + timedelta(weeks=week)).strftime("%b")
            free = at + 4
        last = month
    return Content.styled("".join(line), "$dim")
