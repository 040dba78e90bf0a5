"""The ladder: every gate in order, whether the memory passed it, its number against the limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from textual.content import Content

from memtui.engine import Rung, Verdict, one_line
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import plural
from memtui.tui.screens.whynot.words import gate_name, gate_number
from memtui.tui.widgets.rows import Row

GATE_CELLS, NUMBER_CELLS = 16, 11
MOST_VALUE = 18
BESIDE = 88
"""From this width on a gate's sentence stands beside its numbers."""
INDENT = 3


def ladder_rows(verdict: Verdict, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """A heading, then one row a gate. Where they do not fit, gates that were passed share a line."""
    height -= 1
    return [_heading(width), *_fitting(verdict, width, height, glyphs)]


def _heading(width: int) -> Row:
    own, least = _cells(width)
    line = f" {'':2}{fit('GATE', GATE_CELLS)}{right('MEMORY', own)} {right('LIMIT', least)}"
    return Row((Content.styled(line, "bold $heading").truncate(width),))


def _cells(width: int) -> tuple[int, int]:
    """Of the memory's own value, and of the limit."""
    if width < GATE_CELLS + 2 * NUMBER_CELLS + 6:
        return 8, 8
    return max(NUMBER_CELLS, min(MOST_VALUE, width - GATE_CELLS - NUMBER_CELLS - 6)), NUMBER_CELLS


def _fitting(verdict: Verdict, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    whole = [_row(verdict, rung, width, glyphs, told=True) for rung in verdict.ladder]
    if _lines(whole) <= height:
        return whole
    brief = [_row(verdict, rung, width, glyphs, told=rung.passed is False) for rung in verdict.ladder]
    if _lines(brief) <= height:
        return brief
    return list(_folded(verdict, width, glyphs))


def _lines(rows: Sequence[Row]) -> int:
    return sum(len(row.lines) for row in rows)


def _folded(verdict: Verdict, width: int, glyphs: Glyphs) -> Iterator[Row]:
    for kind, group in groupby(verdict.ladder, lambda rung: _mark(rung, glyphs)):
        rungs = list(group)
        if len(rungs) == 1 or rungs[0].passed is False:
            yield from (_row(verdict, rung, width, glyphs, told=rung.passed is False) for rung in rungs)
            continue
        mark, style = kind
        what = "not asked" if not rungs[0].applies else "passed" if rungs[0].passed else "not known"
        names = ", ".join(gate_name(rung.gate) for rung in rungs)
        line = Content.assemble(
            " ", (mark, style), " ", (f"{plural(len(rungs), 'gate')} {what}: ", "$dim"), (names, "$dim")
        )
        yield Row((line.truncate(max(8, width - 1), ellipsis=True),), f"gate:{rungs[0].gate}")


def _row(verdict: Verdict, rung: Rung, width: int, glyphs: Glyphs, *, told: bool) -> Row:
    mark, style = _mark(rung, glyphs)
    first = rung.gate == verdict.gate
    name_style = "bold $stage-cut" if first else "$foreground" if rung.applies else "$dim"
    value, limit = (gate_number(rung.gate, each) for each in (rung.value, rung.limit))
    limit = (
        limit if value or rung.passed is False else ""
    )  # a limit that nothing was held against says nothing
    own, least = _cells(width)
    head = Content.assemble(
        " ",
        (mark, style),
        " ",
        (fit(gate_name(rung.gate), GATE_CELLS, glyphs.ellipsis), name_style),
        (right(value, own, glyphs.ellipsis), "bold $foreground" if first else "$foreground"),
        (f" {right(limit, least, glyphs.ellipsis)}", "$dim"),
    )
    said = "" if first else _sentence(rung)  # the verdict above says that of the first
    style = "$dim"
    if width >= BESIDE:
        room = width - head.cell_length - 4
        parts = Content.styled(said, style).wrap(max(16, room)) if told else [Content.styled(said, style)]
        parts = parts or [Content()]
        rest = [Content.assemble(" " * (head.cell_length + 2), part) for part in parts[1:]]
        return Row(
            (Content.assemble(head, "  ", parts[0].truncate(room, ellipsis=True)), *rest), f"gate:{rung.gate}"
        )
    lines = Content.styled(said, style).wrap(max(16, width - INDENT - 2)) if told and said else []
    return Row((head, *(Content.assemble(" " * INDENT, line) for line in lines)), f"gate:{rung.gate}")


def _sentence(rung: Rung) -> str:
    aside = " It would have stopped it too." if rung.hypothetical and rung.passed is False else ""
    return one_line(rung.sentence) + aside


def _mark(rung: Rung, glyphs: Glyphs) -> tuple[str, str]:
    if not rung.applies:
        return glyphs.dot, "$dim"
    if rung.passed is None:
        return "?", "$dim"
    if rung.passed:
        return glyphs.mark, "$ok"
    return glyphs.cross, "$dim" if rung.hypothetical else "bold $stage-cut"


def rung_words(verdict: Verdict, key: str) -> str:
    """The sentence of the gate under the cursor."""
    rung = verdict.rung(key.removeprefix("gate:"))
    return _sentence(rung) if rung is not None else ""
