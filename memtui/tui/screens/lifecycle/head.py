"""The line on top: what is asked, each part with the key that changes it; below it, narrow, the panels."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style

from memtui.engine import Review, one_line
from memtui.tui.keys import Key, Keymap
from memtui.tui.paint.bars import progress
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.lifecycle.state import PANELS, LifecycleState
from memtui.tui.screens.lifecycle.words import MEASURES, SHORT, day, span

BAR = 24
"""Cells of the bar of the review, where there is room."""


def _chip(key: Key, text: str, style: str = "$foreground") -> Content:
    press = Style.from_meta({"@click": f"app.simulate_key('{key.press}')"})
    return Content.assemble((key.cap, "bold $key"), " ", (text, style)).stylize(press)


def head_lines(
    state: LifecycleState, keys: Keymap, now_ms: int, width: int, glyphs: Glyphs, *, tabs: bool
) -> list[Content]:
    """One line of what is asked; with `tabs` a second one with the names of the panels.

    In the review it is one line of how far that is.
    """
    ask, key = state.ask, keys.by_id
    if state.reviewing:
        return [_progress(state.review, key["lifecycle.back"], width, glyphs)]
    when = day(now_ms + ask.ahead_days * 86_400_000)
    moved = f" +{span(ask.ahead_days)}" if ask.ahead_days else ""
    scope = "all" if ask.scopes is None else one_line(ask.scopes[0] or "(none)") or '" "'
    chips = [
        _chip(key["lifecycle.later"], f"as of {when}{moved}", "$stale" if moved else "$foreground"),
        _chip(key["lifecycle.longer"], f"next {span(ask.horizon_days)}"),
        _chip(key["lifecycle.scenario"], ask.scenario),
        _chip(key["lifecycle.scope"], f"scope {scope}", "$foreground" if ask.scopes is None else "$stale"),
    ]
    if width >= 100:
        chips.append(_chip(key["lifecycle.measure"], MEASURES[state.measure]))
    line = Content.assemble(" ", Content("   ").join(chips))
    said = _said(state, key["lifecycle.reset"], width)
    gap = width - line.cell_length - said.cell_length - 1
    if said.plain and gap >= 2:
        line = Content.assemble(line, " " * gap, said)
    return [line, _tabs(state)] if tabs else [line]


def _said(state: LifecycleState, reset: Key, width: int) -> Content:
    if state.stale or state.board is None:
        return Content.styled("computing", "$primary")
    if state.trying:
        return Content.styled(f"trying settings, {reset.cap} takes them back", "$stale")
    if width < 140:
        return Content()
    return Content.styled(
        f"{full(state.board.rows)} memories in {state.board.ms:.0f} ms   {state.board.settings.origin}",
        "$dim",
    )


def _progress(review: Review | None, back: Key, width: int, glyphs: Glyphs) -> Content:
    """How many are settled, as a bar and in words, and the way back."""
    name = Content.styled(" weekly review", "bold $primary")
    if review is None:
        return Content.assemble(name, ("   computing", "$primary"))
    whole = review.settled + review.waiting
    strip = progress(review.settled / whole if whole else 1.0, BAR if width >= 100 else BAR // 2, glyphs)
    line = Content.assemble(
        name,
        "   ",
        (strip, "$ok"),
        (f"   {full(review.settled)} settled this week", "bold"),
        (f", {full(review.waiting)} waiting", "$foreground"),
    )
    leave = _chip(back, "to the panels", "$dim")
    gap = width - line.cell_length - leave.cell_length - 1
    return Content.assemble(line, " " * gap, leave) if gap >= 2 else line


def _tabs(state: LifecycleState) -> Content:
    parts = []
    for name in PANELS:
        here = name == (state.zoom or state.panel)
        press = Style.from_meta({"@click": f"screen.panel('{name}')"})
        text = Content.styled(
            f"[{SHORT[name]}]" if here else SHORT[name], "bold $primary" if here else "$dim"
        )
        parts.append(text.stylize(press))
    return Content.assemble(" ", Content("  ").join(parts))
