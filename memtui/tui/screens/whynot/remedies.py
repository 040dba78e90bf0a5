"""What could be written so that the memory comes back, or is kept away: the mildest first, each tried before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.paint.bars import padded_bar, progress
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.whynot.state import WhyNotState
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.explain import (
        MemoryRemedy,
    )


MOST_HARM, BAR_CELLS = 4, 4


def remedy_rows(state: WhyNotState, width: int, glyphs: Glyphs, cap: str) -> list[Row]:
    """Two lines a remedy; before they were looked for, what `cap`, the key, does."""
    returned = state.verdict is not None and state.verdict.returned
    if state.remedies is None:
        return [_said(_before(state, returned, cap), width)]
    if not state.remedies:
        purpose = "keeps it away" if returned else "brings it back"
        return [_said(f"No memory change {purpose}: all were tested.", width)]
    return [Row(_remedy(remedy, width, glyphs), f"remedy:{remedy.name}") for remedy in state.remedies]


def _before(state: WhyNotState, returned: bool, cap: str) -> str:
    if state.remedies_error is not None:
        return f"Could not be tried: {state.remedies_error}"
    if state.trying is not None:
        return "testing edits on a copy; nothing is written"
    if state.verdict is None:
        return ""
    purpose = "keep it away" if returned else "bring it back"
    return f"{cap} finds memory changes that {purpose}, each tested by recall and the saved cases"


def _said(text: str, width: int) -> Row:
    lines = Content.styled(one_line(text), "$dim").wrap(max(12, width - 4))
    return Row(tuple(Content.assemble(" ", line) for line in lines))


def _remedy(remedy: MemoryRemedy, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
    end = Content.assemble((remedy.place, "bold $foreground"), "  ", (f"{glyphs.mark} confirmed", "$ok"))
    title = Content.styled(one_line(remedy.title), "$foreground")
    room = width - 4
    if title.cell_length + end.cell_length + 2 <= room:
        gap = " " * (room - title.cell_length - end.cell_length)
        lines = [Content.assemble("   ", title, gap, end)]
    else:
        lines = [Content.assemble("   ", line) for line in title.wrap(max(12, room))]
        lines.append(Content.assemble("     ", end).truncate(max(8, width - 1), ellipsis=True))
    kept = remedy.effect.cases
    cases = "no saved cases"
    if kept.cases:
        cases = f"{kept.right_after} of {counted(kept.cases, 'case')} right, {kept.right_before} before"
    worse = (f"   worsens {counted(remedy.worse, 'case')}", "$danger") if remedy.worse else ""
    harm = Content.assemble(
        "     ",
        (padded_bar(remedy.harm / MOST_HARM, BAR_CELLS, glyphs), "$primary"),
        (f" risk {remedy.harm} of {MOST_HARM}   {cases}", "$dim"),
        worse,
    )
    return (*lines, harm.truncate(max(8, width - 1), ellipsis=True))


def tried(state: WhyNotState, glyphs: Glyphs) -> Content:
    """How many there are, or how far trying them is."""
    if state.trying is not None:
        strip = progress(state.trying.fraction or 0.0, 8, glyphs) if state.trying.total else "trying"
        return Content.styled(strip, "$primary")
    return Content.styled(f"{len(state.remedies)} found" if state.remedies else "", "$dim")
