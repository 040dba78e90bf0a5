"""What stands below the lists of Audit's sessions where a large screen has room: days and costs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.paint.bars import bar
from memtui.tui.paint.cells import flowing, right
from memtui.tui.paint.numbers import full
from memtui.tui.screens.audit import view
from memtui.tui.screens.audit.state import AuditState
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look

LEAST_BELOW = 9
"""Rows that a list must leave before anything stands below it."""

BAR_CELLS = 24


def sessions(state: AuditState, width: int, look: Look) -> list[Row]:
    """The sessions; below them the injections of each day, as the store tells of them."""
    rows = view.sessions(state, width, look)
    room = look.height - _high(rows)
    found = state.economy
    if found is None or room < LEAST_BELOW:
        return rows
    head = f"{full(sum(found.by_day))} in {counted(len(found.by_day), 'day')}, minimum"
    below = [_head("INJECTED PER DAY", head, width)]
    below += _days(found.by_day, width, look)[-(room - 4) :]
    below += [view.line(""), view.fact("turns", view.turn_words(found), width)]
    return [*rows, view.line(""), *below]


def turns(state: AuditState, width: int, look: Look) -> list[Row]:
    """The turns; below them what was injected most often, and what was dear without a trace of use."""
    rows = view.turns(state, width, look)
    room = look.height - _high(rows)
    found = state.economy
    if found is None or room < LEAST_BELOW or not (found.most or found.dearest):
        return rows
    often = [(full(each.times), each.preview) for each in found.most if each.times > 1]
    parts = [
        ("INJECTED MOST OFTEN", "times", often),
        ("MOST EXPENSIVE UNUSED", "tokens", [(full(each.tokens), each.preview) for each in found.dearest]),
    ]
    parts = [part for part in parts if part[2]]
    most = max(1, (room - 2 * len(parts)) // len(parts))
    for title, unit, lines in parts:
        rows += [view.line(""), _head(title, unit, width)]
        rows += [_counted_line(count, text, width, look) for count, text in lines[:most]]
    return rows


def _high(rows: Sequence[Row]) -> int:
    return sum(len(row.lines) for row in rows)


def _head(title: str, far: str, width: int) -> Row:
    room = width - len(title) - 2
    return Row((Content.assemble((f" {title}", "bold $heading"), (right(far, room), "$dim")),))


def _days(counts: Sequence[int], width: int, look: Look) -> list[Row]:
    """A bar for each day, today last."""
    most = max(counts, default=0)
    today = datetime.fromtimestamp(look.now_ms / 1000, look.zone)
    rows = []
    for ago, count in zip(reversed(range(len(counts))), counts, strict=True):
        day = today - timedelta(days=ago)
        name = f" {day:%a} {day.day:>2}  "
        drawn = bar(count / most if most else 0.0, max(4, min(BAR_CELLS, width - 18)), look.glyphs)
        line = Content.assemble((name, "$dim"), (drawn, "$primary"), f" {full(count)}" if count else "")
        rows.append(Row((line,)))
    return rows


def _counted_line(count: str, text: str, width: int, look: Look) -> Row:
    lead = Content.assemble((right(count, 7), "$stale"), "  ")
    return Row(flowing(lead, one_line(text), Content(), width - 1, look.glyphs.ellipsis))
