"""The semantic tokens: every colour that a panel may use, named for what it means.

Style strings and TCSS write `$tier-core`, never a colour. The defaults make any Textual theme usable.
"""

from __future__ import annotations

from memtui.engine import clean, one_line
from memtui.tui.paint.cells import fit

TEXT_DARK: dict[str, str] = {
    "dim": "#93a5b8",
    "heading": "#a9bccf",
    "key": "#f2c26b",
    "mark": "#f2c26b",
    "match": "#ffd98a",
    "tier-core": "#f2c26b",
    "tier-working": "#7fd1e8",
    "tier-peripheral": "#94a4b8",
    "scope-global": "#a9c7e8",
    "scope-agent": "#9fd6b4",
    "scope-project": "#d3bdf0",
    "scope-user": "#eec3a0",
    "scope-custom": "#c8cfd8",
    "cat-profile": "#e6b8d8",
    "cat-preference": "#9fd6b4",
    "cat-fact": "#a9c7e8",
    "cat-decision": "#f0c48c",
    "cat-entity": "#8fd8d2",
    "cat-event": "#d3bdf0",
    "cat-case": "#e8b3a4",
    "cat-pattern": "#c9d68f",
    "cat-reflection": "#b9b4f0",
    "cat-other": "#a8b4c2",
    "stage-vector": "#82adff",
    "stage-lexical": "#8fcf8a",
    "stage-fuse": "#bda4f7",
    "stage-rerank": "#f2a676",
    "stage-boost": "#62cdb8",
    "stage-cut": "#ee8f9d",
    "score-high": "#e8f1fa",
    "score-mid": "#b4c4d4",
    "score-low": "#93a3b3",
    "delta-up": "#86d19a",
    "delta-down": "#f08a94",
    "stale": "#e8bd6a",
    "conflict": "#f2a676",
    "danger": "#ff8f8f",
    "ok": "#86d19a",
    "diff-add": "#8fd6a0",
    "diff-del": "#f0949e",
}
"""Tokens that colour text, on a dark background: 4.5:1 on `background`, `cursor` and `cursor-idle`."""

TEXT_LIGHT: dict[str, str] = {
    "dim": "#555c64",
    "heading": "#464d55",
    "key": "#8a4b00",
    "mark": "#8a4b00",
    "match": "#7a3d00",
    "tier-core": "#855200",
    "tier-working": "#0c617c",
    "tier-peripheral": "#5a626b",
    "scope-global": "#2a5a8c",
    "scope-agent": "#246440",
    "scope-project": "#6a3fa0",
    "scope-user": "#8a4a1c",
    "scope-custom": "#50565e",
    "cat-profile": "#8c3470",
    "cat-preference": "#246440",
    "cat-fact": "#2a5a8c",
    "cat-decision": "#855200",
    "cat-entity": "#0d6460",
    "cat-event": "#6a3fa0",
    "cat-case": "#93402c",
    "cat-pattern": "#566010",
    "cat-reflection": "#4c46a8",
    "cat-other": "#565d66",
    "stage-vector": "#2452b8",
    "stage-lexical": "#2a6630",
    "stage-fuse": "#6a3fb0",
    "stage-rerank": "#964616",
    "stage-boost": "#0d6656",
    "stage-cut": "#a8243a",
    "score-high": "#22262b",
    "score-mid": "#474d54",
    "score-low": "#5c636b",
    "delta-up": "#25663a",
    "delta-down": "#a8243a",
    "stale": "#805600",
    "conflict": "#964616",
    "danger": "#b01028",
    "ok": "#25663a",
    "diff-add": "#1f6236",
    "diff-del": "#a8243a",
}
"""The same on a light background."""

SURFACE_DARK: dict[str, str] = {
    "faint": "#3d4f61",
    "bar-high": "#8ba5bf",
    "bar-mid": "#657d95",
    "bar-low": "#4c6075",
    "frame": "#2a3a4a",
    "frame-focus": "#5fb3d4",
    "cursor": "#1c3347",
    "cursor-idle": "#17242f",
    "diff-add-bg": "#12291d",
    "diff-del-bg": "#2e171c",
}
"""Lines, fills and backgrounds: never used for text."""

SURFACE_LIGHT: dict[str, str] = {
    "faint": "#c9c2b4",
    "bar-high": "#5d6b78",
    "bar-mid": "#8a96a0",
    "bar-low": "#b1b9be",
    "frame": "#cfc7b6",
    "frame-focus": "#1f6487",
    "cursor": "#dce8ee",
    "cursor-idle": "#efeae0",
    "diff-add-bg": "#e2f2e2",
    "diff-del-bg": "#fae4e4",
}

NAMES: tuple[str, ...] = (*TEXT_DARK, *SURFACE_DARK)


def defaults(dark: bool) -> dict[str, str]:
    """The value of every token where a theme gives none."""
    return {**TEXT_DARK, **SURFACE_DARK} if dark else {**TEXT_LIGHT, **SURFACE_LIGHT}


TIER_TOKENS = {"core": "tier-core", "working": "tier-working", "peripheral": "tier-peripheral"}

_CATEGORY_TOKENS = {
    "profile": "cat-profile",
    "preference": "cat-preference",
    "preferences": "cat-preference",
    "fact": "cat-fact",
    "decision": "cat-decision",
    "entity": "cat-entity",
    "entities": "cat-entity",
    "event": "cat-event",
    "events": "cat-event",
    "case": "cat-case",
    "cases": "cat-case",
    "pattern": "cat-pattern",
    "patterns": "cat-pattern",
    "reflection": "cat-reflection",
}


def tier_rank(tier: str | None) -> int:
    """The place of a tier in a list of tiers; unknown ones last."""
    names = tuple(TIER_TOKENS)
    return names.index(tier) if tier in names else len(names)


def tier_style(tier: str | None) -> str:
    """Style of a tier's mark: weight follows importance."""
    token = TIER_TOKENS.get(tier or "", "tier-peripheral")
    return f"bold ${token}" if tier == "core" else f"${token}"


def scope_style(scope: str | None) -> str:
    """Style of a scope's name, by its kind (the part before the colon)."""
    kind = (scope or "").strip().split(":", 1)[0]
    return f"$scope-{kind}" if kind in ("global", "agent", "project", "user") else "$scope-custom"


def category_style(category: str | None) -> str:
    """Style of a category's code."""
    return f"${_CATEGORY_TOKENS.get(category or '', 'cat-other')}"


def brightness(value: float) -> str:
    """Style of a bar: brightness, not hue, says how much."""
    if value >= 0.75:
        return "$bar-high"
    return "$bar-mid" if value >= 0.4 else "$bar-low"


_CODES = {
    "preference": "pref",
    "preferences": "pref",
    "fact": "fact",
    "decision": "deci",
    "entity": "enti",
    "entities": "enti",
    "event": "even",
    "events": "even",
    "reflection": "refl",
    "other": "othr",
    "profile": "prof",
    "case": "case",
    "cases": "case",
    "pattern": "patt",
    "patterns": "patt",
}


def category_code(category: str | None) -> str:
    """Four letters for a category."""
    if not category:
        return "-"
    return _CODES.get(category, one_line(category)[:4])


def category_cell(category: str | None) -> tuple[str, str]:
    """A category in four cells of a row, and their style; blank without one."""
    return fit(category_code(category) if category else "", 4, ""), category_style(category)


def as_stored(name: str) -> str:
    """A scope on one line; white space at its ends is a finding, so quotes show where it begins and ends."""
    if name and name == name.strip():
        return one_line(name)
    return f'"{clean(name)}"'.replace("\n", "␊")
