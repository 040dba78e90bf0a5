"""The last 24 hours of Agents: in numbers, and where there is room hour by hour and tool by tool. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import counted, duration, one_line
from memtui.tui.layout import WIDE_WIDTH
from memtui.tui.paint.bars import bar, spark
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.agents.state import MOST_CALLS, AgentsState
from memtui.tui.screens.agents.view import fact, line, what_of
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look

if TYPE_CHECKING:
    from memtui.engine.clients import Call

HOURS = 24
HOUR_MS = 3_600_000
HOUR_CELLS = 3
NUMBERS_CELLS = 66
TOOL_NAME_CELLS = 20


def day_rows(state: AgentsState, width: int, look: Look) -> list[Row]:
    """The last 24 hours in numbers; on a wide screen with the calls of each hour, and those of each tool."""
    if state.day is None:
        return []
    if width < WIDE_WIDTH - 2 or not look.glyphs.spark:
        return _numbers(state, width, look)
    since = look.now_ms - HOURS * HOUR_MS
    calls = [call for call in state.calls or () if since <= call.time_ms <= look.now_ms]
    chart_cells = HOURS * HOUR_CELLS + 2
    left = [one for row in _numbers(state, NUMBERS_CELLS, look) for one in row.lines]
    middle = _hours(calls, max(3, min(6, look.height - 3)), look)
    aside = _tools(calls, width - NUMBERS_CELLS - chart_cells - 3, look.height, look.glyphs)
    rows = []
    for one, two, three in zip_longest(left, middle, aside, fillvalue=Content()):
        parts = (_filled(one, NUMBERS_CELLS), _filled(two, chart_cells), Content("   "), three)
        rows.append(Row((Content.assemble(*parts),)))
    return rows


def _filled(part: Content, cells: int) -> Content:
    return part.truncate(cells, pad=True)


def _numbers(state: AgentsState, width: int, look: Look) -> list[Row]:
    """Calls, what was stored and injected, what was refused."""
    day = state.day
    if day is None:
        return []
    p95 = "" if day.p95_ms is None else f", 95 of 100 within {duration(day.p95_ms)}"
    count = sum(number for _, number in day.refused)
    refused = ", ".join(f"{number} {one_line(gate)}" for gate, number in day.refused) or "none"
    slots = f"  {spark(day.slots, look.glyphs)}" if day.calls and look.glyphs.spark else ""
    rows = [
        fact("calls", f"{full(day.calls)}{p95}{slots}", width),
        fact("stored", f"{full(day.stored)}, injected {full(day.injected)}", width),
        fact(
            "refused",
            f"{full(count)}: {refused}" if count else "none",
            width,
            "$stale" if count else "$foreground",
        ),
    ]
    if day.previews:
        waits = counted(day.previews, "change", "changes")
        rows.append(fact("previews", f"{waits} previewed, not confirmed by the client", width))
    rows.append(line(" Kept are ids, times and hashes; texts only with --keep-texts.", "$dim"))
    return rows


def _hours(calls: Sequence[Call], height: int, look: Look) -> list[Content]:
    """Columns of calls and of injections, an hour each, the present one at the right."""
    counts = [0] * HOURS
    for call in calls:
        counts[min(HOURS - 1, HOURS - 1 - (look.now_ms - call.time_ms) // HOUR_MS)] += 1
    most = max(counts)
    if not most:
        return [Content.styled(" no call and no injection in these hours", "$dim")]
    steps = len(look.glyphs.spark)
    drawn = []
    for row in reversed(range(height)):
        cells = []
        for count in counts:
            level = round(count / most * height * steps) - row * steps
            full_cells = look.glyphs.spark[min(level, steps) - 1] if level > 0 else " "
            if count and not row and level <= 0:
                full_cells = look.glyphs.spark[0]
            cells.append(f" {full_cells * (HOUR_CELLS - 1)}")
        drawn.append(Content.styled("".join(cells), "$primary"))
    clocks = ""
    for ago in range(HOURS - 1, -1, -1):
        at = datetime.fromtimestamp((look.now_ms - ago * HOUR_MS) / 1000, look.zone)
        clocks += f" {at:%H}" if at.hour % 3 == 0 else " " * HOUR_CELLS
    told = f" most {full(most)} an hour"
    told += f", of the newest {MOST_CALLS}" if len(calls) >= MOST_CALLS else ""
    return [*drawn, Content.styled(clocks, "$dim"), Content.styled(told, "$dim")]


def _tools(calls: Sequence[Call], width: int, height: int, glyphs: Glyphs) -> list[Content]:
    """How often each tool was called, the most often first."""
    names = Counter(_tool(call) for call in calls)
    if not names or width < TOOL_NAME_CELLS + 12:
        return []
    most = names.most_common(1)[0][1]
    room = width - TOOL_NAME_CELLS - 8
    return [
        Content.assemble(
            (fit(name, TOOL_NAME_CELLS, glyphs.ellipsis), "$heading"),
            (right(full(count), 5), "$foreground"),
            "  ",
            (crop(bar(count / most, room, glyphs), room), "$primary"),
        )
        for name, count in names.most_common(max(1, height))
    ]


def _tool(call: Call) -> str:
    """The tool's name, or what a host's event did."""
    if call.outcome in ("injected", "stored"):
        return f"{call.outcome} automatically" if not call.asked else call.outcome
    return one_line(what_of(call)).removeprefix("memory_")
