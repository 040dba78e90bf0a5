"""Short words of the Lifecycle screen: horizons, scenarios, measures, tiers, days."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import DAY
from memtui.tui.theme.tokens import tier_style

if TYPE_CHECKING:
    from memtui.engine.lifecycle.lives import Remedy

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
IF_MOVED = {
    "nothing": "if swept: dreaming is off, nothing else moves it",
    "unknown": "if swept: the plugin moves tiers only while it dreams",
    "dreaming": "if swept, or if dreaming looks at it (rows of its last two days)",
}
"""By `moves.Mover`: on what a dated move between tiers depends."""
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


def outlook(remedy: Remedy, horizon_days: float) -> str:
    """What a remedy leaves to come, in at most 24 cells: its end, its staleness, a move down, or none of them."""
    stale, ends = remedy.stale_at_ms, remedy.ends_at_ms
    if ends is not None and (stale is None or ends <= stale):
        return f"still ends {day(ends)}"
    if stale is not None:
        return f"stale on {day(stale)}"
    if remedy.sinks_at_ms is not None:
        return f"may sink {day(remedy.sinks_at_ms)}"
    return f"not stale within {span(horizon_days)}"


def crossed(kind: str, to: str, tier: str, mover: str) -> str:
    """A crossing in words: "goes stale"; a move between tiers with what it depends on."""
    if to == tier:
        return KINDS[kind]
    verb = {"rises": "would rise", "sinks": "would sink"}[kind]
    return f"{verb} to {to} {IF_MOVED[mover]}"


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
