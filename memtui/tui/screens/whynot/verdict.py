"""The verdict in a few lines: which memory, which question, the first gate that it failed."""

from __future__ import annotations

from textual.content import Content

from memtui.engine import one_line
from memtui.tui.paint.bars import progress
from memtui.tui.paint.cells import crop
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import plural
from memtui.tui.screens.whynot.state import WhyNotState
from memtui.tui.screens.whynot.words import gate_name
from memtui.tui.theme.tokens import category_style, scope_style, tier_style

MOST_LINES = 4
"""Lines of the sentence; the ladder has it whole."""


def verdict_lines(state: WhyNotState, width: int, glyphs: Glyphs) -> list[Content]:
    """The memory on one line, then the sentence."""
    lines = [_memory(state, width, glyphs)]
    room = max(20, width - 4)
    if state.error is not None:
        said = [(str(state.error), "$danger")]
    elif state.verdict is None:
        said = [("looking at every gate", "$dim")]
    else:
        returned = state.verdict.returned
        said = [(one_line(state.verdict.sentence), "bold $ok" if returned else "bold $stage-cut")]
        said += [(one_line(warning), "$stale") for warning in state.verdict.warnings[:1]]
    for n, (text, style) in enumerate(said):
        wrapped = Content.styled(text, style).wrap(room)
        mark = _mark(state, glyphs) if n == 0 else glyphs.warn
        shown = wrapped[:MOST_LINES] if n == 0 else wrapped[:1]
        for i, line in enumerate(shown):
            lines.append(Content.assemble(f" {mark} " if i == 0 else "   ", line))
    return lines


def _mark(state: WhyNotState, glyphs: Glyphs) -> str:
    if state.error is not None:
        return glyphs.warn
    if state.verdict is None:
        return glyphs.busy
    return glyphs.mark if state.verdict.returned else glyphs.cross


def _memory(state: WhyNotState, width: int, glyphs: Glyphs) -> Content:
    memory = state.memory
    if memory is None:
        return Content.styled(f"   {one_line(state.memory_id)}", "$dim")
    scope = one_line(memory.scope or "no scope")
    room = max(10, width - len(scope) - 14)
    return Content.assemble(
        " ",
        (glyphs.tier(memory.tier), tier_style(memory.tier)),
        " ",
        (one_line(memory.category or "")[:4], category_style(memory.category)),
        " ",
        (crop(one_line(memory.text[:600]), room, glyphs.ellipsis), "bold $foreground"),
        "  ",
        (scope, scope_style(memory.scope)),
    ).truncate(max(8, width))


def asked(state: WhyNotState, room: int, glyphs: Glyphs) -> str:
    """The question, and by which recipe."""
    recipe = one_line(state.trace.recipe)
    return f"{crop(one_line(state.trace.query[:400]), max(8, room - len(recipe) - 3), glyphs.ellipsis)}   {recipe}"


def searched(state: WhyNotState, glyphs: Glyphs) -> Content:
    """How far the search for the smallest change is."""
    count = len(state.verdict.changes) if state.verdict is not None else 0
    found = f"{count} found" if count else ""
    if state.phase == "stopped":
        return Content.styled(f"{found}   stopped".strip(), "$stale")
    if state.phase in ("looking", "searching"):
        done = state.progress
        if done is None or not done.total:
            return Content.styled("searching", "$primary")
        strip = progress(done.fraction, 8, glyphs)
        return Content.assemble((f"{found}   " if found else "", "$dim"), (strip, "$primary"))
    return Content.styled(found, "$dim")


def failed_gates(state: WhyNotState) -> str:
    """How many gates the memory failed, the first by name."""
    if state.verdict is None:
        return ""
    failed = [rung for rung in state.verdict.ladder if rung.passed is False]
    if not failed or state.verdict.returned:
        return f"{plural(len(state.verdict.ladder), 'gate')}, all passed" if state.verdict.returned else ""
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"failed {gate_name(failed[0].gate)}{more}"
