"""What alone would bring the memory back, smallest first; and what cannot, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import Counterfactual, Powerless, Verdict, one_line
from memtui.engine.lab.verdict import TIMES
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import fit
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.whynot.words import change_words, knob_name, on_the_memory, plain
from memtui.tui.widgets.rows import Row

KNOB_CELLS, BAR_CELLS = 22, 8


def change_rows(verdict: Verdict, searching: bool, width: int, glyphs: Glyphs) -> list[Row]:
    """Two lines a change, then the powerless knobs by reason."""
    rows: list[Row] = []
    if verdict.changes:
        rows.append(_heading("ONE OF THESE ALONE BRINGS IT BACK, THE SMALLEST FIRST", width))
        rows += [Row(_change(each, width, glyphs), f"change:{each.knob}") for each in verdict.changes]
    elif not searching and not verdict.returned and verdict.gate != "unknown_id":
        rows.append(Row((Content.styled(" No single change was found that brings it back.", "$foreground"),)))
    elif searching and not verdict.returned:
        rows.append(Row((Content.styled(" searching: what helps is listed as it is found", "$dim"),)))
    if verdict.powerless:
        rows.append(Row((Content(), *_heading("CANNOT HELP ALONE", width).lines)))
        rows += _powerless(verdict.powerless, width)
    return rows


def _heading(text: str, width: int) -> Row:
    return Row((Content.styled(f" {text}", "bold $heading").truncate(max(8, width)),))


def _change(change: Counterfactual, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
    sure = ("confirmed", "$ok") if change.confirmed else ("estimated", "$stale")
    mark = glyphs.mark if change.confirmed else "~"
    rank = "" if change.rank is None else f"to #{change.rank}  "
    end = Content.assemble((rank, "bold $foreground"), (f"{mark} ", sure[1]), sure)
    room = max(8, width - KNOB_CELLS - end.cell_length - 6)
    said = change_words(change.knob, change.before, change.after, glyphs.forth)
    short = said if cell_len(said) <= room else ""
    first = Content.assemble(
        "   ",
        (fit(knob_name(change.knob), KNOB_CELLS, glyphs.ellipsis), "bold $key"),
        (fit(short, room), "$foreground"),
        " ",
        end,
    )
    lines = [] if short else Content.styled(said, "$foreground").wrap(max(12, width - 6))
    return (first, *(Content.assemble("     ", line) for line in lines), _how_much(change, width, glyphs))


def _how_much(change: Counterfactual, width: int, glyphs: Glyphs) -> Content:
    """How far the knob is turned, what one step less does, and what else is to be said."""
    told = []
    if on_the_memory(change.knob):
        told.append("of the memory")
    turned = change.knob not in TIMES and not on_the_memory(change.knob)
    if turned and change.one_less is not None and change.one_less != change.before:
        told.append(f"{plain(change.one_less)} does not")
    if change.note:
        told.append(one_line(change.note))
    share = (
        "one word"
        if change.knob == "query"
        else "a switch"
        if change.size >= 1 and (change.one_less is None or change.knob in TIMES)
        else f"{change.size:.0%} of its range"
    )
    line = Content.assemble(
        "     ",
        (padded_bar(min(1.0, change.size), BAR_CELLS, glyphs), "$primary"),
        (f" {share}", "$dim"),
        ("   " + "   ".join(told) if told else "", "$dim"),
    )
    return line.truncate(max(8, width - 1), ellipsis=True)


def _powerless(powerless: Sequence[Powerless], width: int) -> list[Row]:
    by_reason: dict[str, list[str]] = {}
    for each in powerless:
        by_reason.setdefault(one_line(each.why), []).append(knob_name(each.knob))
    rows = []
    for why, knobs in by_reason.items():
        names, room = ", ".join(knobs), width - KNOB_CELLS - 5
        if len(names) < KNOB_CELLS and len(why) <= room:
            line = Content.assemble("   ", (fit(names, KNOB_CELLS), "$foreground"), (why, "$dim"))
            rows.append(Row((line,)))
            continue
        lines = Content.styled(names, "$foreground").wrap(max(12, width - 4))
        reason = Content.styled(why, "$dim").wrap(max(12, width - 6))
        told = [Content.assemble("   ", line) for line in lines]
        rows.append(Row((*told, *(Content.assemble("     ", line) for line in reason))))
    return rows
