"""What did not come back, by the stage that stopped it: why, with which score, and how much it missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.theme.tokens import category_cell, tier_style
from memtui.tui.widgets.row_list import Row, RowList

SCORE_CELLS = 6

MISSED_CELLS = 21


@dataclass(frozen=True, slots=True)
class Miss:
    """One dropped memory: the score it had, and by how much it missed the gate."""

    id: str
    text: str
    tier: str | None
    category: str | None
    score: str
    missed: str


@dataclass(frozen=True, slots=True)
class DroppedGroup:
    """A gate that stopped something: the stage, the reason in words, and whom."""

    stage: str
    why: str
    style: str
    misses: tuple[Miss, ...]
    note: str = ""


def gate_line(gate: DroppedGroup, width: int, glyphs: Glyphs) -> Content:
    """The heading over the memories that one gate stopped."""
    count = f"{len(gate.misses):,} "
    why = gate.why + (f": {one_line(gate.note)}" if gate.note else "")
    head = Content.assemble(" ", (gate.stage.upper(), f"bold {gate.style}"), "  ", (why, "$dim"))
    room = width - len(count) - 1
    if head.cell_length > room:
        head = Content.assemble(head.truncate(max(1, room - 1)), glyphs.ellipsis)
    return Content.assemble(head, " " * max(1, width - head.cell_length - len(count)), (count, "$dim"))


def miss_lines(miss: Miss, width: int, glyphs: Glyphs, missed: int = MISSED_CELLS) -> list[Content]:
    """One dropped memory in lines of `width` cells; what the first has no room for of its text goes on in the second.

    `missed` are the cells for what it missed.
    """
    missed_cells = min(MISSED_CELLS, missed) if width >= 56 else 0
    text_cells = max(6, width - 11 - SCORE_CELLS - missed_cells)
    whole = Content(one_line(miss.text)).wrap(text_cells)
    text = whole[0].plain.rstrip() if whole else ""
    line = Content.assemble(
        "  ",
        (glyphs.tier(miss.tier), tier_style(miss.tier)),
        " ",
        category_cell(miss.category),
        " ",
        (text, "$foreground"),
        " " * (text_cells - cell_len(text)),
        (right(miss.score, SCORE_CELLS), "$foreground"),
        "  " if missed_cells else "",
        (fit(miss.missed, max(0, missed_cells - 1), glyphs.ellipsis), "$stage-cut"),
        " ",
    )
    if len(whole) < 2:
        return [line]
    rest = crop(" ".join(part.plain.strip() for part in whole[1:]), width - 11, glyphs.ellipsis)
    return [line, Content.assemble(" " * 9, (rest, "$dim"))]


class DroppedList(RowList):
    """All candidates that some lane found and some gate stopped."""

    OVER_SCREEN = True

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._gates: tuple[DroppedGroup, ...] = ()

    def show(self, gates: Sequence[DroppedGroup]) -> None:
        """Show these gates and whom they stopped."""
        self._gates = tuple(gates)
        self.repaint()

    def first_of(self, stage: str) -> str:
        """The first memory that a stage stopped; empty when it stopped none."""
        return next((g.misses[0].id for g in self._gates if g.stage == stage and g.misses), "")

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        rows: list[Row] = []
        missed = max((cell_len(miss.missed) + 2 for gate in self._gates for miss in gate.misses), default=0)
        for i, gate in enumerate(self._gates):
            heading = gate_line(gate, width, glyphs)
            rows.append(Row((Content(), heading) if i else (heading,)))
            rows += [Row(tuple(miss_lines(miss, width, glyphs, missed)), miss.id) for miss in gate.misses]
        return rows
