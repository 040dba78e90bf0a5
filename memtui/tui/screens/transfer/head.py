"""The stepper on top, and the two lines at the bottom: what to know, and what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.style import Style

from memtui.engine import one_line
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs


def head_line(title: str, steps: Sequence[str], step: str, about: str, width: int, glyphs: Glyphs) -> Content:
    """The name, the steps with the one that is on, and what it is about."""
    narrow = width < 100
    at = steps.index(step) if step in steps else -1
    parts = []
    for number, name in enumerate(steps):
        if number < at:
            part = Content.assemble((f"{glyphs.mark} ", "$ok"), (name, "$dim"))
            part = part.stylize(Style.from_meta({"@click": f"screen.step_to('{name}')"}))
        elif number == at:
            part = Content.assemble((f"{glyphs.idle} ", "$primary"), (name, "bold $foreground"))
        else:
            part = Content.assemble((f"{glyphs.busy} ", "$dim"), (name, "$dim"))
        parts.append(part)
    rule = Content.styled(f" {glyphs.rule * (1 if narrow else 4)} ", "$frame")
    lead = Content() if narrow and steps else Content.assemble((title, "bold $heading"), "   ")
    line = Content.assemble(" ", lead, rule.join(parts))
    room = width - line.cell_length - 3
    if about and room >= 8:
        said = _shortened(one_line(about), room, glyphs)
        gap = width - line.cell_length - Content(said).cell_length - 1
        line = Content.assemble(line, " " * gap, (said, "$dim"))
    return line


def _shortened(about: str, room: int, glyphs: Glyphs) -> str:
    """`about` in `room` cells: the name that it begins with is cut before the numbers behind it."""
    name, comma, rest = about.partition(", ")
    left = room - Content(comma + rest).cell_length
    if Content(about).cell_length <= room or left < 8:
        return crop(about, room, glyphs.ellipsis)
    return crop(name, left, glyphs.ellipsis) + comma + rest


def foot_lines(advice: str, missing: str, width: int, rows: int, glyphs: Glyphs) -> list[Content]:
    """Advice above what is missing, wrapped where there is room; what is missing comes before advice."""
    lines = []
    if missing:
        lead = (f" {glyphs.warn} ", "bold $stale")
        lines = _wrapped(lead, missing, "$foreground", width, rows, glyphs)
    if advice and len(lines) < rows:
        lines = _wrapped(" ", advice, "$dim", width, rows - len(lines), glyphs) + lines
    return lines


def _wrapped(
    lead: str | tuple[str, str], text: str, style: str, width: int, rows: int, glyphs: Glyphs
) -> list[Content]:
    """`text` behind `lead`, in at most `rows` lines."""
    first = Content.assemble(lead)
    room = max(8, width - first.cell_length - 1)
    wrapped = [line.plain for line in Content(one_line(text)).wrap(room)]
    shown = [*wrapped[: rows - 1], crop(" ".join(wrapped[rows - 1 :]), room, glyphs.ellipsis)]
    return [
        Content.assemble(first if at == 0 else " " * first.cell_length, (line, style))
        for at, line in enumerate(shown)
        if line
    ]
