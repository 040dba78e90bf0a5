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
        said = crop(one_line(about), room, glyphs.ellipsis)
        gap = width - line.cell_length - Content(said).cell_length - 1
        line = Content.assemble(line, " " * gap, (said, "$dim"))
    return line


def foot_lines(advice: str, missing: str, width: int, rows: int, glyphs: Glyphs) -> list[Content]:
    """Advice above what is missing; what is missing alone where there is one row."""
    lines = []
    if missing:
        text = crop(one_line(missing), width - 4, glyphs.ellipsis)
        lines.append(Content.assemble((f" {glyphs.warn} ", "bold $stale"), (text, "$foreground")))
    if advice and len(lines) < rows:
        lines.insert(0, Content.styled(f" {crop(one_line(advice), width - 2, glyphs.ellipsis)}", "$dim"))
    return lines
