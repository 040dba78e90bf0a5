"""The what-if panel: every setting as a slider, and what the tried ones do to tiers, plan, forecast and cases."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content

from memtui.engine import KNOBS, Board, Knob
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.paint.slider import slider
from memtui.tui.screens.lifecycle.state import LifecycleState, value_of
from memtui.tui.screens.lifecycle.words import span
from memtui.tui.theme.tokens import tier_style
from memtui.tui.widgets.rows import Row

TITLE = 15
VALUE = 8
MOST_TRACK = 40
LEAST_TRACK = 16
"""Cells of a track that are worth more than the words behind it."""
EFFECT_NAME = 19
EFFECT_CELLS = 46
"""Width of the effect beside the sliders; a narrow screen has it below them."""
Measured = Mapping[str, float | None]


def figure(value: float, each: Knob) -> str:
    """A setting's value: `30 d`, `10`; with two digits where it is a share or a shape: `.70`, `1.50`."""
    if each.whole:
        return f"{value:.0f}"
    if each.unit:
        return f"{value:g} {each.unit}"
    return f"{value:.2f}".removeprefix("0") if value < 1 else f"{value:.2f}"


def knob_rows(state: LifecycleState, width: int, glyphs: Glyphs) -> list[Row]:
    """One row a setting: name, value, track, and its meaning where there is room."""
    meaning = max(len(each.meaning) for each in KNOBS) + 2
    left = width - TITLE - VALUE - 2
    track = max(8, min(MOST_TRACK, left - meaning if left - meaning >= LEAST_TRACK else left - 1))
    rows = []
    for each in KNOBS:
        value = value_of(state, each)
        own = state.settings.values.get(each.key, each.default) if state.settings else each.default
        tried = each.key in state.ask.changes
        line = Content.assemble(
            " ",
            (fit(each.title, TITLE), "bold $key" if tried else "$foreground"),
            (right(figure(value, each), VALUE), "bold $key" if tried else "$foreground"),
            " ",
            slider(value, each.low, each.high, own, track, glyphs),
            (f"  {each.meaning}" if left - track >= meaning else "", "$dim"),
        )
        rows.append(Row((line.truncate(width, ellipsis=True),), each.key))
    return rows


def effect_lines(
    board: Board | None,
    base: Board | None,
    cases: tuple[Measured, Measured] | None,
    said: str,
    width: int,
    glyphs: Glyphs,
) -> list[Content]:
    """What the tried settings change: tiers once swept, stale memories, the plan, the forecast, the cases."""
    if board is None:
        return []
    old = base or board
    lines = []
    for facts, before in zip(board.tiers, old.tiers, strict=True):
        name = f"{glyphs.tier(facts.tier)} {facts.tier} swept"
        lines.append(_row(name, before.after, facts.after, glyphs, tier_style(facts.tier)))
    lines.append(_row("stale", old.stale, board.stale, glyphs, "$stale"))
    lines.append(
        _row("moves due", old.promotions + old.demotions, board.promotions + board.demotions, glyphs, "$dim")
    )
    ahead = span(board.ask.horizon_days)
    lines.append(
        _row(f"lines in {ahead}", sum(old.counts.values()), sum(board.counts.values()), glyphs, "$dim")
    )
    lines.append(_cases(cases, said, bool(board.ask.changes), glyphs))
    return [line.truncate(max(1, width)) for line in lines]


def _row(name: str, before: int, after: int, glyphs: Glyphs, style: str) -> Content:
    change = after - before
    moved: list[tuple[str, str]] = []
    if change:
        moved = [
            (f" {glyphs.forth} ", "$dim"),
            (right(full(after), 7), "bold $foreground"),
            (right(f"{change:+,}", 9), "$delta-up" if change > 0 else "$delta-down"),
        ]
    return Content.assemble(
        " ", (fit(name, EFFECT_NAME), style), (right(full(before), 7), "$foreground"), *moved
    )


def _cases(cases: tuple[Measured, Measured] | None, said: str, tried: bool, glyphs: Glyphs) -> Content:
    if cases is None:
        return Content.styled(f" {said}", "$dim")
    before, after = (each.get("ndcg") for each in cases)
    if before is None or after is None:
        return Content.styled(" no saved case names a memory that is there", "$dim")
    change = after - before
    same = abs(change) < 5e-4
    return Content.assemble(
        (f" {'cases, nDCG':<{EFFECT_NAME}}", "$foreground"),
        (f"{before:7.3f}", "$foreground"),
        (f" {glyphs.forth} ", "$dim") if not same else "",
        (f"{after:7.3f}", "bold") if not same else ("   unchanged" if tried else "", "$dim"),
        ("" if same else f"{change:+9.3f}", "$delta-up" if change > 0 else "$delta-down"),
    )


def compact(lines: list[Content]) -> list[Content]:
    """The same in two lines for a narrow screen: tiers, then the rest."""
    if not lines:
        return []
    body = [" ".join(line.plain.split()).replace(" swept", "") for line in lines]
    return [
        Content.styled(f" swept: {'   '.join(body[:3])}", "$foreground"),
        Content.styled(f" {'   '.join([*body[3:5], body[6].removeprefix('cases, ')])}", "$dim"),
    ]
