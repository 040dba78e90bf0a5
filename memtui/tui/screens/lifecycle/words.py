"""Short words of the Lifecycle screen: horizons, scenarios, measures, tiers, days."""

from __future__ import annotations

from datetime import UTC, datetime

from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import DAY
from memtui.tui.theme.tokens import tier_style

TITLES = {
    "curves": "Decay curves",
    "scores": "Scores",
    "flow": "Tier flow",
    "next": "About to change",
    "whatif": "What if",
    "numbers": "Numbers",
    "history": "History",
    "findings": "Findings",
    "review": "Review",
    "card": "Memory",
}
SHORT = {
    "curves": "curves",
    "scores": "scores",
    "flow": "flow",
    "next": "about to change",
    "whatif": "what-if",
    "numbers": "numbers",
    "history": "history",
    "findings": "findings",
}
MEASURES = {
    "composite": "composite",
    "recency": "recency",
    "boost": "weight in recall",
}
KINDS = {"stale": "goes stale", "rises": "rises", "sinks": "sinks", "expires": "expires"}
YEAR = 365.25


def span(days: float) -> str:
    """`30 d`, `1 y`, `100 y`."""
    return f"{days / YEAR:.0f} y" if days >= 360 else f"{days:g} d"


def until(at_ms: float, now_ms: float) -> str:
    """How far a moment lies ahead, in at most four cells: `3h`, `12d`, `21w`, `4y`."""
    gap = max(0.0, at_ms - now_ms)
    if gap < DAY:
        return f"{gap / 3_600_000:.0f}h"
    days = gap / DAY
    if days < 100:
        return f"{days:.0f}d"
    return f"{days / 7:.0f}w" if days < 2 * YEAR else f"{days / YEAR:.0f}y"


def day(ms: float) -> str:
    """`21 Nov`, with the year where it is far off; `-` for what is no date."""
    try:
        moment = datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return "-"
    return f"{moment.day} {moment.strftime('%b %Y')}"


def minute(ms: float) -> str:
    """`21 Nov 2026 14:05`."""
    try:
        return f"{day(ms)} {datetime.fromtimestamp(ms / 1000, UTC).strftime('%H:%M')}"
    except (OverflowError, OSError, ValueError):
        return day(ms)


def step(before: str, after: str, glyphs: Glyphs) -> tuple[tuple[str, str], ...]:
    """`◇▸·`: from one tier to another, as styled parts."""
    return (
        (glyphs.tier(before), tier_style(before)),
        (glyphs.forth, "$dim"),
        (glyphs.tier(after), tier_style(after)),
    )
