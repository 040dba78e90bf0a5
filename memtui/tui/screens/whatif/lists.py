"""What comes back under the tried settings, against what came back before: who rose, who fell, who left and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import one_line
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import plural, score
from memtui.tui.screens.recall import account, rules
from memtui.tui.screens.whatif.state import WhatIfState
from memtui.tui.theme.tokens import category_style, tier_style
from memtui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from memtui.engine import Memory, Trace

BAR, MOVED, SCORE = 8, 7, 6


def result_rows(state: WhatIfState, width: int, glyphs: Glyphs) -> list[Row]:
    """The list now; then who came back before and does not; then the watched memory where it is in neither."""
    trace, base = state.trace, state.base
    if trace is None or base is None:
        return []
    rows = [_result(trace, base, id, width, glyphs) for id in trace.returned]
    if not rows:
        rows.append(Row((Content.styled("  Nothing comes back.", "$foreground"),)))
    gone = [id for id in base.returned if id not in trace.returned]
    if gone:
        rows.append(Row((Content(), Content.styled(" NO LONGER", "bold $heading"))))
        rows += [_missing(trace, base, id, width, glyphs) for id in gone]
    if state.selected and state.selected not in (*trace.returned, *gone):
        rows.append(Row((Content(), Content.styled(" STILL MISSING", "bold $heading"))))
        rows.append(_missing(trace, base, state.selected, width, glyphs))
    return rows


def known(trace: Trace, base: Trace, id: str) -> Memory | None:
    """A memory as the base read it; only those that are new are read for this answer."""
    return base.memories.get(id) or (trace.memories.get(id) if fresh(trace, base) else None)


def fresh(trace: Trace, base: Trace) -> bool:
    """Whether the answer has memories that the base has not."""
    return any(row.id not in base.memories for row in trace.pool.rows)


def _name(memory: Memory | None, id: str, cells: int, glyphs: Glyphs) -> Content:
    room = max(6, cells - 7)
    text = crop(one_line(memory.text[:400]), room, glyphs.ellipsis) if memory else one_line(id)
    tier, category = (memory.tier, memory.category) if memory else (None, None)
    return Content.assemble(
        (glyphs.tier(tier), tier_style(tier)),
        " ",
        (fit(one_line(category or "")[:4], 4, ""), category_style(category)),
        " ",
        (fit(text, room), "$foreground"),
    )


def _result(trace: Trace, base: Trace, id: str, width: int, glyphs: Glyphs) -> Row:
    rank = trace.returned.index(id) + 1
    candidate = next(each for each in trace.results if each.id == id)
    moved, style = _moved(base, id, rank, glyphs)
    bar = BAR if width >= 56 else 0
    full = max(1.0, max((each.score or 0.0 for each in trace.results), default=0.0))
    share = (candidate.score or 0.0) / full
    line = Content.assemble(
        (right(str(rank), 3), "bold $foreground"),
        " ",
        _name(known(trace, base, id), id, width - 4 - bar - SCORE - MOVED - 2, glyphs),
        " ",
        (padded_bar(share, bar, glyphs), "$score-high"),
        (right(score(candidate.score), SCORE), "bold $foreground"),
        (right(moved, MOVED), style),
        " ",
    )
    return Row((line,), id)


def _moved(base: Trace, id: str, rank: int, glyphs: Glyphs) -> tuple[str, str]:
    if id not in base.returned:
        return "new", "bold $delta-up"
    by = base.returned.index(id) + 1 - rank
    if by == 0:
        return "=", "$dim"
    return (f"{glyphs.up}{by}", "$delta-up") if by > 0 else (f"{glyphs.down}{-by}", "$delta-down")


def _missing(trace: Trace, base: Trace, id: str, width: int, glyphs: Glyphs) -> Row:
    candidate = next((each for each in trace.candidates if each.id == id), None)
    if candidate is None:
        why = "never became a candidate"
    else:
        inputs = account.gate_step(candidate)
        missed = rules.missed(
            candidate.reason, inputs.get("value"), inputs.get("limit", candidate.limit), inputs
        )
        why = rules.gate(candidate.reason) + (f": {missed}" if missed else "")
    was = f"was #{base.returned.index(id) + 1}" if id in base.returned else ""
    memory = known(trace, base, id)
    room = width - 8 - len(was)
    return Row(
        (
            Content.assemble(
                "    ", _name(memory, id, room, glyphs), (right(was, len(was) + 1), "$delta-down"), " "
            ),
            Content.assemble(" " * 11, (crop(why, max(8, width - 13), glyphs.ellipsis), "$stage-cut")),
        ),
        id,
    )


def summary(state: WhatIfState) -> str:
    """How much changed: `2 in, 2 out, 4 moved`."""
    trace, base = state.trace, state.base
    if trace is None or base is None:
        return ""
    came = sum(1 for id in trace.returned if id not in base.returned)
    went = sum(1 for id in base.returned if id not in trace.returned)
    both = [id for id in trace.returned if id in base.returned]
    moved = sum(1 for id in both if trace.returned.index(id) != base.returned.index(id))
    if not (came or went or moved):
        return "the same list" if state.tried else ""
    return f"{came} in, {went} out, {moved} moved"


def asked(state: WhatIfState) -> str:
    """How the list came about: from what was found, or by another search, and in what time."""
    if state.found is None:
        return ""
    trace = state.found.trace
    ms = f"{trace.total_ms:,.0f} ms" if trace.total_ms >= 1 else "<1 ms"
    if state.found.asked:
        return f"searched again, {ms}"
    return f"from {plural(trace.pool.n, 'candidate')} at hand, {ms}"
