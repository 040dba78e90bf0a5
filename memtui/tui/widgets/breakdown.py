"""Why a memory stands where it stands: its score as an axis waterfall, or as one stacked bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from memtui.tui.host import host
from memtui.tui.paint.cells import shorten
from memtui.tui.paint.waterfall import Waterfall, fall_rows, stacked, summary


@dataclass(frozen=True, slots=True)
class GateWords:
    """One gate in short, and what it asked for."""

    short: Content
    asked: Content = Content()  # noqa: RUF009 - immutable


@dataclass(frozen=True, slots=True)
class ScoreReasons:
    """One memory's score and the facts to tell beside it (each one short phrase)."""

    fall: Waterfall
    facts: tuple[Content, ...] = ()
    gates: tuple[GateWords, ...] = ()


class Breakdown(Widget):
    """Paints a `ScoreReasons`; nothing to focus, it follows the selection."""

    DEFAULT_CSS = """
    Breakdown { height: 1fr; background: $background; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._why: ScoreReasons | None = None

    def show(self, why: ScoreReasons | None) -> None:
        """Show this account; None empties the panel."""
        self._why = why
        self.refresh()

    def render(self) -> Content:
        width, height = self.size
        if self._why is None or width < 20:
            return Content()
        glyphs = host(self).glyphs
        fall = self._why.fall
        if not fall.moves:
            line = Content.styled(" stopped in its lane: there are no steps to take apart", "$dim")
            tail = [row for row in self._tail(width, height - 1) if row.plain.strip() or height > 4]
            return Content("\n").join(_fitted([line, *tail] if height > 4 else tail, height))
        if height < len(fall.moves) + 1 and height <= 4:
            bar = Content.assemble(" ", stacked(fall, width - 2, glyphs))
            words = Content.assemble(" ", summary(fall, width - 2, glyphs))
            return Content("\n").join(_fitted([words, bar], height))
        rows = fall_rows(fall, width, glyphs)
        if len(rows) > height:
            moved = Waterfall(tuple(m for m in fall.moves if m.before != m.after), fall.final, fall.limit)
            rows = fall_rows(moved, width, glyphs)
        if len(rows) > height:
            rows = [*rows[: height - 1], rows[-1]]
        return Content("\n").join(_fitted([*rows, *self._tail(width, height - len(rows))], height))

    def _tail(self, width: int, height: int) -> Sequence[Content]:
        """Gates and facts below the steps: a line each where there is room, else one after the other."""
        assert self._why is not None
        gates, room = self._why.gates, max(10, width - 2)
        facts = packed(self._why.facts, room)
        if len(gates) + len(facts) + 3 <= height:
            cells = max((g.short.cell_length for g in gates if g.asked.plain), default=0) + 2
            words = [
                Content.assemble(g.short.extend_right(max(0, cells - g.short.cell_length)), g.asked)
                for g in gates
            ]
            lines = [Content(), *words, *([Content()] if words else []), *facts]
        else:
            lines = [Content(), *packed([g.short for g in gates], room), *facts]
        end = host(self).glyphs.ellipsis
        return [Content.assemble(" ", shorten(line, room, end)) for line in lines]


def _fitted(lines: Sequence[Content], height: int) -> Sequence[Content]:
    return lines[: max(1, height)]


def packed(phrases: Sequence[Content], room: int) -> list[Content]:
    """The phrases one after the other in lines of at most `room` cells; a phrase is never broken in two."""
    lines: list[Content] = []
    for phrase in phrases:
        if lines and lines[-1].cell_length + 3 + phrase.cell_length <= room:
            lines[-1] = Content.assemble(lines[-1], "   ", phrase)
        else:
            lines.append(phrase)
    return lines
