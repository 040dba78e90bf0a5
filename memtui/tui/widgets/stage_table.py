"""The stage waterfall: what ran, in which order, how long it took and how many candidates it let through."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from memtui.tui.host import host
from memtui.tui.paint.timeline import StageTiming, stage_row, total
from memtui.tui.widgets.row_list import Row, RowList


class StageTable(RowList):
    """One row a stage; below them what a person should know of this run."""

    IDLE_CURSOR = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._laps: tuple[StageTiming, ...] = ()
        self._notes: tuple[Content, ...] = ()

    def show(self, laps: Sequence[StageTiming], notes: Sequence[Content] = ()) -> None:
        """Show these stages; `notes` stand below them, as long as the room allows."""
        self._laps, self._notes = tuple(laps), tuple(notes)
        self.repaint()

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        end = total(self._laps)
        rows = [
            Row((stage_row(lap, end, width, glyphs),), "" if lap.stale else lap.name) for lap in self._laps
        ]
        lines = self._note_lines(max(10, width - 3), self.container_size.height - len(rows))
        return [*rows, *(Row((line,)) for line in lines)]

    def _note_lines(self, room: int, height: int) -> list[Content]:
        """The notes wrapped after an empty line; where they do not fit, their first sentences, or one line each."""
        lines: list[Content] = []
        for notes in (self._notes, [_first_sentence(note) for note in self._notes]):
            lines = [Content.assemble(" ", line) for note in notes for line in note.wrap(room)]
            if len(lines) <= height:
                break
        else:
            lines = [Content.assemble(" ", note.truncate(room, ellipsis=True)) for note in self._notes]
        return [Content(), *lines] if self._laps and lines and len(lines) < height else lines


def _first_sentence(note: Content) -> Content:
    end = note.plain.find(". ")
    return note if end < 0 else note[: end + 1]
