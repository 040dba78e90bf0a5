"""The flow panel: who is in which tier, and who would move if the tier manager ran."""

from __future__ import annotations

from textual.content import Content

from memtui.engine import Board
from memtui.tui.paint.bars import spark
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.lifecycle.words import step
from memtui.tui.theme.tokens import tier_style
from memtui.tui.widgets.rows import Row

NAME = 14
CELL = 8
MOVED = 6
STEP = 3
"""Cells of a count of moves, and of the two tiers with the arrow between them."""


def flow_rows(board: Board, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """A head, one row a tier, then the moves between them and what a sweep would leave alone."""
    columns = ("now", "in", "out", "after", "stale")
    shown = columns[: max(2, min(len(columns), (width - NAME - 2) // CELL))]
    head = "".join(right(name, CELL) for name in shown)
    rows = [Row((Content.styled(f" {'':{NAME}}{head}", "$dim"),))]
    for facts in board.tiers:
        values = (facts.rows, facts.arriving, facts.leaving, facts.after, facts.stale)
        cells: list[str | tuple[str, str]] = []
        for name, value in zip(shown, values, strict=False):
            sign = {"in": "+", "out": "-"}.get(name, "") if value else ""
            style = {"in": "$delta-up", "out": "$delta-down", "stale": "$stale"}.get(name, "$foreground")
            cells.append((right(f"{sign}{full(value)}", CELL), style if value else "$dim"))
        line = Content.assemble(
            " ", (fit(f"{glyphs.tier(facts.tier)} {facts.tier}", NAME), tier_style(facts.tier)), *cells
        )
        trend = spark(facts.bins, glyphs)
        if trend and width - line.cell_length >= len(trend) + 3:
            line = Content.assemble(line, "   ", (trend, tier_style(facts.tier)))
        rows.append(Row((line,), facts.tier))
    rows.append(Row((Content(),)))
    rows += [Row((line,)) for line in _moves(board, width, glyphs)]
    return rows if len(rows) <= height else [row for row in rows if row.lines[0].plain.strip()]


def _moves(board: Board, width: int, glyphs: Glyphs) -> list[Content]:
    if not board.flows:
        return [Content.styled(" nobody moves: every memory is where the rules want it", "$dim")]
    lines = [
        Content.assemble(
            (right(full(flow.rows), MOVED), "$foreground"),
            " ",
            *step(flow.before, flow.after, glyphs),
            (f"  {crop(flow.rule, max(1, width - MOVED - STEP - 4), glyphs.ellipsis)}", "$dim"),
        )
        for flow in board.flows
    ]
    return [line.truncate(width) for line in lines]
